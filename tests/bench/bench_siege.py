"""What unauthenticated attackers do to webhooks, to one-click opt-outs and to the claims of mails.

Everything that good customers do is measured at once: signed carts at 100 a second, each of which is mailed two
seconds later; opt-outs at 25 a second; the time from `reminder.due` to `send.claim`, both as the broker committed them. Attackers
come from the same address as the customers: nothing tells them apart but what they ask. See tests/system/peers/siege.py for what they do
and how their own CPU is bounded. Rounds with 0, 1, 8 and 60 of them alternate.
"""

import os
import pathlib
import statistics
import sys
import time

from place import BUILD, ROOT, report

os.environ["CARTBUS_BUILD"] = str(BUILD)
sys.path[:0] = [str(ROOT / "tests" / "system"), str(ROOT / "tests" / "system" / "peers")]

from cartbus_system import System, wait_until  # noqa: E402  (found through the path above)
from siege import attackers, customers, percentile, raw, raw_optout  # noqa: E402

RATE = 30  # of the clock: a cart that waits for a minute waits for two seconds
COUNTS = (0, 1, 8, 60)
CART_HZ, OPTOUT_HZ, SECONDS = 100, 25, 6
TOPIC = "arn:aws:sns:eu-central-1:123456789012:bounces"
RULES = ("Small carts (under 40 EUR): 1 minute, then 20 days. Medium carts: 1 minute, then 20 days. "
         "Big carts (over 150 EUR): 1 minute, then 20 days.\n")
SERVICES = ("broker", "gateway", "intake", "timer", "waiter", "sender", "unsub", "mirror")
ROUNDS = 3


def carts(shop, prefix, count):
    """Signed for when they are due: the shop's clock is fast, and a signature is good for five minutes of it, which are ten seconds."""
    now_s = shop.system.now_s()
    for number in range(count):
        name = f"{prefix}-{number}"
        yield shop.cart({"id": name, "event": "changed", "cart": name, "email": f"{name}@customer.example", "first_name": "Ada",
                         "consent": True, "currency": "EUR", "total": "12.50", "recovery_url": f"https://demo.example/cart/{number}",
                         "items": [{"title": "Tulpen", "quantity": 1, "price": "12.50"}]},
                        timestamp=int(now_s + RATE * (1 + number / CART_HZ)))


def claims_ms(system, since):
    """From a due reminder to its claim, as the broker committed both, in real time."""
    due = {entry["seq"]: entry["time_us"] for entry in system.log("reminder.due", start=since)}
    return [(entry["time_us"] - due[entry["message"].due_seq]) / 1000 / RATE
            for entry in system.log("send.claim", start=since) if entry["message"].due_seq in due]


def rest(system, since):
    """Until all of this round's carts are claimed: nothing of it is left for the next one."""
    taken = {entry["key"] for entry in system.log("cart.changed", start=since)}
    wait_until(lambda: len(system.log("send.claim", start=since)) >= len(taken), "the carts are mailed", within_s=60, step_s=0.5)


def one_round(system, shop, count, name):
    since = system.ask("status")["head"] + 1
    with attackers(system.port, count, SECONDS + 2, shop.name, TOPIC) as siege:
        bought = customers(system.port, [raw(cart) for cart in carts(shop, name, CART_HZ * SECONDS)], CART_HZ)
        left = customers(system.port, [raw_optout(shop.unsubscribe_path(f"{name}-{number}@gone.example")) for number in
                                       range(OPTOUT_HZ * SECONDS)], OPTOUT_HZ)
        answers = {"webhook": bought.answer(), "optout": left.answer()}
    rest(system, since)
    times = {kind: answer["latencies_ms"] for kind, answer in answers.items()}
    times["claim"] = claims_ms(system, since)
    failed = {kind: {status: n for status, n in answer["statuses"].items() if status != "200"} for kind, answer in answers.items()}
    return times, failed, siege.report


def peak_mb(system):
    """Of the gateway, since it started."""
    for line in (pathlib.Path("/proc") / str(system.processes["gateway"].popen.pid) / "status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0


def run(long):
    origin_us = int(time.time() * 1e6)
    with System({"clock": {"rate": RATE, "origin-real-us": origin_us, "origin-wall-us": origin_us}, "log": {"level": "error"}}) as system:
        shop = system.add_shop("demo", rules=RULES, extra=f"sns-topic = {TOPIC}\n")
        system.start(*SERVICES)
        system.cartbus("shop", "mode", "demo", "live")
        wait_until(lambda: len(system.log("document")) >= 2, "the shop's rules are known")
        one_round(system, shop, 0, "warm")
        times = {count: {"webhook": [], "optout": [], "claim": []} for count in COUNTS}
        for turn in range(ROUNDS * (3 if long else 1)):
            for count in COUNTS:
                heard, failed, attacked = one_round(system, shop, count, f"r{turn}a{count}")
                for kind, values in heard.items():
                    times[count][kind].append(values)
                for kind, statuses in failed.items():
                    for status, n in statuses.items():
                        report(f"siege.{count}.{kind}_failed.{status}", n, "")
                if long:
                    print(f"# {count} attackers were answered: {attacked}", file=sys.stderr)
        tell(times)
        report("siege.peak_memory", f"{peak_mb(system):.0f}", "MB")


def tell(times):
    """Of each round its own percentiles, of the rounds the median."""
    figures = {}
    for count in COUNTS:
        for kind in ("webhook", "optout", "claim"):
            for part in (50, 99):
                value = statistics.median(percentile(values, part / 100) for values in times[count][kind] if values)
                figures[count, kind, part] = value
                report(f"siege.{kind}_p{part}.{count}", f"{value:.2f}", "ms")
    for kind in ("webhook", "optout", "claim"):
        report(f"siege.{kind}_p99.ratio", f"{figures[COUNTS[-1], kind, 99] / figures[0, kind, 99]:.2f}", "")
