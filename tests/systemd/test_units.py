"""The units on a machine that is really booted: from an empty configuration to a mail, killed, hung, restarted, cut from the power."""

import json
import time
import urllib.request

import pytest

from installed import ALL, BACK_WITHIN_S, TO_THE_INTERNET, Cartbus, unit
from machine import wait_until
from otlp_peer import Collector  # (beside the system tests: machine.py adds their folder)

IMPATIENT = "[Service]\nWatchdogSec=6s\nTimeoutAbortSec=2s\n"  # so that a test need not wait for minutes


@pytest.fixture(scope="module")
def cartbus(machine):
    cartbus = Cartbus(machine)
    cartbus.configure()
    machine.shell("systemd-sysusers; systemd-tmpfiles --create; systemctl daemon-reload; cartbus secrets make")
    machine.shell("mkdir -p /etc/systemd/system/cartbus-.service.d")
    machine.run("tee", "/etc/systemd/system/cartbus-.service.d/90-impatient.conf", stdin=IMPATIENT)
    machine.shell("mkdir -p /etc/systemd/system/cartbus-broker.service.d")
    machine.run("tee", "/etc/systemd/system/cartbus-broker.service.d/90-impatient.conf", stdin=IMPATIENT)
    machine.shell("systemctl daemon-reload; systemctl enable --now cartbus.target")
    cartbus.wait_ready()
    cartbus.add_shop()
    return cartbus


def test_no_unit_is_more_exposed_than_promised(machine):
    scores = {}
    for name in [*ALL, "backup", "verify"]:
        done = machine.run("systemd-analyze", "security", "--offline=true", "--no-pager", unit(name), check=False)
        scores[name] = float(done.stdout.rsplit("exposure level for", 1)[1].split(":")[1].split()[0])
    print(scores)
    limits = {name: 1.5 if name in TO_THE_INTERNET else 0.6 for name in scores}
    assert {name: score for name, score in scores.items() if score > limits[name]} == {}


def test_a_signed_webhook_becomes_a_mail(cartbus):
    assert cartbus.post("first") == 200
    cartbus.wait_mailed("first")


def journal_of(machine, *matches):
    """The entries of the journal that match, in their order."""
    lines = machine.run("journalctl", "--no-pager", "-o", "json", *matches, check=False).stdout.splitlines()
    return [json.loads(line) for line in lines]


def test_the_journal_tells_the_story_of_one_cart_across_processes_and_names_nobody(cartbus):
    assert cartbus.post("story") == 200
    assert cartbus.post("story") == 200
    cartbus.wait_mailed("story")
    wait_until(lambda: any(e["CARTBUS_TOPIC"] == "reminder.sent" for e in journal_of(cartbus.machine, "CARTBUS_CART=story")),
               "the journal tells of the mail", BACK_WITHIN_S)
    # the journal has entries as processes wrote them, which may be after another process has answered; the log's order is its numbers
    story = sorted(journal_of(cartbus.machine, "CARTBUS_SHOP=demo", "CARTBUS_CART=story"), key=lambda entry: int(entry["CARTBUS_SEQ"]))
    print(*(entry["MESSAGE"] for entry in story), sep="\n")
    told = [(entry["SYSLOG_IDENTIFIER"], entry["CARTBUS_TOPIC"]) for entry in story]
    way = [("cartbus-gateway", "cart.changed"), ("cartbus-intake", "audit"), ("cartbus-timer", "cart.wake"), ("cartbus-waiter", "audit"),
           ("cartbus-sender", "reminder.sent")]
    assert [told.index(step) for step in way] == sorted(told.index(step) for step in way)
    assert {entry["_SYSTEMD_UNIT"] for entry in story} >= {unit(name) for name in ("gateway", "intake", "timer", "waiter", "sender@1")}
    assert len({entry["MESSAGE_ID"] for entry in story}) >= 4
    assert {entry["CARTBUS_SUBJECT"] for entry in story} == {"story"}  # under the name of today as well
    again = [entry for entry in story if " before: " in entry["MESSAGE"]]
    assert [entry["CARTBUS_SEQ"] for entry in again] == [story[0]["CARTBUS_SEQ"]]
    assert {entry["CARTBUS_TRACE"] for entry in story if entry not in again} == {story[0]["CARTBUS_TRACE"]}
    cartbus.machine.run("journalctl", "--update-catalog")  # as the package's trigger does
    explained = cartbus.machine.run("journalctl", "--no-pager", "-x", "CARTBUS_CART=story", f"MESSAGE_ID={story[0]['MESSAGE_ID']}").stdout
    assert "A storefront told of a cart" in explained and "Cart:  story" in explained
    everything = cartbus.machine.run("journalctl", "--no-pager", "-o", "verbose").stdout
    assert "@example.com" not in everything and "/cart/story" not in everything


