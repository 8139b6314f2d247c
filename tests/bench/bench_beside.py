"""The pipeline of the last release and of this tree, in turns, on one machine: what a cart takes of the CPU with each.

The rate of either changes with whatever else the machine does; the CPU's time for a cart does so much less, and it is what limits the
rate. For a cart, 0.1.0 and now; system calls counted by strace -f -c over 2,000 or 3,000 carts, the CPU's time a median of three turns on
two cores that other work shared (load 15 to 30), so that all of it is more than on a quiet machine:

              system calls     CPU, us
  sender      14.9    16.9     258    198   mails are synced in bundles (futex 4.1 and 0.7)
  broker      14.9    12.7     144    136   getpid is libzmq's
  gateway      9.1    15.2      52     70   takes a connection for each webhook, where it kept them before
  timer        4.1     2.4      64     60
  waiter       3.5     3.2      84     74
  intake       2.0     1.9      54     40
  monitor      1.2     1.2      28     38
  all                          740    650   1.14 times; by the least of each 670 and 648

Tried without a gain that showed: bundles of 16 and of 64, commits that wait 1 or 3 ms for company, link-time optimisation, no fastbins of
malloc, a walk of the state that does not step beyond its last row.

The older programs lie in $CARTBUS_BUILD_OLD; `tests/run bench beside` builds them. Folders stay until the last turn has ended:
ext4 without a journal steps over inodes that were deleted lately, one by one, for each new file.
"""

import collections
import contextlib
import os
import pathlib
import statistics
import sys
import time

from mailing import RATE, Mailing
from place import BUILD, cpu_s, family, name_of, report

ROUNDS, CARTS, FIRST_CARTS, CONNECTIONS = 3, 5_000, 500, 32
ROUNDS_LONG = 10


def turn(place):
    """Answers carts/s, and the CPU's microseconds for a cart by process."""
    pids = family(place.start().pid)
    place.post(FIRST_CARTS, CONNECTIONS, "first")
    place.wait_for_mails(FIRST_CARTS)
    before, began = {pid: cpu_s([pid]) for pid in pids}, time.time()
    place.post(CARTS, CONNECTIONS)
    ended = place.wait_for_mails(FIRST_CARTS + CARTS)
    took = {name_of(pid): (cpu_s([pid]) - before[pid]) * 1e6 / CARTS for pid in pids}
    place.stop()
    return CARTS / (ended - began - 60 / RATE), took


def older_build():
    older = pathlib.Path(os.environ.get("CARTBUS_BUILD_OLD") or "nowhere").resolve()
    if not (older / "bin" / "cartbus-broker").exists():
        sys.exit("there is no older build in $CARTBUS_BUILD_OLD: `tests/run bench beside` makes one")
    return older


def run(long):
    rates, totals, parts = (collections.defaultdict(list) for _ in range(3))
    builds = {"old": older_build(), "new": BUILD}
    with contextlib.ExitStack() as places:
        for _ in range(ROUNDS_LONG if long else ROUNDS):
            for which, build in builds.items():
                rate, took = turn(places.enter_context(Mailing(build=build)))
                rates[which].append(rate)
                totals[which].append(sum(took.values()))
                for name, us in took.items():
                    parts[which, name].append(us)
    for (which, name), us in parts.items():
        report(f"pipeline.beside.cpu.{which}.{name}", f"{statistics.median(us):.0f}", "us/cart")
    for which in builds:
        report(f"pipeline.beside.rate.{which}", f"{statistics.median(rates[which]):.0f}", "carts/s")
        report(f"pipeline.beside.cpu.{which}", f"{statistics.median(totals[which]):.0f}", "us/cart")
        report(f"pipeline.beside.cpu.{which}.least", f"{min(totals[which]):.0f}", "us/cart")
    report("pipeline.beside.rate_ratio", f"{statistics.median(rates['new']) / statistics.median(rates['old']):.2f}", "times")
    report("pipeline.beside.ratio", f"{statistics.median(totals['old']) / statistics.median(totals['new']):.2f}", "times")
