"""The units on a machine that is really booted: from an empty configuration to a mail, killed, hung, restarted, cut from the power."""

import hashlib
import hmac
import http.client
import json
import threading
import time
import urllib.request

import pytest

from machine import free_port, wait_until

SHOP = ["demo", "--time-zone", "Europe/Berlin", "--currency", "EUR", "--locale", "de-DE", "--title", "Blumen Huber",
        "--url", "https://shop.example", "--from", "Blumen Huber <shop@shop.example>", "--owner", "owner@shop.example"]
RULES = ("Small carts (under $40): remind after 10 minutes, then after 20 hours. Medium carts: 10 minutes, then 20 hours. "
         "Big carts (over $150): 10 minutes, then 20 hours.\nAt most one mail per shopper every 1 hour.\n")
RATE = 120  # of the machine's wall clock, as cartbus sees it: ten minutes are five seconds
TO_THE_INTERNET = {"sender@1", "mailin", "exporter", "summarizer", "mirror", "storefront", "monitor"}
ALL = ["broker", "gateway", "intake", "timer", "waiter", "unsub", *sorted(TO_THE_INTERNET)]
IMPATIENT = "[Service]\nWatchdogSec=6s\nTimeoutAbortSec=2s\n"  # so that a test need not wait for minutes
BACK_WITHIN_S = 60


def unit(name):
    return f"cartbus-{name}.service"


