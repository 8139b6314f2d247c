"""The broker's disk is full: it stops confirming and ends, and nothing that was acknowledged is lost."""

import contextlib
import subprocess

import pytest
from cartbus_system import System, wait_until
from test_gateway_away import Storefronts, connected, drained, judge


@pytest.fixture
def system():
    with System() as system:
        system.add_shop("demo")
        disk = system.folder / "state" / "broker"
        disk.mkdir(mode=0o750)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk)], check=True)
        try:
            system.start("broker", "gateway")
            wait_until(lambda: connected(system), "the gateway's connection")
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
    wait_until(lambda: drained(system), "the spool's end", within_s=60)
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
    wait_until(lambda: connected(system), "the gateway's connection")
