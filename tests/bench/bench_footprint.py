"""What the whole system takes while nothing happens, and how fast it is there.

What wakes it are heartbeats, one each 300 ms from each of 12 services, and nothing else worth a line. Per second, 0.1.0 and now, on two
busy cores (wake-ups and CPU of one run each; system calls by strace -f -c):

               wake-ups     system calls    CPU, of a core
  the broker                1053     577
  each service              118-144  124-144
  cartbus up                1        1
  all          270   200    2597     2162   1.1 %  0.7 %

Memory is proportional (PSS): where other programs load the same libraries, or other processes of cartbus run, it comes out smaller.
"""

import contextlib
import subprocess
import sys
import time

from place import Installation, cpu_s, family, name_of, pss_mb, report, wakes

IDLE_S = 10


def run(long):
    with Installation() as place:
        place.add_shop()
        process, seconds = place.up()
        report("footprint.ready", f"{seconds:.2f}", "s")
        pids = family(process.pid)
        before, woken, began = cpu_s(pids), wakes(pids), time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            sys.exit(f"cartbus up ended by itself with {process.wait(IDLE_S)}")
        for pid in pids:
            report(f"footprint.pss.{name_of(pid)}", f"{pss_mb([pid]):.1f}", "MB")
        report("footprint.pss", f"{pss_mb(pids):.1f}", "MB")
        took_s = time.monotonic() - began
        report("footprint.cpu", f"{100 * (cpu_s(pids) - before) / took_s:.2f}", "%")
        report("footprint.wakes", f"{(wakes(pids) - woken) / took_s:.0f}", "/s")
