"""`cartbus mailin retry`, and the mailin that reads what it moved, killed at each of their calls: no mail is lost, none is counted twice."""

import os
import secrets
import signal
import subprocess
import time

import pytest

from cartbus_system import BUILD, System, wait_until
from disk import Disk, Fault
from test_feedback import GONE, report

MAILS = ("one", "two", "three")


class Watched(System):
    """mailin's disk may fail; the others' never does."""

    disk = None

    def where(self, name):
        if name != "mailin" or not self.disk:
            return []
        return ["env", *(f"{key}={value}" for key, value in self.disk.environment().items())]


class World:
    """Bounces that lie aside because they were signed with another key, which is now known."""

    def __init__(self, folder):
        self.folder, self.maildir = folder, folder / "bounces"
        for part in ("new", "cur", "tmp"):
            (self.maildir / part).mkdir(parents=True)
        self.system = Watched({"mailin": {"folder": self.maildir}})
        self.shop = self.system.add_shop("demo")
        conf = self.system.folder / "shops" / "demo" / "shop.conf"
        conf.write_text("".join("bounce = bounces+*@demo.example\n" if line.startswith("bounce") else line
                                for line in conf.read_text().splitlines(keepends=True)))
        self.mails = {name: report(self.shop.bounce_address(f"{name}@mail.example", "demo.example"), GONE).as_bytes() for name in MAILS}
        self.system.start("broker", "mirror", "unsub")
        wait_until(lambda: self.system.log(topic="document"), "the shop's document")
        key = self.system.secret("bounce.key")
        self.system.write_secret("bounce.key", secrets.token_hex(32))
        self.system.start("mailin")
        for name, mail in self.mails.items():
            (self.maildir / "tmp" / name).write_bytes(mail)
            os.utime(self.maildir / "tmp" / name, times=(time.time() - 3600,) * 2)  # nobody waits for news of it
            (self.maildir / "tmp" / name).rename(self.maildir / "new" / name)
        wait_until(lambda: self.lie_in("aside") == set(MAILS), "all of them aside")
        self.system.stop("mailin")
        self.system.write_secret("bounce.key", key.decode())

    def lie_in(self, part):
        return {path.name for path in (self.maildir / part).iterdir()}

    def retry(self, disk=None):
        words = [BUILD / "bin" / "cartbus", "mailin", "retry", "--all", "--config", self.system.config_path]
        return subprocess.run(words, env={**os.environ, **(disk.environment() if disk else {})}, capture_output=True, text=True, timeout=60)

    def told(self):
        """Whom bounces were told of, each time."""
        return sorted(entry["message"].address_hash for entry in self.system.log(topic="mail.feedback"))

    def check_that_all_are_read_once(self):
        wait_until(lambda: not self.lie_in("retry"), "all are read", within_s=60)
        assert not self.lie_in("aside")
        assert self.told() == sorted(self.shop.address_hash(f"{name}@mail.example") for name in MAILS)
        assert len(self.system.log(topic="suppression")) == len(MAILS)

    def put_back(self):
        for name in self.lie_in("retry"):
            (self.maildir / "retry" / name).rename(self.maildir / "aside" / name)

    def close(self):
        self.system.close()


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.close()


def test_a_retry_that_is_killed_anywhere_leaves_each_mail_in_one_place(world, tmp_path):
    counted = Disk(world.maildir / "retry", tmp_path / "count", traces=True)
    assert world.retry(counted).returncode == 0
    points, disk = counted.traced(), Disk(world.maildir / "retry", tmp_path / "disk")
    assert [call for _, call, _ in points] == ["rename", "fsync"] * len(MAILS), points
    for kind in ("kill before", "kill after"):
        for number, call, name in points:
            world.put_back()
            disk.arm(Fault(kind, at=disk.points + number))
            assert world.retry(disk).returncode == -signal.SIGKILL, (kind, call, name)
            aside, again = world.lie_in("aside"), world.lie_in("retry")
            assert aside | again == set(MAILS) and not aside & again, (kind, call, name)
            assert all((world.maildir / ("aside" if mail in aside else "retry") / mail).read_bytes() == world.mails[mail] for mail in MAILS)
    disk.disarm()
    world.system.start("mailin")
    assert world.retry().returncode == 0
    world.check_that_all_are_read_once()


def test_a_mailin_that_is_killed_over_what_is_to_be_read_again_tells_each_once(world, tmp_path):
    """At each call that deletes a mail or its note; that comes behind the broker's word that it has what the mail says."""
    disk = world.system.disk = Disk(world.maildir, tmp_path / "disk", traces=True)
    assert world.retry().returncode == 0
    lives, last = 0, 0
    while world.lie_in("retry"):
        disk.arm(Fault("kill before" if lives % 2 else "kill after", at=disk.points + 1, call="unlink"))
        mailin = world.system.start("mailin", wait=False)
        wait_until(lambda: not mailin.running or not world.lie_in("retry"), "its end", within_s=60)
        assert mailin.running or mailin.popen.returncode == -signal.SIGKILL, mailin.tail()
        lives, last = lives + 1, disk.points
        assert lives < 40
        world.system.kill("mailin")
    assert lives >= len(MAILS) and disk.hits > 0, (lives, last)
    disk.disarm()
    world.system.start("mailin")
    assert world.retry().returncode == 0
    world.check_that_all_are_read_once()
