"""Quiet hours over the two nights in which clocks are changed, far from Greenwich: the real processes, two hours of the shop in a second.

When a mail may go is computed here by Python's own time zones.
"""

import datetime
import time
import zoneinfo

import pytest

from cartbus_system import System, wait_until

RATE = 7200
ZONES = {"chatham": zoneinfo.ZoneInfo("Pacific/Chatham"), "auckland": zoneinfo.ZoneInfo("Pacific/Auckland")}  # both change at 14:00 UTC
RULES = "Small carts (under 40 EUR): remind after 1 hour, then after 600. Medium carts: 1 hour, then 600. Big carts (over 150 EUR): 1 hour, then 600.\n" \
        "Quiet hours: 12:00 to 6:00.\n"
SERVICES = ("broker", "mirror", "gateway", "intake", "timer", "waiter", "sender")
PATIENCE_S = 60
HOUR = datetime.timedelta(hours=1)


def start(before):
    """Everything running since so long before the morning after the change, which is on `before`."""
    now_us = int(time.time() * 1e6)
    system = System({"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": int(before.timestamp() * 1e6)}})
    for name, zone in ZONES.items():
        system.add_shop(name, rules=RULES, zone=zone.key)
    for process in system.start(*SERVICES, wait=False):
        process.wait_ready()
    for name in ZONES:
        system.cartbus("shop", "mode", name, "live")
    return system


def leave_carts(system):
    for name, shop in system.shops.items():
        at = datetime.datetime.fromtimestamp(system.now_s(), datetime.timezone.utc)
        answer = system.post(shop.cart({
            "event": "changed", "cart": "c1", "email": "ada@mail.example", "currency": "EUR", "total": "12.00", "at": at.isoformat(),
            "recovery_url": f"https://{name}.example/r", "items": [{"title": "Vase", "quantity": 1, "price": "12.00"}]}))
        assert answer.status == 200, answer.text


@pytest.mark.parametrize("day, hours", [("2027-04-04", 25), ("2027-09-26", 23)], ids=["back", "ahead"])
def test_a_mail_waits_for_the_morning_of_the_shops_own_clock_over_a_change(day, hours):
    opens = {name: datetime.datetime.fromisoformat(f"{day}T06:00").replace(tzinfo=zone) for name, zone in ZONES.items()}
    for name, zone in ZONES.items():  # the day does have so many hours
        midnight = [datetime.datetime.fromisoformat(day).replace(tzinfo=zone) + datetime.timedelta(days=days) for days in (0, 1)]
        assert (midnight[1].astimezone(datetime.timezone.utc) - midnight[0].astimezone(datetime.timezone.utc)) == hours * HOUR
    changes = datetime.datetime.fromisoformat(day).replace(tzinfo=datetime.timezone.utc) - 10 * HOUR
    for slack in (8, 16, 32):  # a slow machine takes hours to start
        system = start(changes - slack * HOUR)
        leave_carts(system)
        if system.now_s() < (changes - 2 * HOUR).timestamp():
            break
        system.close()
    with system:
        sent = wait_until(lambda: len(system.log(topic="reminder.sent")) == 2 and system.log(topic="reminder.sent"), "both mails", PATIENCE_S)
        for name, moment in opens.items():
            due_us = [entry["message"].due_us for entry in system.log(topic="timer.set", shop=name) if entry["key"] == "cart/c1"]
            (mailed,) = [entry["message"].at_us for entry in sent if entry["shop"] == name]
            assert int(moment.timestamp() * 1e6) in due_us, (due_us, moment)
            assert moment.timestamp() * 1e6 <= mailed
            why = system.cartbus("why", name, "c1").stdout
            assert "quiet hours" in why and f"{day} 06:00:00" in why, why
