"""Everything of the first release is stopped, and this tree's programs start on what it left. And the way back.

No other user reads a shopper, links and bounces of mails that are out count, what was forbidden stays forbidden, nothing is mailed twice.
One story, told in order: shoppers leave carts, some are mailed and say no in a way of their own, and then the release changes. The clock
is put ahead between two lives, so that what waited is due.
"""

import asyncio
import collections
import contextlib
import datetime
import email
import email.policy
import html
import pathlib
import re
import time

import pytest

from cartbus_system import fixture, free_port, wait_until
from mail_peer import Keep, Peer
from releases import Upgraded, need_builds
from test_deadly_mails import over_lmtp
from test_feedback import GONE, named, report
from test_private_state import ADDRESS, STRANGER, open_files, read_by

pytestmark = pytest.mark.xdist_group("upgrade")

ABUSE = "Feedback-Type: abuse\nVersion: 1\n"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
HOUR_S, AHEAD_S = 3600, 8 * 3600
RULES = """Small carts (under 40 EUR): remind after 1 hour, then after 6. Medium carts: 1 hour, then 6.
Big carts (over 150 EUR): 1 hour, then 6. At most one mail per shopper every 2 hours.
"""
SHOPS = {"demo": "bounces+*@lmtp.example", "plain": "bounces@lmtp.example", "stopped": "bounces+*@lmtp.example", "paused": "bounces+*@lmtp.example"}
# Between the lives: its last byte went and the answer was not heard; said no while the broker was away; was not decided on yet.
CUT, SPOOLED, QUEUED = "cut", "spooled", "queued"
SAID_NO = ("click", "owner", "privacy", "order", "buyer", "cart", "emptied", "gone", "complained")
SAY_NO_LATER = ("bounces", "complains", "page", "oneclick")
ELSEWHERE = "elsewhere"  # its checkout has a domain of its own, which the first release asked nobody about
OPEN = ("open", "due", QUEUED, ELSEWHERE)
TWICE = ("both", "silent")
OF_PLAIN = ("bounces", "complains", "oneclick")
MAILED_BEFORE = len(SAY_NO_LATER) + len(TWICE) + len(OF_PLAIN) + len(("gone", "complained", "unmistakable", SPOOLED))


def at(name):
    return f"{name}.lee@x.example"


class Slow(Keep):
    """Says nothing after the last byte of one shopper's first mail."""

    async def handle_DATA(self, server, session, envelope):
        said = await super().handle_DATA(server, session, envelope)
        if [one.rcpt_tos for one in self.mails].count([at(CUT)]) == 1 and envelope.rcpt_tos == [at(CUT)]:
            await asyncio.Event().wait()  # nobody sets it
        return said


