"""`cartbus backup --erase`, ended or failed at every place where it touches the disk, the broker that serves the copy included.

The machine on which a shopper was erased is gone, and with it its list: what is left is a backup from before, which holds him, and a
later one beside it, which knows who was erased. After each bout the backup from before must be whole; then it is done again to its
end, and a search that decodes every file of it finds the shopper nowhere, and another one as before.

By default a few points, drawn by the printed seed; --points=0 takes every point, each way.
"""

import dataclasses
import errno
import json
import os
import random
import shutil
import subprocess

import pytest

from cartbus_system import BUILD, System, wait_until
from disk import Disk, Fault
from persons import Person, search

POINTS_SHARE = 0.09  # of --points
KINDS = (Fault("kill before", 0), Fault("kill after", 0), Fault("fail", 0, errno.EIO), Fault("fail", 0, errno.ENOSPC, sticky=True))
ADA, BOB = Person("a7f3c9d2e1"), Person("b0e8d6c4a2")


@pytest.fixture
def system():
    with System() as running:
        running.shop = running.add_shop("demo")
        running.start("broker", "gateway", "intake", "unsub")
        yield running


class Bouts:
    def __init__(self, system, place):
        self.system, self.place = system, place
        self.backup, self.pristine = place / "backups" / "before", place / "pristine"
        for person in (ADA, BOB):
            person.leave(system, person.cart)
        wait_until(lambda: len(system.log(topic="cart.state")) >= 2, "two carts")
        system.cartbus("backup", str(self.backup))
        shutil.copytree(self.backup, self.pristine)
        system.cartbus("erase", "demo", ADA.address, "--yes")
        system.cartbus("backup", str(place / "backups" / "later"))
        system.stop("unsub", "intake", "gateway", "broker")
        (system.folder / "state" / "erasures.json").unlink()

    def erase(self, disk=None):
        words = [str(BUILD / "bin" / "cartbus"), "backup", "--erase", str(self.backup), "--json", "--config", str(self.system.config_path)]
        more = disk.environment() if disk else {}
        return subprocess.run(words, capture_output=True, text=True, timeout=120, env={**os.environ, **more})

    def bout(self, number, fault):
        """How many points the first run had."""
        shutil.rmtree(self.backup)
        shutil.copytree(self.pristine, self.backup)
        disk = Disk(self.backup, self.place / f"disk-{number}")
        disk.arm(fault)
        done = self.erase(disk)
        points, struck = disk.points, disk.what
        if disk.hits == 0 and fault.kind != "none":
            assert points < fault.at, "it was never reached"
            fault = Fault("none", 0)  # runs differ in their number of points: this one was over before
        disk.close()
        try:
            self.judge(fault, done)
        except (AssertionError, subprocess.TimeoutExpired) as wrong:
            raise AssertionError(f"{fault}: {struck}\n{done.stderr}") from wrong
        return points

    def judge(self, fault, done):
        if fault.kind == "none":
            assert done.returncode == 0 and json.loads(done.stdout)["messages"] > 0, done.stderr
        self.system.cartbus("backup", "--verify", str(self.backup))
        again = self.erase()
        assert again.returncode == 0, again.stderr
        self.system.cartbus("backup", "--verify", str(self.backup))
        assert not search(self.backup, ADA) and search(self.backup, BOB).keys()
        assert sorted(path.name.split(".")[0] for path in self.backup.iterdir()) == ["backup", "broker", "erasures", "stops"]


@pytest.fixture
def bouts(system, tmp_path):
    return Bouts(system, tmp_path)


def test_a_backup_that_loses_somebody_is_whole_wherever_that_is_ended(bouts, request):
    option = request.config.getoption
    seed = option("--seed") or random.randrange(1 << 31)
    points, dice = bouts.bout(0, Fault("none", 0)), random.Random(seed)
    faults = [Fault(kind.kind, at, kind.error, kind.sticky) for at in range(1, points + 1) for kind in KINDS]
    if option("--points"):
        faults = dice.sample(faults, min(len(faults), round(option("--points") * POINTS_SHARE)))
    print(f"\nseed {seed}: {len(faults)} bouts, {points} points in a run")
    for number, fault in enumerate(faults, 1):
        bouts.bout(number, fault)


def test_a_file_of_the_log_that_cannot_be_deleted_keeps_nobody(bouts):
    first = Fault("fail", 1, errno.EIO, call="unlink", name=".sst")
    bouts.bout(1, first)
    bouts.bout(2, dataclasses.replace(first, sticky=True))
    shutil.rmtree(bouts.backup)
    shutil.copytree(bouts.pristine, bouts.backup)
    disk = Disk(bouts.backup, bouts.place / "disk-said")
    disk.arm(dataclasses.replace(first, sticky=True))
    done = bouts.erase(disk)
    disk.close()
    assert done.returncode == 1 and "could not be removed, and may hold who was erased" in done.stderr


def test_a_table_of_the_copy_that_cannot_be_written_anew_keeps_nobody(bouts):
    points = bouts.bout(0, Fault("none", 0))
    for at in (points // 3, points // 2):
        bouts.bout(at, Fault("fail", at, errno.EIO, call="write", name=".sst"))
