"""Mails whose files are synced together: each counts by itself, whatever happens to the others, or to the sender among them."""

import errno

import pytest

from cartbus_system import System, wait_until
from disk import Disk, Fault
from test_last_byte import leave_cart
from test_mail_moments import RULES, SERVICES, clock

CARTS = 24
SETTLE_WITHIN_S = 60
OUTCOMES = ("sent", "ambiguous", "refused", "skipped")


class Mailing:
    """A sender whose Maildir lies on a failing disk, and carts that are due at the same moment."""

    def __init__(self, system, disk, monkeypatch):
        self.system, self.disk, self.monkeypatch = system, disk, monkeypatch
        self.new = disk.folder / "new"

    def start_sender(self, dies=False):
        """`dies`: of what is armed, maybe before anybody has seen that it was ready."""
        with self.monkeypatch.context() as patch:
            for name, value in self.disk.environment().items():
                patch.setenv(name, value)
            self.system.start("sender", wait=not dies)

    def leave_carts(self, round_name):
        """Known to the sender all at once: it is started when they are due."""
        carts = {f"{round_name}-{number}" for number in range(CARTS)}
        for name in sorted(carts):
            leave_cart(self.system, name)
        wait_until(lambda: {entry["message"].cart.ids.cart_id for entry in self.system.log(topic="reminder.due")} >= carts, "the carts being due", 60)
        return carts

    def outcomes(self, carts):
        last = {}
        for kind in OUTCOMES:
            last.update({name: kind for entry in self.system.log(topic=f"reminder.{kind}") if (name := entry["message"].cart_id) in carts})
        return last

    def wait_for_outcomes(self, carts):
        wait_until(lambda: self.outcomes(carts).keys() == carts, "an outcome of every cart", SETTLE_WITHIN_S)
        return self.outcomes(carts)

    def files(self):
        """{address: [paths]} of what lies in new/."""
        found = {}
        for path in self.new.iterdir():
            to = next(line for line in path.read_text().splitlines() if line.startswith("To: "))
            found.setdefault(to.removeprefix("To: ").strip("<> "), []).append(path)
        return found

    def check_whole(self, path):
        """As it was when its own sync returned: nothing of it is only in memory."""
        synced = self.disk.shadow / "content" / str(path.stat().st_ino)
        assert synced.read_bytes() == path.read_bytes() != b"", path

    def check(self, carts, outcomes):
        files = self.files()
        for name in carts:
            paths = files.get(f"{name}@mail.example", [])
            assert len(paths) <= 1, f"{name} lies there twice"
            assert paths or outcomes[name] == "ambiguous", f"{name} is {outcomes[name]} and does not lie there"
            for path in paths:
                self.check_whole(path)


@pytest.fixture
def mailing(tmp_path, monkeypatch):
    with System({"clock": clock()}) as system:
        folder = system.folder / "state" / "mail"
        folder.mkdir(parents=True)
        disk = Disk(folder, tmp_path / "disk", keeps_shadow=True)
        system.shop = system.add_shop("demo", rules=RULES)
        system.start(*(name for name in SERVICES if name != "sender"))
        system.cartbus("shop", "mode", "demo", "live")
        yield Mailing(system, disk, monkeypatch)
        disk.close()


def test_every_mail_that_was_sent_was_synced_itself(mailing):
    carts = mailing.leave_carts("quiet")
    mailing.start_sender()
    outcomes = mailing.wait_for_outcomes(carts)
    assert set(outcomes.values()) == {"sent"}
    mailing.check(carts, outcomes)


@pytest.mark.parametrize("skipped", [0, 3, CARTS // 2])
def test_a_sync_that_fails_holds_back_its_own_mail_and_no_other(mailing, skipped):
    carts = mailing.leave_carts("failing")
    mailing.disk.arm(Fault("fail", at=mailing.disk.points + 1 + skipped, error=errno.EIO, call="fsync", name="tmp/"))
    mailing.start_sender()
    outcomes = mailing.wait_for_outcomes(carts)
    assert mailing.disk.hits == 1, "no sync failed"
    assert set(outcomes.values()) == {"sent"}
    assert len(mailing.system.log(topic="reminder.released")) <= 1
    mailing.check(carts, outcomes)


def test_a_sender_that_is_killed_among_them_neither_loses_nor_doubles_one(mailing):
    for call, skipped in (("sync_file_range", 0), ("sync_file_range", 5), ("fsync", 0), ("fsync", 4), ("fsync", 11)):
        for kind in ("kill before", "kill after"):
            carts = mailing.leave_carts(f"{call}-{skipped}-{kind.split()[1]}".replace("_", "-"))
            mailing.disk.arm(Fault(kind, at=mailing.disk.points + 1 + skipped, call=call, name="tmp/"))
            mailing.start_sender(dies=True)
            wait_until(lambda: not mailing.system.processes["sender"].running, f"a death {kind.split()[1]} {call}", 60)
            mailing.system.kill("sender")
            mailing.disk.disarm()
            mailing.start_sender()
            outcomes = mailing.wait_for_outcomes(carts)
            assert set(outcomes.values()) <= {"sent", "ambiguous"}, (call, skipped, kind)
            mailing.check(carts, outcomes)
            mailing.system.stop("sender")
