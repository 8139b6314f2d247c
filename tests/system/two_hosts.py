"""Near, where the broker is, and Far, another host: over loopback, or in namespaces of their own (hosts.py)."""

import shutil
import time

from cartbus_system import System, free_ports
from hosts import Host, Wire

CONTROL, INGRESS, TAP, TAP_CLEAR, LANES, PORTS = 0, 1, 2, 3, 4, 256
BROKERS_HOST = ("broker", "sender")  # what runs in the near namespace; the others reach the broker over ipc all the same


class Near(System):
    def __init__(self, settings=None, host=None, address="127.0.0.1"):
        self.host, self.address = host, address
        self.base = free_ports(PORTS)
        super().__init__({"broker": {"listen": f"{address}:{self.base}"}, **(settings or {})})
        self.keys = self.folder / "keys"
        self.keys.mkdir(mode=0o700)
        self.make("sender", "intake")

    def where(self, name):
        return self.host.inside if self.host and name in BROKERS_HOST else []

    def make(self, *names, **options):
        for name in names:
            self.cartbus("keys", "make", name, *[word for key, value in options.items() for word in (f"--{key}", value)])

    def public(self, name):
        return [one for one in self.cartbus("keys", "list", json_output=True)["keys"] if one["key"] == name][0]["public"]

    def endpoint(self, offset):
        return f"tcp://{self.address}:{self.base + offset}"

    def status(self):
        return self.ask("status")

    def refused(self, kind):
        return self.status()["refused"][kind]

    def sessions(self, service):
        return [one for one in self.status()["sessions"] if one["service"] == service]

    def told(self, words, instance="broker"):
        return words in self.processes[instance].log_path.read_text()


class Far(System):
    """A folder of its own, which shares nothing with the broker's but what was copied there."""

    def __init__(self, near, key, settings=None, host=None):
        self.host = host
        super().__init__({"connect": {"broker": f"{near.address}:{near.base}", "key": key}, **(settings or {})})
        keys = self.folder / "keys"
        keys.mkdir(mode=0o700)
        for name in (f"{key}.key", "broker.pub"):
            shutil.copy(near.keys / name, keys / name)
        for name in ("address.key", "link.key", "bounce.key"):
            self.write_secret(name, near.secret(name).decode())

    def where(self, name):
        return self.host.inside if self.host else []


class TwoHosts:
    """The two in namespaces of their own: a wire for the bus, which is cut, and one for the mail, which goes on meanwhile."""

    def __init__(self):
        self.here, self.there = Host("near"), Host("far")
        self.bus, self.mail = Wire(0, self.here, self.there), Wire(1, self.here, self.there)

    def begin(self, settings, mail_port):
        """`mail_port`: where a mail server listens near, at the loopback and at the mail wire."""
        def with_mail(address):
            mail = {"transport": "smtp", "smtp-host": address, "smtp-port": mail_port, "smtp-tls": "none"}
            return {**settings, "mail": {**mail, **settings.get("mail", {})}}

        self.near = Near(with_mail("127.0.0.1"), self.here, self.bus.address[self.here])
        self.far = Far(self.near, "sender", with_mail(self.mail.address[self.here]), self.there)

    @property
    def mail_addresses(self):
        return "127.0.0.1", self.mail.address[self.here]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for system in (getattr(self, "far", None), getattr(self, "near", None)):
            if system:
                system.__exit__(*error)
        self.there.close()
        self.here.close()


def leave_cart(system, shop, cart, address="anna@mail.example", left_s=None):
    body = {"event": "changed", "cart": cart, "email": address, "first_name": "Anna", "currency": "EUR",
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(left_s or system.now_s())), "total": "89.70",
            "recovery_url": f"https://demo.example/r/{cart}", "items": [{"title": "Vase", "quantity": 3, "price": "29.90"}]}
    answer = system.post(shop.cart(body))
    assert answer.status == 200, answer
