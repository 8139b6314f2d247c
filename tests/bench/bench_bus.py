"""The bus alone: how many messages a second are confirmed, and acknowledged by another process."""

import subprocess

from place import BUILD, Installation

MESSAGES = 200_000


def run(long):
    """Messages of about 560 bytes, 256 unconfirmed; every confirm is after a sync."""
    with Installation() as place:
        topology = place.folder / "topology.conf"
        topology.write_text(subprocess.run([BUILD / "bin" / "bench_publish", "--manifest"], text=True, check=True,
                                           capture_output=True).stdout)
        with open(place.config, "a") as config:
            config.write(f"[broker]\ntopology = {topology}\n")
        place.spawn(BUILD / "bin" / "cartbus-broker", "--config", place.config, stderr=subprocess.DEVNULL)
        done = subprocess.run([BUILD / "bin" / "bench_publish", place.config, str(MESSAGES)], text=True, check=True,
                              stdout=subprocess.PIPE)
        print(done.stdout, end="", flush=True)
