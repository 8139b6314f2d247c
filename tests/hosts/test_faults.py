"""Signed webhooks flow while links between hosts are cut, half open or slow, a host of senders is lost for good, or the broker's is rebooted.

The broker and all other services are on the first host, the senders on two more, OpenSMTPD on a fourth. Judged from outside: the mailbox,
the 200s that the storefront was given, and the log read afterwards (tests/crash/test_kills.py has the judge).
"""

import collections
import random
import threading
import time

import pytest

from cartbus_system import wait_until
from lan import GONE, SLOW
from places import BrokersHost, OtherHost
from storefront import Storefront
from test_kills import judge, outcomes
from test_move import mail_by

RATE = 900  # an hour of the shop in 4 s
RULES = ("Small carts (under $20): remind after 1 hour, then after 6. Medium carts: 1 hour, then 6. "
         "Big carts (over $150): 1 hour, then 6. At most one mail per shopper every 1 hour.\n")
BY_THE_BROKER = ("gateway", "intake", "timer", "waiter", "unsub", "mirror")
SHOPS = ("alpha", "beta")
SILENT_WITHIN_S = 20   # a session ends after 1.5 s of silence
MAIL_UNDER_WAY_S = 5   # claimed before a stop, delivered after it


class Scene:
    def __init__(self, lan, mail_server):
        self.lan, self.mail_server, self.kills = lan, mail_server, collections.Counter()
        self.began_us = int(time.time() * 1e6)
        both = {"clock": {"rate": RATE, "origin-real-us": self.began_us, "origin-wall-us": self.began_us}, **mail_by(mail_server)}
        self.first = BrokersHost(lan, both)
        for host in "bc":
            self.first.make_key(f"sender-{host}", "sender", "--instance", f"sender-{host}*")
        for shop in SHOPS:
            self.first.add_shop(shop, rules=RULES)
        self.first.start("broker")
        for process in [self.first.start(name, wait=False) for name in BY_THE_BROKER]:
            process.wait_ready()
        self.second, self.third = (OtherHost(lan, f"host-{host}", self.first, {"sender": f"sender-{host}"}, ["link.key", "bounce.key"], both)
                                   for host in "bc")
        self.places = [self.second, self.third, self.first]
        self.second.start("sender=sender-b1")
        self.third.start("sender=sender-c1")
        for shop in SHOPS:
            self.first.cartbus("shop", "mode", shop, "live")

    def close(self):
        for place in self.places:
            place.__exit__(None, None, None)

    def flow(self, count, over_s):
        seed = random.randrange(1 << 31)
        print(f"seed {seed}, {count} carts in each of {len(SHOPS)} shops")
        self.storefront = Storefront(self.first, SHOPS, count, over_s, seed)

    def go_on(self, seconds):
        """Shoppers react to their mails meanwhile."""
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            self.storefront.follow(self.mail_server.mails())
            threading.Event().wait(0.3)

    def working(self):
        return {one["instance"] for one in self.first.sessions("sender")}

    def lose(self, instance):
        began_s = time.monotonic()
        wait_until(lambda: instance not in self.working(), f"giving {instance} up", SILENT_WITHIN_S)
        print(f"given up after {time.monotonic() - began_s:.1f} s")

    def regain(self, *instances):
        began_s = time.monotonic()
        wait_until(lambda: self.working() >= set(instances), f"{instances} being back", 30)
        print(f"back after {time.monotonic() - began_s:.1f} s")

    def settle(self):
        judge(self.first, self.storefront, self.mail_server, self)
        late = [f"{mail.delivered_to}: {after_s:.0f} s" for mail, after_s in self.after_stops() if after_s > MAIL_UNDER_WAY_S]
        assert not late, f"mailed after the shopper had bought or said no: {late}"

    def after_stops(self):
        stopped = {cart.address: cart.stopped_at_s for cart in self.storefront.carts if cart.stopped_at_s}
        began_s = self.began_us / 1e6
        for mail in self.mail_server.mails():
            if mail.delivered_to in stopped:
                yield mail, mail.arrived - (began_s + (stopped[mail.delivered_to] - began_s) / RATE)


@pytest.fixture
def scene(lan, mail_server):
    scene = Scene(lan, mail_server)
    yield scene
    scene.close()


def test_links_that_are_cut_half_open_or_slow_lose_and_double_nothing(scene):
    lan, first, second = scene.lan, scene.first.address, scene.second.address
    scene.flow(count=36, over_s=40)
    for what, act in {
        "cut": lambda how: lan.both_ways(first, second, **how),
        "half open, the broker is not heard": lambda how: lan.one_way(first, second, **how),
        "half open, the sender is not heard": lambda how: lan.one_way(second, first, **how),
    }.items():
        print(what)
        scene.go_on(3)
        act(GONE)
        scene.lose("sender-b1")
        scene.go_on(3)
        act({})
        scene.regain("sender-b1")
    print("slow")
    lan.both_ways(first, second, **SLOW)
    scene.go_on(10)
    scene.regain("sender-b1")
    lan.both_ways(first, second)
    scene.settle()
    ambiguous = [key for key, word in outcomes(scene.first.log()).items() if word == "ambiguous"]
    assert not ambiguous, f"nobody died, and of these nobody knows: {ambiguous}"


def test_a_host_of_senders_that_is_lost_for_good_takes_no_mail_with_it(scene):
    scene.flow(count=24, over_s=15)
    scene.go_on(8)
    wait_until(lambda: scene.mail_server.count() > 0, "mails on their way")
    scene.second.kill_all()
    scene.lan.unplug(scene.second.address)
    scene.kills["sender-b1"] += 1
    scene.lose("sender-b1")
    scene.settle()


def test_the_brokers_host_is_rebooted_and_all_goes_on(scene):
    scene.flow(count=24, over_s=25)
    scene.go_on(8)
    wait_until(lambda: scene.mail_server.count() > 0, "mails on their way")
    scene.lan.unplug(scene.first.address)
    scene.first.kill_all()
    scene.kills["all of the first host"] += 1
    scene.go_on(5)
    scene.lan.plug_in(scene.first.address)
    for name in ("broker", *BY_THE_BROKER):
        scene.first.start(name, wait=False)
    scene.first.processes["broker"].wait_ready()
    scene.regain("sender-b1", "sender-c1")
    scene.settle()
