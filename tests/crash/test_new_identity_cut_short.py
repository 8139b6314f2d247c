"""`cartbus-broker --new-identity`, ended or failed at every place where it touches the disk.

The log has lost messages that were confirmed: an older copy of it was put back, or its end is gone. Wherever the command is ended, nothing
of the log or the side log is missing afterwards. A start then refuses and says what to do; or it serves the log under another identity,
claims no mail, and the side log of the old one lies beside it. The command may be run again, and then comes to its end.

By default a few points, drawn by the printed seed; --points=0 takes every point, each way.
"""

import errno
import os
import random
import shutil
import subprocess

import pytest

from cartbus_system import BUILD, System
from disk import Disk, Fault

POINTS_SHARE = 0.5  # of --points
KINDS = (Fault("kill before", 0), Fault("kill halfway", 0), Fault("fail", 0, errno.EIO), Fault("fail", 0, errno.ENOSPC, sticky=True))
REMEDIES = ("with cartbus restore", "a backup with cartbus restore DIR")


class Bouts:
    def __init__(self, system, place):
        self.system, self.place = system, place
        self.state, self.before = system.folder / "state", place / "before"
        system.add_shop("demo")
        self.number = 0

    def say(self, *commands):
        self.system.start("broker")
        for command in commands:
            self.system.cartbus(*command.split())
        self.log_id, seqs, _ = self.serving()
        return seqs

    def serving(self):
        """What a broker that is up serves; it is stopped again."""
        status, seqs = self.system.ask("status"), [entry["seq"] for entry in self.system.log()]
        self.system.stop("broker")
        return status["log"], seqs, status["claims_held"]

    def put_older_copy_back(self, *lost):
        """`lost`: the commands of which the log has nothing any more."""
        older = self.place / "older"
        self.seqs = self.say("shop mode demo live")
        shutil.copytree(self.state / "broker", older)
        assert len(self.say(*lost)) > len(self.seqs)
        witness = (self.state / "broker" / "witness").read_bytes()
        shutil.rmtree(self.state / "broker")
        older.rename(self.state / "broker")
        self.stops = (self.state / "sidelog" / "stops").read_bytes()
        return witness

    def begin(self):
        shutil.rmtree(self.state)
        shutil.copytree(self.before, self.state)

    def give_new_identity(self, disk=None):
        words = [str(BUILD / "bin" / "cartbus-broker"), "--new-identity", "--config", str(self.system.config_path)]
        more = disk.environment() if disk else {}
        return subprocess.run(words, capture_output=True, text=True, timeout=60, env={**os.environ, **more})

    def bout(self, fault):
        """The points that the command had."""
        self.begin()
        self.number += 1
        disk = Disk(self.state, self.place / f"disk-{self.number}", traces=True)
        disk.arm(fault)
        done = self.give_new_identity(disk)
        assert disk.hits > 0 or fault.kind == "none", "it was never reached"
        assert (done.returncode == 0) == (fault.kind == "none") or fault.kind == "fail", done.stderr
        points, struck = disk.traced(), disk.what
        disk.close()
        try:
            self.judge_files()
            self.judge_start(done)
            self.judge_again()
        except (AssertionError, subprocess.TimeoutExpired) as wrong:
            raise AssertionError(f"{fault}: {struck}\n{done.stderr}") from wrong
        return points

    def judge_files(self):
        """The side log of the log that it was lies under one name or the other, word for word."""
        found = [path.name for path in (self.state / "sidelog").iterdir() if path.read_bytes() == self.stops]
        assert found in (["stops"], [f"stops.of-{self.log_id}"]), found

    def judge_start(self, done):
        broker = self.system.start("broker", wait=False)
        try:
            broker.wait_ready()
        except AssertionError:
            assert done.returncode != 0 and any(words in broker.tail() for words in REMEDIES), broker.tail()
            return
        self.judge_served()

    def judge_again(self):
        again = self.give_new_identity()
        assert again.returncode == 0 and "cartbus restore --release" in again.stdout, again.stderr
        self.judge_files()
        self.system.start("broker")
        self.judge_served()

    def judge_served(self):
        log_id, seqs, claims_held = self.serving()
        assert log_id != self.log_id, "it serves the log that lost messages as the one that it was"
        assert seqs[:len(self.seqs)] == self.seqs and claims_held
        assert (self.state / "sidelog" / f"stops.of-{self.log_id}").read_bytes() == self.stops

    def every_point(self, request):
        option = request.config.getoption
        seed = option("--seed") or random.randrange(1 << 31)
        self.state.rename(self.before)
        self.state.mkdir()
        points, dice = self.bout(Fault("none", 0)), random.Random(seed)
        assert {"unlink", "rename", "fsync"} <= {call for _, call, _ in points}, points
        faults = [Fault(kind.kind, number, kind.error, kind.sticky) for number, _, _ in points for kind in KINDS]
        if option("--points"):
            faults = dice.sample(faults, min(len(faults), round(option("--points") * POINTS_SHARE)))
        print(f"\nseed {seed}: {len(faults)} bouts, {len(points)} points in a run")
        for fault in faults:
            self.bout(fault)


@pytest.fixture
def bouts(tmp_path):
    with System() as system:
        yield Bouts(system, tmp_path)


def test_an_older_copy_that_is_to_go_on_by_itself_loses_nothing_wherever_that_is_ended(bouts, request):
    bouts.put_older_copy_back("shop mode demo paused", "shop mode demo live")
    bouts.every_point(request)


def test_a_log_that_lost_its_end_is_served_as_the_one_that_it_was_by_nobody(bouts, request):
    """What it lost is in no side log either: only the witness beside the log tells."""
    witness = bouts.put_older_copy_back("shop secret demo --rotate")
    (bouts.state / "broker" / "witness").write_bytes(witness)
    bouts.every_point(request)
