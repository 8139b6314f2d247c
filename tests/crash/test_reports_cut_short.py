"""The owner's night and his first Monday, with the processes killed around what they do: one file each, one mail each, or one that is named.

The real processes, a real mail server, and a disk that kills at a call; an hour of the shop is half a second.
"""

import collections
import csv
import datetime
import io
import json
import os
import signal
import time
import zoneinfo

import pytest

from cartbus_system import System, wait_until
from disk import Disk, Fault
from holding_proxy import HoldingProxy

RATE = 7200
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
STARTS = datetime.datetime(2026, 12, 6, 12, 0, tzinfo=BERLIN)  # a Sunday
SERVICES = ("broker", "mirror", "timer", "gateway", "intake", "exporter", "summarizer")
RULES = "Small carts (under 40 EUR): remind after 1 hour, then after 600. Medium carts: 1 hour, then 600. Big carts (over 150 EUR): 1 hour, then 600.\n"
# Four kills of one message at most: the fifth makes it a dead letter.
STRIKES = (("kill halfway", "write"), ("kill before", "rename"), ("kill after", "rename"), ("kill after", "fsync"))
OWNER, HELD_BEFORE, HELD_AFTER = "owner@shop.example", "before@shop.example", "after@shop.example"
PATIENCE_S = 60


class Struck:
    """A process whose disk kills it at one call after the other that makes a file with this in its name."""

    def __init__(self, system, place, name, file):
        self.system, self.name, self.file = system, name, file
        self.disk = Disk(system.folder / "state" / "export", place / name)
        self.left = list(STRIKES)
        self.arm()

    def arm(self):
        kind, call = self.left.pop(0)
        self.disk.arm(Fault(kind, at=self.disk.points + 1, call=call, name=self.file))

    def suffer(self):
        """All strikes, and a start after each; the last leaves it running, and nothing strikes any more."""
        while True:
            process = self.system.processes[self.name]
            wait_until(lambda: not process.running, f"{self.name} being killed", PATIENCE_S)
            assert process.popen.returncode == -signal.SIGKILL and self.disk.hits == 1, process.tail()
            self.arm() if self.left else self.disk.disarm()
            self.system.start(self.name, wait=False)  # the next strike may come before it is ready
            if not self.disk.armed:
                return


@pytest.fixture
def system(mail_server, tmp_path):
    now_us = int(time.time() * 1e6)
    proxy = HoldingProxy(mail_server.port)
    with System({"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": int(STARTS.timestamp() * 1e6)},
                 "mail": {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": proxy.port, "smtp-tls": "none"}}) as system:
        system.shop = system.add_shop("demo", rules=RULES, owner=OWNER, extra=f"[report]\nto = {HELD_BEFORE}\nto = {HELD_AFTER}")
        system.proxy = proxy
        system.export = system.folder / "state" / "export"
        system.exporter, system.summarizer = Struck(system, tmp_path, "exporter", ".csv"), Struck(system, tmp_path, "summarizer", "summary-")
        disks = {one.name: one.disk for one in (system.exporter, system.summarizer)}
        system.where = lambda name: ["env", *(f"{key}={value}" for key, value in disks[name].environment().items())] if name in disks else []
        proxy.begin({HELD_BEFORE: "data", HELD_AFTER: "dot"})
        system.start(*SERVICES)
        yield system
    proxy.close()


def said(system, topic):
    return [entry["message"] for entry in system.log(topic=topic)]


def leave_cart(system):
    at = datetime.datetime.fromtimestamp(system.now_s(), BERLIN)
    answer = system.post(system.shop.cart({
        "event": "changed", "cart": "c1", "email": "c1@mail.example", "currency": "EUR", "total": "89.70", "at": at.isoformat(),
        "recovery_url": "https://demo.example/r/c1", "items": [{"title": "Vase", "quantity": 3, "price": "29.90"}]}))
    assert answer.status == 200, answer.text
    row = wait_until(lambda: said(system, "cart.state"), "the cart's row")[0]
    return str(datetime.datetime.fromtimestamp(row.abandoned_us / 1e6, BERLIN).date())  # not the 6th if the start took long


def check_nights(system, day):
    """Each is told once, and the file of the cart's day is what the owner wants."""
    path = system.export / "demo" / f"{day}.csv"
    wait_until(path.exists, "the file of the cart's day", PATIENCE_S)
    (row,) = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
    assert "89.70" in row.values() and row["next_step"] and "/a/" in row["suppress_cart"] and "/a/" in row["unsubscribe"]
    wait_until(lambda: day in [done.day for done in said(system, "export.done")], "its record")
    days = collections.Counter(done.day for done in said(system, "export.done"))
    told = collections.Counter(audit.grounds.split(":")[0] for audit in said(system, "audit") if audit.action == "exported")
    assert set(days.values()) == {1} and told == days
    report = json.loads(system.cartbus("report", "demo", "--from", day, "--to", day, "--json").stdout)
    assert report["now"]["counts"]["seen"] == 1 and report["before"]["counts"]["seen"] == 0


def check_letters(system, mail_server):
    """One was held before its claim, one after its last byte; the third was not held. Then the process was killed."""
    wait_until(lambda: system.proxy.holding == {HELD_BEFORE, HELD_AFTER}, "both being held", PATIENCE_S)
    wait_until(lambda: len(said(system, "summary.mailed")) == 1, "the third being settled", PATIENCE_S)
    system.kill("summarizer")
    system.proxy.end()
    system.start("summarizer")
    ends = wait_until(lambda: len(said(system, "summary.mailed")) >= 3 and said(system, "summary.mailed"), "every outcome", PATIENCE_S)
    cart = system.proto()
    assert sorted(end.end for end in ends) == sorted([cart.SUMMARY_SENT, cart.SUMMARY_SENT, cart.SUMMARY_AMBIGUOUS])
    mails = wait_until(lambda: len(mail_server.mails()) >= 3 and mail_server.mails(), "the mails")
    assert collections.Counter(mail["To"] for mail in mails) == {OWNER: 1, HELD_BEFORE: 1, HELD_AFTER: 1}
    (alarm,) = [alarm for alarm in said(system, "alarm") if alarm.kind == "summary-not-mailed" and alarm.raised]
    assert "2026-11" in alarm.text and "may not have arrived" in alarm.text
    (named,) = [audit for audit in said(system, "audit") if audit.action == "summary_ambiguous"]
    assert "2026-11" in named.grounds
    assert mails[0]["Subject"] == "Demo: Warenkörbe, November 2026"
    assert "Warenkörbe gesehen" in mails[0].get_body(("plain",)).get_content() and "<td" in mails[0].get_body(("html",)).get_content()


def test_the_nightly_file_and_the_monthly_summary_come_once_whatever_is_killed_around_them(system, mail_server):
    day = leave_cart(system)
    system.exporter.suffer()
    check_nights(system, day)
    system.summarizer.suffer()
    check_letters(system, mail_server)
    (done,) = said(system, "summary.done")
    text = (system.export / "demo" / "summary-2026-11.txt").read_text()
    assert text == done.text and "Warenkörbe gesehen" in text
    left = [name for _, _, files in os.walk(system.export) for name in files if not name.endswith((".csv", ".txt"))]
    assert left == [] and not system.ask("dead.list")["dead"]
    for topic, local in (("tick.nightly", "2026-12-07 02:00"), ("tick.monthly", "2026-12-07 09:00")):
        due_us = said(system, topic)[0].due_us
        assert datetime.datetime.fromtimestamp(due_us / 1e6, BERLIN).strftime("%Y-%m-%d %H:%M") == local
