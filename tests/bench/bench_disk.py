"""What carts leave on the disk: in the log and in each state, at first, past the age of raw messages, and past that of facts."""

import collections
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

from place import BUILD, Installation, free_port, report

CARTS, CONNECTIONS = 10_000, 32
MAILING_RATE, AGEING_RATE = 600, 20_000  # five hours between a cart's mails take half a minute; a day takes four seconds
RULES = "Small carts (under 40 EUR): 1 minute, then 5 hours. Medium carts: 1 minute, then 5 hours. Big carts (over 150 EUR): 1 minute, then 5 hours.\n"
DAY_US = 24 * 3600 * 10**6
RAW_DAYS, FACT_DAYS, BEYOND_DAYS = 30, 400, 4  # the clock is believed a day after it was set ahead; then ranges go, every four hours
FAMILIES = ("log.raw", "log.fact", "log.keep", "latest", "col", "idem")
ENDS_WITHIN_S = 300


class Ageing(Installation):
    """One whose clock is set ahead while it stands still."""

    def __init__(self, extra=""):
        self.metrics = free_port()
        super().__init__(f"[mail]\ntransport = null\n[monitor]\nport = {self.metrics}\n{extra}")
        self.basis = self.config.read_text()
        self.wall_us = int(time.time() * 1e6)
        self.began_us = self.wall_us

    def live(self, rate):
        """Starts it, with the clock where it stood."""
        self.rate, self.began_us = rate, int(time.time() * 1e6)
        self.config.write_text(f"{self.basis}[clock]\nrate = {rate}\norigin-real-us = {self.began_us}\norigin-wall-us = {self.wall_us}\n")
        self.process, _ = self.up()

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        self.wall_us = self.now_us()

    def now_us(self):
        return self.wall_us + int((time.time() * 1e6 - self.began_us) * self.rate)

    def post(self, secret, carts, prefix, stamp=None):
        stamp = stamp or f"@{self.rate},{self.began_us},{self.wall_us}"
        subprocess.run([BUILD / "bin" / "bench_webhooks", str(self.port), "bench", secret, str(carts), str(CONNECTIONS), stamp, prefix],
                       check=True, stdout=subprocess.DEVNULL)

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=10) as page:
            for line in page.read().decode().splitlines():
                if line.startswith(f"{name} "):
                    return float(line.rsplit(" ", 1)[1])
        return 0

    def wait_for(self, name, value):
        deadline = time.monotonic() + ENDS_WITHIN_S
        while (now := self.metric(name)) < value:
            if time.monotonic() > deadline:
                sys.exit(f"{name} is {now}, and not {value}, after {ENDS_WITHIN_S} s")
            time.sleep(0.5)

    def tables(self):
        """{family: bytes} of a backup, in which all is in tables; what was dropped has gone from them."""
        folder, sizes = self.folder / f"backup-{time.monotonic_ns()}", collections.Counter()
        self.cartbus("backup", folder)
        folder = next(folder.rglob("CURRENT")).parent
        for family in FAMILIES:
            run_tool("ldb", f"--db={folder}", f"--column_family={family}", "compact")
        for table in folder.glob("*.sst"):
            told = run_tool("sst_dump", f"--file={table}", "--command=none", "--show_properties")
            sizes[re.search(r"column family name: (\S+)", told)[1]] += table.stat().st_size
        return sizes

    def age(self, days):
        """Lets so many days pass, the last of them alive."""
        self.wall_us += (days - BEYOND_DAYS) * DAY_US
        self.live(AGEING_RATE)
        until_us = self.wall_us + 2 * BEYOND_DAYS * DAY_US
        while self.now_us() < until_us:
            if not self.metric("cartbus_broker_up"):
                sys.exit("the broker went away while its log grew old")
            time.sleep(0.5)

    def states(self):
        return {path.name: bytes_of(path) for path in (self.folder / "state").iterdir() if path.is_dir() and path.name != "broker"}


def run_tool(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def bytes_of(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())


def tell(place, phase):
    """And stops it: a state that is closed has its room cut to what is in it."""
    log = place.tables()
    for family in FAMILIES:
        report(f"disk.{phase}.{family}", f"{log[family] / CARTS:.0f}", "bytes/cart")
    report(f"disk.{phase}.log", f"{sum(log.values()) / CARTS:.0f}", "bytes/cart")
    place.stop()
    states = place.states()
    for name in sorted(states):
        report(f"disk.{phase}.state.{name}", f"{states[name] / CARTS:.0f}", "bytes/cart")
    report(f"disk.{phase}.states", f"{sum(states.values()) / CARTS:.0f}", "bytes/cart")


def run(long):
    """Each cart is left once, with one line, and mailed about twice."""
    with Ageing() as place:
        secret = place.add_shop(RULES)
        place.live(MAILING_RATE)
        place.cartbus("shop", "mode", "bench", "live")
        place.post(secret, CARTS, "carts")
        place.wait_for('cartbus_mails_total{outcome="sent"}', 2 * CARTS)
        tell(place, "mailed")
        place.age(RAW_DAYS + BEYOND_DAYS)
        tell(place, "after_raw")
        place.age(FACT_DAYS)
        tell(place, "after_facts")
    with Ageing() as place:
        secret = place.add_shop(RULES)
        place.live(1)
        place.post(secret, CARTS, "webhooks", "shopify")
        report("disk.webhook", f"{place.tables()['log.raw'] / CARTS:.0f}", "bytes/webhook")
