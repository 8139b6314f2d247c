"""What the whole system takes while nothing happens, and how fast it is there."""

import contextlib
import subprocess
import sys
import time

from place import Installation, cpu_s, family, pss_mb, report

IDLE_S = 10


def run(long):
    with Installation() as place:
        place.add_shop()
        process, seconds = place.up()
        report("footprint.ready", f"{seconds:.2f}", "s")
        pids = family(process.pid)
        before, began = cpu_s(pids), time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            sys.exit(f"cartbus up ended by itself with {process.wait(IDLE_S)}")
        report("footprint.pss", f"{pss_mb(pids):.1f}", "MB")
        report("footprint.cpu", f"{100 * (cpu_s(pids) - before) / (time.monotonic() - began):.2f}", "%")
