"""Whoever can merely write mails suppresses nobody and pauses no shop; keys are rotated, and what is out holds on.

Mails go through real Postfix, which hands on what comes back over LMTP.
"""

import re
import time

import pytest

from cartbus_system import System, free_port, wait_until
from lmtp_world import come_back_over_lmtp, over_lmtp
from postfix_server import PostfixServer
from test_feedback import GONE, named, report
from test_mail_moments import RULES, clock, leave_cart

pytestmark = pytest.mark.xdist_group("forged")

ABUSE = "Feedback-Type: abuse\nVersion: 1\n"
CARTS = [f"{number}@mail.example" for number in (1001, 1002, 1003, 1004)]  # leave_cart takes the number for the cart's


class World:
    def __init__(self):
        self.lmtp = free_port()
        self.postfix = PostfixServer(lmtp=self.lmtp)
        self.system = System({"clock": clock(), "mailin": {"lmtp": f"127.0.0.1:{self.lmtp}"},
                              "mail": {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": self.postfix.port, "smtp-tls": "none"}})
        self.shop = self.system.shop = self.system.add_shop("demo", rules=RULES)
        come_back_over_lmtp(self.system, "demo")
        self.system.start("broker", "mirror", "gateway", "intake", "timer", "waiter", "sender", "unsub", "mailin")
        self.system.cartbus("shop", "mode", "demo", "live")

    def close(self):
        self.system.close()
        self.postfix.close()

    def mail_to(self, address):
        leave_cart(self.system, address)
        return wait_until(lambda: next((mail for mail in self.postfix.mails() if mail["To"] == address), None), "the mail", within_s=60)

    def feedback(self):
        return [entry["message"] for entry in self.system.log(topic="mail.feedback")]

    def listed(self, address):
        return self.shop.address_hash(address) in [entry["message"].address_hash for entry in self.system.log(topic="suppression")]

    def pauses(self):
        return [entry["message"] for entry in self.system.log(topic="shop.status") if entry["message"].mode == 3]

    def tell(self, mail, to="bounces@lmtp.example"):
        return over_lmtp(self.lmtp, mail.as_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), to=to.encode())

    def is_taken(self, mail, **more):
        """As a mail server does: who is told 451, because mailin is away from the broker for a moment, comes again."""
        return wait_until(lambda: self.tell(mail, **more).startswith("250"), "a mail to be taken")


@pytest.fixture(scope="module")
def world():
    world = World()
    yield world
    world.close()


def arf(message_id, to="bounces@lmtp.example", kind="feedback-report", fields=ABUSE, headers=""):
    return report(to, fields, kind, f"<{message_id}>{headers}")


def test_who_knows_the_numbers_of_carts_suppresses_nobody_and_pauses_no_shop(world):
    mails = {address: world.mail_to(address) for address in CARTS}
    domain = "demo.example"
    for address in CARTS:
        forged = named(address.split("@")[0]) + "@" + domain
        for mail in (arf(forged), arf(forged, kind="delivery-status", fields=GONE), arf(forged, to=mails[address]["Reply-To"] or "x@demo.example")):
            assert world.tell(mail)[:3] in ("451", "250")
    assert not world.feedback() and not world.pauses() and not any(world.listed(address) for address in CARTS)
    ids = [mails[address]["Message-ID"].strip("<>") for address in CARTS]
    assert not {named(address.split("@")[0]) for address in CARTS} & {one.split("@")[0] for one in ids}

    assert world.is_taken(arf(ids[0]))  # who was given the mail, a mailbox provider among them, knows its name
    wait_until(lambda: world.listed(CARTS[0]), "the suppression of who complained")
    # the list is kept in the order of the log: what was forged before the complaint would be known by now
    assert [(one.cart_id, one.step) for one in world.feedback()] == [("1001", 1)]
    assert [address for address in CARTS if world.listed(address)] == [CARTS[0]] and not world.pauses()
    for day in range(3):  # told once more, in other bytes
        assert world.is_taken(arf(ids[0], to=f"loop{day}@lmtp.example"))
    # a bounce without the tag of where it came back to is none
    assert world.tell(arf(ids[1], kind="delivery-status", fields=GONE)).startswith("451")
    assert not world.listed(CARTS[1])
    back = mails[CARTS[1]]["Return-Path"].strip("<>")
    assert world.is_taken(arf("x@y", kind="delivery-status", fields=GONE), to=back)
    wait_until(lambda: world.listed(CARTS[1]), "the suppression of whose mail came back")
    assert not world.pauses()  # what was told once more came before that bounce


def test_two_shoppers_bounces_that_are_the_same_bytes_are_two(world):
    backs = {address: world.mail_to(address)["Return-Path"].strip("<>") for address in ("2001@mail.example", "2002@mail.example")}
    for back in backs.values():
        assert world.is_taken(report("bounces@lmtp.example", GONE), to=back)
    wait_until(lambda: all(world.listed(address) for address in backs), "both suppressions")


def links(mail):
    return re.search(r"<https?://[^/]+(/u/[^>]+)>", mail["List-Unsubscribe"]).group(1)


def test_a_rotated_key_signs_anew_and_what_is_out_holds_on(world):
    system = world.system
    before = world.mail_to("3001@mail.example")
    keys = {name: system.secret(name) for name in ("link.key", "bounce.key")}
    for name in ("link", "bounce"):
        told = system.cartbus("secrets", "rotate", name, json_output=True)
        assert told["rotated"] == f"{name}.key"
        assert system.secret(f"{name}.key") != keys[f"{name}.key"] and len(system.secret(f"{name}.key")) == 64
        line = (system.folder / "secrets" / f"{name}.key.previous").read_text()
        assert re.fullmatch(r"[0-9a-f]{64} until \d{4}-\d\d-\d\d\n", line) and line.startswith(keys[f"{name}.key"].decode())
        assert (system.folder / "secrets" / f"{name}.key.previous").stat().st_mode & 0o777 == 0o600
    for name in ("gateway", "mailin", "sender"):
        system.stop(name)
        system.start(name)
    after = world.mail_to("3002@mail.example")
    for mail, address in ((before, "3001@mail.example"), (after, "3002@mail.example")):
        assert system.request("GET", links(mail)).status == 200
        back = mail["Return-Path"].strip("<>")
        assert world.is_taken(report("bounces@lmtp.example", GONE), to=back)
        wait_until(lambda: world.listed(address), "the suppression")
    for name in ("link", "bounce"):
        path = system.folder / "secrets" / f"{name}.key.previous"
        path.write_text(re.sub("until .*", "until 2020-01-01", path.read_text()))
    for name in ("gateway", "mailin"):
        system.stop(name)
        system.start(name)
    assert system.request("GET", links(before)).status in (400, 403, 404)
    assert system.request("GET", links(after)).status == 200
    again = world.mail_to("3003@mail.example")
    old = world.shop.bounce_address("victim@mail.example", "lmtp.example", key=keys["bounce.key"])
    assert not world.tell(report("bounces@lmtp.example", GONE), to=old).startswith("250")
    assert world.is_taken(report("bounces@lmtp.example", GONE), to=again["Return-Path"].strip("<>"))


def test_a_rotation_says_what_is_wrong_and_changes_nothing_then(world):
    system = world.system
    before = system.secret("link.key")
    for words in (["rotate", "address"], ["rotate", "link", "--keep", "soon"], ["rotate", "admin", "--keep", "3d"], ["rotate"]):
        done = system.cartbus("secrets", *words, check=False)
        assert done.returncode == 2 and done.stderr
    assert system.secret("link.key") == before
    admin = system.secret("admin.key")
    system.cartbus("secrets", "rotate", "admin")
    assert system.secret("admin.key") != admin and not (system.folder / "secrets" / "admin.key.previous").exists()


def test_an_upgrade_from_0_1_0_keeps_what_is_out_and_hands_mailin_no_key_of_new_links(world):
    """0.1.0 signed tags with link.key, and had no bounce.key."""
    with System({"mailin": {"lmtp": f"127.0.0.1:{free_port()}"}}) as system:
        for name in ("bounce.key", "admin.key"):
            (system.folder / "secrets" / name).unlink()
        link = system.secret("link.key")
        system.cartbus("secrets", "make")
        derived = system.secret("bounce.key")
        assert derived not in (link, b"") and len(derived) == 64
        before = (system.folder / "secrets" / "bounce.key.previous").read_text()
        until = re.fullmatch(link.decode() + r" until (\d{4}-\d\d-\d\d)\n", before).group(1)
        days = (time.mktime(time.strptime(until, "%Y-%m-%d")) - time.time()) / 86400
        assert 58 < days < 62
        system.cartbus("secrets", "make")
        assert system.secret("bounce.key") == derived and (system.folder / "secrets" / "bounce.key.previous").read_text() == before
        # on another host with the same link.key it is the same
        (system.folder / "secrets" / "bounce.key").unlink()
        (system.folder / "secrets" / "bounce.key.previous").unlink()
        system.cartbus("secrets", "make")
        assert system.secret("bounce.key") == derived
        # and where everything is new, mailin never gets what links are signed with
        for name in ("link.key", "bounce.key", "bounce.key.previous"):
            (system.folder / "secrets" / name).unlink()
        system.cartbus("secrets", "make")
        assert not (system.folder / "secrets" / "bounce.key.previous").exists()
