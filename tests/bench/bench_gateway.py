"""Signed Shopify webhooks of 2.5 KB each on a connection of its own, held against a handler that keeps nothing but its connections."""

import contextlib
import socket
import statistics
import subprocess
import time
import urllib.error
import urllib.request

from place import BUILD, Installation, cpu_s, family, free_port, name_of, report

WEBHOOKS, CONNECTIONS, ROUNDS = 6_000, 32, 3
PACED, PACED_HZ = 3_000, 1_000
SLOW_CLIENTS = 1_000


def post(port, secret, count, connections, prefix, *pace):
    done = subprocess.run([BUILD / "bin" / "bench_webhooks", *map(str, (port, "bench", secret, count, connections, "shopify", prefix,
                                                                       *pace))], text=True, check=True, capture_output=True)
    lines = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}
    return lines["webhook_rate"], lines["webhook_p99"]


def wait_for_port(port):
    deadline = time.monotonic() + 20
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        if time.monotonic() > deadline:
            raise SystemExit(f"nobody listens at port {port}")
        time.sleep(0.02)


def wait_for_session(port):
    """Before its first session a gateway refuses everything."""
    deadline = time.monotonic() + 20
    while True:
        with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz"):
            return
        if time.monotonic() > deadline:
            raise SystemExit("the gateway does not find its broker")
        time.sleep(0.02)


def slow_clients(port):
    """They connect, send the beginning of a request, and then nothing."""
    with contextlib.ExitStack() as stack:
        for _ in range(SLOW_CLIENTS):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(b"POST /hooks/bench/shopify HTTP/1.1\r\nHost: x\r\n")
        return stack.pop_all()


def settle(place):
    """Until what the services still have to decide on takes no CPU from who is measured next."""
    pids = [pid for process in place.processes for pid in family(process.pid)]
    deadline = time.monotonic() + 30
    while True:
        before = cpu_s(pids)
        time.sleep(0.25)
        if cpu_s(pids) - before < 0.03:
            return
        if time.monotonic() > deadline:
            raise SystemExit("the services do not come to rest")


def against_bare(place, secret, name):
    """Rounds alternate between the two, so that what else the machine does hits both; and the CPU that each process took for ours."""
    bare_port = free_port()
    pids = [pid for process in place.processes for pid in family(process.pid)]
    place.spawn(BUILD / "bin" / "bench_bare", bare_port, secret)
    wait_for_port(bare_port)
    ours, bare, used_s = [], [], dict.fromkeys(pids, 0.0)
    for n in range(ROUNDS):
        settle(place)
        bare.append(post(bare_port, secret, WEBHOOKS, CONNECTIONS, f"bare{n}")[0])
        before_s = {pid: cpu_s([pid]) for pid in pids}
        ours.append(post(place.port, secret, WEBHOOKS, CONNECTIONS, f"ours{n}")[0])
        settle(place)
        for pid in pids:
            used_s[pid] += cpu_s([pid]) - before_s[pid]
    report(f"gateway.{name}rate", f"{statistics.median(ours):.0f}", "requests/s")
    report(f"gateway.{name}bare_rate", f"{statistics.median(bare):.0f}", "requests/s")
    report("gateway.door.ratio" if name else "gateway.bare.ratio", f"{statistics.median(ours) / statistics.median(bare):.2f}", "")
    for pid in pids:
        report(f"gateway.{name}cpu.{name_of(pid)}", f"{used_s[pid] * 1e6 / (ROUNDS * WEBHOOKS):.0f}", "us/webhook")


def beset(place, secret):
    """At 1,000 a second, with nobody else connected and with slow clients, in turns."""
    calm, slow = [], []
    for n in range(ROUNDS):
        settle(place)
        calm.append(post(place.port, secret, PACED, CONNECTIONS, f"calm{n}", PACED_HZ)[1])
        with slow_clients(place.port):
            slow.append(post(place.port, secret, PACED, CONNECTIONS, f"slow{n}", PACED_HZ)[1])
    report("gateway.p99", f"{statistics.median(calm):.2f}", "ms")
    report("gateway.slow_p99.ratio", f"{statistics.median(slow) / statistics.median(calm):.2f}", "")


def run(long):
    """With all services deciding on the carts meanwhile, and with the two processes alone that an answer needs."""
    with Installation() as place:
        secret = place.add_shop()
        place.up()
        wait_for_session(place.port)
        beset(place, secret)
        against_bare(place, secret, "")
    with Installation() as place:
        secret = place.add_shop()
        for name in ("broker", "gateway"):
            place.spawn(BUILD / "bin" / f"cartbus-{name}", "--config", place.config)
        wait_for_port(place.port)
        wait_for_session(place.port)
        against_bare(place, secret, "door.")
