"""The console with many carts: how fast its pages are, what it takes, how late live values are."""

import http.client
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import time

from place import BUILD, ROOT, RULES, Installation, free_port, pss_mb, report

sys.path[:0] = [str(ROOT / "tests" / "console")]
from visitor import PASSWORD, Visitor  # noqa: E402  (found through the path above)

CARTS, SHOPS = 100_000, 10
CARTS_LONG, SHOPS_LONG = 1_000_000, 100
ROUNDS = 60
LIVE = 20


class Console(Installation):
    """The broker, the mirror for the shops' texts, and the console."""

    def __init__(self, shops):
        self.console_port = free_port()
        super().__init__(f"[console]\nport = {self.console_port}\npublic-url = http://127.0.0.1:{self.console_port}\n")
        for number in range(shops):
            folder = self.folder / "shops" / f"shop-{number}"
            folder.mkdir()
            (folder / "rules.txt").write_text(RULES)
            (folder / "shop.conf").write_text(
                f"[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Shop {number}\nurl = https://shop{number}.example\n"
                f"[mail]\nfrom = Shop <shop@shop{number}.example>\n")
        (self.folder / "secrets" / "address.key").touch(mode=0o600)
        (self.folder / "secrets" / "address.key").write_text("ab" * 32)
        self.ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.ready.bind(str(self.folder / "ready"))
        self.ready.settimeout(900)
        for name in ("broker", "mirror", "console"):
            self.console = self.start(name)

    def start(self, name):
        started = self.spawn(BUILD / "bin" / f"cartbus-{name}", "--config", self.config, stderr=open(self.folder / f"{name}.log", "a"),
                             env={**os.environ, "NOTIFY_SOCKET": str(self.folder / "ready")})
        while b"READY=1" not in self.ready.recv(4096):
            pass
        return started

    def carts(self, *words):
        done = subprocess.run([BUILD / "bin" / "bench_carts", self.config, *map(str, words)], text=True, check=True, stdout=subprocess.PIPE)
        return dict(line.split() for line in done.stdout.splitlines())

    def visitor(self):
        link = json.loads(self.cartbus("console", "link", "--json"))["link"]
        return Visitor(self.console_port).enter(link, "ada", PASSWORD)

    def folded(self):
        """How far the console has folded the log."""
        status = subprocess.run([BUILD / "bin" / "cartbus", "status", "--json", "--config", self.config], capture_output=True, text=True).stdout
        session = next(one for one in json.loads(status)["sessions"] if one["instance"] == "console")
        return session["lag"] == 0


def p95_ms(times):
    return sorted(times)[int(len(times) * 0.95)] * 1000


def timed(visitor, path):
    began = time.monotonic()
    page = visitor.get(path)
    assert page.status == 200, (path, page.status)
    return time.monotonic() - began


def pages(place, visitor, shops):
    chance = random.Random(8)
    paths = {"today": "", "carts": "carts", "waiting": "carts?state=waiting", "amount": "carts?least=100.00&most=120.00", "old": "carts?to=2026-01-01"}
    worst = 0.0
    for name, path in paths.items():
        times = [timed(visitor, f"/s/shop-{chance.randrange(shops)}/{path}") for _ in range(ROUNDS)]
        report(f"console.page.{name}_p95", f"{p95_ms(times):.1f}", "ms")
        worst = max(worst, p95_ms(times))
    cart = json.loads(visitor.get("/s/shop-0/carts.json").text)["items"][0]["cart"]
    times = [timed(visitor, f"/s/shop-0/carts/{cart}") for _ in range(ROUNDS)]
    report("console.page.cart_p95", f"{p95_ms(times):.1f}", "ms")
    report("console.page_p95", f"{max(worst, p95_ms(times)):.1f}", "ms")


def searches(visitor, carts, shops):
    chance = random.Random(9)
    page, times = visitor.get("/s/shop-0/"), []
    for _ in range(ROUNDS):
        number = chance.randrange(carts)
        began = time.monotonic()
        answer = visitor.press(page, "/s/shop-0/find", q=f"token-{number - number % shops}")
        times.append(time.monotonic() - began)
        assert answer.status == 303, answer.text
    report("console.search_p95", f"{p95_ms(times):.1f}", "ms")


def live_lag(place, visitor, carts, shops):
    """From a cart that is said to the figure on a page that is open."""
    connection = http.client.HTTPConnection("127.0.0.1", place.console_port, timeout=30)
    cookies = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    connection.request("GET", "/live?of=/s/shop-0/", headers={"Cookie": cookies, "Accept": "text/event-stream"})
    stream = connection.getresponse()
    lags = []

    def wait_for(key):
        while True:
            line = stream.readline().decode()
            if line.startswith("data: ") and key in json.loads(line[6:])["values"]:
                return time.monotonic()

    wait_for("figures.left.now")
    for number in range(LIVE):
        began = time.monotonic()
        place.carts(1, 1, carts + number)  # of shop-0
        lags.append(wait_for("figures.left.now") - began)
    report("console.live_lag", f"{max(lags):.2f}", "s")
    connection.close()


def run(long):
    carts, shops = (CARTS_LONG, SHOPS_LONG) if long else (CARTS, SHOPS)
    with Console(shops) as place:
        visitor = place.visitor()
        said = place.carts(carts, shops)
        began = time.monotonic()
        report("console.say_rate", said["say_rate"], "carts/s")
        while True:
            if place.folded():
                break
            time.sleep(0.2)  # between two polls
        report("console.fold_behind", f"{time.monotonic() - began:.1f}", "s")
        report("console.carts", carts, "carts")
        pages(place, visitor, shops)
        searches(visitor, carts, shops)
        live_lag(place, visitor, carts, shops)
        report("console.pss", f"{pss_mb([place.console.pid]):.1f}", "MB")
        state = place.folder / "state" / "console"
        report("console.disk", f"{sum(path.stat().st_size for path in pathlib.Path(state).rglob('*') if path.is_file()) / 1e6:.0f}", "MB")
