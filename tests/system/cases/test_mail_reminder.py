"""From a webhook to a mail server: the real processes send the mail that a shopper would get."""

import datetime
import email
import email.policy
import os
import re
import time
import urllib.parse

import pytest

from cartbus_system import System, wait_until
from mail_peer import Keep, Peer

RATE = 3600  # an hour of the shop is a second of ours
RULES = """Small carts (under 40 EUR): remind after 1 hour, then after 6. Medium carts: 1 hour, then 6.
Big carts (over 150 EUR): 1 hour, then 6. At most one mail per shopper every 2 hours.
"""
TO = "anna@mail.example"


def clock():
    now_us = int(time.time() * 1e6)
    return {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us}


@pytest.fixture
def keep():
    return Keep()


@pytest.fixture
def system(keep):
    peer = Peer(keep)
    mail = {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": peer.port, "smtp-tls": "none"}
    monitor = {"admin": "admin@shop.example", "from": "cartbus@shop.example"}
    with System({"clock": clock(), "mail": mail, "monitor": monitor, "gateway": {"public-url": "https://mail.demo.example"}}) as running:
        running.shop = running.add_shop("demo", rules=RULES)
        running.start()
        running.cartbus("shop", "mode", "demo", "live")
        yield running
    peer.close()


def leave_cart(system, cart_id="c-1", address=TO, locale="de-DE"):
    body = {
        "event": "changed", "cart": cart_id, "email": address,
        "at": datetime.datetime.fromtimestamp(system.now_s(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "first_name": "Anna", "currency": "EUR", "total": "89.70", "locale": locale,
        "recovery_url": f"https://demo.example/r/{cart_id}",
        "items": [{"title": "Vase <b>blau</b>", "quantity": 3, "price": "29.90"}],
    }
    answer = system.post(system.shop.cart(body))
    assert answer.status == 200, answer.text


def parsed(envelope):
    return email.message_from_bytes(envelope.content, policy=email.policy.default)


def to_shopper(keep, address=TO):
    return [parsed(mail) for mail in keep.mails if mail.rcpt_tos == [address]]


def outcomes(system, kind):
    return [entry["message"] for entry in system.log(topic=f"reminder.{kind}")]


def test_a_cart_that_was_left_gets_two_mails_and_no_third(system, keep):
    leave_cart(system)
    wait_until(lambda: len(to_shopper(keep)) == 2, "both reminders", within_s=25)
    wait_until(lambda: len(outcomes(system, "sent")) == 2, "both outcomes")
    first, second = to_shopper(keep)
    assert first["Message-ID"] != second["Message-ID"]
    assert [f"<{sent.message_id}>" for sent in outcomes(system, "sent")] == [first["Message-ID"], second["Message-ID"]]
    for mail in (first, second):
        assert mail.get_content_type() == "multipart/alternative"
        text, html = (mail.get_body((kind,)).get_content() for kind in ("plain", "html"))
        assert "89,70\xa0€" in text and "89,70\xa0€" in html
        assert "Vase <b>blau</b>" in text and "Vase &lt;b&gt;blau&lt;/b&gt;" in html
        assert "https://mail.demo.example/r/" in text and 'href="https://mail.demo.example/r/' in html
        assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        assert mail["Auto-Submitted"] == "auto-generated"
    why = system.cartbus("why", "demo", "c-1").stdout
    assert -1 < why.index(" first_reminder: ") < why.index(" second_reminder: ") and why.count("small cart") + why.count("medium cart") >= 2
    leave_cart(system, "c-2", "ben@mail.example")  # it comes through all its waits anew: a third mail would have come meanwhile
    wait_until(lambda: len(to_shopper(keep, "ben@mail.example")) == 2, "both reminders of another cart", within_s=40)
    wait_until(lambda: len(outcomes(system, "sent")) == 4, "all outcomes")
    assert len(to_shopper(keep)) == 2 and len(keep.mails) == 4
    assert len(system.log(topic="send.claim")) == 4


def test_the_way_back_in_a_mail_leads_to_the_basket_and_is_counted(system, keep):
    leave_cart(system)
    wait_until(lambda: to_shopper(keep), "the first reminder", within_s=25)
    text = to_shopper(keep)[0].get_body(("plain",)).get_content()
    link = urllib.parse.urlsplit(re.search(r"https://mail\.demo\.example/r/\S+", text)[0])
    answer = system.request("GET", f"{link.path}?{link.query}")
    assert (answer.status, answer.headers["Location"]) == (302, "https://demo.example/r/c-1")
    (clicked,) = system.log(topic="link.clicked")
    (cart,) = {entry["key"] for entry in system.log(topic="cart.state")}
    assert (clicked["key"], clicked["message"].step) == (cart, 1)
    words = "the link back to the basket was followed, in reminder 1, at "
    assert words in system.cartbus("why", "demo", "c-1").stdout and words in system.cartbus("log", "--since", "1", "--topic", "link.clicked").stdout
    system.kill("broker")
    wait_until(lambda: not system.connected(), "the gateway notices")
    answer = system.request("GET", f"{link.path}?{link.query}")
    assert (answer.status, answer.headers["Location"]) == (302, "https://demo.example/r/c-1")


def test_each_shopper_reads_his_own_language_and_a_new_one_needs_no_restart(system, keep):
    words = "First reminder\nSubject: Bonjour {first name}, {total}\nBody:\n{return link}\n"
    words += "Second reminder\nSubject: Encore\nBody:\n{return link}\n"
    (system.folder / "shops" / "demo" / "voice.fr.txt").write_text(words)
    wait_until(lambda: [entry for entry in system.log(topic="document") if entry["key"] == "voice.fr"], "the new language")
    shoppers = {"fr@mail.example": "fr-CA", "ar@mail.example": "ar-EG", "sv@mail.example": "sv_SE"}
    for address, locale in shoppers.items():
        leave_cart(system, f"c-{locale}", address, locale)
    wait_until(lambda: all(to_shopper(keep, address) for address in shoppers), "a mail to each", within_s=25)
    french, arabic, swedish = (to_shopper(keep, address)[0] for address in shoppers)
    assert french["Subject"] == "Bonjour Anna, 89,70\xa0€"
    assert "Ne plus recevoir ces e-mails" in french.get_body(("plain",)).get_content(), "a footer of the same language"
    assert arabic["Subject"].startswith("سلة مشترياتك") and 'lang="ar" dir="rtl"' in arabic.get_body(("html",)).get_content()
    assert swedish["Subject"].startswith("Ihr Warenkorb"), "nobody wrote Swedish: the shop's language"


def test_the_link_in_a_mail_stops_the_second(system, keep):
    (system.folder / "shops" / "demo" / "rules.txt").write_text(RULES.replace("then after 6", "then after 20").replace("then 6", "then 20"))
    wait_until(lambda: [entry for entry in system.log(topic="document") if entry["message"].version == 2], "time to follow it before the second")
    leave_cart(system)
    wait_until(lambda: to_shopper(keep), "the first reminder", within_s=25)
    link = re.fullmatch("<(.*)>", to_shopper(keep)[0]["List-Unsubscribe"])[1]
    path = urllib.parse.urlsplit(link).path
    assert system.request("GET", path).status == 200
    answer = system.request("POST", path, body="List-Unsubscribe=One-Click",
                            headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status == 200
    wait_until(lambda: system.log(topic="suppression"), "the suppression")
    wait_until(lambda: [entry for entry in system.log(topic="cart.state") if entry["message"].status == 2], "the close",
               within_s=60)
    assert len(to_shopper(keep)) == 1


def test_after_the_gateway_was_away_mails_wait_for_what_platforms_send_again(system, keep):
    system.kill("gateway")
    alive = system.folder / "state" / "gateway" / "alive"
    os.utime(alive, times=(time.time() - 300, time.time() - 300))  # as if it had been dead for five minutes
    system.start("gateway")
    wait_until(lambda: system.log(topic="gateway.away"), "the word of the gateway")
    leave_cart(system)
    why = wait_until(lambda: (text := system.cartbus("why", "demo", "c-1", check=False).stdout) and "deferred" in text and text,
                     "the wait", within_s=25)
    assert "a gateway was away, and what platforms could not deliver may still come" in why
    answer = system.post(system.shop.cart({"event": "checked_out", "cart": "c-1", "email": TO, "order_id": "o-1", "total": "89.70",
                                           "currency": "EUR"}))
    assert answer.status == 200, answer.text
    wait_until(lambda: [row for row in system.log(topic="cart.state") if row["message"].order_id == "o-1"], "the purchase")
    assert not to_shopper(keep) and not system.log(topic="send.claim")


def test_a_mail_that_the_server_puts_off_comes_later_and_once(system, keep):
    keep.data = "451 4.7.1 try again"
    leave_cart(system)
    wait_until(lambda: outcomes(system, "released"), "the release", within_s=25)
    keep.data = None
    wait_until(lambda: to_shopper(keep), "the reminder", within_s=25)
    assert outcomes(system, "released")[0].reason.startswith("later 451")
    wait_until(lambda: system.counted("sender", "throttled_mail"), "that it is counted as being throttled")


def test_a_mail_without_an_answer_is_ambiguous_listed_and_never_repeated(system, keep):
    keep.hang_up = True
    leave_cart(system)
    wait_until(lambda: outcomes(system, "ambiguous"), "the ambiguous outcome", within_s=25)
    keep.hang_up = False
    wait_until(lambda: outcomes(system, "sent"), "the second reminder", within_s=25)
    assert [outcome.step for outcome in outcomes(system, "ambiguous") + outcomes(system, "sent")] == [1, 2]
    assert len(to_shopper(keep)) == 2
    wait_until(lambda: to_shopper(keep, "admin@shop.example"), "the alarm's mail", within_s=25)
    alarm = to_shopper(keep, "admin@shop.example")[0]
    assert alarm["Subject"].startswith("[cartbus] ambiguous")
    assert "What to do:" in alarm.get_content()
