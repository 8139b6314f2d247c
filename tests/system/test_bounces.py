"""From a cart to its bounce and back: real Postfix sends the bounce, and what shoppers complain about pauses the shop."""

import os
import pwd

import pytest

from cartbus_system import System, wait_until
from postfix_server import PostfixServer
from smtp_server import MAIL_USER
from test_feedback import report
from test_mail_moments import RULES, clock, leave_cart, outcome

pytestmark = pytest.mark.xdist_group("bounces")


@pytest.fixture(scope="module")
def postfix():
    postfix = PostfixServer()
    user = pwd.getpwnam(MAIL_USER)
    for name in ("bounces", "bounces/new", "bounces/cur", "bounces/tmp"):
        (postfix.folder / "mail" / name).mkdir(mode=0o700)
        os.chown(postfix.folder / "mail" / name, user.pw_uid, user.pw_gid)
    yield postfix
    postfix.close()


@pytest.fixture(scope="module")
def system(postfix):
    settings = {"clock": clock(), "mailin": {"folder": postfix.folder / "mail" / "bounces"},
                "mail": {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": postfix.port, "smtp-tls": "none"}}
    with System(settings) as system:
        system.shop = system.add_shop("demo", rules=RULES)
        conf = system.folder / "shops" / "demo" / "shop.conf"
        conf.write_text(conf.read_text().replace("bounce = bounce@", "bounce = bounces+*@"))
        system.start("broker", "mirror", "gateway", "intake", "timer", "waiter", "sender", "unsub", "mailin")
        system.cartbus("shop", "mode", "demo", "live")
        yield system


def listed(system, address):
    return next((entry["message"] for entry in system.log(topic="suppression")
                 if entry["message"].address_hash == system.shop.address_hash(address)), None)


def test_a_mail_to_nobody_comes_back_and_its_address_is_never_mailed_again(system, postfix):
    leave_cart(system, "gone-1@mail.example")
    row = wait_until(lambda: listed(system, "gone-1@mail.example"), "the suppression", within_s=40)
    assert row.source == 4 and "5.1.1" in row.reason and "@" not in row.reason
    feedback, = [entry["message"] for entry in system.log(topic="mail.feedback")]
    cart = next(entry["message"] for entry in system.log(topic="reminder.sent"))
    assert (feedback.cart_id, feedback.step, feedback.address_hash) == (cart.cart_id, 1, cart.address_hash)
    wait_until(lambda: not any((postfix.folder / "mail" / "bounces" / "new").iterdir()), "the end of the bounce")


def test_three_complaints_pause_the_shop_until_a_person_resumes_it(system, postfix):
    angry = [f"angry{i}@mail.example" for i in range(3)]
    for address in angry:
        leave_cart(system, address)
    wait_until(lambda: {mail["To"] for mail in postfix.mails()} >= set(angry), "the mails", within_s=40)
    for mail in postfix.mails():
        back = mail["Return-Path"].strip("<>")
        assert back.startswith("bounces+") and len(back.split("@")[0]) == 64
        path = postfix.folder / "mail" / "bounces" / "tmp" / mail["To"]
        path.write_bytes(report(back, "Feedback-Type: abuse\nVersion: 1\n", "feedback-report").as_bytes())
        path.rename(postfix.folder / "mail" / "bounces" / "new" / mail["To"])
    wait_until(lambda: all(listed(system, address) for address in angry), "the suppressions", within_s=40)
    status = wait_until(lambda: [entry["message"] for entry in system.log(topic="shop.status") if entry["message"].mode == 3], "the pause")[0]
    assert "3 complaints" in status.reason and status.priority == 100
    assert [entry["message"].kind for entry in system.log(topic="alarm") if entry["message"].raised] >= ["complaint-rate", "sending-paused"]

    leave_cart(system, "patient@mail.example")
    assert system.cartbus("shop", "mode", "demo", "live", check=False).returncode == 1
    assert not outcome(system, "patient@mail.example")
    system.cartbus("resume", "demo", "--reason", "the voice was wrong")
    wait_until(lambda: outcome(system, "patient@mail.example") == "sent", "the mail of who waited", within_s=90)
    wait_until(lambda: [entry["message"] for entry in system.log(topic="alarm")
                        if entry["message"].kind == "sending-paused" and not entry["message"].raised], "the end of the alarm")
