"""cartbus on a machine (machine.py), as its admin and a storefront meet it: configured, with a shop, given carts, looked for mails."""

import contextlib
import hashlib
import hmac
import http.client
import json
import threading
import time

from machine import free_port, wait_until

SHOP = ["demo", "--time-zone", "Europe/Berlin", "--currency", "EUR", "--locale", "de-DE", "--title", "Blumen Huber",
        "--url", "https://shop.example", "--from", "Blumen Huber <shop@shop.example>", "--owner", "owner@shop.example"]
RULES = ("Small carts (under $40): remind after 10 minutes, then after 20 hours. Medium carts: 10 minutes, then 20 hours. "
         "Big carts (over $150): 10 minutes, then 20 hours.\nAt most one mail per shopper every 1 hour.\n")
TO_THE_INTERNET = {"sender@1", "mailin", "exporter", "summarizer", "mirror", "storefront", "monitor"}
ALL = ["broker", "gateway", "intake", "timer", "waiter", "unsub", *sorted(TO_THE_INTERNET)]
BACK_WITHIN_S = 60


def unit(name):
    return f"cartbus-{name}.service"


class Cartbus:
    def __init__(self, machine, rate=120):
        """`rate`: of the wall clock as cartbus sees it; with 120, ten minutes are five seconds."""
        self.machine = machine
        self.metrics_port = free_port()
        self.rate = rate
        self.began_us = int(time.time() * 1e6)
        day_us = 24 * 3600 * 10**6
        self.morning_us = self.began_us // day_us * day_us + 10 * 3600 * 10**6  # of today: whatever the hour of the test, mails go

    def configure(self):
        """Its one file is edited, before the first start."""
        self.machine.run("tee", "-a", "/etc/cartbus/cartbus.conf",
                         stdin=f"[clock]\nrate = {self.rate}\norigin-real-us = {self.began_us}\norigin-wall-us = {self.morning_us}\n"
                               f"[monitor]\nport = {self.metrics_port}\n")
        self.machine.shell("mkdir -p /etc/systemd/system/cartbus-monitor.service.d")
        self.machine.run("tee", "/etc/systemd/system/cartbus-monitor.service.d/port.conf",
                         stdin=f"[Service]\nSocketBindAllow=\nSocketBindAllow=ipv4:tcp:{self.metrics_port}\n")

    def add_shop(self):
        self.machine.run("cartbus", "shop", "add", *SHOP)
        self.machine.run("tee", "/etc/cartbus/shops/demo/rules.txt", stdin=RULES)
        self.machine.shell("systemctl restart cartbus-gateway")  # takes the shop's secret
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

    def stop_all(self):
        """systemctl waits for the units that it is told to stop, and not for those that stop with cartbus.target: a start that comes
        before them would take their stop back.
        """
        self.machine.run("systemctl", "stop", "cartbus.target")
        units = ["cartbus-gateway.socket", "cartbus-backup.timer", "cartbus-verify.timer", *map(unit, ALL)]
        wait_until(lambda: all(self.machine.show(name, "ActiveState")["ActiveState"] in ("inactive", "failed") for name in units),
                   "all has stopped", BACK_WITHIN_S)

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
        return self.morning_us + (time.time() * 1e6 - self.began_us) * self.rate

    @contextlib.contextmanager
    def storefront(self, name):
        """Leaves one cart after the other, NAME-0, NAME-1, ...; yields the list of their answers, each (status or error, seconds)."""
        over, answers = threading.Event(), []

        def leave_carts():
            while not over.is_set():
                began = time.monotonic()
                try:
                    answer = self.post(f"{name}-{len(answers)}")
                except OSError as error:
                    answer = repr(error)
                answers.append((answer, time.monotonic() - began))

        poster = threading.Thread(target=leave_carts)
        poster.start()
        try:
            yield answers
        finally:
            over.set()
            poster.join()

    def mailed(self):
        """To whom, for each mail."""
        return self.machine.shell("grep -rhsoP '^To: \\K.*' /var/lib/cartbus/mail/new || true").splitlines()

    def wait_mailed(self, *carts, within_s=BACK_WITHIN_S):
        """Each of these carts is mailed, once, and nobody is twice."""
        wait_until(lambda: {f"{cart}@example.com" for cart in carts} <= set(self.mailed()), f"the mails of {carts[:3]}", within_s)
        assert len(self.mailed()) == len(set(self.mailed()))
