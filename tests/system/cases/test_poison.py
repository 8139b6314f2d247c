"""Poison, outages and failures: real processes that die, fail and come back."""

import pytest

from cartbus_system import operator
from worker_system import WorkerSystem, wait_until


@pytest.fixture
def system():
    with WorkerSystem() as system:
        yield system


def test_what_kills_its_worker_is_dead_after_five_deaths_and_its_neighbours_wait_for_one_restart(system):
    system.start("broker")
    words = [f"k{i}={'die' if i == 7 else 'work'}" for i in range(20)]
    system.say(*words)  # all of them are there before anybody takes them: they are prefetched together
    deaths = 0
    worker = system.start("test-worker", wait=False)
    while not system.dead():
        if worker.running:
            continue
        deaths += 1
        worker = system.start("test-worker", wait=False)
        if deaths == 2:  # once beside them, once alone
            wait_until(lambda: len(system.done()) == 19, "what lay beside it")
    assert deaths == 5
    assert sorted(system.done()) == sorted(f"k{i}" for i in range(20) if i != 7)
    letter = system.dead()[0]
    assert letter["key"] == "k7" and letter["failures"] == 5 and len(letter["history"]) == 5
    assert worker.running


def test_an_outage_pauses_the_queue_fills_no_dead_letters_and_is_told(system):
    system.start("broker", "monitor", "test-worker")
    system.outage.touch()
    system.say(*(f"k{i}=work" for i in range(12)))
    wait_until(lambda: system.queue_of("worker")["paused_us"], "the pause")
    status = system.cartbus("status", check=False)
    assert status.returncode == 1 and "worker is paused" in status.stdout and "what it needs is away" in status.stdout
    assert "paused" in system.cartbus("queues").stdout
    wait_until(lambda: system.alarm("queue-paused"), "the alarm")
    system.kill("broker")
    system.start("broker")
    assert system.queue_of("worker")["paused_us"]
    wait_until(lambda: system.queue_of("worker")["tries"] >= 2, "two tries that fail")
    system.say("later=work")
    assert system.queue_of("worker")["dead"] == 0 and not system.done()
    system.outage.unlink()
    wait_until(lambda: len(system.done()) == 13, "all of it")
    assert not system.queue_of("worker")["paused_us"] and system.queue_of("worker")["dead"] == 0
    wait_until(lambda: system.alarm("queue-paused") is False, "the end of the alarm")


def test_a_pause_is_ended_by_hand_and_on_record(system):
    system.start("broker", "test-worker")
    system.outage.touch()
    system.say(*(f"k{i}=work" for i in range(8)))
    wait_until(lambda: system.queue_of("worker")["tries"] >= 2, "tries that fail")
    system.outage.unlink()
    assert system.cartbus("queues", "resume", "worker").stdout == "resumed: worker\n"
    assert not system.queue_of("worker")["paused_us"]
    wait_until(lambda: len(system.done()) == 8, "all of it")
    assert system.cartbus("queues", "resume", "worker", check=False).returncode == 1
    record = [entry["message"] for entry in system.log(topic="audit") if entry["message"].action == "queue.resume"]
    assert [(audit.who, audit.grounds) for audit in record] == 2 * [(operator(), "queue worker")]


def test_failures_of_a_queue_raise_an_alarm(system):
    system.start("broker", "monitor", "test-worker")
    said = iter(range(1000))

    def fail_again():
        number = next(said)
        system.say(f"bad{number}=fail", f"good{number}=work")
        return system.alarm("failures")
    wait_until(fail_again, "the alarm", step_s=0.5)
    assert not system.queue_of("worker")["paused_us"]
    text = [entry["message"] for entry in system.log(topic="alarm") if entry["message"].kind == "failures"][0].text
    assert "decisions failed" in text
