"""The broker's host is lost: how long until all goes on from the newest backup, on a machine that has nothing but it and the configuration."""

import shutil
import time

from mailing import Mailing
from place import report

MESSAGES, MESSAGES_LONG = 100_000, 1_000_000
CARTS_AT_ONCE, CONNECTIONS = 5_000, 32


def timed(name, act):
    began = time.monotonic()
    act()
    report(f"recovery.{name}", f"{time.monotonic() - began:.1f}", "s")


def recover(size, messages):
    with Mailing("[mail]\ntransport = null\n") as place:
        supervisor, rounds = place.start(), 0
        while (reached := place.head()) < messages:
            place.post(CARTS_AT_ONCE, CONNECTIONS, f"carts{rounds}")
            rounds += 1
        copy = place.folder / "copy"
        timed(f"{size}.backup", lambda: place.cartbus("backup", str(copy)))
        supervisor.terminate()
        supervisor.wait(60)
        shutil.rmtree(place.folder / "state")
        (place.folder / "state").mkdir(mode=0o750)
        report(f"recovery.{size}.log", reached, "messages")
        report(f"recovery.{size}.size", f"{sum(path.stat().st_size for path in copy.rglob('*') if path.is_file()) / 1e6:.0f}", "MB")
        timed(f"{size}.restore", lambda: place.cartbus("restore", str(copy)))
        timed(f"{size}.start", place.up)  # until each service has folded all of the log that it remembers
        timed(f"{size}.release", lambda: place.cartbus("restore", "--release", "--unlearnt"))


def run(long):
    """The log's messages are those of carts that were told, decided on and mailed to nowhere, all of them a minute old."""
    recover("log_100k", MESSAGES)
    if long:
        recover("log_1m", MESSAGES_LONG)
