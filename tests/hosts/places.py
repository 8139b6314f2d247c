"""cartbus on hosts of a network: one has the broker, the others reach it there, over TCP. They share nothing but what is copied."""

import shutil

from cartbus_system import System
from hosts import Host

PORT = 7400
PUBLIC_URL = "http://carts.example"


class Place(System):
    """A host with a configuration, secrets and state of its own; all that runs there runs in its network alone."""

    def __init__(self, lan, name, settings):
        self.lan, self.host = lan, Host(name)
        self.address = self.door = lan.plug(self.host)
        own = {"gateway": {"listen": self.address, "public-url": PUBLIC_URL}, **self.of_its_own()}
        super().__init__({section: {**own.get(section, {}), **settings.get(section, {})} for section in {**own, **settings}})
        self.keys = self.folder / "keys"

    def where(self, name):
        return self.host.inside

    def lines_for_a_sender(self):
        """What its cartbus.conf tells a sender, but where things lie and what time it is, which is the test's."""
        blocks = self.config_path.read_text().strip().split("\n\n")
        told = [line for block in blocks if block.startswith(("[connect]", "[mail]", "[gateway]")) for line in block.splitlines()]
        return [line for line in told if not line.startswith(("listen", "port"))]

    def close(self):
        super().close()
        self.host.close()

    def kill_all(self):
        """As a power cut ends them: all at once, nobody says goodbye."""
        running = [process for process in self.processes.values() if process.running]
        for process in running:
            process.popen.kill()
        for process in running:
            process.end(None)

    def told(self, words, instance):
        return words in self.processes[instance].log_path.read_text()


class BrokersHost(Place):
    def __init__(self, lan, settings):
        super().__init__(lan, "first", settings)

    def of_its_own(self):
        return {"broker": {"listen": f"{self.address}:{PORT}"}}

    def make_key(self, name, service, *options):
        self.cartbus("keys", "make", name, "--service", service, *options)

    def sessions(self, service):
        return [one for one in self.ask("status")["sessions"] if one["service"] == service]


class OtherHost(Place):
    """What is copied there: public key, keys (named by the service that shows them) and secrets."""

    def __init__(self, lan, name, first, keys, secrets, settings=None, broker=None):
        self.broker = broker or f"{first.address}:{PORT}"
        super().__init__(lan, name, settings or {})
        self.keys.mkdir(mode=0o700)
        shutil.copy(first.keys / "broker.pub", self.keys)
        for service, key in keys.items():
            self.bring_key(first, service, key)
        for path in (self.folder / "secrets").iterdir():
            path.unlink()  # those it began with are another installation's
        for secret in secrets:
            self.write_secret(secret, first.secret(secret).decode())

    def of_its_own(self):
        return {"connect": {"broker": self.broker}}

    def bring_key(self, first, service, key):
        shutil.move(first.keys / f"{key}.key", self.keys / f"{service}.key")
