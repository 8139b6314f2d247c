"""Webhooks over kept connections, from the first byte to the answer: signature, parse, say, sync."""

import subprocess

from place import BUILD, Installation

WEBHOOKS, CONNECTIONS = 20_000, 32


def run(long):
    """The services decide on the carts meanwhile."""
    with Installation() as place:
        secret = place.add_shop()
        place.up()
        done = subprocess.run([BUILD / "bin" / "bench_webhooks", str(place.port), "bench", secret, str(WEBHOOKS),
                               str(CONNECTIONS), "now", "load"], text=True, check=True, capture_output=True)
        print(done.stdout, end="", flush=True)
