"""What does not come to an end: a turn, an effect; and what takes long, but does. Real processes."""

import time

from worker_system import WorkerSystem, wait_until

LIMIT = 2  # failures before the dead letters
LEASE_S = 6  # above the 5 s at which leases are renewed


def keep_running(system):
    if not system.processes["test-worker"].running:
        system.start("test-worker", wait=False)


def test_a_turn_that_never_ends_ends_its_process_and_becomes_a_dead_letter_and_its_neighbours_are_done():
    with WorkerSystem(worker=f"failure-limit = {LIMIT}", settings={"turn": {"deadline": "1s"}}) as system:
        system.start("broker")
        system.say(*(f"k{i}={'loop' if i == 3 else 'work'}" for i in range(8)))
        worker = system.start("test-worker", wait=False)
        wait_until(lambda: keep_running(system) or system.dead(), "the dead letter", within_s=60, step_s=0.1)
        wait_until(lambda: keep_running(system) or sorted(system.done()) == [f"k{i}" for i in range(8) if i != 3], "its neighbours")
        letter = system.dead()[0]
        assert letter["key"] == "k3" and letter["failures"] == LIMIT
        told = [line for line in worker.log_path.read_text().splitlines() if "stuck" in line]
        assert len(told) == LIMIT, told
        for line in told:
            assert line.startswith("<2>worker: ") and f"deciding on message {letter['seq']} of queue worker has taken 1 s" in line
        system.say("after=work")
        wait_until(lambda: "after" in system.done(), "what comes after it")


def test_an_effect_past_its_deadline_has_failed_and_one_that_takes_longer_than_a_lease_keeps_its_lease():
    with WorkerSystem(worker=f"failure-limit = {LIMIT}\nlease = {LEASE_S}s") as system:
        system.start("broker", "test-worker")
        system.say("long=slow", "short=hasty")
        began = time.monotonic()
        letter = wait_until(system.dead, "the end of the hasty one")[0]
        assert letter["key"] == "short" and letter["reason"] == "the gate did not open in time (worker)"
        wait_until(lambda: time.monotonic() > began + LEASE_S + 1, "more than a lease's time")
        assert system.queue_of("worker")["leased"] == 1 and not system.done()
        system.gate.touch()
        wait_until(lambda: system.done() == ["long"], "the slow one's end")
        wait_until(lambda: system.queue_of("worker")["leased"] == 0, "the end of its lease")
        assert not any(system.ask("status")["refused"].values())
