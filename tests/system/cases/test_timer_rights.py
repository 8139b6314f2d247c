"""A peer that has the rights of one service and asks the timer for what that service may not say. Real processes, the real matrix of rights."""

import shutil
import subprocess

import pytest
from cartbus_system import BUILD, System, wait_until


class Peer:
    """The service `name`, taken over: the real one does not run."""

    def __init__(self, system, name):
        self.system, self.name = system, name

    def says(self, verb, name, topic="-", shop="demo"):
        ended = subprocess.run([BUILD / "bin" / "cartbus-test-timer", self.system.config_path, self.name, verb, shop, name, topic],
                               capture_output=True, text=True, check=False, timeout=60)
        return ended.returncode == 0, ended.stderr if ended.returncode else int(ended.stdout)


@pytest.fixture
def system():
    with System() as system:
        system.start("broker", "timer")
        yield system


def fired(system, name):
    return [entry for entry in system.log(topic="timer.fired") if entry["key"] == name]


def said_for(system, topic, key):
    return [entry for entry in system.log(topic=topic) if entry["key"] == key]


def alarms(system):
    return [entry["message"] for entry in system.log(topic="alarm") if entry["message"].kind == "timer-refused"]


def test_a_timer_says_nothing_that_the_service_which_set_it_may_not_set(system):
    waiter = Peer(system, "waiter")
    taken, why = waiter.says("tick", "direct")
    assert not taken and "waiter has no right to say tick.nightly" in why

    taken, number = waiter.says("set", "around", "tick.nightly")  # the broker does not look into it
    assert taken
    told = wait_until(lambda: alarms(system), "the alarm")
    assert told[0].raised and f"message {number}, a timer.set of the service waiter" in told[0].text
    assert "is about a timer that fires tick.nightly" in told[0].text

    assert waiter.says("set", "own", "cart.wake")[0]  # what this service may, it still may
    wait_until(lambda: said_for(system, "cart.wake", "own"), "its own timer")
    assert fired(system, "own") and not fired(system, "around")
    assert not said_for(system, "tick.nightly", "around")


def test_a_service_that_may_set_no_timer_cannot_and_one_that_may_does_not_get_at_the_shops_clock(system):
    taken, why = Peer(system, "unsub").says("set", "any", "cart.wake")
    assert not taken and "unsub has no right to say timer.set" in why

    system.add_shop("demo")
    system.start("mirror")
    ticks = wait_until(lambda: len([one for one in system.log(topic="timer.set") if one["key"].startswith("tick/")]) >= 3, "the shop's ticks")
    assert ticks
    assert Peer(system, "intake").says("cancel", "tick/nightly")[0]
    assert Peer(system, "waiter").says("set", "tick/weekly", "cart.wake")[0]
    assert Peer(system, "waiter").says("set", "last", "cart.wake")[0]
    wait_until(lambda: said_for(system, "cart.wake", "last"), "what comes after them")
    wait_until(lambda: alarms(system), "the alarm")
    assert not said_for(system, "cart.wake", "tick/weekly") and not fired(system, "tick/weekly")


def test_a_refusal_stands_when_the_timer_dies_and_when_it_folds_the_log_anew(system):
    waiter = Peer(system, "waiter")
    assert waiter.says("set", "around", "tick.nightly")[0]
    system.kill("timer")  # with or without its alarm
    system.start("timer")
    wait_until(lambda: alarms(system), "the alarm")
    system.kill("timer")
    shutil.rmtree(system.folder / "state" / "timer")
    system.start("timer")
    assert waiter.says("set", "own", "cart.wake")[0]
    wait_until(lambda: fired(system, "own"), "a timer that fires")
    assert not fired(system, "around") and not said_for(system, "tick.nightly", "around")
