"""Many timers: what they take, how fast they are set, how late they fire, and how an outage's backlog drains."""

import os
import socket
import subprocess
import time

from place import BUILD, Installation, pss_mb, report

PENDING, PENDING_LONG = 200_000, 10_000_000
CANCELLED, CANCELLED_LONG = 50_000, 1_000_000
DUE, DUE_HZ = 5_000, 1_000
OVERDUE, OVERDUE_LONG = 50_000, 1_000_000


class Timers(Installation):
    """The broker and the timer service, nobody else."""

    def __init__(self):
        super().__init__()
        topology = self.folder / "topology.conf"
        declared = (BUILD / "share" / "cartbus" / "topology.conf").read_text()
        topology.write_text(declared.replace("[peer intake]\n", "[peer intake]\nremembers = timer.fired\n"))  # as which bench_timers comes
        with open(self.config, "a") as config:
            config.write(f"[broker]\ntopology = {topology}\n")
        self.ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.ready.bind(str(self.folder / "ready"))
        self.ready.settimeout(300)
        self.start_broker()
        self.start_timer()

    def start(self, name):
        """Answers when it says that it is ready, as it would to systemd."""
        started = self.spawn(BUILD / "bin" / f"cartbus-{name}", "--config", self.config,
                             stderr=open(self.folder / f"{name}.log", "a"),
                             env={**os.environ, "NOTIFY_SOCKET": str(self.folder / "ready")})
        while b"READY=1" not in self.ready.recv(4096):
            pass
        return started

    def start_broker(self):
        self.broker = self.start("broker")

    def start_timer(self):
        self.timer = self.start("timer")

    def bench(self, *words):
        done = subprocess.run([BUILD / "bin" / "bench_timers", self.config, *map(str, words)], text=True, check=True,
                              stdout=subprocess.PIPE)
        return dict(line.split() for line in done.stdout.splitlines())

    def kill(self, process):
        process.kill()
        process.wait()

    def restart(self):
        """Both were killed: the seconds until they are ready again."""
        self.kill(self.timer)
        self.kill(self.broker)
        began = time.monotonic()
        self.start_broker()
        self.start_timer()
        return time.monotonic() - began


def run(long):
    pending, cancelled = (PENDING_LONG, CANCELLED_LONG) if long else (PENDING, CANCELLED)
    with Timers() as place:
        said = place.bench("set", pending)
        report("timer.set_rate", said["set_rate"], "timers/s")
        report("timer.fold_rate", said["fold_rate"], "timers/s")
        report("timer.pending", pending, "timers")
        report("timer.ram", f"{pss_mb([place.timer.pid]):.1f}", "MB")
        report("timer.lateness_p99", place.bench("fire", DUE, DUE_HZ)["lateness_p99"], "ms")
        report("timer.restart", f"{place.restart():.1f}", "s")
        said = place.bench("cancel", cancelled)
        report("timer.cancel_rate", said["cancel_rate"], "timers/s")
        report("timer.cancel_fold_rate", said["cancel_fold_rate"], "timers/s")
        place.kill(place.timer)
        overdue = OVERDUE_LONG if long else OVERDUE
        place.bench("overdue", overdue)
        place.start_timer()
        said = place.bench("drain", overdue)
        report("timer.drain_rate", said["drain_rate"], "timers/s")
        report("timer.drain_new_p99", said["new_p99"], "ms")
        report("timer.drain_left_when_new_fired", said["left_meanwhile"], "timers")
        report("timer.ram_after", f"{pss_mb([place.timer.pid]):.1f}", "MB")
