"""What a shopper or a service wrote moves nobody's cursor: C1 controls, which xterm and others obey in UTF-8 too, and marks that turn a line around."""

import re
import sys
import time
import unicodedata

import pytest

from cartbus_system import SOURCES, System, wait_until

sys.path.append(str(SOURCES / "tests" / "crash"))
from bus_peer import Peer, encode_message  # noqa: E402

# Erases the screen, sets the window's title, has the terminal type an answer; then Trojan Source's: what follows is shown the other way round.
HOSTILE = "a\u009b2J\u009d0;x\u009c\u0090$q\u009c\u0085 b\u202e\u2066 c\u2028 d"
ADDRESS = "ada@mail.example"


def obeyed(text):
    """Characters of it that a terminal does not show but does something for."""
    return [hex(ord(character)) for character in text.replace("\n", "")
            if unicodedata.category(character) in ("Cc", "Zl", "Zp") or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]


@pytest.fixture
def system():
    with System() as system:
        system.shop = system.add_shop("demo")
        system.start("broker", "gateway", "intake", "timer", "unsub")
        yield system


def test_what_a_shopper_typed_is_shown_as_text_alone(system):
    body = {"event": "changed", "cart": f"c{HOSTILE}", "email": ADDRESS, "customer_id": "7", "first_name": HOSTILE, "currency": "EUR",
            "total": "89.70", "recovery_url": f"https://demo.example/r/{HOSTILE.replace(' ', '')}",
            "items": [{"title": HOSTILE, "variant": HOSTILE, "sku": HOSTILE, "quantity": 3, "price": "29.90"}],
            "note_attributes": [{"name": HOSTILE, "value": HOSTILE}], "discount_codes": [HOSTILE]}
    assert system.post(system.shop.cart(body)).status == 200
    cart = wait_until(lambda: system.log("cart.state"), "the cart")[0]["message"].ids.cart_id
    assert system.post(system.shop.cart({**body, "event": "checked_out", "order_id": f"o{HOSTILE}"})).status == 200
    wait_until(lambda: [entry for entry in system.log("cart.state") if entry["message"].status], "the purchase")
    for words in (("why", "demo", cart), ("trace", "demo", cart), ("log",), ("carts", "demo"), ("export", "demo", ADDRESS)):
        shown = system.cartbus(*words).stdout
        assert len(shown) > 20 and not obeyed(shown), (words, shown)
    raw = system.cartbus("export", "demo", ADDRESS, "--json").stdout
    assert not re.search("[\x80-\x9f]", raw), raw


def say(system, *messages):
    """As a process that may be `cartbus`: (topic, key, message)."""
    peer = Peer(system.folder / "run", lambda: system.processes["broker"].running, "cartbus", "c-1", [])
    for topic, key, message in messages:
        peer.publish(encode_message(message.SerializeToString(), topic=topic, shop="demo", key=key))
    peer.goodbye()
    peer.close()


def test_what_a_service_says_is_shown_as_text_alone(system):
    """One of them was taken over; or it repeats what somebody outside said."""
    cart = system.proto()
    say(system, ("admin.action", "c-1", cart.AdminAction(verb=cart.ADMIN_WRITE_OFF, cart_id="c-1", who="test", reason=HOSTILE)))
    wait_until(lambda: system.log("admin.action"), "the act")
    shown = system.cartbus("log", "--topic", "admin.action").stdout
    assert "a 2J" in " ".join(shown.split()) and not obeyed(shown), shown


@pytest.fixture
def hasty_system():
    """An hour of it is a second: a message that cannot be handled dies soon."""
    now_us = int(time.time() * 1e6)
    with System({"clock": {"rate": 3600, "origin-real-us": now_us, "origin-wall-us": now_us}}) as system:
        system.add_shop("demo")
        system.start("broker", "intake", "waiter", "unsub")
        yield system


def test_alarms_and_dead_letters_are_shown_as_text_alone(hasty_system):
    system, key = hasty_system, f"c{HOSTILE}"
    cart = system.proto()
    say(system, ("alarm", "mail-server", cart.Alarm(kind="mail-server", raised=True, text=f"{HOSTILE}\x1b[2J\rgone", remedy=HOSTILE, at_us=1)),
        ("admin.action", key, cart.AdminAction(verb=cart.ADMIN_OVERRIDE_WAIT, cart_id=key, who="test", reason="without waits")))
    letter = wait_until(lambda: system.cartbus("dlq", "list", check=False, json_output=True)["dead"], "the dead letter")[0]
    for words in (("alarm", "list"), ("status",), ("dlq", "list"), ("dlq", "show", letter["queue"], str(letter["seq"]))):
        shown = system.cartbus(*words, check=False).stdout
        assert len(shown) > 20 and not obeyed(shown), (words, shown)
