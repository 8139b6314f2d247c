"""The gateway's spool and a power cut: what was answered 200 is on the disk, though the broker was away; nothing else can give it again."""

import uuid

import pytest

from cartbus_system import System, wait_until
from disk import Disk

TORN = b"half of a record that nobody was answered for"


class Spooling:
    """A gateway on a failing disk, and what it answered 200."""

    def __init__(self, system, disk, monkeypatch):
        self.system, self.disk, self.monkeypatch = system, disk, monkeypatch
        self.shop, self.answered = system.shops["demo"], []

    def start(self):
        with self.monkeypatch.context() as patch:
            for name, value in self.disk.environment().items():
                patch.setenv(name, value)
            self.system.start("gateway")

    def leave(self, count):
        """So many carts, each answered 200 while the broker is away."""
        for _ in range(count):
            cart = f"cart-{uuid.uuid4().hex}"
            body = {"event": "changed", "cart": cart, "email": "anna@mail.example", "first_name": "Anna", "currency": "EUR", "total": "89.70",
                    "at": "2026-11-20T10:00:00Z", "recovery_url": f"https://demo.example/r/{cart}",
                    "items": [{"title": "Vase", "quantity": 3, "price": "29.90"}]}
            wait_until(lambda body=body: self.system.post(self.shop.cart(body)).status == 200, "an answer from the spool")
            self.answered.append(cart)

    def cut_power(self, **how):
        self.system.kill("gateway")
        self.disk.cut_power(**how)

    def all_arrives(self):
        self.system.start("broker")
        wait_until(self.system.drained, "the spool being told", 30)
        return {entry["key"] for entry in self.system.log(topic="cart.changed")} >= set(self.answered)


@pytest.fixture
def spooling(tmp_path, monkeypatch):
    with System() as system:
        system.add_shop("demo")
        spool = system.folder / "state" / "gateway" / "spool"
        spool.mkdir(parents=True)
        disk = Disk(spool, tmp_path / "disk", keeps_shadow=True)
        spooling = Spooling(system, disk, monkeypatch)
        system.start("broker")
        spooling.start()  # which meets its broker: without having met it no gateway spools
        system.stop("gateway", "broker")
        yield spooling
        disk.close()


def test_what_was_answered_from_the_spool_outlives_a_power_cut(spooling):
    for _ in range(2):  # the second time there is a file already, of the life before
        spooling.start()
        spooling.leave(3)
        spooling.cut_power(names="synced", pages="synced")
    spooling.start()
    assert spooling.all_arrives()


def test_a_torn_tail_that_was_cut_off_does_not_come_back_before_what_was_answered_later(spooling):
    """It would lie in the middle then, and a spool that is damaged in its middle is not opened."""
    spooling.start()
    spooling.leave(1)
    spooling.cut_power(names="synced", pages="synced")
    newest = max(spooling.disk.folder.glob("*.spool"))
    spooling.disk.append(newest.name, TORN)
    spooling.start()
    assert TORN not in newest.read_bytes()
    spooling.leave(1)
    spooling.cut_power(names="synced", pages="synced")
    spooling.start()
    assert spooling.all_arrives()
