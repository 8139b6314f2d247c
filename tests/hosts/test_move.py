"""A sender, and any other service, is moved to another host by a key, two files and a few lines of configuration."""

import time

from cartbus_system import wait_until
from places import BrokersHost, OtherHost
from two_hosts import leave_cart

RATE = 3600  # an hour of the shop is a second of ours
RULES = "Small carts (under 40 EUR): remind after 1 hour, then after 6. Medium carts: 1 hour, then 6.\nBig carts (over 150 EUR): 1 hour, then 6.\n"
BY_THE_BROKER = ("gateway", "intake", "timer", "waiter", "mirror")


def clock():
    now_us = int(time.time() * 1e6)
    return {"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us}}


def mail_by(server):
    return {"mail": {"transport": "smtp", "smtp-host": server.address, "smtp-port": server.port, "smtp-tls": "none"}}


def begin(first, *services):
    first.add_shop("demo", rules=RULES)
    first.start("broker")
    for process in [first.start(name, wait=False) for name in services]:
        process.wait_ready()
    first.cartbus("shop", "mode", "demo", "live")


def test_senders_move_to_another_host_by_a_key_and_ten_lines_of_configuration(lan, mail_server):
    both = {**clock(), **mail_by(mail_server)}
    with BrokersHost(lan, both) as first:
        first.make_key("sender-b", "sender", "--instance", "sender-b*")
        begin(first, *BY_THE_BROKER)
        with OtherHost(lan, "second", first, {"sender": "sender-b"}, ["link.key", "bounce.key"], both) as second:
            second.start("sender=sender-b-1")
            leave_cart(first, first.shops["demo"], "c-1")
            wait_until(lambda: len(mail_server.mails()) == 2, "both mails of the cart", 30)
            assert [one["instance"] for one in first.sessions("sender")] == ["sender-b-1"]
            assert not (first.keys / "sender-b.key").exists()
            assert all(f"[{second.address}]" in str(mail["Received"]) for mail in mail_server.mails())
            assert len(second.lines_for_a_sender()) <= 10
