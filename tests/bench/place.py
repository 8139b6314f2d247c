"""What every bench stands on: a folder with a configuration, `cartbus up` in it, and what the kernel knows of processes."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CARTBUS_BUILD", ROOT / "build")).resolve()
RULES = ("Small carts (under 40 EUR): 4 hours, then 24. Medium carts: 2 hours, then 22. "
         "Big carts (over 150 EUR): 1 hour, then 20.\n")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def free_ports(count):
    """The first of so many in a row."""
    for first in range(20_000, 32_000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    sys.exit(f"there are no {count} free ports in a row")


def report(name, value, unit):
    print(f"{name} {value} {unit}", flush=True)


def make_folder():
    """Somewhere on the disk, not where the last run's folder was: ext4 without a journal does not give the inodes away that were
    deleted within minutes, and steps over them one by one for each new file. In a folder marked so, each folder goes elsewhere."""
    outside = tempfile.mkdtemp(prefix="cartbus-bench-")
    subprocess.run(["chattr", "+T", outside], check=False, capture_output=True)
    return pathlib.Path(tempfile.mkdtemp(dir=outside))


class Installation:
    """A folder, a configuration, and `cartbus up` in it."""

    def __init__(self, extra="", build=BUILD):
        self.build = build
        self.folder = make_folder()
        self.port = free_port()
        self.config = self.folder / "cartbus.conf"
        self.config.write_text("[paths]\n" + "".join(
            f"{name} = {self.folder}/{name}\n" for name in ("state", "run", "shops", "secrets"))
            + f"[log]\nlevel = warning\n[gateway]\nport = {self.port}\npublic-url = https://127.0.0.1:{self.port}\n" + extra)
        for name in ("state", "run", "shops", "secrets"):
            (self.folder / name).mkdir(mode=0o750)
        self.processes = []

    def __enter__(self):
        return self

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=60)

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder.parent, ignore_errors=True)

    def cartbus(self, *arguments):
        return subprocess.run([self.build / "bin" / "cartbus", *arguments, "--config", self.config], text=True, check=True,
                              capture_output=True).stdout

    def head(self):
        """Of the log: `status` tells it, red or not."""
        done = subprocess.run([self.build / "bin" / "cartbus", "status", "--json", "--config", self.config], capture_output=True, text=True)
        return json.loads(done.stdout)["head"]

    def add_shop(self, rules=RULES):
        self.cartbus("shop", "add", "bench", "--time-zone", "Europe/Berlin", "--currency", "EUR", "--locale", "de-DE",
                     "--title", "Bench", "--url", "https://shop.example", "--from", "Bench <shop@shop.example>")
        (self.folder / "shops" / "bench" / "rules.txt").write_text(rules)
        return (self.folder / "secrets" / "webhook" / "bench").read_text().strip()

    def spawn(self, *command, **options):
        process = subprocess.Popen([str(word) for word in command], text=True, start_new_session=True, **options)
        self.processes.append(process)
        return process

    def up(self):
        """Answers the seconds until everything is ready."""
        self.log = open(self.folder / "log", "w")
        started = time.monotonic()
        process = self.spawn(self.build / "bin" / "cartbus", "up", "--config", self.config, stdout=subprocess.PIPE,
                             stderr=self.log)
        if process.stdout.readline().strip() != "ready":
            sys.exit("cartbus up did not become ready:\n" + (self.folder / "log").read_text()[-2000:])
        return process, time.monotonic() - started


# ---- what the kernel knows of the processes ----


def family(pid):
    """The process and all below it."""
    pids, children = [pid], {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    for one in pids:
        pids += children.get(one, [])
    return pids


def pss_mb(pids):
    total = 0
    for pid in pids:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024


def wakes(pids):
    """How often their threads were woken from waiting, until now. A count: other load on the machine does not change it much."""
    woken = 0
    for pid in pids:
        for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
            for line in status.read_text().splitlines():
                if line.startswith("voluntary_ctxt_switches:"):
                    woken += int(line.split()[1])
    return woken


def ran_s(pids):
    """The CPU's time of their threads that live, as the scheduler counts it. cpu_s has hundredths of a second of each process: too coarse
    for one that waits."""
    return sum(int(stat.read_text().split()[0]) for pid in pids for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def name_of(pid):
    return pathlib.Path(os.readlink(f"/proc/{pid}/exe")).name.removeprefix("cartbus-")


def cpu_s(pids):
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
