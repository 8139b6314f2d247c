"""What the whole system takes while nothing happens, and how fast it is there.

What wakes it are heartbeats, one each 300 ms from each of 12 services, and nothing else worth a line. Per second, 0.1.0 and now, on two
busy cores (wake-ups and CPU of one run each; system calls by strace -f -c, but the last column by perf trace -s, before and after what is
not readable is asked no more; ZeroMQ's threads are not in it):

               wake-ups     system calls       CPU, of a core  asked
  the broker                1053     577                       163    127
  each service              118-144  124-144                   74-95  56-82
  cartbus up                1        1                         1      1
  all          270   200    2597     2162      1.1 %  0.7 %    1139   898

The CPU's time is the scheduler's (schedstat). utime and stime count hundredths of a second of each process, and one that waits takes less
than that in ten seconds: by those, the same system took 0.30 and 1.40 %.

Memory is proportional (PSS): where other programs load the same libraries, or other processes of cartbus run, it comes out smaller.
"""

import contextlib
import subprocess
import sys
import time

from place import Installation, family, name_of, pss_mb, ran_s, report, wakes

IDLE_S = 30  # a hundred heartbeats of each service


def run(long):
    with Installation() as place:
        place.add_shop()
        process, seconds = place.up()
        report("footprint.ready", f"{seconds:.2f}", "s")
        pids = family(process.pid)
        before, woken, began = {pid: ran_s([pid]) for pid in pids}, wakes(pids), time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            sys.exit(f"cartbus up ended by itself with {process.wait(IDLE_S)}")
        took_s = time.monotonic() - began
        ran = {pid: ran_s([pid]) - before[pid] for pid in pids}
        report("footprint.wakes", f"{(wakes(pids) - woken) / took_s:.0f}", "/s")
        for pid in pids:
            report(f"footprint.cpu.{name_of(pid)}", f"{100 * ran[pid] / took_s:.3f}", "%")
        report("footprint.cpu", f"{100 * sum(ran.values()) / took_s:.2f}", "%")
        for pid in pids:
            report(f"footprint.pss.{name_of(pid)}", f"{pss_mb([pid]):.1f}", "MB")
        report("footprint.pss", f"{pss_mb(pids):.1f}", "MB")
