"""How long after its moment a timer fires."""

from mailing import Mailing
from place import report

CARTS, CONNECTIONS = 600, 1  # a busy hour's carts, not a flood


def run(long):
    with Mailing() as place:
        place.start()
        place.post(CARTS, CONNECTIONS)
        place.wait_for_mails(CARTS)
        late_ms = sorted(place.late_ms)
        report("timer.carts_lateness_p99", f"{late_ms[len(late_ms) * 99 // 100]:.1f}", "ms")
