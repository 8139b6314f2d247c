"""What an admin says to units: start in any order, reload, take a new secret; on a machine that is really booted."""

import os
import random
import time

import pytest

from installed import ALL, Cartbus, unit
from machine import wait_until

SEED = int(os.environ.get("CARTBUS_SEED", time.time()))
CONFIG = "/etc/cartbus/cartbus.conf.d/90-changed.conf"


@pytest.fixture(scope="module")
def cartbus(machine):
    cartbus = Cartbus(machine)
    cartbus.configure()
    machine.shell("systemd-sysusers; systemd-tmpfiles --create; systemctl daemon-reload; cartbus secrets make")
    machine.shell("systemctl enable --now cartbus.target")
    cartbus.wait_ready()
    cartbus.add_shop()
    return cartbus


def pids(cartbus):
    return {name: cartbus.pid(name) for name in ALL}


def said(cartbus, name, since):
    return cartbus.machine.run("journalctl", "--no-pager", "-o", "cat", f"--since=@{since}", "-t", f"cartbus-{name.split('@')[0]}").stdout


def refused(answers):
    return [answer for answer, _ in answers if answer != 200]


def works(cartbus, cart):
    assert cartbus.post(cart) == 200
    cartbus.wait_mailed(cart)


def test_a_reload_of_the_target_reaches_all_and_refuses_nobody(cartbus):
    before, since = pids(cartbus), time.time()
    with cartbus.storefront("reload") as answers:
        cartbus.machine.run("tee", CONFIG, stdin="[log]\nlevel = debug\n")
        cartbus.machine.run("systemctl", "reload", "cartbus.target")
        for name in ALL:
            words = "takes effect at the next start" if name == "broker" else "begins anew with another configuration: [log] level"
            wait_until(lambda: words in said(cartbus, name, since), f"{name} has read it", 60)
        wait_until(lambda: all("ready" in said(cartbus, name, since) for name in ALL if name not in ("broker", "gateway")), "all are back", 60)
        cartbus.wait_ready()
    assert pids(cartbus) == before
    print(f"webhooks during the reload: {len(answers)}, of them not 200: {len(refused(answers))}")
    assert len(answers) > 1 and refused(answers) == []
    works(cartbus, "after-the-reload")


@pytest.mark.parametrize("lines, words", [("[log]\nlevel = loud\n", "[log] level: expected critical"), ("[log]\nlevle = info\n", "did you mean \"level\"")])
def test_a_reload_with_what_is_not_right_leaves_all_as_it_was_and_says_so(cartbus, lines, words):
    before, since = pids(cartbus), time.time()
    cartbus.machine.run("tee", CONFIG, stdin=lines)
    cartbus.machine.run("systemctl", "reload", "cartbus.target")
    for name in ("gateway", "sender@1"):
        wait_until(lambda: words in cartbus.machine.show(unit(name), "StatusText")["StatusText"], f"{name} says so in its status", 60)
    doctor = cartbus.machine.run("cartbus", "doctor", "--resolver", "127.0.0.1@9", check=False)
    assert doctor.returncode == 1 or "was changed since these read it" in doctor.stdout
    works(cartbus, f"beside-{len(lines)}")
    assert pids(cartbus) == before
    cartbus.machine.shell(f"rm {CONFIG}; systemctl reload cartbus.target")
    wait_until(lambda: "earlier" not in cartbus.machine.show(unit("gateway"), "StatusText")["StatusText"], "the gateway is content", 60)
    cartbus.wait_ready()


def test_a_secret_that_is_rotated_or_new_restarts_who_uses_it_and_refuses_nobody(cartbus):
    machine, before = cartbus.machine, pids(cartbus)
    with cartbus.storefront("rotate") as answers:
        assert "systemctl restart cartbus-gateway" in machine.run("cartbus", "shop", "secret", "demo", "--rotate").stdout
        machine.run("systemctl", "restart", "cartbus-gateway")
        cartbus.wait_ready("gateway")
        machine.run("cartbus", "shop", "add", "second", "--time-zone", "Europe/Berlin", "--currency", "EUR", "--locale", "de-DE",
                    "--title", "Second", "--url", "https://second.example", "--from", "Second <shop@second.example>",
                    "--owner", "owner@second.example")
        machine.run("systemctl", "restart", "cartbus-gateway")
        cartbus.wait_ready("gateway")
    assert len(answers) > 1 and refused(answers) == [], "the one before is still accepted, and the port stayed open"
    cartbus.secret = machine.run("cat", "/etc/cartbus/secrets/webhook/demo").stdout.strip().encode()
    works(cartbus, "signed-anew")
    assert {name: pid for name, pid in pids(cartbus).items() if name != "gateway"} == {name: pid for name, pid in before.items() if name != "gateway"}
    inside = machine.shell(f"ls /proc/{cartbus.pid('gateway')}/root/run/credentials/cartbus-gateway.service").split()
    assert {"webhook_demo", "webhook_demo.previous", "webhook_second"} <= set(inside)


def orders():
    chance = random.Random(SEED)
    print(f"CARTBUS_SEED={SEED}")
    services = [name for name in ALL if name != "broker"]
    shuffled = chance.sample(ALL, len(ALL))
    return {"broker-first": ["broker", *services], "broker-last": [*services, "broker"], "reversed": list(reversed(ALL)), "shuffled": shuffled}


@pytest.mark.parametrize("name", ["broker-first", "broker-last", "reversed", "shuffled"])
def test_units_may_be_started_in_any_order(cartbus, name):
    cartbus.stop_all()
    for one in orders()[name]:
        cartbus.machine.run("systemctl", "start", "--no-block", unit(one))
    cartbus.wait_ready()
    works(cartbus, f"started-{name}")


def test_a_broker_that_is_killed_while_all_start_is_no_matter(cartbus):
    cartbus.stop_all()
    cartbus.machine.run("systemctl", "start", "--no-block", "cartbus.target")
    for _ in range(3):
        wait_until(lambda: cartbus.pid("broker"), "the broker runs", 30)
        cartbus.machine.run("systemctl", "kill", "--signal=SIGKILL", unit("broker"), check=False)
    cartbus.wait_ready()
    works(cartbus, "started-while-killed")


def test_a_unit_that_is_started_alone_says_what_it_waits_for(cartbus):
    machine = cartbus.machine
    cartbus.stop_all()
    began = time.monotonic()
    machine.run("systemctl", "start", unit("intake"), limit_s=60)
    print(f"a unit without a broker is up after {time.monotonic() - began:.1f} s")
    assert "away from the broker" in machine.show(unit("intake"), "StatusText")["StatusText"]
    machine.run("systemctl", "start", "cartbus.target")
    cartbus.wait_ready()
    works(cartbus, "after-alone")


def test_a_broker_that_refuses_holds_up_nobodys_shell_and_all_is_well_when_it_does_not(cartbus):
    machine = cartbus.machine
    cartbus.stop_all()
    machine.shell("mv /usr/share/cartbus/topology.conf /usr/share/cartbus/topology.away")
    began = time.monotonic()
    machine.run("systemctl", "start", "cartbus.target", limit_s=60)
    print(f"the target is up after {time.monotonic() - began:.1f} s without its broker")
    assert "away from the broker" in machine.show(unit("waiter"), "StatusText")["StatusText"]
    assert "cannot read the topology" in cartbus.journal("broker")
    machine.shell("mv /usr/share/cartbus/topology.away /usr/share/cartbus/topology.conf")
    cartbus.wait_ready()
    works(cartbus, "after-a-broker-that-refused")
