"""From a webhook to a mail in the maildir, through all processes."""

import time

from mailing import RATE, Mailing
from place import report

CARTS, CONNECTIONS = 3_000, 32


def run(long):
    """From the first webhook to the last mail as a file, less the rules' wait."""
    with Mailing() as place:
        place.start()
        began = time.monotonic()
        place.post(CARTS, CONNECTIONS)
        place.wait_for_mails(CARTS)
        report("pipeline.carts_rate", f"{CARTS / (time.monotonic() - began - 60 / RATE):.0f}", "carts/s")
