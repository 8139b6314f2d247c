"""Mails that could not be read are kept, counted, listed, shown, and read once more when the cause is gone."""

import os
import secrets
import subprocess
import time

import pytest

from cartbus_system import BUILD, wait_until
from lmtp_world import LmtpWorld, over_lmtp
from test_feedback import GONE, report

pytestmark = pytest.mark.xdist_group("aside")

NOTE = b"Subject: away\r\n\r\nI am away \x1b[2J until \xff Monday.\r\n"
MIB = 1024 * 1024


class World(LmtpWorld):
    def restart(self):
        self.system.stop("mailin")
        self.system.start("mailin")

    def aside(self):
        return {mail["name"]: mail for mail in self.system.cartbus("mailin", "list", json_output=True)["mails"]}

    def deliver(self, name, content):
        (self.maildir / "tmp" / name).write_bytes(content)
        (self.maildir / "tmp" / name).rename(self.maildir / "new" / name)

    def bounce(self, to):
        return report(to, GONE).as_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")

    def counts(self):
        sessions = self.system.cartbus("status", json_output=True, check=False)["sessions"]
        return next(session for session in sessions if session["service"] == "mailin")["counts"]


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "bounces")
    yield world
    world.close()


def test_a_state_that_cannot_be_listed_is_told(tmp_path):
    """Who may not look there is not told that no mail lies aside."""
    (tmp_path / "state").write_text("no folder")
    (tmp_path / "cartbus.conf").write_text(f"[paths]\nstate = {tmp_path}/state\n")
    words = [str(BUILD / "bin" / "cartbus"), "mailin", "list", "--config", str(tmp_path / "cartbus.conf")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and f"{tmp_path}/state" in done.stderr and not done.stdout, done.stderr


def test_what_could_not_be_read_is_listed_shown_and_read_when_the_cause_is_gone(world):
    system = world.system
    assert "no mail lies aside" in system.cartbus("mailin", "list").stdout
    assert over_lmtp(world.lmtp, NOTE).startswith("250")
    world.deliver("note", NOTE)
    key = system.secret("bounce.key")
    system.write_secret("bounce.key", secrets.token_hex(32))  # as where another host signs with another key
    world.restart()
    to = {name: world.shop.bounce_address(f"{name}@mail.example", "lmtp.example", key=key) for name in ("one", "two")}
    world.deliver("one", world.bounce(to["one"]))
    os.utime(world.maildir / "new" / "one", times=(time.time() - 3600,) * 2)
    wait_until(lambda: over_lmtp(world.lmtp, world.bounce("bounces@lmtp.example"), to=to["two"].encode()).startswith("250"),
               "the end of patience with a stranger", within_s=90, step_s=2)
    mails = wait_until(lambda: len(world.aside()) == 4 and world.aside(), "four mails aside", within_s=30)
    assert "no report" in mails["note"]["why"] and "never sent" in mails["one"]["why"]
    two = next(name for name, mail in mails.items() if "never sent" in mail["why"] and name != "one")
    assert two in system.cartbus("mailin", "list").stdout

    shown = system.cartbus("mailin", "show", "note").stdout
    assert "I am away ?[2J until ? Monday." in shown and "\x1b" not in shown
    assert "Action: failed" in system.cartbus("mailin", "show", two, json_output=True)["mail"]
    assert "mailin list" in system.cartbus("mailin", "show", "nobody", check=False).stderr
    assert system.cartbus("mailin", "retry", check=False).returncode == 2
    wait_until(lambda: world.counts().get("aside_mails") == 4, "the count", within_s=90)

    system.cartbus("mailin", "retry", two)  # nothing has changed
    wait_until(lambda: two in world.aside(), "it lies aside again")
    system.write_secret("bounce.key", key.decode())
    world.restart()
    assert system.cartbus("mailin", "retry", "--all", json_output=True)["retried"] == 4
    wait_until(lambda: world.listed("one@mail.example") and world.listed("two@mail.example"), "both suppressions", within_s=30)
    wait_until(lambda: len(world.aside()) == 2, "the notes aside again", within_s=30)
    wait_until(lambda: not any((world.maildir / "retry").iterdir()) and not any((system.folder / "state" / "mailin" / "retry").iterdir()),
               "the end of those that were read", within_s=30)


def test_no_mail_goes_to_make_room_and_what_has_none_stays_where_it_was(world):
    system = world.system
    for number in range(300):
        world.deliver(f"note-{number}", NOTE)
    wait_until(lambda: len(world.aside()) == 300, "all of them aside", within_s=60)
    for folder in (world.maildir, system.folder / "state" / "mailin"):
        (folder / "aside").mkdir(exist_ok=True)
        with open(folder / "aside" / "large", "wb") as file:
            file.truncate(64 * MIB)
    world.restart()
    assert over_lmtp(world.lmtp, NOTE).startswith("452 4.3.1")
    world.deliver("note-more", NOTE)
    world.deliver("good", world.bounce(world.shop.bounce_address("good@mail.example", "lmtp.example")))
    wait_until(lambda: world.listed("good@mail.example"), "the good bounce", within_s=30)
    to = world.shop.bounce_address("better@mail.example", "lmtp.example")
    assert over_lmtp(world.lmtp, world.bounce(to), to=to.encode()).startswith("250")
    wait_until(lambda: "aside/ is full" in system.processes["mailin"].log_path.read_text(), "the word that it is full")
    assert (world.maildir / "new" / "note-more").exists()
    wait_until(lambda: world.counts().get("aside_full") == 1, "the count", within_s=30)
    (world.maildir / "aside" / "large").unlink()
    wait_until(lambda: not (world.maildir / "new" / "note-more").exists(), "room again", within_s=90)
    assert len(world.aside()) == 302
