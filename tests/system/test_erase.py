"""Erasing a person: a search that decodes everything on the disk finds him before, and nothing after it."""

import base64
import signal
import subprocess

import pytest

from cartbus_system import BUILD, wait_until
from persons import Person, dead_letters, leave_traces, search, shop_system

pytestmark = pytest.mark.xdist_group("erase")


@pytest.fixture
def system():
    running = shop_system()
    yield running
    running.close()


def of_others(system, person):
    """What the log shows to anybody of a person, byte by byte."""
    return [(entry["seq"], entry["topic"], entry["key"], entry["payload"]) for entry in system.log(shop="demo")
            if any(name in entry["key"] or name.encode() in base64.b64decode(entry["payload"]) for name in person.names())
            and entry["topic"] != "audit"]


def verified(system):
    system.stop(*reversed([name for name, process in system.processes.items() if process.running]))
    told = system.cartbus("verify", json_output=True)
    assert told["sound"], told["problems"]
    return told


def erase(system, person, *more):
    return system.cartbus("erase", "demo", person.address, "--yes", *more, json_output=True)


def inside(system, person):
    """Where he still is, but for the exported files, which `erase` names."""
    return {path: names for path, names in search(system.folder / "state", person).items() if not path.startswith("export/")}


def check_gone(system, person):
    found = inside(system, person)
    if found:  # a table that somebody was still reading goes a moment later
        wait_until(lambda: not inside(system, person), f"that nothing is found any more ({found})", step_s=0.5)
    assert not search(system.folder / "logs", person)
    assert not search(system.folder / "run", person)


def test_a_person_is_found_in_each_place_before_and_nowhere_after_it_while_others_go_on(system):
    ada, bob = Person("a7f3c9d2e1"), Person("b0e8d6c4a2")
    leave_traces(system, bob)
    leave_traces(system, ada)
    found = search(system.folder / "state", ada)
    for place in ("broker/", "intake/", "waiter/", "sender/", "gateway/rejected/", "mail/"):
        assert any(path.startswith(place) for path in found), (place, sorted(found))
    assert {name for names in found.values() for name in names} == set(ada.names())
    others, letters = of_others(system, bob), len(dead_letters(system))

    dry = system.cartbus("erase", "demo", ada.address, "--dry-run", json_output=True)
    assert dry["messages"] > 10 and {file["what"] for file in dry["files"]} >= {"rejected webhook", "mail in the maildir"}
    assert search(system.folder / "state", ada).keys() >= {path for path in found if path.startswith(("gateway", "mail"))}
    assert system.cartbus("erase", "demo", ada.address, check=False).returncode == 2

    told = erase(system, ada, "--reason", "a letter")
    assert told["messages"] >= dry["messages"]
    assert all(file["removed"] or file["what"] == "export" for file in told["files"])
    check_gone(system, ada)
    assert len(dead_letters(system)) == letters - 1
    assert of_others(system, bob)[: len(others)] == others

    ours = system.shop.address_hash(ada.address)
    standing = [entry["message"] for entry in system.log(topic="suppression") if entry["message"].address_hash == ours]
    assert standing and not standing[-1].lifted
    record = [entry["message"] for entry in system.log(topic="audit") if entry["message"].action == "erase"]
    assert [one.address_hash for one in record] == [ours, ours] and "a letter" in record[0].grounds
    assert system.cartbus("export", "demo", ada.customer, check=False).returncode == 1

    # he comes back by another cart: he is not mailed; the other one is
    ada.leave(system, "a-cart-token-of-later")
    bob.leave(system, "b-cart-token-of-later")
    wait_until(lambda: [one for one in system.log(topic="cart.closed") if one["message"].cart_id == "a-cart-token-of-later"] or
               [one for one in system.log(topic="cart.state") if one["message"].ids.cart_id == "a-cart-token-of-later"
                and one["message"].status], "the end of his new chase", within_s=40)
    assert not [one for one in system.log(topic="send.claim") if one["message"].cart_id == "a-cart-token-of-later"]
    assert verified(system)["erased"] == told["messages"]


def test_a_kill_of_the_broker_in_the_middle_is_gone_on_from(system):
    ada = Person("a7f3c9d2e1")
    leave_traces(system, ada)
    words = [BUILD / "bin" / "cartbus", "erase", "demo", ada.address, "--yes", "--config", system.config_path]
    erasing = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert "goes on by itself" in erasing.stderr.readline()
    system.processes["broker"].popen.send_signal(signal.SIGKILL)
    system.processes["broker"].popen.wait()
    erasing.kill()
    erasing.communicate()
    system.start("broker")
    wait_until(lambda: not system.ask("erasure")["running"], "the end of the erasure", within_s=40)
    erase(system, ada)
    check_gone(system, ada)
    verified(system)
