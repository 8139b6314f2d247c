"""What the broker may take while others take too little: its memory stays bounded, and who is well behaved is not slowed.

On the release build (memory under a sanitizer says nothing): $CARTBUS_RELEASE, or build beside the sources.
CARTBUS_BACKLOG=10000000 in the environment makes the backlog as large as is promised.
"""

import os
import pathlib
import signal
import subprocess
import tempfile
import threading

import pytest

from cartbus_system import SOURCES, end_with_parent

BIN = pathlib.Path(os.environ.get("CARTBUS_RELEASE", SOURCES / "build")).resolve() / "bin"
BACKLOG = int(os.environ.get("CARTBUS_BACKLOG", "300000"))
BEFORE = 60_000
PSS_MOST_MB = 256
ASKED_OF_THE_RATE = 0.4  # messages in a second of the broker's CPU: the stopped, the slow and the deaf cost something, but never all
TICKS = os.sysconf("SC_CLK_TCK")


class Flooded:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.config = self.folder / "cartbus.conf"
        self.running = []
        topology = self.folder / "topology.conf"
        topology.write_text(subprocess.run([BIN / "cartbus-test-flood", "manifest"], text=True, check=True,
                                           capture_output=True).stdout)
        self.config.write_text("[paths]\n" + "".join(f"{name} = {folder}/{name}\n" for name in ("state", "run", "shops", "secrets"))
                               + f"[broker]\ntopology = {topology}\n")
        self.broker = self.spawn(BIN / "cartbus-broker", "--config", self.config, stderr=subprocess.PIPE)
        assert "ready" in self.broker.stderr.readline()

    def spawn(self, *command, **options):
        process = subprocess.Popen([str(word) for word in command], text=True, preexec_fn=end_with_parent, **options)
        self.running.append(process)
        return process

    def peer(self, *words):
        """One that goes on; answers when it has said its first word."""
        process = self.spawn(BIN / "cartbus-test-flood", self.config, *words, stdout=subprocess.PIPE)
        assert process.stdout.readline().strip() in ("ready", "said")
        return process

    def say(self, count):
        """Messages per second of the broker's CPU, whoever else runs on this machine; its highest memory meanwhile."""
        used_s = self.cpu_s()
        said = self.spawn(BIN / "cartbus-test-flood", self.config, "say", count, stdout=subprocess.PIPE)
        most_mb, done = 0, threading.Event()
        threading.Thread(target=lambda: (said.wait(), done.set()), daemon=True).start()
        while not done.wait(0.1):
            most_mb = max(most_mb, self.pss_mb())
        assert said.returncode == 0
        return count / (self.cpu_s() - used_s), most_mb

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.broker.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def pss_mb(self):
        rollup = pathlib.Path(f"/proc/{self.broker.pid}/smaps_rollup").read_text()
        return int(rollup.split("\nPss:")[1].split()[0]) / 1024

    def end(self):
        for process in reversed(self.running):
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.fixture
def flooded():
    assert (BIN / "cartbus-test-flood").exists(), f"the release build is missing in {BIN}: tests/run release builds it"
    with tempfile.TemporaryDirectory(prefix="cartbus-limits-") as folder:
        flooded = Flooded(folder)
        yield flooded
        flooded.end()


def test_who_takes_too_little_costs_neither_memory_nor_the_others(flooded):
    hearer = flooded.peer("hear", 2 * BEFORE + BACKLOG)
    flooded.say(BEFORE)  # whatever is slow only once
    before, _ = flooded.say(BEFORE)
    flooded.peer("slow")
    os.kill(flooded.peer("slow").pid, signal.SIGSTOP)  # dead, and nobody has said so
    tap = flooded.spawn(BIN / "cartbus", "tap", "--json", "--config", flooded.config, stdout=subprocess.DEVNULL)
    os.kill(tap.pid, signal.SIGSTOP)
    flooded.peer("deaf", 20_000)
    after, most_mb = flooded.say(BACKLOG)  # the slow ones' queue keeps nearly all of it
    assert hearer.stdout.readline().strip() == "heard"
    print(f"limits: {before:.0f} messages per second of CPU before, {after:.0f} after; the broker took {most_mb:.0f} MB at most")
    assert most_mb < PSS_MOST_MB
    assert after >= ASKED_OF_THE_RATE * before
    assert flooded.broker.poll() is None
