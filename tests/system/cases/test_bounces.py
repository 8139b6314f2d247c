"""From a cart to its bounce and back: real Postfix sends the bounce, and what shoppers complain about pauses the shop."""

import contextlib
import os
import smtplib
import socket

import pytest

from cartbus_system import System, free_port, wait_until
from lmtp_world import come_back_over_lmtp
from postfix_server import PostfixServer
from smtp_server import MAIL_USER, user_of_ours
from test_feedback import GONE, report
from test_mail_moments import RULES, clock, leave_cart, outcome

pytestmark = pytest.mark.xdist_group("bounces")


@pytest.fixture(scope="module")
def postfix():
    port = free_port()
    postfix = PostfixServer(lmtp=port)
    postfix.lmtp = port
    user = user_of_ours(MAIL_USER)
    for name in ("bounces", "bounces/new", "bounces/cur", "bounces/tmp"):
        (postfix.folder / "mail" / name).mkdir(mode=0o700)
        os.chown(postfix.folder / "mail" / name, user.pw_uid, user.pw_gid)
    yield postfix
    postfix.close()


@pytest.fixture(scope="module")
def system(postfix):
    settings = {"clock": clock(), "mailin": {"folder": postfix.folder / "mail" / "bounces", "lmtp": f"127.0.0.1:{postfix.lmtp}"},
                "mail": {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": postfix.port, "smtp-tls": "none"}}
    with System(settings) as system:
        system.shop = system.add_shop("demo", rules=RULES)
        conf = system.folder / "shops" / "demo" / "shop.conf"
        conf.write_text(conf.read_text().replace("bounce = bounce@", "bounce = bounces+*@"))
        system.second = system.add_shop("second", rules=RULES)
        come_back_over_lmtp(system, "second")
        system.start("broker", "mirror", "gateway", "intake", "timer", "waiter", "sender", "unsub", "mailin")
        system.cartbus("shop", "mode", "demo", "live")
        system.cartbus("shop", "mode", "second", "live")
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
    assert "reminder 1 came back for good: bounced: 5.1.1" in system.cartbus("why", "demo", cart.cart_id).stdout


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
    assert {entry["message"].kind for entry in system.log(topic="alarm") if entry["message"].raised} >= {"complaint-rate", "sending-paused"}

    leave_cart(system, "patient@mail.example")
    assert system.cartbus("shop", "mode", "demo", "live", check=False).returncode == 1
    assert not outcome(system, "patient@mail.example")
    system.cartbus("resume", "demo", "--reason", "the voice was wrong")
    wait_until(lambda: outcome(system, "patient@mail.example") == "sent", "the mail of who waited", within_s=90)
    wait_until(lambda: [entry["message"] for entry in system.log(topic="alarm")
                        if entry["message"].kind == "sending-paused" and not entry["message"].raised], "the end of the alarm")

    system.cartbus("rebuild", "unsub")  # of the kill switch the log keeps the last word alone
    leave_cart(system, "gone-2@mail.example")
    wait_until(lambda: listed(system, "gone-2@mail.example"), "the suppression of who is unknown there", within_s=40)
    assert [entry["message"].mode for entry in system.log(topic="shop.status") if entry["shop"] == "demo"][-1] == 2


def talk(port, *pieces):
    """What an LMTP server says to these, up to the end of the connection."""
    with socket.create_connection(("127.0.0.1", port), 20) as peer:
        for piece in pieces:
            peer.sendall(piece)
        said = b""
        with contextlib.suppress(ConnectionResetError):  # who is turned away is not listened to
            while chunk := peer.recv(4096):
                said += chunk
    return said.decode()


def test_over_lmtp_a_bounce_waits_at_the_mail_server_until_the_broker_has_it(system, postfix):
    first, system.shop = system.shop, system.second
    try:
        leave_cart(system, "kept@mail.example")
        back = wait_until(lambda: [mail["Return-Path"].strip("<>") for mail in postfix.mails() if mail["To"] == "kept@mail.example"],
                          "the mail", within_s=40)[0]
        assert back.endswith("@lmtp.example")
        system.kill("broker")
        with smtplib.SMTP("127.0.0.1", postfix.port) as server:
            server.sendmail("", [back], report(back, GONE).as_bytes())
        wait_until(lambda: "451 4.3.0 away from the broker" in postfix.words(), "the bounce put off", within_s=40)
        system.start("broker")
        row = wait_until(lambda: postfix.flush() or listed(system, "kept@mail.example"), "the suppression", within_s=60, step_s=0.5)
        assert row.source == 4
        leave_cart(system, "gone-2@mail.example")  # of which Postfix itself makes the bounce
        wait_until(lambda: listed(system, "gone-2@mail.example"), "the suppression", within_s=60)
        feedback = [entry["message"] for entry in system.log(topic="mail.feedback") if entry["message"].address_hash == row.address_hash]
        assert len(feedback) == 1 and feedback[0].cart_id and feedback[0].step == 1
        wait_until(lambda: not any(path.is_file() for name in ("active", "deferred", "incoming")
                                   for path in (postfix.folder / "queue" / name).rglob("*")), "an empty queue of Postfix", within_s=60)
    finally:
        system.shop = first


NO_REPORT = b"""From: MAILER-DAEMON@gateway.example\r
Subject: failure notice\r
\r
Hi. I could not deliver your message. The remote server said:\r
550 Sorry, no mailbox here by that name\r
"""
FULL = NO_REPORT.replace(b"550 Sorry, no mailbox here by that name", b"552 The mailbox is full, user unknown to have read it")


def test_a_bounce_without_a_report_counts_for_whose_tag_it_comes_to_each_time_it_comes_to_another(system, postfix):
    first, system.shop = system.shop, system.second
    try:
        names = {"worded-1@mail.example": NO_REPORT, "worded-2@mail.example": NO_REPORT, "worded-3@mail.example": FULL}
        for address in names:
            leave_cart(system, address)
        wait_until(lambda: {mail["To"] for mail in postfix.mails()} >= set(names), "the mails", within_s=60)
        back = {mail["To"]: mail["Return-Path"].strip("<>") for mail in postfix.mails() if mail["To"] in names}
        for address, text in names.items():
            with smtplib.LMTP("127.0.0.1", postfix.lmtp) as door:
                assert door.sendmail("", [back[address]], text) == {}  # not through Postfix, which would write another id into each
        rows = wait_until(lambda: [row for row in (listed(system, address) for address in list(names)[:2]) if row][1:] and
                          [listed(system, address) for address in names], "the suppressions", within_s=40)
        assert "no mailbox here" in rows[0].reason and "@" not in rows[0].reason
        assert rows[1] and not rows[2]
        kinds = [entry["message"].kind for entry in system.log(topic="mail.feedback")
                 if entry["message"].address_hash == system.shop.address_hash("worded-3@mail.example")]
        assert kinds == [2]
    finally:
        system.shop = first


def test_over_lmtp_nobody_is_believed_relayed_for_or_let_in_without_end(system, postfix):
    begin = b"LHLO x\r\nMAIL FROM:<>\r\n"
    before = len(list(system.log(topic="mail.feedback")))
    forged = report("bounces+" + "0" * 56 + "@lmtp.example", "Feedback-Type: abuse\nVersion: 1\n", "feedback-report").as_bytes()
    forged = forged.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    assert "550 5.1.1" in talk(postfix.lmtp, begin + b"RCPT TO:<victim@elsewhere.example>\r\nQUIT\r\n")
    wait_until(lambda: "451 4.4.0" in talk(
        postfix.lmtp, begin + b"RCPT TO:<bounces@lmtp.example>\r\nDATA\r\n" + forged + b"\r\n.\r\nQUIT\r\n"), "the answer to a forgery")
    smuggled = talk(postfix.lmtp, begin + b"RCPT TO:<bounces@lmtp.example>\r\nDATA\r\nx\n.\r\nMAIL FROM:<>\r\nDATA\r\n.\r\nQUIT\r\n")
    assert smuggled.count("250 2.1.0") == 1 and "550 5.6.0" in smuggled
    note = talk(postfix.lmtp, begin + b"RCPT TO:<bounces@lmtp.example>\r\nDATA\r\nSubject: away\r\n\r\nI am away.\r\n.\r\nQUIT\r\n")
    assert "250 2.0.0" in note and len(list((system.folder / "state" / "mailin" / "aside").iterdir())) == 1
    crowd = [socket.create_connection(("127.0.0.1", postfix.lmtp), 20) for _ in range(128)]
    assert all(peer.recv(3) == b"220" for peer in crowd)
    assert talk(postfix.lmtp, b"QUIT\r\n").startswith("220")
    assert b"421 4.4.2" in crowd[0].recv(4096) + crowd[0].recv(4096)  # the oldest of them made room
    for peer in crowd:
        peer.close()
    assert len(list(system.log(topic="mail.feedback"))) == before
