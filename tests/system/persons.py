"""A shopper who leaves traces everywhere, another one beside him, and a searcher of everything on the disk.

The searcher uses nothing of ours: RocksDB's own tools take its files apart, the rest is read byte by byte.
"""

import base64
import datetime
import pathlib
import quopri
import shutil
import subprocess
import sys
import tempfile
import time
import zoneinfo

from cartbus_system import SOURCES, System, wait_until

sys.path.append(str(SOURCES / "tests" / "crash"))
from bus_peer import Peer, encode_message  # noqa: E402

RATE = 3600  # an hour of the shop is a second
RULES = ("Small carts (under 40 EUR): remind after 1 hour, then after 700. Medium carts: 1 hour, then 700. "
         "Big carts (over 150 EUR): 1 hour, then 700.\n")


class Person:
    def __init__(self, mark):
        self.mark = mark
        self.address = f"shopper.{mark}@mail.example"
        self.name = f"Name{mark}"
        self.title = f"Only {mark} bought this"
        self.cart, self.second = f"cart-token-{mark}-first", f"cart-token-{mark}-second"
        self.customer = f"customer-{mark}-4711"
        self.order = f"order-{mark}-0815"

    def names(self):
        """What nobody may find any more."""
        return [self.address, self.name, self.title, self.cart, self.second, self.customer, self.order,
                f"/recover/{self.mark}"]

    def body(self, system, cart, event="changed", **more):
        now = datetime.datetime.fromtimestamp(system.now_s(), datetime.timezone.utc)
        return {"event": event, "cart": cart, "email": self.address, "customer_id": self.customer, "first_name": self.name,
                "currency": "EUR", "total": "89.70", "locale": "de-DE", "at": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "recovery_url": f"https://demo.example/recover/{self.mark}",
                "items": [{"title": self.title, "quantity": 3, "price": "29.90"}], **more}

    def leave(self, system, cart, **more):
        answer = system.post(system.shop.cart(self.body(system, cart, **more)))
        assert answer.status == 200, answer.text


def shop_system(hour=None, extra="", **settings):
    """hour: of the shop's day on which it starts; any if not given."""
    now_us = int(time.time() * 1e6)
    wall_us = now_us
    if hour is not None:
        here = datetime.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin"))
        wall_us = int(here.replace(hour=hour, minute=0).timestamp() * 1e6)
    system = System({"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": wall_us}, **settings})
    system.shop = system.add_shop("demo", rules=RULES, extra=extra)
    system.start()
    system.cartbus("shop", "mode", "demo", "live")
    return system


def outcome_of(system, cart):
    return [entry for entry in system.log(topic="reminder.sent") if entry["message"].cart_id == cart]


def dead_letters(system):
    return [letter for letter in system.cartbus("dlq", "list", json_output=True, check=False)["dead"]]


def die(system, person):
    """A letter about him that nobody can handle: an override without waits, whose reason holds his address."""
    cart, crowd = system.proto(), []
    action = cart.AdminAction(verb=cart.ADMIN_OVERRIDE_WAIT, cart_id=person.cart, who="test", reason=f"for {person.address}")
    peer = Peer(system.folder / "run", lambda: system.processes["broker"].running, "cartbus", f"c-{person.mark}", crowd)
    before = len(dead_letters(system))
    peer.publish(encode_message(action.SerializeToString(), topic="admin.action", shop="demo", key=person.cart))
    peer.goodbye()
    peer.close()
    wait_until(lambda: len(dead_letters(system)) > before, "a dead letter")


def leave_traces(system, person):
    """A cart that is mailed and bought, one that stays open, a dead letter, a webhook that could not be read."""
    person.leave(system, person.cart)
    wait_until(lambda: outcome_of(system, person.cart), "the first reminder")
    die(system, person)
    answer = system.post(system.shop.cart({**person.body(system, person.cart, "checked_out", email=None), "order_id": person.order}))
    assert answer.status == 200, answer.text
    person.leave(system, person.second, saved_link=True)
    order = {"id": None, "email": person.address, "note": person.name}
    assert system.post(system.shop.shopify("orders/create", order)).status == 200
    states = system.proto()
    wait_until(lambda: [row for row in system.log(topic="cart.state") if row["message"].ids.cart_id == person.cart
                        and row["message"].status == states.CART_BOUGHT], "the purchase")
    wait_until(lambda: [row for row in system.log(topic="cart.state") if row["message"].ids.cart_id == person.second],
               "the second cart")


# ---- the searcher ----


def tool(*words):
    return subprocess.run(words, capture_output=True, timeout=120, check=False).stdout


def unhex(text):
    """The hexadecimal words of a tool's output, as the bytes that they stand for."""
    found = []
    for word in text.replace(b"'", b" ").replace(b"0x", b" ").split():
        try:
            found.append(bytes.fromhex(word.decode()))
        except ValueError:
            continue
    return b"\n".join(found)


def decoded(path):
    """A file's bytes, and what they say when they are decoded as what the file is."""
    raw = path.read_bytes()
    ways = [raw, quopri.decodestring(raw)]
    if path.suffix == ".sst":
        ways.append(unhex(tool("sst_dump", f"--file={path}", "--command=scan", "--output_hex")))
    if path.suffix == ".log":
        ways.append(unhex(tool("ldb", "dump_wal", f"--walfile={path}", "--print_value")))
    for line in raw.split(b"\n\n"):
        try:
            ways.append(base64.b64decode(line, validate=False))
        except ValueError:
            continue
    return ways


def copy_of(folder):
    """Files come and go while processes run: they are searched in a copy of one moment."""
    target = pathlib.Path(tempfile.mkdtemp(prefix="cartbus-search-"))
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file() and not path.is_symlink():
            place = target / path.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                shutil.copyfile(path, place)
            except FileNotFoundError:
                continue
    return target


def search(folder, person, but=()):
    """{file: names found in it}, of every file below a folder; `but` those that may stand there."""
    copy, found = copy_of(folder), {}
    try:
        for path in sorted(copy.rglob("*")):
            if path.is_file():
                ways = decoded(path)
                hits = [name for name in person.names() if name not in but and any(name.encode().lower() in way.lower() for way in ways)]
                if hits:
                    found[str(path.relative_to(copy))] = hits
    finally:
        shutil.rmtree(copy)
    return found
