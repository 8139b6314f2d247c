"""A shop whose carts are mailed after a minute of its clock, which is a second: with consent, quiet hours (not now) and a window."""

import datetime
import os
import subprocess
import sys
import time
import zoneinfo

from place import BUILD, Installation

RATE = 60  # of the carts' clock: the wait of a minute takes a second


class Mailing(Installation):
    """Given `carts` by post(), mails them."""

    def __init__(self, extra="", build=BUILD):
        self.origin_us = int(time.time() * 1e6)
        super().__init__(f"[clock]\nrate = {RATE}\norigin-real-us = {self.origin_us}\norigin-wall-us = {self.origin_us}\n{extra}", build)

    def start(self):
        quiet = (datetime.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin")).hour + 12) % 24
        self.secret = self.add_shop("Small carts (under 40 EUR): 1 minute, then 20 days. Medium carts: 1 minute, then 20 "
                                    "days. Big carts (over 150 EUR): 1 minute, then 20 days.\n"
                                    f"Quiet hours: {quiet}:00 to {(quiet + 1) % 24}:00. At most one mail per shopper every 24 hours.\n")
        with open(self.folder / "shops" / "bench" / "shop.conf", "a") as conf:
            conf.write("[mail]\nconsent = marketing\n")
        supervisor, _ = self.up()
        self.cartbus("shop", "mode", "bench", "live")
        return supervisor

    def post(self, carts, connections, prefix="carts"):
        subprocess.run([BUILD / "bin" / "bench_webhooks", str(self.port), "bench", self.secret, str(carts), str(connections),
                        f"@{RATE},{self.origin_us},{self.origin_us}", prefix], check=True, stdout=subprocess.DEVNULL)

    def wait_for_mails(self, carts):
        """Answers when the last one was put into the folder. To count them takes time from those who are measured: so seldom."""
        folder = self.folder / "state" / "mail" / "new"
        deadline = time.monotonic() + 300
        while (mails := len(os.listdir(folder))) < carts:
            if time.monotonic() > deadline:
                sys.exit(f"only {mails} of {carts} carts were mailed within 300 s")
            time.sleep(0.25)
        return folder.stat().st_mtime


