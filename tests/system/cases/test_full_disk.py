"""The broker's disk fills up: below the headroom nothing new is taken and what is there comes to its end; when it is full all the
same, the broker stops confirming and ends. Either way nothing that was acknowledged is lost, and room heals it."""

import contextlib
import os
import subprocess

import pytest
from cartbus_system import System, fixture, wait_until
from test_gateway_away import Storefronts, judge


@pytest.fixture
def system():
    with System() as system:
        system.add_shop("demo")
        disk = system.folder / "state" / "broker"
        disk.mkdir(mode=0o750)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", str(disk)], check=True)
        try:
            system.configure({"broker": {"headroom": 0, "headroom-percent": 0}})
            system.start("broker", "gateway")
            wait_until(system.connected, "the gateway's connection")
            yield system
        finally:
            system.close()
            subprocess.run(["umount", str(disk)], check=True)


def fill(path):
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as filler:
        for size in (65536, 512):
            with contextlib.suppress(OSError):
                while filler.write(b"x" * size):
                    pass


def leave(path, free_mib):
    """Fills the disk until about so much is left."""
    with open(path, "wb") as filler:
        disk = os.statvfs(path)
        os.posix_fallocate(filler.fileno(), 0, disk.f_bavail * disk.f_frsize - (free_mib << 20))


def kept_for_what_is_there(system):
    status = system.cartbus("status", check=False, json_output=True)
    return [why for why in status["red"] if "takes nothing new: disk" in why]


def test_below_the_headroom_nothing_new_is_taken_until_there_is_room(system):
    system.stop("gateway", "broker")
    system.configure({"broker": {"headroom": 60, "headroom-percent": 0}})
    system.start("broker", "gateway", "intake")
    wait_until(system.connected, "the gateway's connection")
    shop, broker = system.shops["demo"], system.processes["broker"]
    filler = system.folder / "state" / "broker" / "filler"

    def changed(number):
        return system.post(shop.cart(fixture("cart-changed", id=f"e-{number}", cart=f"c-{number}")))

    assert changed(0).status == 200
    system.stop("intake")  # what it has to do waits for it
    assert [changed(number).status for number in (1, 2, 3)] == [200] * 3
    assert not kept_for_what_is_there(system)
    leave(filler, 45)
    red = wait_until(lambda: kept_for_what_is_there(system), "the status turning red")
    assert "make room" in red[0] and "headroom" in red[0]
    head = system.ask("status")["head"]

    assert changed(4).status == 200  # from the spool
    bought = system.post(shop.cart({"event": "checked_out", "cart": "c-4", "order_id": "o-4"}))
    assert bought.status == 503 and "disk" in bought.json["error"]
    assert system.request("GET", "/healthz").json["spooled"] == 1
    assert system.ask("status")["head"] == head
    assert "nothing new is taken: disk" in broker.tail()

    system.start("intake")  # acknowledgements and what is decided on them go on
    wait_until(lambda: all(queue["ready"] + queue["leased"] == 0 for queue in system.ask("queues")["queues"]
                           if queue["name"] == "intake"), "the work that was there")
    assert len(system.log("cart.state")) >= 4
    assert kept_for_what_is_there(system)

    filler.unlink()
    wait_until(system.drained, "the spool's end")
    assert not kept_for_what_is_there(system)
    assert {entry["message"].webhook_id for entry in system.log("cart.changed")} >= {f"e-{n}" for n in range(5)}
    assert changed(5).status == 200 and broker.running
    assert "there is room again" in broker.tail()


def test_a_full_disk_ends_the_broker_and_loses_nothing(system):
    broker = system.processes["broker"]
    filler = system.folder / "state" / "broker" / "filler"
    with Storefronts(system, system.shops["demo"]) as storefronts:
        wait_until(lambda: storefronts.total() > 100, "some load")
        fill(filler)
        wait_until(lambda: not broker.running, "the broker's end", within_s=60)
        before = storefronts.total()
        wait_until(lambda: storefronts.total() > before + 100, "webhooks while the broker is away")
    assert broker.popen.returncode == 1
    said = broker.tail()
    assert "No space left on device" in said and str(filler.parent) in said and "make room" in said
    assert system.request("GET", "/healthz").json["spooled"] > 0

    filler.unlink()
    system.start("broker")
    wait_until(system.drained, "the spool's end", within_s=60)
    assert storefronts.others == []
    judge(system, storefronts)


def test_a_broker_does_not_start_on_a_full_disk_without_a_word(system):
    system.stop("broker")
    filler = system.folder / "state" / "broker" / "filler"
    fill(filler)
    broker = system.start("broker", wait=False)
    wait_until(lambda: not broker.running, "the broker's end")
    assert broker.popen.returncode == 1
    assert "No space left on device" in broker.tail() and str(filler.parent) in broker.tail()

    filler.unlink()
    system.start("broker")
    wait_until(system.connected, "the gateway's connection")
