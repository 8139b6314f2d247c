"""Every condition that the admin is told of, each with its cause, in one system that lives through five weeks.

Real processes, a real SMTP server (aiosmtpd) that refuses some, a real HTTP receiver, a maildir with complaints, a model's endpoint that
stands in for one, a file system of its own that fills up, a wall clock that is set. The clock runs sixty times as fast, and the weeks
between two starts are skipped. Each alarm comes once on each way and once more when it is over, although the monitor is killed in between.
"""

import base64
import contextlib
import datetime
import email
import email.policy
import json
import subprocess
import time
import uuid

import pytest

from cartbus_system import System, wait_until
from http_peer import Peer, reply
from mail_peer import Keep
from mail_peer import Peer as MailPeer
from test_alarms import SECRET, verified
from test_clock_jumps import Wall
from test_feedback import report
from test_full_disk import leave

RATE = 60
STARTS = datetime.datetime(2026, 12, 8, 12, 0, tzinfo=datetime.timezone.utc)  # no day of these weeks on which a month's budget begins anew
WITHIN_S = 90
RULES = "Small carts (under 40 EUR): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. Big carts (over 150 EUR): 1 hour, then 20.\n"
ALL_BUT_REPORTS = ("gateway", "intake", "timer", "waiter", "sender", "unsub", "mailin", "mirror", "monitor", "storefront")
ANSWER = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello {first name}, your roses are waiting."},
                       "finish_reason": "stop"}], "usage": {"prompt_tokens": 200, "completion_tokens": 20}}


class Refusing(Keep):
    """Takes mail for all but @gone.example."""

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.endswith("@gone.example"):
            return "550 5.7.1 not from you"
        return await super().handle_RCPT(server, session, envelope, address, options)