class Cartbus:
    def __init__(self, machine):
        self.machine = machine
        self.metrics_port = free_port()

    def install(self):
        """What the README tells, before the first start."""
        now_us = int(time.time() * 1e6)
        self.machine.run("tee", "/etc/cartbus/cartbus.conf",
                         stdin=f"[clock]\nrate = {RATE}\norigin-real-us = {now_us}\norigin-wall-us = {noon_us(now_us)}\n"
                               f"[monitor]\nport = {self.metrics_port}\n")
        self.machine.shell("mkdir -p /etc/systemd/system/cartbus-monitor.service.d")
        self.machine.run("tee", "/etc/systemd/system/cartbus-monitor.service.d/port.conf",
                         stdin=f"[Service]\nSocketBindAllow=\nSocketBindAllow=ipv4:tcp:{self.metrics_port}\n")
        self.machine.shell("systemd-sysusers; systemd-tmpfiles --create; systemctl daemon-reload; cartbus secrets make")
        self.machine.shell("install -d -g cartbus -m 2750 /etc/cartbus/shops")

    def add_shop(self):
        self.machine.run("cartbus", "shop", "add", *SHOP)
        self.machine.run("tee", "/etc/cartbus/shops/demo/rules.txt", stdin=RULES)
        self.machine.shell("chgrp -R cartbus /etc/cartbus/shops; systemctl restart cartbus-gateway")
        wait_until(lambda: "read shop=demo document=rules" in self.journal("mirror"), "the mirror reads the shop", BACK_WITHIN_S)
        self.machine.run("cartbus", "shop", "mode", "demo", "live")
        self.secret = self.machine.run("cat", "/etc/cartbus/secrets/webhook/demo").stdout.strip().encode()

    def journal(self, name):
        return self.machine.run("journalctl", "--no-pager", "-o", "cat", "-t", f"cartbus-{name}").stdout

    def ready(self, names=ALL):
        return all(self.machine.show(unit(name), "ActiveState", "SubState") == {"ActiveState": "active", "SubState": "running"}
                   for name in names)

    def wait_ready(self, *names):
        wait_until(lambda: self.ready(names or ALL), f"{names or 'all'} run and said so", BACK_WITHIN_S)

    def pid(self, name):
        return int(self.machine.show(unit(name), "MainPID")["MainPID"])

    def post(self, cart):
        """The status of the answer to a cart that was left with a rose in it."""
        body = json.dumps({"id": f"changed-{cart}", "event": "changed", "cart": cart, "email": f"{cart}@example.com", "currency": "EUR",
                           "consent": True, "total": "12.50", "recovery_url": f"https://shop.example/cart/{cart}",
                           "items": [{"title": "Rose", "quantity": 1, "price": "12.50"}]}).encode()
        stamp = str(int(self.now_us() / 1e6))
        signature = hmac.new(self.secret, stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        connection = http.client.HTTPConnection("127.0.0.1", self.machine.port, timeout=60)
        try:
            connection.request("POST", "/hooks/demo/cart", body, {"X-Cartbus-Timestamp": stamp, "X-Cartbus-Signature": signature})
            return connection.getresponse().status
        finally:
            connection.close()

    def now_us(self):
        return origin["wall_us"] + (time.time() * 1e6 - origin["real_us"]) * RATE

    def mails(self):
        return self.machine.shell("cat /var/lib/cartbus/mail/new/* 2>/dev/null || true")

    def mailed(self, cart):
        return f"To: {cart}@example.com" in self.mails()


origin = {}


def noon_us(now_us):
    """Of today: whatever the hour of the test, mails go."""
    day_us = 24 * 3600 * 10**6
    origin.update(real_us=now_us, wall_us=now_us // day_us * day_us + 10 * 3600 * 10**6)
    return origin["wall_us"]


@pytest.fixture(scope="module")
def cartbus(machine):
    cartbus = Cartbus(machine)
    cartbus.install()
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
    for name in ALL:
        done = machine.run("systemd-analyze", "security", "--offline=true", "--no-pager", unit(name), check=False)
        scores[name] = float(done.stdout.rsplit("exposure level for", 1)[1].split(":")[1].split()[0])
    print(scores)
    limits = {name: 1.5 if name in TO_THE_INTERNET else 0.6 for name in ALL}
    assert {name: score for name, score in scores.items() if score > limits[name]} == {}


def test_a_signed_webhook_becomes_a_mail(cartbus):
    assert cartbus.post("first") == 200
    wait_until(lambda: cartbus.mailed("first"), "the first mail", BACK_WITHIN_S)


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
    assert inside == ["address.key", "admin.key", "link.key", "webhook_demo"]
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
    wait_until(lambda: cartbus.mailed(cart), f"the mail after the kill of {name}", BACK_WITHIN_S)


@pytest.mark.parametrize("name", ["broker", "gateway", "intake", "sender@1"])
def test_what_hangs_is_started_again(cartbus, name):
    before = cartbus.pid(name)
    cartbus.machine.run("systemctl", "kill", "--signal=SIGSTOP", unit(name))
    wait_until(lambda: cartbus.pid(name) not in (0, before) and cartbus.ready([name]), f"{name} is started again", BACK_WITHIN_S)
    assert f"{unit(name)}: Watchdog timeout" in cartbus.machine.run("journalctl", "--no-pager", "-o", "cat").stdout
    cartbus.wait_ready()


def test_a_restart_of_everything_under_load_refuses_nobody(cartbus):
    over, answers = threading.Event(), []

    def storefront():
        while not over.is_set():
            try:
                answers.append(cartbus.post(f"load-{len(answers)}"))
            except OSError as error:
                answers.append(repr(error))

    poster = threading.Thread(target=storefront)
    poster.start()
    try:
        cartbus.machine.run("systemctl", "restart", "cartbus.target")
        cartbus.wait_ready()
    finally:
        over.set()
        poster.join()
    print(f"webhooks during the restart: {len(answers)}, of them not 200: {sum(answer != 200 for answer in answers)}")
    assert len(answers) > 1 and set(answers) == {200}


def test_what_is_stopped_stays_stopped_and_closes_its_door(cartbus):
    cartbus.machine.run("systemctl", "stop", "cartbus.target")
    with pytest.raises(ConnectionRefusedError):
        cartbus.post("nobody-there")
    assert not any(cartbus.ready([name]) for name in ALL)
    cartbus.machine.run("systemctl", "start", "cartbus.target")
    cartbus.wait_ready()
    assert cartbus.post("there-again") == 200


def test_a_machine_that_lost_its_power_comes_up_by_itself_and_has_lost_nothing(cartbus):
    assert cartbus.post("before-the-cut") == 200
    cartbus.machine.power_off()
    cartbus.machine.power_on()
    cartbus.wait_ready()
    wait_until(lambda: cartbus.mailed("before-the-cut"), "the mail of before the cut", BACK_WITHIN_S)
    mails = cartbus.mails()
    assert mails.count("To: first@example.com") == 1 and mails.count("To: before-the-cut@example.com") == 1
