"""A shop whose carts are mailed after a minute of its clock, which is a second; what the tap tells of it."""

import json
import subprocess
import sys
import threading
import time

from place import BUILD, Installation

RATE = 60  # of the carts' clock: the wait of a minute takes a second


class Mailing(Installation):
    """Given `carts` by post(), mails them."""

    def __init__(self, extra=""):
        self.origin_us = int(time.time() * 1e6)
        super().__init__(f"[clock]\nrate = {RATE}\norigin-real-us = {self.origin_us}\norigin-wall-us = {self.origin_us}\n{extra}")
        self.late_ms, self.sent = [], 0
        self.changed = threading.Condition()

    def start(self, listen=True):
        self.secret = self.add_shop("Small carts (under 40 EUR): 1 minute, then 20 days. Medium carts: 1 minute, then 20 "
                                    "days. Big carts (over 150 EUR): 1 minute, then 20 days.\n")
        supervisor, _ = self.up()
        self.cartbus("shop", "mode", "bench", "live")
        if not listen:
            return supervisor
        tap = self.spawn(BUILD / "bin" / "cartbus", "tap", "--json", "--config", self.config, stdout=subprocess.PIPE)
        threading.Thread(target=self.hear, args=(tap,), daemon=True).start()
        return supervisor

    def hear(self, tap):
        for line in tap.stdout:
            said = json.loads(line)
            with self.changed:
                if said["topic"] == "timer.fired":
                    self.late_ms.append((said["payload"]["fired_us"] - said["payload"]["due_us"]) / 1000 / RATE)
                self.sent += said["topic"] == "reminder.sent"
                self.changed.notify_all()

    def post(self, carts, connections, prefix="carts"):
        subprocess.run([BUILD / "bin" / "bench_webhooks", str(self.port), "bench", self.secret, str(carts), str(connections),
                        f"@{RATE},{self.origin_us},{self.origin_us}", prefix], check=True, stdout=subprocess.DEVNULL)

    def wait_for_mails(self, carts):
        """The tap may miss messages; the files are what counts."""
        def mails():
            return len(list((self.folder / "state" / "mail" / "new").glob("*")))
        deadline = time.monotonic() + 300
        with self.changed:
            while self.sent < carts and mails() < carts:
                self.changed.wait(0.05)
                if time.monotonic() > deadline:
                    sys.exit(f"only {mails()} of {carts} carts were mailed within 300 s")


