"""Senders on two hosts are added, killed and cut off while mail flows into a real mail server (OpenSMTPD).

A short bout by default; `tests/run system -k scale_out --strikes=60` is a campaign. Every strike comes while mails are under way.
Judged from outside: the mailbox, and the log read afterwards.
"""

import collections
import contextlib
import dataclasses
import itertools
import random
import threading
import time

from cartbus_system import wait_until
from smtp_server import SmtpServer
from two_hosts import TwoHosts, leave_cart

RATE = 3600  # an hour of the shop is a second of ours
RULES = ("Small carts (under 40 EUR): remind after 1 hour, then after 30 days. Medium carts: 1 hour, then 30 days. "
         "Big carts (over 150 EUR): 1 hour, then 30 days.\n")
RUN = 16               # mails in a row that the broker hands to one of several (bus/broker/queue/deliver.c)
CONNECTIONS = 2        # of each sender: most of what it holds it has not claimed yet
BURST = 32             # carts whose mails are under way when a strike comes
MOVED_WITHIN_S = 10    # what nobody had claimed is mailed by another; 1.5 s are the silence that ends a session
SETTLED_WITHIN_S = 45  # what a lost sender had claimed: 15 s until it is given up
STRIKES = ("kill near", "cut", "add far", "kill far", "swallow", "add near")


@dataclasses.dataclass
class Strike:
    what: str
    at_us: int  # the log's clock
    victims: tuple  # instances


class Crews:
    """The senders of both hosts; one near stays alive, or nobody would be left while the wire is cut."""

    def __init__(self, hosts):
        self.systems = {"near": hosts.near, "far": hosts.far}
        self.alive = {"near": [], "far": []}
        self.count = itertools.count(1)
        self.runs = {}  # what claims are owned by -> instance

    def add(self, where):
        name = f"{where}-{next(self.count)}"
        self.systems[where].start(f"sender={name}", wait=False)
        self.alive[where].append(name)
        return name

    def kill(self, where, dice):
        victim = dice.choice(self.alive[where])
        self.systems[where].kill(victim)
        self.alive[where].remove(victim)
        return victim

    def working(self):
        sessions = self.systems["near"].sessions("sender")
        self.runs.update({one["run"]: one["instance"] for one in sessions})
        return {one["instance"] for one in sessions}

    def wait_for(self, *names):
        wait_until(lambda: self.working() >= set(names), f"{', '.join(names)} working")


class Campaign:
    def __init__(self, hosts, shop, server, seed):
        self.hosts, self.shop, self.server, self.dice = hosts, shop, server, random.Random(seed)
        self.crews, self.strikes, self.carts = Crews(hosts), [], []

    def burst(self, count=BURST):
        """Carts that fall due together, and are under way now."""
        left_s, before = self.hosts.near.now_s(), self.server.count()
        for _ in range(count):
            self.carts.append(f"c-{len(self.carts)}")
            leave_cart(self.hosts.near, self.shop, self.carts[-1], f"{self.carts[-1]}@shopper.example", left_s)
        wait_until(lambda: self.server.count() > before, "the first mail of many", step_s=0.002)

    def strike(self, what):
        self.burst()
        act, _, where = what.partition(" ")
        noted = Strike(what, int(self.hosts.near.now_s() * 1e6), ())
        self.strikes.append(noted)
        if act == "add":
            self.crews.wait_for(self.crews.add(where))
        elif act == "kill":
            noted.victims = (self.crews.kill(where, self.dice),)
            if len(self.crews.alive[where]) < 1:
                self.crews.wait_for(self.crews.add(where))
        else:
            noted.victims = tuple(self.crews.alive["far"])
            self.cut_off(act)

    def cut_off(self, act):
        cut, mend = {"cut": (self.hosts.bus.cut, self.hosts.bus.mend),
                     "swallow": (self.hosts.bus.swallow, self.hosts.bus.give_back)}[act]
        cut()
        if self.dice.random() < 0.3:
            threading.Event().wait(self.dice.uniform(0.1, 1))  # too short to end a session
        else:
            wait_until(lambda: not self.crews.working() & set(self.crews.alive["far"]), "giving who is cut off up", MOVED_WITHIN_S)
            wait_until(lambda: self.hosts.near.queue_of("sender")["ready"] == 0, "handing on what they held", MOVED_WITHIN_S)
        mend()
        self.crews.wait_for(*self.crews.alive["far"])