class World:
    def __init__(self):
        self.keep, self.hook, self.model = Refusing(), Peer(), Peer(lambda request: reply(request, 200, ANSWER))
        self.smtp = MailPeer(self.keep)
        self.system = System()
        self.disk = self.system.folder / "state" / "broker"
        self.disk.mkdir(mode=0o750)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(self.disk)], check=True)
        self.bounces = self.system.folder / "bounces"
        for part in ("new", "cur", "tmp"):
            (self.bounces / part).mkdir(parents=True)
        self.wall = Wall(self.system)
        self.later(days=0)
        self.system.write_secret("alarm.webhook", "whsec_" + base64.b64encode(SECRET).decode())
        self.shop = self.system.add_shop("demo", rules=RULES, extra="polish = yes")
        conf = self.system.folder / "shops" / "demo" / "shop.conf"
        conf.write_text(conf.read_text().replace("bounce = bounce@", "bounce = bounces+*@"))
        self.system.add_shop("forged", rules=RULES)
        self.system.add_shop("big", rules=RULES)

    def later(self, days):
        """The configuration of a system whose clock shows so many days more than at its first start; for the next start."""
        wall_us = int((STARTS + datetime.timedelta(days=days)).timestamp() * 1e6)
        self.system.configure({
            "clock": {"rate": RATE, "origin-real-us": int(time.time() * 1e6), "origin-wall-us": wall_us},
            "mail": {"transport": "smtp", "smtp-port": self.smtp.port, "smtp-tls": "none"},
            "mailin": {"folder": self.bounces}, "broker": {"headroom": 40, "headroom-percent": 0},
            "model": {"provider": "openai", "url": self.model.url, "model": "small"}, "budget": {"tokens": 1000},
            "monitor": {"admin": "admin@shop.example", "from": "cartbus@shop.example", "webhook": self.hook.url, "broker-patience": "2s"}})

    def start_broker(self):
        """Alone with a wall clock that can be set."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.wall.environment().items():
                patch.setenv(name, value)
            self.system.start("broker")

    def stop(self):
        for name in reversed(list(self.system.processes)):
            if self.system.processes[name].running:
                self.system.stop(name)

    def close(self):
        self.system.close()
        subprocess.run(["umount", str(self.disk)], check=True)
        self.smtp.close()
        for peer in (self.hook, self.model):
            peer.close()

    # -- what shoppers and storefronts do --

    def post(self, event, name, shop="demo", address=None, secret=None, **more):
        at = datetime.datetime.fromtimestamp(self.system.now_s(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        body = {"event": event, "cart": name, "at": at, "email": address, "first_name": "Anna", "currency": "EUR", "total": "20.00",
                "locale": "en-GB", "recovery_url": f"https://{shop}.example/r/{name}",
                "items": [{"title": "Roses", "quantity": 1, "price": "20.00"}], **more}
        return self.system.post(self.system.shops[shop].cart(body, secret=secret)).status

    def leave_cart(self, address, first_wait="1min"):
        """A cart whose shopper is reminded after a minute, a second of ours."""
        assert self.post("wait_override", uuid.uuid4().hex[:12], address=address, first_wait=first_wait, second_wait="60d") == 200

    def mailed_to(self, address):
        return [mail for mail in self.keep.mails if mail.rcpt_tos == [address]]

    def ended(self, topic, count):
        wait_until(lambda: len(self.system.log(topic=topic)) >= count, f"{count} times {topic}", WITHIN_S)

    # -- what the admin hears --

    # (who is killed between sending and its word of it sends again, with the same id: that is the same notice)

    def posts(self, kind):
        found = {request.headers["webhook-id"]: verified(request) for request in list(self.hook.requests)}
        return [one for one in found.values() if one["data"]["kind"] == kind]

    def mails(self, kind):
        found = {}
        for envelope in self.mailed_to("admin@shop.example"):
            mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
            subject = mail["Subject"].removeprefix("[cartbus] over: ").removeprefix("[cartbus] ")
            if subject.split(",")[0].split(":")[0] == kind:
                found[mail["Message-ID"]] = mail
        return list(found.values())

    def told(self, kind, *ends, shop="", words=""):
        """So far it was told on both ways with these ends, in this order, and no more."""
        def heard():
            return len(self.posts(kind)) >= len(ends) and len(self.mails(kind)) >= len(ends)
        wait_until(heard, f"{kind} {ends}", WITHIN_S)
        posts, mails = self.posts(kind), self.mails(kind)
        assert [one["type"] for one in posts] == [f"alarm.{end}" for end in ends], posts
        assert [("over" if mail["Subject"].startswith("[cartbus] over:") else "raised") for mail in mails] == list(ends)
        assert {one["data"]["shop"] for one in posts} == {shop} and words in posts[0]["data"]["text"], posts
        if ends == ("raised",):
            assert posts[0]["data"]["remedy"] and "What to do:" in mails[0].get_content()


@pytest.fixture
def world():
    world = World()
    with contextlib.closing(world):
        yield world


def a_cart_at_which_the_waiter_fails(world):
    system = world.system
    system.stop("waiter")
    system.start("failing-waiter=waiter")
    world.leave_cart("waited@mail.example")
    wait_until(lambda: system.queue_of("waiter")["failures"], "the failure", WITHIN_S)
    system.stop("waiter")
    system.start("waiter")
    wait_until(lambda: world.mailed_to("waited@mail.example"), "the mail of who waited", WITHIN_S)


def complain(world, *addresses):
    for address in addresses:
        (mail,) = wait_until(lambda address=address: world.mailed_to(address), f"the mail to {address}", WITHIN_S)
        path = world.bounces / "tmp" / address
        path.write_bytes(report(mail.mail_from, "Feedback-Type: abuse\nVersion: 1\n", "feedback-report").as_bytes())
        path.rename(world.bounces / "new" / address)


def test_each_condition_is_told_once_and_once_that_it_is_over(world):
    system = world.system

    # the first day: what usually comes
    world.start_broker()
    system.start("gateway")
    for number in range(20):
        assert world.post("changed", f"usual-{number}") == 200
    wait_until(lambda: sum(topic.count for entry in system.log(topic="gateway.seen") for topic in entry["message"].topics) == 20,
               "what came being known", WITHIN_S)
    world.stop()

    # eight days later: one thing after the other goes wrong
    world.later(days=8)
    world.start_broker()
    system.start(*ALL_BUT_REPORTS)
    system.cartbus("shop", "mode", "demo", "live")
    for address in ("angry0@mail.example", "angry1@mail.example", "nobody0@gone.example", "nobody1@gone.example"):
        world.leave_cart(address)
    for _ in range(4):
        assert world.post("changed", "c", shop="forged", secret="not the secret of this shop") == 401
    assert world.post("changed", "usual") == 200
    body = {"created_at": int(system.now_s()), "store_id": "1", "producer": "stores/h", "scope": "store/cart/updated", "hash": "x",
            "data": {"type": "cart", "id": "0934"}}  # of a shop that names no API to fetch it from: it can never be handled
    assert system.request("POST", "/hooks/big/bigcommerce", body=json.dumps(body),
                          headers={"X-Cartbus-Secret": system.shops["big"].secret}).status == 200
    (system.folder / "shops" / "demo" / "rules.txt").write_text("Small carts (under 40 bananas).\n")
    filler = world.disk / "filler"
    leave(filler, 100)
    world.wall.set(7200)
    complain(world, "angry0@mail.example", "angry1@mail.example")
    world.told("dead-letters", "raised", words="storefront (1)")
    world.told("document.rules", "raised", shop="demo", words="line 1, column")
    world.told("disk", "raised", words="MiB are free")
    world.told("clock", "raised", words="the clock jumped")
    world.told("signatures", "raised", shop="forged", words="4 requests were not signed")
    world.told("complaint-rate", "raised", shop="demo", words="2 complaints")
    world.told("budget", "raised", words="88 % of the month's budget")

    system.kill("monitor")  # in the middle of all that
    system.start("monitor")
    world.wall.set(0)
    filler.unlink()
    (system.folder / "shops" / "demo" / "rules.txt").write_text(RULES)
    system.cartbus("dlq", "drop", "storefront", "--all", "--reason", "nobody waits for it")
    world.leave_cart("nobody2@gone.example")
    world.ended("reminder.refused", 3)
    a_cart_at_which_the_waiter_fails(world)
    world.told("waiter-errors", "raised", words="the waiter failed")
    world.told("sender-failures", "raised", words="3 were refused")
    world.told("budget-spent", "raised", words="% of the month's budget are used")
    for kind, shop in (("dead-letters", ""), ("document.rules", "demo"), ("disk", ""), ("clock", ""), ("budget", "")):
        world.told(kind, "raised", "over", shop=shop)

    # a reminder is due, and there is nobody who would mail it; then the broker dies
    system.kill("sender")
    due = len(system.log(topic="reminder.due"))
    world.leave_cart("late@mail.example")
    world.ended("reminder.due", due + 1)
    system.kill("broker")
    world.told("broker-away", "raised", words="the broker does not answer")
    system.kill("monitor")
    world.stop()

    # a month later
    world.later(days=40)
    system.start("monitor", wait=False)  # which knows what it told
    world.start_broker()
    system.start(*(name for name in ALL_BUT_REPORTS if name not in ("monitor", "sender")))
    world.told("broker-away", "raised", "over")
    world.told("nothing-sent", "raised", words="1 reminders were due and nothing was sent")
    world.told("topic-silent", "raised", shop="demo", words="changed")
    system.start("sender")
    assert world.post("changed", "again") == 200
    for kind, shop in (("nothing-sent", ""), ("topic-silent", "demo"), ("waiter-errors", ""), ("sender-failures", ""),
                       ("signatures", "forged"), ("complaint-rate", "demo"), ("budget-spent", "")):
        world.told(kind, "raised", "over", shop=shop)
    for kind, shop in (("dead-letters", ""), ("document.rules", "demo"), ("disk", ""), ("clock", ""), ("budget", ""), ("broker-away", "")):
        world.told(kind, "raised", "over", shop=shop)  # and nothing since
    assert not world.mailed_to("late@mail.example")
