"""cartbus beside Redis, NATS, RabbitMQ and beanstalkd: the same work in one run, each at its stated durability.

Rounds alternate between the systems and medians are taken, so that what else the machine does hits all of them alike. What is
required are ratios of one run; the figures of another machine, or of another hour, are not compared with these.
"""

import os
import pathlib
import shutil
import statistics
import tempfile

from peers import SERVERS, Field, Syncs
from place import pss_mb, report

# Messages acknowledged a second of 512 bytes, one producer with 256 unconfirmed, one consumer that acknowledges each, measured
# on two cores with a disk of 6,000 syncs a second. Only their ratios to each other are used: they tell a run that is off.
KNOWN_RATES = {"redis": 66_000, "nats": 65_000, "rabbitmq": 29_000, "beanstalkd": 3_800}
OFF = 0.25
SYNCING = ("redis", "rabbitmq", "beanstalkd")  # NATS does not sync per message

MESSAGES = {"cartbus": 200_000, "cartbus.curve": 100_000, "redis": 60_000, "nats": 60_000, "rabbitmq": 30_000, "beanstalkd": 5_000}
ROUNDS = 5
ONE_MESSAGES, PACED_MESSAGES = 1_000, 2_000
LATENCY_ROUNDS = 3
TABLE_MESSAGES = 100_000
RESTART_PENDING, BACKLOG_LONG = 1_000_000, 10_000_000


def say(text):
    print(f"# {text}", flush=True)


def median_of(rounds, label, figure):
    return statistics.median(one[figure] for one in rounds[label])


def alternate(field, labels, rounds, work, messages_of, **options):
    """Rounds of the same work, one system after the other; every figure of every round, by label."""
    figures = {label: [] for label in labels}
    for _ in range(rounds):
        for label in labels:
            figures[label].append(field.work(label, work, messages_of(label), **options))
    return figures


def stream(field):
    """Publish to acknowledged, and what the disk was asked for it."""
    labels = list(field.systems)
    for label in labels:
        field.work(label, "stream", MESSAGES[label] // 10)  # nobody is measured cold
    figures = alternate(field, labels, ROUNDS, "stream", MESSAGES.get)
    for label in labels:
        report(f"bus.publish.{label}", f"{median_of(figures, label, 'confirmed'):.0f}", "messages/s")
        report(f"bus.e2e.{label}", f"{median_of(figures, label, 'acknowledged'):.0f}", "messages/s")
        syncs = Syncs(field.systems[label].pids())
        field.work(label, "stream", MESSAGES[label])
        count = syncs.count()
        if count is not None:
            report(f"bus.syncs.{label}", f"{count} of {MESSAGES[label]}", "messages")
    rates = {label: median_of(figures, label, "acknowledged") for label in labels}
    fastest = max(KNOWN_RATES, key=rates.get)
    say(f"the fastest peer is {fastest}")
    report("bus.e2e.ratio", f"{rates['cartbus'] / rates[fastest]:.2f}", "of_the_fastest_peer")
    report("bus.e2e_curve.ratio", f"{rates['cartbus.curve'] / rates[fastest]:.2f}", "of_the_fastest_peer")
    say_what_is_off(rates)


def say_what_is_off(rates):
    """A peer that does not do what it is known to do, beside the others, makes the whole run doubtful."""
    for one in KNOWN_RATES:
        for other in list(KNOWN_RATES)[:list(KNOWN_RATES).index(one)]:
            seen, known = rates[one] / rates[other], KNOWN_RATES[one] / KNOWN_RATES[other]
            if abs(seen / known - 1) >= OFF:
                say(f"doubtful: {one} to {other} is {seen:.2f} here and known to be {known:.2f}")


def latencies(field):
    labels = list(field.systems)
    one = alternate(field, labels, LATENCY_ROUNDS, "one", lambda _: ONE_MESSAGES)
    paced = alternate(field, labels, LATENCY_ROUNDS, "paced", lambda _: PACED_MESSAGES)
    for label in labels:
        for name, figures in (("one", one), ("paced", paced)):
            for figure in ("p50", "p99"):
                report(f"bus.{name}_{figure}.{label}", f"{median_of(figures, label, figure):.0f}", "us")
    best_one = min(median_of(one, label, "p50") for label in SYNCING)
    best_paced = min(median_of(paced, label, "p99") for label in KNOWN_RATES)
    report("bus.one_p50.ratio", f"{median_of(one, 'cartbus', 'p50') / best_one:.2f}", "of_the_best_syncing_peer")
    report("bus.paced_p99.ratio", f"{median_of(paced, 'cartbus', 'p99') / best_paced:.2f}", "of_the_best_peer")


def backlog(field, pending):
    """The same work with so many messages before it; and a restart after a kill with a million of them."""
    server = field.add("cartbus", "cartbus.backlog")
    field.work("cartbus.backlog", "stream", RESTART_PENDING, consumers=0)
    seconds = []
    for _ in range(LATENCY_ROUNDS):
        server.kill()
        seconds.append(server.start())
    report("bus.restart_1m", f"{statistics.median(seconds):.2f}", "s")
    if pending > RESTART_PENDING:
        field.work("cartbus.backlog", "stream", pending - RESTART_PENDING, consumers=0)
    figures = alternate(field, ["cartbus", "cartbus.backlog"], ROUNDS, "stream", lambda _: TABLE_MESSAGES)
    with_it, without = (median_of(figures, label, "acknowledged") for label in ("cartbus.backlog", "cartbus"))
    report(f"bus.table.backlog_{pending}", f"{with_it:.0f}", "messages/s")
    report("bus.table.backlog_0", f"{without:.0f}", "messages/s")
    report("bus.e2e_backlog.ratio", f"{with_it / without:.2f}", "of_none")
    report("bus.backlog.pss", f"{pss_mb(server.pids()):.0f}", "MB")
    field.drop("cartbus.backlog")


def table(field):
    """What the rate depends on: rows beside the one that everything else is measured with."""
    rows = {"usual": {}, "keys_1000000": {"keys": 1_000_000}, "consumers_100": {"consumers": 100}, "bytes_64": {"bytes": 64},
            "bytes_4096": {"bytes": 4096}, "bytes_65000": {"bytes": 65_000}}
    figures = {name: [] for name in rows}
    for _ in range(LATENCY_ROUNDS):
        for name, options in rows.items():
            messages = TABLE_MESSAGES * 512 // max(512, options.get("bytes", 512))
            figures[name].append(field.work("cartbus", "stream", messages, **options))
    usual = median_of(figures, "usual", "acknowledged")
    for name, options in rows.items():
        rate = median_of(figures, name, "acknowledged")
        say(f"{name}: {rate / usual:.2f} of the usual, {rate * options.get('bytes', 512) / 1e6:.0f} MB/s")
        report(f"bus.table.{name}", f"{rate:.0f}", "messages/s")


def run(long):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cartbus-bench-"))
    report("bus.load_before", f"{os.getloadavg()[0]:.1f}", "processes")
    try:
        with Field(folder, SERVERS) as field:
            stream(field)
            latencies(field)
            field.leave_only("cartbus")
            backlog(field, BACKLOG_LONG if long else RESTART_PENDING)
            table(field)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report("bus.load_after", f"{os.getloadavg()[0]:.1f}", "processes")