class World:
    def __init__(self):
        self.keep = Slow()
        self.peer = Peer(self.keep)
        self.lmtp = free_port()
        self.ahead_s = 0
        self.system = Upgraded()
        self.set_clock(0)
        for name, bounce in SHOPS.items():
            self.system.add_shop(name, rules=RULES)
            conf = self.system.folder / "shops" / name / "shop.conf"
            conf.write_text(re.sub("^bounce = .*$", f"bounce = {bounce}", conf.read_text(), flags=re.M))
        self.state = self.system.folder / "state"
        for folder in (self.system.folder, self.state):
            folder.chmod(0o755)  # as systemd has it: what is closed are the folders of each

    def close(self):
        self.system.close()
        self.peer.close()

    def set_clock(self, further_s):
        self.ahead_s += further_s
        now_us = int(time.time() * 1e6)
        self.system.configure({"clock": {"rate": 2, "origin-real-us": now_us, "origin-wall-us": now_us + self.ahead_s * 1000000},
                               "mail": {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": self.peer.port, "smtp-tls": "none"},
                               "gateway": {"public-url": "https://mail.demo.example"}, "mailin": {"lmtp": f"127.0.0.1:{self.lmtp}"}})

    # -- shoppers --

    def leave(self, name, shop="demo", ago_s=0, **more):
        when = datetime.datetime.fromtimestamp(self.system.now_s() - ago_s, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        body = {"event": "changed", "cart": f"{shop}-{name}", "email": at(name), "first_name": "Anna", "at": when, "currency": "EUR",
                "total": "50.00", "recovery_url": f"https://{shop}.example/r/{name}",
                "items": [{"title": "Rose", "quantity": 1, "price": "50.00"}], **more}
        assert self.system.post(self.system.shops[shop].cart(body)).status == 200

    def buy(self, name, cart):
        when = datetime.datetime.fromtimestamp(self.system.now_s() + 5, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        body = fixture("cart-checked-out", id=f"bought-{name}", cart=cart, email=at(name), at=when, currency="EUR", order_id=f"o-{name}")
        assert self.system.post(self.system.shops["demo"].cart(body)).status == 200

    def envelopes(self, name, shop="demo"):
        return [mail for mail in self.keep.mails if mail.rcpt_tos == [at(name)] and f"{shop}.example" in mail.content.decode()]

    def mail(self, name, shop="demo", nth=0):
        return email.message_from_bytes(self.envelopes(name, shop)[nth].content, policy=email.policy.default)

    def headers(self, name, shop="demo"):
        """As who reports a mail quotes them."""
        return self.envelopes(name, shop)[0].content.decode().replace("\r\n", "\n").split("\n\n")[0]

    def steps(self):
        """(shop, cart's name, step) of every mail that the server took."""
        return collections.Counter((mail["From"].addresses[0].domain.split(".")[0], mail["To"].addresses[0].username.split(".")[0], mail["Message-ID"][1])
                                   for mail in (email.message_from_bytes(one.content, policy=email.policy.default) for one in self.keep.mails))

    # -- what comes back --

    def tell(self, content, to="bounces@lmtp.example"):
        return over_lmtp(self.lmtp, content.as_bytes().replace(b"\n", b"\r\n"), to=to.encode())

    def come_back(self, name, shop="demo"):
        return self.tell(report("x@lmtp.example", GONE, message_id=self.mail(name, shop)["Message-ID"]), self.envelopes(name, shop)[0].mail_from)

    def complain(self, name, shop="demo", whole=True):
        message_id = self.mail(name, shop)["Message-ID"]
        return self.tell(report("fbl@lmtp.example", ABUSE, "feedback-report", f"{message_id}\n{self.headers(name, shop)}" if whole else message_id))

    # -- what is known --

    def listed(self, name, shop="demo"):
        address = self.system.shops[shop].address_hash(at(name))
        rows = [entry["message"] for entry in self.system.log(topic="suppression", shop=shop) if entry["key"] == address]
        return bool(rows) and not rows[-1].lifted

    def settled(self):
        queues = self.system.ask("queues")["queues"]
        return all(queue["ready"] == queue["leased"] == 0 for queue in queues)

    def left(self):
        """Every cart is known and waits."""
        rows = {entry["message"].ids.cart_id for entry in self.system.log(topic="cart.state")}
        return rows >= self.carts

    # -- the first release's life --

    def live(self):
        system = self.system
        system.start()
        for shop in SHOPS:
            system.cartbus("shop", "mode", shop, "live")
        for name in (*SAY_NO_LATER, "gone", "complained", SPOOLED, *TWICE):
            self.leave(name, ago_s=2 * HOUR_S)
        self.leave("unmistakable", ago_s=2 * HOUR_S, email=ADDRESS)
        for name in OF_PLAIN:
            self.leave(name, "plain", ago_s=2 * HOUR_S)
        for name in ("click", "owner", "privacy", "order", "buyer", "cart", "emptied", "open", "due"):
            self.leave(name)
        self.leave(ELSEWHERE, recovery_url="https://checkout.elsewhere.test/r")
        for shop in ("stopped", "paused"):
            self.leave("waits", shop)
        self.carts = {f"demo-{name}" for name in (*SAY_NO_LATER, *SAID_NO, "open", "due", ELSEWHERE, SPOOLED, *TWICE)} | {"stopped-waits", "paused-waits"}
        wait_until(lambda: len(self.keep.mails) == MAILED_BEFORE, "the first mails", within_s=60)
        wait_until(self.left, "all carts", within_s=60)
        wait_until(lambda: len(system.log(topic="reminder.sent")) == MAILED_BEFORE, "the outcomes")
        self.say_no()
        wait_until(self.settled, "every queue being done", within_s=60)
        self.break_off()

    def break_off(self):
        """Nobody waits for a quiet moment with an upgrade."""
        system, demo = self.system, self.system.shops["demo"]
        self.leave(CUT, ago_s=2 * HOUR_S)
        wait_until(lambda: self.envelopes(CUT), "the last byte", within_s=30)
        system.kill("sender")
        system.stop("intake")
        self.leave(QUEUED)
        system.stop("broker")
        link = demo.unsubscribe_path(at(SPOOLED))
        wait_until(lambda: system.request("POST", link, b"List-Unsubscribe=One-Click", FORM).status == 200, "the spool", within_s=30)
        system.stop_all()

    def say_no(self):
        system, demo = self.system, self.system.shops["demo"]
        assert system.request("POST", demo.unsubscribe_path(at("click")), b"List-Unsubscribe=One-Click", FORM).status == 200
        system.cartbus("unsubscribe", "demo", at("owner"), "--reason", "rang us up")
        redact = fixture("shopify-customers-redact", customer={"id": 7, "email": at("privacy")})
        assert system.post(demo.shopify("customers/redact", redact)).status == 200
        self.buy("order", "demo-order")
        self.buy("buyer", "another")
        system.cartbus("cart", "suppress", "demo", "demo-cart", "--reason", "a friend of the house")
        self.leave("emptied", items=[], total="0.00")
        assert self.come_back("gone").startswith("250") and self.complain("complained", whole=False).startswith("250")
        system.cartbus("stop", "stopped", "--reason", "wrong prices")
        system.cartbus("shop", "mode", "paused", "paused", "--reason", "on holiday")
        for name in ("click", "owner", "privacy", "gone", "complained"):
            wait_until(lambda: self.listed(name), f"{name} on the list", within_s=60)


@pytest.fixture(scope="module")
def world():
    need_builds()
    world = World()
    with contextlib.closing(world), world.system:
        world.live()
        yield world


def test_what_the_older_release_left_open_is_told_by_the_doctor_and_closed_at_the_start(world):
    system = world.system
    assert {pathlib.Path(line.split()[0]).relative_to(world.state).parts[0] for line in read_by(STRANGER, world.state)} >= {"broker", "waiter"}
    system.change()
    assert any("chmod -R u=rwX,go=" in line for line in system.cartbus("doctor", check=False).stdout.splitlines())
    system.start()
    wait_until(system.drained, "the spool being told")
    assert read_by(STRANGER, world.state) == []
    assert open_files(world.state) == []
    assert "chmod -R" not in system.cartbus("doctor", check=False).stdout


def test_the_command_speaks_of_what_was_before(world):
    system = world.system
    wait_until(lambda: world.settled() and world.listed(SPOOLED), "every queue being done", within_s=60)
    carts = {row["cart"]: row["status"] for row in system.cartbus("carts", "demo", json_output=True)["carts"]}
    assert {cart for cart in world.carts if cart.startswith("demo-")} | {"demo-queued", "demo-cut"} <= set(carts), carts
    assert (carts["demo-order"], carts["demo-buyer"], carts["demo-cart"], carts["demo-both"]) == ("bought", "bought", "closed", "open")
    for name, words in {"order": "bought: order o-order", "both": "reminder 1, attempt 1", "cart": "a friend of the house", "click": "opted out",
                        "gone": "bounced", "complained": "complained", SPOOLED: "opted out", "queued": "first reminder"}.items():
        assert words in system.cartbus("why", "demo", f"demo-{name}").stdout, name
    assert all(queue["dead"] == 0 for queue in system.cartbus("queues", json_output=True)["queues"])
    assert "the log holds" in system.cartbus("status", check=False).stdout
    listed = {row["source"] for row in system.cartbus("suppressions", "list", "demo", json_output=True)["suppressions"]}
    assert listed == {"one-click", "owner", "privacy", "bounce", "complaint"}
    modes = {row["shop"]: row["mode"] for row in system.cartbus("shop", "list", json_output=True)["shops"]}
    assert modes == {"demo": "live", "plain": "live", "stopped": "paused", "paused": "paused"}
    assert (world.state / "sidelog" / "stops").stat().st_size > 0, "what forbids a mail is kept apart from the log from now on"


def test_a_checkout_with_a_domain_of_its_own_is_told_before_a_mail_is_due_and_named(world):
    def told():
        return [line for line in world.system.cartbus("doctor", check=False).stdout.splitlines() if "links back" in line]

    assert len(told()) == 1 and "demo: the links back of 1 open cart lead" in told()[0] and "demo-elsewhere" in told()[0]
    conf = world.system.folder / "shops" / "demo" / "shop.conf"
    conf.write_text(conf.read_text().replace("[mail]", "host = checkout.elsewhere.test\n[mail]", 1))
    assert told() == []


def test_a_mail_whose_answer_was_not_heard_is_ambiguous(world):
    """... and goes no more: see the mails below."""
    cut = wait_until(lambda: [entry["message"] for entry in world.system.log(topic="reminder.ambiguous")], "the ambiguous mail", within_s=60)
    assert [(one.cart_id, one.step) for one in cut] == [("demo-cut", 1)]


def is_refused(answer):
    """Of no mail that we know: who brings it tries again, and gives up some day."""
    return answer.startswith("451 4.4.0 it is not known yet which mail this is about")


def forged(world, cart, told="", shop="demo"):
    """What is answered to a complaint and to a bounce about a cart, by the name that the first release gave its first mail."""
    name = f"<{named(cart, shop=shop)}@{shop}.example>\n{told}".rstrip()
    return [world.tell(report("x@lmtp.example", fields, kind, name)) for kind, fields in (("feedback-report", ABUSE), ("delivery-status", GONE))]


def test_who_merely_knows_a_carts_number_forges_nothing_by_the_older_releases_names(world):
    """Neither of a cart that was never mailed, nor of one that was, nor with the link of another mail."""
    before = len(world.system.log(topic="mail.feedback"))
    assert world.mail("both")["Message-ID"] == f"<{named('demo-both')}@demo.example>", "the first release names its mails so"
    another = f"List-Unsubscribe: {world.mail('complains')['List-Unsubscribe']}"
    answers = [answer for cart in ("demo-open", "demo-both") for told in ("", "List-Unsubscribe: <http://x/u/AAAA>", another)
               for answer in forged(world, cart, told)]
    answers += forged(world, "plain-bounces", shop="plain")
    assert all(map(is_refused, answers)), answers
    assert len(world.system.log(topic="mail.feedback")) == before
    assert not any(world.listed(name) for name in ("open", "both")) and not world.listed("bounces", "plain")


def test_bounces_and_complaints_of_mails_that_were_out_count(world):
    assert world.come_back("bounces").startswith("250")
    assert world.complain("complains").startswith("250")
    quoted = f"{world.mail('bounces', 'plain')['Message-ID']}\n{world.headers('bounces', 'plain')}"
    assert world.tell(report("bounces@lmtp.example", GONE, message_id=quoted)).startswith("250")
    assert world.complain("complains", "plain").startswith("250")
    for shop in ("demo", "plain"):
        for name in ("bounces", "complains"):
            wait_until(lambda: world.listed(name, shop), f"{name} on the list of {shop}")
    told = {(entry["message"].cart_id, entry["message"].step) for entry in world.system.log(topic="mail.feedback")}
    assert told >= {(f"{shop}-{name}", 1) for shop in ("demo", "plain") for name in ("bounces", "complains")}


def unsubscribe_link(mail):
    return re.search(r"<https?://[^/]+(/u/[^>]+)>", mail["List-Unsubscribe"]).group(1)


def return_link(mail):
    page = html.unescape(mail.get_body(("html",)).get_content())
    return re.search(r"https?://[^/\s]+(/r/[\w-]{60,}\?to=[^\s\"]+)", page).group(1)


def test_links_of_mails_that_were_out_work(world):
    system = world.system
    page, oneclick = unsubscribe_link(world.mail("page")), unsubscribe_link(world.mail("oneclick"))
    assert system.request("GET", page).status == 200 and not world.listed("page")
    assert system.request("POST", page, b"unsubscribe=yes", FORM).status == 200
    assert system.request("POST", oneclick, b"List-Unsubscribe=One-Click", FORM).status == 200
    for name in ("page", "oneclick"):
        wait_until(lambda: world.listed(name), f"{name} on the list")
    back = system.request("GET", return_link(world.mail("both")))
    assert back.status in (302, 303, 307) and back.headers["Location"] == "https://demo.example/r/both", back


def mailed_in(world, life):
    """The mails of one life, which begins eight hours later; none of them ever went before."""
    world.set_clock(AHEAD_S)
    before = world.steps()
    world.system.start()
    life()
    wait_until(world.settled, "every queue being done", within_s=60)
    assert max(world.steps().values()) == 1, world.steps()
    return set(world.steps() - before)


def wait_for_mail(world, name, shop="demo", count=1):
    wait_until(lambda: len(world.envelopes(name, shop)) >= count, f"the mail {count} to {name}", within_s=60)


def leave_and_wait(world, name):
    """For who comes last, and so for whatever was due before."""
    world.leave(name, ago_s=2 * HOUR_S)
    wait_for_mail(world, name)


def test_what_waited_is_mailed_and_what_was_forbidden_is_not(world):
    def life():
        for name in OPEN:
            wait_for_mail(world, name)
        for name in TWICE:
            wait_for_mail(world, name, count=2)
        wait_for_mail(world, "oneclick", "plain", count=2)
        leave_and_wait(world, "later")

    world.system.stop_all()
    went = mailed_in(world, life)
    assert went == {*(("demo", name, "1") for name in (*OPEN, "later")), *(("demo", name, "2") for name in (*TWICE, "klara", CUT)), ("plain", "oneclick", "2")}
    world.system.cartbus("shop", "mode", "paused", "live")
    assert world.mail("open")["Message-ID"] != f"<{named('demo-open')}@demo.example>"
    assert all(map(is_refused, forged(world, "demo-open"))) and not world.listed("open")


def test_the_older_release_goes_on_with_what_this_one_left(world):
    """Nothing is mailed twice, and what was forbidden stays so; a link of this release's mails works."""
    system = world.system
    conf = system.folder / "shops" / "demo" / "shop.conf"
    said = len(system.log(topic="document"))
    conf.write_text(conf.read_text().replace("host = checkout.elsewhere.test\n", ""))  # which the first release does not know
    wait_until(lambda: len(system.log(topic="document")) > said, "the shop without the key")
    system.change(to_old=True)

    def life():
        for name in OPEN:
            wait_for_mail(world, name, count=2)
        leave_and_wait(world, "backward")

    assert mailed_in(world, life) == {*(("demo", name, "2") for name in (*OPEN, "later")), ("paused", "waits", "1"), ("demo", "backward", "1")}
    assert system.request("POST", unsubscribe_link(world.mail("later")), b"List-Unsubscribe=One-Click", FORM).status == 200
    wait_until(lambda: world.listed("later"), "its suppression")
    assert all(world.listed(name) for name in (*SAY_NO_LATER, SPOOLED, "click", "gone", "complained"))
    assert world.come_back("due").startswith("250")  # it does not know the key of the tag, and knows the mail by its name
    wait_until(lambda: world.listed("due"), "its suppression")


def test_forward_again_it_knows_all_of_it_and_believes_old_names_until_their_day_only(world):
    system = world.system
    system.change()
    assert mailed_in(world, lambda: leave_and_wait(world, "forward")) == {("demo", "backward", "2"), ("paused", "waits", "2"), ("demo", "forward", "1")}
    assert open_files(world.state) == []
    assert world.complain("backward").startswith("250")  # of the first release's second life
    wait_until(lambda: world.listed("backward"), "its suppression")
    before = system.folder / "secrets" / "bounce.key.previous"
    before.write_text(re.sub("until .*", "until 2020-01-01", before.read_text()))
    system.stop("mailin")
    system.start("mailin")
    assert is_refused(world.complain("both")) and is_refused(world.come_back("both"))
    assert world.come_back("forward").startswith("250")
    wait_until(lambda: world.listed("forward"), "its suppression")
    assert not world.listed("both")
