"""An erasure that was cut short while a backup lost somebody: the doctor tells it, and the next night goes on with it. And one whose broker
was silent for a while, which is waited for."""

import contextlib
import json
import os
import signal
import subprocess

import pytest
from cartbus_system import BUILD, System, wait_until
from persons import Person, search

SILENT_S = 4  # a session ends after 1.5 s


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


def begin_erasing(system, person):
    return subprocess.Popen([str(BUILD / "bin" / "cartbus"), "erase", "demo", person.address, "--yes", "--config", str(system.config_path)],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_an_erasure_that_was_cut_short_in_a_backup_is_gone_on_with_by_the_next_night(system):
    ada, bob = Person("a7f3c9d2e1"), Person("b0e8d6c4a2")
    for person in (ada, bob):
        person.leave(system, person.cart)
    wait_until(lambda: len(system.log(topic="cart.state")) >= 2, "two carts")
    system.cartbus("backup")
    shelf = system.folder / "shelf"
    assert search(shelf, ada) and not owed(system)
    erasing = begin_erasing(system, ada)
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


def test_what_cannot_be_removed_is_told_once(system):
    ada = Person("a7f3c9d2e1")
    ada.leave(system, ada.cart)
    wait_until(lambda: system.log(topic="cart.state"), "a cart")
    note = system.folder / "state" / "export" / "note.txt"  # no table, so no row can be taken out of it
    note.parent.mkdir(exist_ok=True)
    note.write_text(f"call {ada.address}\n")
    with open(os.fsencode(note.parent) + b"/\x1b[2J\xff.txt", "w") as hostile:
        hostile.write(note.read_text())
    done = system.cartbus("erase", "demo", ada.address, "--yes", "--json", check=False)
    told = json.loads(done.stdout)
    assert done.returncode == 1 and "\x1b" not in done.stderr and done.stderr.count(f"{note} could not be removed") == 1, done.stderr
    paths = [f"{note.parent}/ [2J?.txt", str(note)]
    assert sorted((one["path"], one["removed"]) for one in told["files"]) == [(path, False) for path in paths]
    assert [one["where"] for one in told["by_hand"]].count(str(note)) == 1
    assert note.exists() and not search(system.folder / "state" / "broker", ada)


def test_a_broker_that_is_silent_while_it_erases_is_waited_for(system):
    """As while its disk takes long: the session of who waits is over, and another one begins."""
    ada = Person("a7f3c9d2e1")
    ada.leave(system, ada.cart)
    wait_until(lambda: system.log(topic="cart.state"), "a cart")
    broker, erasing = system.processes["broker"].popen, begin_erasing(system, ada)
    assert any("goes on by itself" in line for line in erasing.stderr), "it ended before it began"
    broker.send_signal(signal.SIGSTOP)
    with contextlib.suppress(subprocess.TimeoutExpired):
        erasing.wait(SILENT_S)
    broker.send_signal(signal.SIGCONT)
    told, words = erasing.communicate(timeout=120)
    assert erasing.returncode == 0 and told.startswith("erased "), words
    assert not search(system.folder / "state", ada)
