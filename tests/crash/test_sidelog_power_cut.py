"""The side log under a broker that is killed, or whose disk fails or loses its power, at its own writes and syncs.

Each stop that was confirmed must be in it afterwards, whatever else is gone, and it must hold nothing that the log does not.
"""

import errno
import os
import random
import re
import signal
import subprocess

import pytest

from cartbus_system import BUILD, System, end_with_parent, wait_until
from disk import Disk, Fault
from test_restore_stops import records

SAID_MOST = 12
FAULTS = [Fault("kill before", 0, call="write"), Fault("kill after", 0, call="write"), Fault("kill halfway", 0, call="write"),
          Fault("kill before", 0, call="fdatasync"), Fault("kill after", 0, call="fdatasync"),
          Fault("fail", 0, errno.EIO, call="fdatasync"), Fault("fail", 0, errno.ENOSPC, call="write")]


class Bout:
    def __init__(self, place):
        self.system, self.place = System(), place
        self.system.add_shop("demo")
        self.state, self.log = self.system.folder / "state", place / "broker.log"
        (self.state / "sidelog").mkdir(mode=0o700)
        self.disk = Disk(self.state / "sidelog", place / "disk", keeps_shadow=True)
        self.broker, self.confirmed = None, []

    def start(self):
        command = [str(BUILD / "bin" / "cartbus-broker"), "--config", str(self.system.config_path)]
        with open(self.log, "wb") as log:
            self.broker = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent,
                                           env={**os.environ, **self.disk.environment()})
        wait_until(lambda: b"ready log=" in self.log.read_bytes() or self.broker.poll() is not None, "the broker", 60, step_s=0.005)

    def say(self, most):
        """Stops and ends of stops, one after the other, as long as the broker lives."""
        for number in range(most):
            if self.broker.poll() is not None:
                return
            mode = "paused" if number % 2 else "live"
            done = subprocess.run([str(BUILD / "bin" / "cartbus"), "shop", "mode", "demo", mode, "--json", "--config",
                                   str(self.system.config_path)], capture_output=True, text=True, timeout=60)
            if done.returncode == 0:
                self.confirmed.append(int(done.stdout.split('"seq":')[1].rstrip("}\n")))

    def stop(self):
        if self.broker.poll() is None:
            self.broker.terminate()
        self.broker.wait(30)

    def judge(self):
        stops = self.state / "sidelog" / "stops"
        held = records(stops) if stops.exists() else []
        missing = set(self.confirmed) - set(held)
        assert not missing, f"confirmed, and not in the side log: {missing}; it holds {held}"
        self.disk.disarm()
        self.start()
        assert self.broker.poll() is None, self.log.read_text()
        in_log = [entry["seq"] for entry in self.system.log(topic="shop.status")]
        self.stop()
        assert set(self.confirmed) <= set(in_log) and records(stops) == in_log

    def close(self):
        self.stop()
        self.disk.close()
        self.system.close()


@pytest.mark.parametrize("fault, cuts", [(fault, False) for fault in FAULTS] + [(fault, True) for fault in FAULTS[1:6:2]])
def test_no_confirmed_stop_leaves_the_side_log(tmp_path, request, fault, cuts):
    seed = request.config.getoption("--seed") or random.randrange(1 << 31)
    dice = random.Random(seed)
    print(f"\nseed {seed}")
    bout = Bout(tmp_path)
    try:
        bout.start()
        bout.say(2)
        bout.disk.arm(Fault(fault.kind, bout.disk.points + dice.randrange(1, 9), fault.error, call=fault.call, name="stops"))
        bout.say(SAID_MOST)
        assert bout.disk.hits > 0, "it was never reached"
        bout.stop()
        assert bout.broker.returncode != 0, "it went on without its side log"
        if cuts:
            bout.disk.cut_power()
        bout.judge()
    finally:
        bout.close()


def test_a_side_log_that_was_put_away_is_so_when_the_power_comes_back(tmp_path):
    bout = Bout(tmp_path)
    try:
        bout.start()
        bout.say(2)
        bout.stop()
        folder = bout.state / "sidelog"
        whole = (folder / "stops").read_bytes()
        done = subprocess.run([str(BUILD / "bin" / "cartbus-broker"), "--new-identity", "--config", str(bout.system.config_path)],
                              capture_output=True, text=True, timeout=60, env={**os.environ, **bout.disk.environment()})
        assert done.returncode == 0, done.stderr
        bout.disk.cut_power()
        log_id = re.search(r" was (\w+) and is ", done.stdout).group(1)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {f"stops.of-{log_id}": whole}
    finally:
        bout.close()


def aside(folder):
    return [path.read_bytes() for path in folder.glob("stops.damaged*")]


def test_a_damaged_side_log_is_kept_wherever_the_start_that_puts_it_aside_is_ended(tmp_path):
    bout = Bout(tmp_path)
    try:
        bout.start()
        bout.say(4)
        bout.stop()
        folder = bout.state / "sidelog"
        damaged = bytearray((folder / "stops").read_bytes())
        damaged[len(damaged) // 2] ^= 1

        def begin_damaged():
            for path in folder.iterdir():
                path.unlink()
            (folder / "stops").write_bytes(damaged)

        begin_damaged()
        bout.disk = Disk(folder, tmp_path / "counts", traces=True)
        bout.start()
        bout.stop()
        points = bout.disk.traced()
        assert {call for _, call, _ in points} >= {"write", "rename", "fsync"}, points
        for number, call, name in points:
            begin_damaged()
            bout.disk.disarm()
            bout.disk.arm(Fault("kill halfway" if call == "write" else "kill before", at=bout.disk.points + number))
            bout.start()
            bout.stop()
            assert bout.broker.returncode == -signal.SIGKILL, (call, name)
            bout.disk.disarm()
            bout.start()
            in_log = [entry["seq"] for entry in bout.system.log(topic="shop.status")]
            bout.stop()
            assert aside(folder) == [damaged], (call, name)
            assert records(folder / "stops") == in_log == bout.confirmed, (call, name)
    finally:
        bout.close()
