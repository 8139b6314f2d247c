"""The broker's host is lost with its disk: it goes on from a backup, and what a host of senders remembers is not mailed again."""

import shutil
import time

from cartbus_system import wait_until
from places import BrokersHost, OtherHost
from test_move import mail_by
from two_hosts import leave_cart

RATE = 600  # two hours of the shop are twelve seconds
RULES = ("Small carts (under 40 EUR): remind after 2 hours, then after 30 days. Medium carts: 2 hours, then 30 days.\n"
         "Big carts (over 150 EUR): 2 hours, then 30 days.\n")
BY_THE_BROKER = ("gateway", "intake", "timer", "waiter", "mirror")


def test_what_a_host_of_senders_mailed_after_the_backup_is_learnt_from_it_and_not_mailed_again(lan, mail_server):
    now_us = int(time.time() * 1e6)
    both = {"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us}, **mail_by(mail_server)}
    with BrokersHost(lan, both) as first:
        first.make_key("sender-b", "sender")
        shop = first.add_shop("demo", rules=RULES)
        first.start("broker")
        first.start(*BY_THE_BROKER)
        first.cartbus("shop", "mode", "demo", "live")
        with OtherHost(lan, "second", first, {"sender": "sender-b"}, ["link.key", "bounce.key"], both) as second:
            second.start("sender=sender-b1")
            leave_cart(first, shop, "c-1")
            wait_until(lambda: first.log("timer.set"), "the cart being decided on")
            first.cartbus("backup", str(first.folder / "copy"))
            assert not mail_server.mails(), "the machine is too slow for this: it was mailed before the backup"
            wait_until(lambda: first.log("reminder.sent"), "the mail", 60)
            first.kill_all()
            second.stop("sender-b1")
            state = first.folder / "state"
            shutil.rmtree(state)
            state.mkdir()
            shutil.move(second.folder / "state" / "sender-b1", state)
            told = first.cartbus("restore", str(first.folder / "copy")).stdout
            assert "1 mails were learnt" in told, told
            first.start("broker")
            first.start(*BY_THE_BROKER)
            second.start("sender=sender-b1")
            first.cartbus("restore", "--release")
            leave_cart(first, shop, "c-2", "berta@mail.example", left_s=first.now_s() - 3 * 3600)
            wait_until(lambda: len(mail_server.mails()) == 2, "the mail of another cart", 60)
            wait_until(lambda: first.queue_of("waiter")["ready"] == first.queue_of("sender")["ready"] == 0, "all being decided")
            assert sorted(mail.delivered_to for mail in mail_server.mails()) == ["anna@mail.example", "berta@mail.example"]
            assert "c-1" in {entry["message"].cart_id for entry in first.log("reminder.sent")}
