"""A System with a worker that does what its messages say (worker.c), beside the services' own declarations."""

import os
import subprocess
import time

from cartbus_system import BUILD, System, wait_until

RATE = 20  # of the clock: a backoff of a minute passes in three seconds


class WorkerSystem(System):
    def __init__(self, rate=RATE, worker="", settings=None, program="cartbus-test-worker"):
        """`worker`: further lines of its part of the topology; `program`: whose part it is."""
        super().__init__()
        now_us = int(time.time() * 1e6)
        settings = dict(settings or {})
        broker = settings.pop("broker", {})
        topology = (BUILD / "share" / "cartbus" / "topology.conf").read_text()
        for one in (program, "cartbus-test-say"):
            topology += subprocess.run([BUILD / "bin" / one, "--manifest"], capture_output=True, text=True, check=True).stdout
        topology = topology.replace("[peer worker]\n", f"[peer worker]\n{worker}\n")
        (self.folder / "topology.conf").write_text(topology)
        self.configure({"clock": {"rate": rate, "origin-real-us": now_us, "origin-wall-us": now_us},
                        "broker": {"topology": self.folder / "topology.conf", **broker},
                        "monitor": {"admin": "admin@shop.example", "from": "cartbus@shop.example"},
                        **settings})
        self.outage = self.folder / "outage"
        self.gate = self.folder / "gate"
        os.environ["CARTBUS_TEST_OUTAGE"] = str(self.outage)
        os.environ["CARTBUS_TEST_GATE"] = str(self.gate)

    def say(self, *words, shop="demo"):
        """Confirmed messages for the worker, KEY=WORK each."""
        subprocess.run([BUILD / "bin" / "cartbus-test-say", self.config_path, shop, *words], check=True, timeout=60)

    def done(self):
        """The keys of what the worker has done, in order."""
        return [entry["key"] for entry in self.log(topic="test.done")]

    def dead(self, *filters):
        return self.cartbus("dlq", "list", *filters, json_output=True, check=False)["dead"]

    def alarm(self, kind):
        """Its last state: None when it was never said."""
        said = [entry["message"] for entry in self.log(topic="alarm") if entry["message"].kind == kind]
        return said[-1].raised if said else None


__all__ = ["WorkerSystem", "wait_until"]
