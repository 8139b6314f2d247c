"""What does not come to an end: a turn, an effect; and what takes long, but does. Real processes."""

import os
import signal
import time

from worker_system import WorkerSystem, wait_until

LIMIT = 2  # failures before the dead letters
LEASE_S = 6  # above the 5 s at which leases are renewed
DECLARED_LIMIT, DECLARED_LEASE_S = 2, 1  # by the table of cartbus-test-brisk
HEARTBEAT_MS = 4000  # so that a silent session is dead after 20 s: long after its lease, and before a lease of the usual 30 s


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


def test_a_failure_limit_that_a_service_declares_makes_a_dead_letter_and_its_lease_is_renewed_in_time():
    with WorkerSystem(program="cartbus-test-brisk") as system:
        system.start("broker", "test-brisk")
        system.say("bad=fail", "good=work", "long=slow")
        letter = wait_until(system.dead, "the dead letter")[0]
        assert letter["key"] == "bad" and letter["failures"] == DECLARED_LIMIT
        wait_until(lambda: system.queue_of("worker")["leased"] == 1, "the slow one at work")
        began = time.monotonic()
        wait_until(lambda: time.monotonic() > began + 3 * DECLARED_LEASE_S, "more than a lease's time")
        assert system.queue_of("worker")["leased"] == 1 and system.done() == ["good"]
        system.gate.touch()
        wait_until(lambda: system.done() == ["good", "long"], "the slow one's end")
        assert not any(system.ask("status")["refused"].values())


def test_a_message_whose_holder_does_not_renew_goes_to_another_process_after_the_declared_lease():
    with WorkerSystem(program="cartbus-test-brisk", settings={"broker": {"heartbeat": HEARTBEAT_MS}}) as system:
        system.start("broker")
        first = system.start("test-brisk=first")
        system.say("long=slow")
        wait_until(lambda: system.queue_of("worker")["leased"] == 1, "the first one at work")
        system.start("test-brisk=second")
        stopped = time.monotonic()
        os.kill(first.popen.pid, signal.SIGSTOP)
        try:
            system.gate.touch()
            wait_until(lambda: system.done() == ["long"], "the second one's work", within_s=60)
            took_s = time.monotonic() - stopped
        finally:
            os.kill(first.popen.pid, signal.SIGCONT)
        assert DECLARED_LEASE_S / 2 < took_s < 5 * HEARTBEAT_MS / 1000 - 4, took_s  # renewed last within the quarter before
        system.say("after=work")
        wait_until(lambda: sorted(system.done()) == ["after", "long"], "what comes after it")