def test_the_monitor_reaches_a_collector_and_gets_a_cart_there_as_one_trace(cartbus):
    collector = Collector()
    cartbus.machine.run("tee", "/etc/cartbus/cartbus.conf.d/90-trace.conf", stdin=f"[trace]\ncollector = {collector.url}\n")
    try:
        cartbus.machine.run("systemctl", "restart", "cartbus-monitor")
        cartbus.wait_ready()
        carts = (f"traced-{number}" for number in range(10**6))
        wait_until(lambda: cartbus.post(next(carts)) == 200 and collector.spans, "the monitor listens", BACK_WITHIN_S, step_s=0.5)
        assert cartbus.post("traced") == 200

        def topics():
            of = {span["traceId"] for span in collector.spans if span["attributes"].get("cartbus.cart") == "traced"}
            return of and {span["attributes"]["messaging.destination.name"] for span in collector.spans if {span["traceId"]} == of}

        wait_until(lambda: {"cart.changed", "cart.wake", "reminder.sent"} <= (topics() or set()), "the whole trace", BACK_WITHIN_S)
        assert collector.wrong == []
    finally:
        cartbus.machine.run("rm", "/etc/cartbus/cartbus.conf.d/90-trace.conf")
        cartbus.machine.run("systemctl", "restart", "cartbus-monitor")
        collector.close()
    cartbus.wait_ready()


def test_the_monitor_may_listen_where_metrics_are_read_and_nobody_who_talks_to_the_world_may_elsewhere(cartbus):
    with urllib.request.urlopen(f"http://127.0.0.1:{cartbus.metrics_port}/metrics", timeout=20) as answer:
        assert b"\ncartbus_broker_up 1\n" in answer.read()
    for name in TO_THE_INTERNET:
        allowed = cartbus.machine.show(unit(name), "SocketBindDeny", "SocketBindAllow")
        assert allowed["SocketBindDeny"] == "any", name
        assert allowed.get("SocketBindAllow", "").endswith(str(cartbus.metrics_port) if name == "monitor" else ""), name
        assert bool(allowed.get("SocketBindAllow")) == (name == "monitor"), name


def test_a_unit_has_its_own_secrets_and_no_others(cartbus):
    machine = cartbus.machine
    for name in ALL:
        user = f"cartbus-{name.split('@')[0]}"
        for path in ("/etc/cartbus/secrets/link.key", "/run/credentials/cartbus-gateway.service/link.key"):
            done = machine.run("setpriv", f"--reuid={user}", "--regid=cartbus", "--clear-groups", "cat", path, check=False)
            assert (done.returncode == 0) == (name == "gateway" and "credentials" in path), (name, path)
    inside = machine.shell(f"ls /proc/{cartbus.pid('gateway')}/root/run/credentials/cartbus-gateway.service").split()
    assert inside == ["address.key", "admin.key", "gateway.key", "link.key", "link.key.previous", "webhook", "webhook_demo"]
    environment = machine.shell("cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' || true")
    assert cartbus.secret.decode() not in environment


@pytest.mark.parametrize("name", ALL)
def test_what_is_killed_is_back_and_goes_on(cartbus, name):
    before = cartbus.pid(name)
    began = time.monotonic()
    cartbus.machine.run("systemctl", "kill", "--signal=SIGKILL", unit(name))
    wait_until(lambda: cartbus.pid(name) not in (0, before) and cartbus.ready([name]), f"{name} is back", BACK_WITHIN_S)
    print(f"back.{name} {time.monotonic() - began:.1f} s")
    cartbus.wait_ready()
    cart = f"after-kill-of-{name.replace('@', '-')}"
    assert cartbus.post(cart) == 200
    cartbus.wait_mailed(cart)


@pytest.mark.parametrize("name", ["broker", "gateway", "intake", "sender@1"])
def test_what_hangs_is_started_again(cartbus, name):
    before = cartbus.pid(name)
    cartbus.machine.run("systemctl", "kill", "--signal=SIGSTOP", unit(name))
    wait_until(lambda: cartbus.pid(name) not in (0, before) and cartbus.ready([name]), f"{name} is started again", BACK_WITHIN_S)
    assert f"{unit(name)}: Watchdog timeout" in cartbus.machine.run("journalctl", "--no-pager", "-o", "cat").stdout
    cartbus.wait_ready()


def test_a_restart_of_everything_under_load_refuses_nobody(cartbus):
    with cartbus.storefront("load") as answers:
        cartbus.machine.run("systemctl", "restart", "cartbus.target")
        cartbus.wait_ready()
    refused = [answer for answer, _ in answers if answer != 200]
    print(f"webhooks during the restart: {len(answers)}, of them not 200: {len(refused)}")
    assert len(answers) > 1 and refused == []


def test_what_is_stopped_stays_stopped_and_closes_its_door(cartbus):
    cartbus.stop_all()
    with pytest.raises(ConnectionRefusedError):
        cartbus.post("nobody-there")
    cartbus.machine.run("systemctl", "start", "cartbus.target")
    cartbus.wait_ready()
    assert cartbus.post("there-again") == 200


def test_a_machine_that_lost_its_power_comes_up_by_itself_and_has_lost_nothing(cartbus):
    assert cartbus.post("before-the-cut") == 200
    cartbus.machine.power_off()
    cartbus.machine.power_on()
    cartbus.wait_ready()
    cartbus.wait_mailed("before-the-cut")
    assert "first@example.com" in cartbus.mailed()