def outcomes(log, runs):
    """cart -> [(word, log time)] in order; cart -> who claimed it."""
    told, claims = collections.defaultdict(list), collections.defaultdict(set)
    for entry in log:
        if entry["topic"] == "send.claim":
            claims[entry["message"].cart_id].add(runs[entry["message"].owner])
        elif entry["topic"].startswith("reminder.") and entry["topic"] != "reminder.due":
            told[entry["message"].cart_id].append((entry["topic"].split(".")[1], entry["time_us"]))
    return told, claims


def killed(strikes):
    return set().union(*(strike.victims for strike in strikes if strike.what.startswith("kill")))


def moved_s(strike, strikes, log, told, claims):
    """How long after a strike the last was mailed of what was due then and not claimed by who was struck."""
    longest, struck = 0, killed(strikes) | set(strike.victims)
    for entry in log:
        if entry["topic"] != "reminder.due" or entry["time_us"] > strike.at_us:
            continue
        cart = entry["message"].cart.ids.cart_id
        done_us = told[cart][0][1]
        if done_us > strike.at_us and not claims[cart] & struck:
            longest = max(longest, (done_us - strike.at_us) / RATE / 1e6)
    return longest


def judge(campaign, server):
    near = campaign.hosts.near

    def settled():
        return set(campaign.carts) <= {entry["message"].cart_id for entry in near.log("reminder.sent") + near.log("reminder.ambiguous")}

    wait_until(settled, "an outcome of every cart", SETTLED_WITHIN_S, step_s=0.2)
    alive = set(campaign.crews.alive["near"] + campaign.crews.alive["far"])
    near.stop(*campaign.crews.alive["near"])
    campaign.hosts.far.stop(*campaign.crews.alive["far"])  # which says what it still had to say
    log = near.log()
    told, claims = outcomes(log, campaign.crews.runs)
    wait_until(lambda: len(server.mails()) >= sum("sent" in [word for word, _ in told[cart]] for cart in campaign.carts), "the deliveries")
    mails = collections.Counter(mail.delivered_to.split("@")[0] for mail in server.mails())
    ambiguous = [cart for cart in campaign.carts if told[cart][-1][0] == "ambiguous"]
    moved = [moved_s(strike, campaign.strikes, log, told, claims) for strike in campaign.strikes]
    for strike, seconds in zip(campaign.strikes, moved):
        print(f"{strike.what} {' '.join(strike.victims)}: moved within {seconds:.1f} s")
    print(f"{len(campaign.carts)} carts, {sum(mails.values())} mails, {len(ambiguous)} ambiguous; claimed by "
          f"{dict(collections.Counter(who for names in claims.values() for who in names))}")
    doubled = [cart for cart, times in mails.items() if times > 1]
    assert not doubled, f"mailed twice: {doubled}"
    lost = [cart for cart in campaign.carts if not mails[cart] and cart not in ambiguous]
    assert not lost, f"due and never mailed: {lost}"
    assert {word for words in told.values() for word, _ in words} <= {"sent", "ambiguous", "released"}
    living = {cart: claims[cart] for cart in ambiguous if not claims[cart] & killed(campaign.strikes)}
    assert not living, f"ambiguous although the owner lives: {living}"
    idle = alive - set().union(*claims.values())
    assert not idle, f"never given a mail: {idle}"
    assert max(moved) < MOVED_WITHIN_S
    assert not near.ask("dead.list")["dead"]


def test_senders_come_and_go_and_every_mail_goes_once(request):
    count, seed = request.config.getoption("--strikes"), request.config.getoption("--seed") or random.randrange(1 << 31)
    now_us = int(time.time() * 1e6)
    print(f"seed {seed}, {count} strikes")
    with TwoHosts() as hosts, contextlib.closing(SmtpServer(hosts.here, hosts.mail_addresses)) as server:
        hosts.begin({"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us},
                     "mail": {"smtp-connections": CONNECTIONS}}, server.port)
        shop = hosts.near.add_shop("demo", rules=RULES)
        hosts.near.start("broker")
        hosts.near.start("gateway", "intake", "timer", "waiter", "mirror")
        hosts.near.cartbus("shop", "mode", "demo", "live")
        campaign = Campaign(hosts, shop, server, seed)
        campaign.crews.wait_for(campaign.crews.add("near"), campaign.crews.add("near"), campaign.crews.add("far"))
        strikes = list(itertools.islice(itertools.cycle(STRIKES), count))
        campaign.dice.shuffle(strikes)
        for what in strikes:
            campaign.strike(what)
        campaign.burst(RUN * (1 + len(campaign.crews.working())))  # enough for everybody
        judge(campaign, server)
