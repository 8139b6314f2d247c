"""From a webhook to a mail in the maildir, through all processes."""

import contextlib
import time

from mailing import RATE, Mailing
from place import cpu_s, family, name_of, report

CARTS, CONNECTIONS = 10_000, 32


def run(long):
    """From the first webhook to the last mail as a file, less the rules' wait; what each process's CPU did for it."""
    with Mailing() as place:
        supervisor = place.start()
        pids = family(supervisor.pid)
        before, began = {pid: cpu_s([pid]) for pid in pids}, time.time()
        place.post(CARTS, CONNECTIONS)
        ended = place.wait_for_mails(CARTS)
        report("pipeline.carts_rate", f"{CARTS / (ended - began - 60 / RATE):.0f}", "carts/s")
        for pid in pids:
            with contextlib.suppress(OSError):
                report(f"pipeline.cpu.{name_of(pid)}", f"{(cpu_s([pid]) - before[pid]) * 1e6 / CARTS:.0f}", "us/cart")
