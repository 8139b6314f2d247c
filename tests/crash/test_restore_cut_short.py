"""`cartbus restore`, ended or failed at every place where it touches the disk, the broker it starts for a new identity included.

One cart is mailed after the backup; only the sender's and the waiter's states know. After each bout the broker must either refuse
to start, or have the old log as it was, or the restored one with an identity of its own; then the restore is run again to its end,
and must know of that mail, whatever the bout had put aside by then.

By default a few points, drawn by the printed seed; --points=0 takes every point, both ways.
"""

import errno
import json
import os
import random
import shutil
import subprocess

import pytest

from cartbus_system import BUILD
from disk import Disk, Fault
from test_restore import keep, mailed_after_the_backup, system  # noqa: F401 (fixtures)

POINTS_SHARE = 0.5  # of --points
KINDS = (Fault("kill before", 0), Fault("fail", 0, errno.EIO), Fault("fail", 0, errno.ENOSPC, sticky=True))


class Bouts:
    def __init__(self, system, place):
        self.system, self.place = system, place
        self.state, self.before = system.folder / "state", place / "before"
        system.start("broker")
        self.old_log = self.log_id()
        shutil.copytree(self.state, self.before, symlinks=True, ignore=shutil.ignore_patterns("mail", "export"))

    def log_id(self):
        """Of the log that a broker serves; it is stopped again."""
        log = self.system.ask("status")["log"]
        self.system.stop("broker")
        return log

    def restore(self, disk=None):
        words = [str(BUILD / "bin" / "cartbus"), "restore", str(self.system.folder / "backup"), "--json",
                 "--config", str(self.system.config_path)]
        more = disk.environment() if disk else {}
        return subprocess.run(words, capture_output=True, text=True, timeout=60, env={**os.environ, **more})

    def bout(self, number, fault):
        """How many points the first restore had."""
        shutil.rmtree(self.state)
        shutil.copytree(self.before, self.state, symlinks=True)
        disk = Disk(self.state, self.place / f"disk-{number}")
        disk.arm(fault)
        done = self.restore(disk)
        assert disk.hits > 0 or fault.kind == "none", "it was never reached"
        points, struck = disk.points, disk.what
        disk.close()
        try:
            self.judge(done)
            self.judge_again()
        except (AssertionError, subprocess.TimeoutExpired) as wrong:
            raise AssertionError(f"{fault}: {struck}") from wrong
        return points

    def judge(self, done):
        """The broker starts only on a log that is whole and may be."""
        if (self.state / "restoring").exists():
            refused = self.system.program("broker")
            assert refused.returncode == 1 and "run cartbus restore again" in refused.stderr, refused.stderr
            assert done.returncode != 0
            return
        self.system.start("broker")
        begun = any(self.state.glob("before-restore-*/broker/CURRENT"))
        assert (self.log_id() != self.old_log) == begun

    def judge_again(self):
        """Nothing that was learnt is forgotten by a second run."""
        again = self.restore()
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout)["learnt"] == 1
        assert not (self.state / "restoring").exists()
        self.system.start("broker")
        assert self.log_id() != self.old_log


@pytest.fixture
def bouts(system, keep, tmp_path):  # noqa: F811
    mailed_after_the_backup(system, keep)
    return Bouts(system, tmp_path)


def test_a_restore_that_is_ended_anywhere_serves_nothing_and_forgets_nothing(bouts, request):
    option = request.config.getoption
    seed = option("--seed") or random.randrange(1 << 31)
    points, dice = bouts.bout(0, Fault("none", 0)), random.Random(seed)
    faults = [Fault(kind.kind, at, kind.error, kind.sticky) for at in range(1, points + 1) for kind in KINDS]
    if option("--points"):
        faults = dice.sample(faults, min(len(faults), round(option("--points") * POINTS_SHARE)))
    print(f"\nseed {seed}: {len(faults)} bouts, {points} points in a run")
    for number, fault in enumerate(faults, 1):
        bouts.bout(number, fault)
