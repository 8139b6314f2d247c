"""Signed Shopify webhooks of 2.5 KB over kept connections, held against a handler that keeps nothing."""

import contextlib
import socket
import statistics
import subprocess
import time

from place import BUILD, Installation, free_port, report

WEBHOOKS, CONNECTIONS, ROUNDS = 6_000, 32, 3
PACED, PACED_HZ = 4_000, 1_000
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


def slow_clients(port):
    """They connect, send the beginning of a request, and then nothing."""
    with contextlib.ExitStack() as stack:
        for _ in range(SLOW_CLIENTS):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(b"POST /hooks/bench/shopify HTTP/1.1\r\nHost: x\r\n")
        return stack.pop_all()


def run(long):
    """Rounds alternate between the two, so that what else the machine does hits both. The services decide on the carts meanwhile."""
    with Installation() as place:
        secret = place.add_shop()
        place.up()
        bare_port = free_port()
        place.spawn(BUILD / "bin" / "bench_bare", bare_port, secret)
        wait_for_port(bare_port)
        ours, bare = [], []
        for n in range(ROUNDS):
            bare.append(post(bare_port, secret, WEBHOOKS, CONNECTIONS, f"bare{n}")[0])
            ours.append(post(place.port, secret, WEBHOOKS, CONNECTIONS, f"ours{n}")[0])
        report("gateway.rate", f"{statistics.median(ours):.0f}", "requests/s")
        report("gateway.bare_rate", f"{statistics.median(bare):.0f}", "requests/s")
        report("gateway.bare.ratio", f"{statistics.median(ours) / statistics.median(bare):.2f}", "")
        _, calm = post(place.port, secret, PACED, CONNECTIONS, "calm", PACED_HZ)
        report("gateway.p99", f"{calm:.2f}", "ms")
        with slow_clients(place.port):
            _, beset = post(place.port, secret, PACED, CONNECTIONS, "slow", PACED_HZ)
        report("gateway.slow_p99.ratio", f"{beset / calm:.2f}", "")
