"""An erasure that was cut short while a backup lost somebody: the doctor tells it, and the next night goes on with it."""

import json
import signal
import subprocess

import pytest
from cartbus_system import BUILD, System, wait_until
from persons import Person, search


@pytest.fixture
def system():
    with System() as running:
        running.configure({"backup": {"folder": running.folder / "shelf", "keep": 3}})
        running.shop = running.add_shop("demo")
        running.start("broker", "gateway", "intake", "unsub")
        yield running


def owed(system):
    found = json.loads(system.cartbus("doctor", "--json", check=False).stdout)["findings"]
    return [(one["finding"], one["remedy"]) for one in found if one["area"] == "backup" and "who were erased" in one["text"]]


def test_an_erasure_that_was_cut_short_in_a_backup_is_gone_on_with_by_the_next_night(system):
    ada, bob = Person("a7f3c9d2e1"), Person("b0e8d6c4a2")
    for person in (ada, bob):
        person.leave(system, person.cart)
    wait_until(lambda: len(system.log(topic="cart.state")) >= 2, "two carts")
    system.cartbus("backup")
    shelf = system.folder / "shelf"
    assert search(shelf, ada) and not owed(system)
    erasing = subprocess.Popen([str(BUILD / "bin" / "cartbus"), "erase", "demo", ada.address, "--yes", "--config", str(system.config_path)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: list(shelf.glob("*/erasing.*")) or erasing.poll() is not None, "the copy of the backup", within_s=60, step_s=0.001)
    erasing.send_signal(signal.SIGKILL)
    words = erasing.communicate()[1]
    assert erasing.returncode == -signal.SIGKILL and "1 of 3" in words, "it was killed while a backup was at its turn"
    assert search(shelf, ada), "the backup is as it was"
    (finding, remedy), = owed(system)
    assert finding == "wrong" and "cartbus backup --erase" in remedy
    system.cartbus("backup")  # as the timer has it each night
    assert not search(shelf, ada) and search(shelf, bob)
    assert not list(shelf.glob("*/erasing.*")) and not owed(system)
