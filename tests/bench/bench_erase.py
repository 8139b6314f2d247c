"""A shopper is erased who is in a backup too: how long, and how much of a CPU, for each 100,000 messages of the copy."""

import itertools
import re
import resource
import shutil
import subprocess
import time

from mailing import Mailing
from place import BUILD, report

MESSAGES, MESSAGES_LONG = 100_000, 1_000_000
CARTS_AT_ONCE, CONNECTIONS = 5_000, 32
SHOPPER = "shopper7@carts0.example"  # of bench_webhooks
STEP = re.compile(r": ([123]) of 3: ")
STEPS = ("copy", "search", "exchange")


def cpu_s():
    """Of the commands that have ended, and of the broker that each of them had to itself."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed_steps(place, copy, each_100k):
    began, cpu_before, times = time.monotonic(), cpu_s(), []
    words = [BUILD / "bin" / "cartbus", "backup", "--erase", str(copy), "--config", place.config]
    with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as erasing:
        times += [time.monotonic() for line in erasing.stderr if STEP.search(line)]
    if erasing.returncode != 0 or len(times) != len(STEPS):
        raise SystemExit("the shopper could not be erased from the copy")
    for name, start, end in zip(STEPS, times, itertools.chain(times[1:], [time.monotonic()])):
        report(f"erase_backup.{name}.seconds", f"{(end - start) * each_100k:.1f}", "s per 100,000 messages")
    report("erase_backup.seconds", f"{(time.monotonic() - began) * each_100k:.1f}", "s per 100,000 messages")
    report("erase_backup.cpu", f"{(cpu_s() - cpu_before) * each_100k:.1f}", "s per 100,000 messages")


def erase(messages):
    with Mailing("[mail]\ntransport = null\n") as place:
        supervisor, rounds = place.start(), 0
        while (reached := place.head()) < messages:
            place.post(CARTS_AT_ONCE, CONNECTIONS, f"carts{rounds}")
            rounds += 1
        before, copy = place.folder / "before", place.folder / "elsewhere" / "copy"
        place.cartbus("backup", str(before))
        shutil.copytree(before, copy)
        shutil.rmtree(before)  # so the log alone is erased from
        report("erase_backup.messages", reached, "messages")
        began = time.monotonic()
        place.cartbus("erase", "bench", SHOPPER, "--yes")
        report("erase_log.seconds", f"{(time.monotonic() - began) * 100_000 / reached:.1f}", "s per 100,000 messages")
        supervisor.terminate()
        supervisor.wait(60)
        timed_steps(place, copy, 100_000 / reached)


def run(long):
    erase(MESSAGES_LONG if long else MESSAGES)
