"""A wall clock that is set by a year, forwards and back, while the processes run and between two runs."""

import pytest

from cartbus_system import System
from wall_clock import Wall
from worker_system import WorkerSystem, wait_until

YEAR_S = 365 * 86400
FAILURES = 3


@pytest.fixture
def system(monkeypatch):
    with WorkerSystem(worker=f"failure-limit = {FAILURES}") as system:
        system.wall = Wall(system)

        def start(*names):
            with monkeypatch.context() as patch:
                for name, value in system.wall.environment().items():
                    patch.setenv(name, value)
                system.start(*names)
        system.start_at_wall = start
        yield system


def told(system, instance, words):
    wait_until(lambda: words in system.processes[instance].tail(20000), f"{instance}: {words}")


def what_fails_dies_in_its_time(system, key):
    """All its delays are over within the usual time, and the log's own time has not moved by the jump."""
    system.say(f"{key}=fail")
    wait_until(lambda: key in [letter["key"] for letter in system.dead()], f"the end of {key}")
    times = [entry["time_us"] for entry in system.log()]
    assert times == sorted(times)
    assert times[-1] - times[0] < 86400e6, "a jump is in the log"


def test_a_clock_that_is_set_by_a_year_holds_the_timers_is_told_and_moves_nothing_else(system):
    system.start_at_wall("broker", "timer", "test-worker")
    what_fails_dies_in_its_time(system, "before")
    for ahead_s, side in (YEAR_S, "ahead of"), (-YEAR_S, "behind"):
        system.wall.set(ahead_s)
        told(system, "broker", f" s {side} the log's time, which goes on without it")
        told(system, "timer", "no timer fires")
        status = system.cartbus("status", check=False)
        assert f"{side} the log's time" in status.stdout and "set the clock right, or restart all of cartbus" in status.stdout
        what_fails_dies_in_its_time(system, f"during{ahead_s}")
        system.wall.set(0)
        told(system, "broker", "the clock agrees again")
        told(system, "timer", "wall and boot time agree again")
    system.kill("broker", "timer", "test-worker")
    system.wall.set(-YEAR_S)
    system.start_at_wall("broker", "test-worker")
    told(system, "broker", "behind the log: set it right if it is wrong now")
    what_fails_dies_in_its_time(system, "behind")


def test_a_service_whose_own_clock_is_off_says_so_and_status_names_it(monkeypatch):
    with System() as system:
        wall = Wall(system)
        wall.set(-7200)
        system.start("broker", "timer")
        with monkeypatch.context() as patch:
            for name, value in wall.environment().items():
                patch.setenv(name, value)
            system.start("intake")
        told(system, "intake", "the clock of this host is 7200 s behind the log's")

        def named():
            said = system.cartbus("status", check=False).stdout
            assert "the clock of timer" not in said
            return "the clock of intake" in said and "behind the log's: set it right" in said
        wait_until(named, "status naming it")
