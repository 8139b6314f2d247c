"""Thousands of connections from those who have shown nothing: the broker lives, and its good peers go on."""

import os

import pytest
from cartbus_system import wait_until
from raw_connections import Opener
from test_users import NOBODY, Listed
from two_hosts import CONTROL, INGRESS, Far, Near, leave_cart

DESCRIPTORS = 4096  # so many the broker may have in here, and more than twice as many come
MANY = 9000


class Bounded:
    """A system whose broker may open no more than this; soft and hard, as a unit's limit is."""

    def where(self, name):
        return ["prlimit", f"--nofile={DESCRIPTORS}:{DESCRIPTORS}"] if name == "broker" else []


class BoundedNear(Bounded, Near):
    pass


class BoundedListed(Bounded, Listed):
    pass


def open_files(process):
    return len(os.listdir(f"/proc/{process.popen.pid}/fd"))


def status(system):
    return system.ask("status")["connections"]


def good_peers_go_on(system, shop, cart):
    """A webhook is taken, and reaches the log; an operator who comes now is answered."""
    leave_cart(system, shop, cart)
    wait_until(lambda: any(cart in str(one) for one in system.log("cart.changed")), "the cart in the log", 20)
    assert system.cartbus("queues").stdout


def is_in_the_journal(system, words):
    return words in system.processes["broker"].log_path.read_text()


def start(system):
    shop = system.add_shop("demo")
    system.start("broker")
    system.start("gateway", "intake")
    return shop


@pytest.mark.parametrize("here", ["127.0.0.1", "127.0.0.2"])
def test_connections_without_a_key_over_tcp_do_not_end_the_broker(here):
    with BoundedNear() as near, Far(near, "sender") as far:
        shop = start(near)
        targets = [f"{here},{near.address},{near.base + offset}" for offset in (CONTROL, INGRESS)]
        with Opener("tcp", MANY, targets) as many:
            opened, _ = many.counted()
            assert opened > DESCRIPTORS
            broker = near.processes["broker"]
            assert broker.running, broker.tail()
            assert open_files(broker) < DESCRIPTORS / 2
            good_peers_go_on(near, shop, "c-1")
            far.add_shop("demo")
            far.start("sender")  # from the same host as they, or another: the registered peer comes in while they are there
            (epoch,) = wait_until(lambda: [one["epoch"] for one in near.sessions("sender")], "the sender's session", 20)
            with Opener("tcp", 1000, targets) as more:
                more.counted()
                assert [one["epoch"] for one in near.sessions("sender")] == [epoch]
                wait_until(lambda: status(near)["unproven"] < 500, "those who have shown a key counting as such")
            wait_until(lambda: status(near)["turned_away"] > MANY / 2, "most of them being turned away")
        assert is_in_the_journal(near, "turned away") and not is_in_the_journal(near, "disk")


def test_connections_of_a_listed_user_over_ipc_do_not_end_the_broker():
    with BoundedListed(root={"service": "cartbus gateway intake cartbus-test", "rights": "all"}, nobody={"service": "intake"}) as system:
        shop = start(system)
        run = system.folder / "run"
        for path in (run, *run.iterdir()):
            path.chmod(0o777)
        with Opener("ipc", MANY, [run / "control", run / "ingress"], uid=NOBODY) as many:
            many.counted()
            broker = system.processes["broker"]
            assert broker.running, broker.tail()
            assert open_files(broker) < DESCRIPTORS / 2
            good_peers_go_on(system, shop, "c-1")
            wait_until(lambda: status(system)["turned_away"] > MANY / 2, "most of them being turned away")
        assert is_in_the_journal(system, f"uid:{NOBODY}") and not is_in_the_journal(system, "disk")
