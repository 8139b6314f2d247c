"""A shop's day as its owner lives it: modes, edited rules, waits of one cart, the nightly file, and what goes wrong.

The real processes with a faster clock: an hour of the shop is a second.
"""

import datetime
import email
import email.policy
import json
import select
import subprocess
import time
import zoneinfo

import pytest

from cartbus_system import BUILD, System, operator, wait_until

RATE = 3600
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
RULES = ("Small carts (under 40 EUR): remind after 1 hour, then after {second}. Medium carts: 1 hour, then {second}. "
         "Big carts (over 150 EUR): 1 hour, then {second}. At most one mail per shopper every 1 hour.\n")
HOUR_US = 3_600_000_000


def fast_clock(starts=None, rate=RATE):
    """[clock] at this rate from `starts` (an aware datetime), or from now."""
    now_us = int(time.time() * 1e6)
    return {"rate": rate, "origin-real-us": now_us, "origin-wall-us": int(starts.timestamp() * 1e6) if starts else now_us}


@pytest.fixture
def make():
    """Everything running for the shop demo; make(starts=..., rules=...)."""
    systems = []

    def start(starts=None, rules=RULES.format(second=6), rate=RATE):
        system = System({"clock": fast_clock(starts, rate), "monitor": {"admin": "admin@shop.example", "from": "cartbus@shop.example"}})
        systems.append(system)
        system.shop = system.add_shop("demo", rules=rules)
        system.start()
        return system
    yield start
    for system in systems:
        system.close()


def event(system, cart, kind="changed", **more):
    body = {
        "event": kind, "cart": cart, "email": f"{cart}@mail.example", "currency": "EUR", "total": "89.70",
        "at": datetime.datetime.fromtimestamp(system.now_s(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "recovery_url": f"https://demo.example/r/{cart}", "items": [{"title": "Vase", "quantity": 3, "price": "29.90"}], **more,
    }
    answer = system.post(system.shop.cart(body))
    assert answer.status == 200, answer.text


def mails_to(system, address):
    folder = system.folder / "state" / "mail" / "new"
    found = [email.message_from_bytes(path.read_bytes(), policy=email.policy.default) for path in folder.glob("*")]
    return [mail for mail in found if mail["To"].endswith(address)]


def outcomes(system, kind, cart):
    """Of the cart that left this address."""
    ids = {entry["message"].ids.cart_id for entry in system.log(topic="cart.state") if entry["message"].ids.email == f"{cart}@mail.example"}
    return [entry["message"] for entry in system.log(topic=f"reminder.{kind}") if entry["message"].cart_id in ids]


def row(system, cart):
    rows = [entry["message"] for entry in system.log(topic="cart.state") if entry["message"].ids.email == f"{cart}@mail.example"]
    return rows[-1] if rows else None


# ---- the modes ----


def test_each_mode_does_what_it_is_called(make):
    system = make(rules=RULES.format(second=60))
    event(system, "observed")
    wait_until(lambda: [one for one in system.log(topic="audit") if "observe" in one["message"].grounds], "the decision in observe")

    system.cartbus("shop", "mode", "demo", "mail-me")
    event(system, "owned")
    mail = wait_until(lambda: mails_to(system, "owner@shop.example"), "the owner's copy")[0]
    assert mail["Subject"].startswith("[mail me]")

    system.cartbus("shop", "mode", "demo", "live")
    event(system, "wanted")
    wait_until(lambda: mails_to(system, "wanted@mail.example"), "the shopper's mail")

    system.cartbus("shop", "mode", "demo", "paused", "--reason", "wrong prices")
    event(system, "paused")
    wait_until(lambda: [one for one in system.log(topic="audit") if "paused" in one["message"].grounds.lower()], "the pause")
    assert not mails_to(system, "paused@mail.example")
    system.cartbus("shop", "mode", "demo", "live")
    wait_until(lambda: mails_to(system, "paused@mail.example"), "the mail after the pause")
    assert not mails_to(system, "observed@mail.example") and not mails_to(system, "owned@mail.example")


# ---- what changes a decision ----


def test_edited_rules_decide_the_next_mail_without_a_restart(make):
    system = make(rules=RULES.format(second=90))
    system.cartbus("shop", "mode", "demo", "live")
    event(system, "c1")
    wait_until(lambda: outcomes(system, "sent", "c1"), "the first mail")
    (system.folder / "shops" / "demo" / "rules.txt").write_text(RULES.format(second=7))
    wait_until(lambda: [one for one in system.log(topic="document") if one["message"].version == 2], "the edit")
    event(system, "c2")
    wait_until(lambda: len(outcomes(system, "sent", "c2")) == 2, "the second mail by the new rules", within_s=30)
    first, second = outcomes(system, "sent", "c2")
    left_us = row(system, "c2").abandoned_us
    assert 7 * HOUR_US <= second.at_us - left_us < 60 * HOUR_US and first.step == 1 and second.step == 2


def test_a_saved_link_and_waits_of_its_own_reach_the_row_the_timer_and_the_mail(make):
    system = make(rules=RULES.format(second=90).replace("1 hour,", "40 hours,"))  # by its own waits it is mailed long before
    system.cartbus("shop", "mode", "demo", "live")
    event(system, "c1")
    event(system, "c1", "saved_link")
    event(system, "c1", "wait_override", first_wait="5h", second_wait="10h")
    wait_until(lambda: row(system, "c1") and row(system, "c1").HasField("wait_override"), "the override in the row")
    cart = row(system, "c1")
    assert cart.saved_link and (cart.wait_override.first_us, cart.wait_override.second_us) == (5 * HOUR_US, 10 * HOUR_US)
    timers = [one["message"] for one in system.log(topic="timer.set") if one["message"].name == f"cart/{cart.ids.cart_id}"]
    assert cart.abandoned_us + 5 * HOUR_US in [timer.due_us for timer in timers]  # a slow machine is at the second by now
    wait_until(lambda: len(outcomes(system, "sent", "c1")) == 2, "both mails", within_s=30)
    waits = [(mail.at_us - cart.abandoned_us) // HOUR_US for mail in outcomes(system, "sent", "c1")]
    assert 5 <= waits[0] < 40 and 10 <= waits[1] < 90 and waits[0] <= waits[1]  # as late as this machine is


def test_who_got_two_mails_gets_no_third_until_the_window_of_the_rules_is_over(make):
    """The shopper leaves one cart after the other all the time: a third mail is wanted at every moment of the ten days."""
    window_us, shopper = 10 * 24 * HOUR_US, "eve@mail.example"
    system = make(rules="All carts: 1 hour, then after 6 hours. At most two mails per shopper every 10 days.\n", rate=86400)
    system.cartbus("shop", "mode", "demo", "live")
    sent, left = [], 0

    def leave_another_and_look():
        nonlocal sent, left
        left += 1
        event(system, f"cart{left}", email=shopper)
        sent = sorted((entry["message"] for entry in system.log(topic="reminder.sent")), key=lambda one: one.at_us)
        return len(sent) >= 3
    wait_until(leave_another_and_look, "a third mail, after the window", within_s=60)
    assert sent[2].at_us - sent[0].at_us >= window_us
    assert len({one.cart_id for one in sent}) >= 2 and left > 3, "other carts were left meanwhile"
    assert len(mails_to(system, shopper)) == len(sent) == 3


# ---- what goes wrong ----


def test_a_reminder_that_was_due_and_not_sent_turns_status_red_and_is_mailed(make):
    system = make()
    system.cartbus("shop", "mode", "demo", "live")
    assert system.cartbus("status").stdout.startswith("GREEN")
    system.stop("sender")
    event(system, "c1")
    mail = wait_until(lambda: [one for one in mails_to(system, "admin@shop.example") if "nothing-sent" in one["Subject"]],
                      "the alarm's mail", within_s=60)[0]
    assert "What to do:" in mail.get_content() and "c1@" not in mail.as_string()
    red = system.cartbus("status", check=False)
    assert red.returncode == 1 and red.stdout.startswith("RED") and "nothing-sent" in red.stdout
    system.start("sender")
    skipped = wait_until(lambda: outcomes(system, "skipped", "c1"), "the outcome")[0]  # a day is over: see RATE
    assert "late" in skipped.reason and not mails_to(system, "c1@mail.example")
    wait_until(lambda: system.cartbus("status", check=False).returncode == 0, "green again", within_s=60)


def test_a_dead_letter_is_told_shown_redriven_and_dropped(make):
    system = make()
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    system.shop.address_hash = lambda address: ""
    nobody = system.shop.unsubscribe_path("")  # signed with our key, but naming nobody: unsub can never do what it says
    assert system.request("POST", nobody, "List-Unsubscribe=One-Click", form).status == 200

    def dead():
        return json.loads(system.cartbus("dlq", "list", "--json", check=False).stdout)["dead"]
    letter = wait_until(dead, "the dead letter")[0]
    number = str(letter["seq"])
    shown = system.cartbus("dlq", "show", "unsub", number, json_output=True)
    assert "names no address" in str(shown)
    red = system.cartbus("status", check=False)
    assert red.returncode == 1 and "dead letter" in red.stdout
    wait_until(lambda: [one for one in mails_to(system, "admin@shop.example") if "dead-letters" in one["Subject"]], "the alarm's mail")
    system.cartbus("dlq", "redrive", "unsub", number)
    wait_until(dead, "its second death")
    system.cartbus("dlq", "drop", "unsub", number, "--reason", "a test's")
    assert dead() == []
    wait_until(lambda: system.cartbus("status", check=False).returncode == 0, "green again")


def test_mails_wait_for_a_gateway_that_is_gone_until_it_is_struck_off(make):
    system = make(rules=RULES.format(second=90).replace("1 hour", "12 hours"))  # time to kill the gateway before it is mailed
    system.cartbus("shop", "mode", "demo", "live")
    event(system, "c1")
    wait_until(lambda: row(system, "c1"), "the cart's row")
    system.kill("gateway")
    wait_until(lambda: system.ask("status")["parked_claims"], "a mail that waits for what the gateway may hold")
    assert not mails_to(system, "c1@mail.example")
    assert "gateway" in system.cartbus("status", check=False).stdout
    system.cartbus("gateway", "strike", "gateway")
    record = [entry["message"] for entry in system.log(topic="audit") if entry["message"].action == "gateway.strike"]
    assert [(audit.who, audit.grounds) for audit in record] == [(operator(), "gateway gateway")]
    wait_until(lambda: mails_to(system, "c1@mail.example"), "the mail")


# ---- one cart ----


def test_a_cart_that_the_owner_suppressed_gets_no_mail_and_the_shoppers_other_one_does(make):
    system = make(rules=RULES.format(second=90).replace("1 hour", "15 hours"))  # time to act before it is mailed
    system.cartbus("shop", "mode", "demo", "live")
    event(system, "c1")
    wait_until(lambda: row(system, "c1"), "the cart's row")
    system.cartbus("cart", "suppress", "demo", "c1", "--reason", "called us")
    event(system, "c2", email="c1@mail.example")
    mails = wait_until(lambda: mails_to(system, "c1@mail.example"), "the other cart's mail", within_s=60)
    assert len(mails) == 1 and "r/c2" in mails[0].get_body(("plain",)).get_content()
    assert "called us" in system.cartbus("why", "demo", "c1").stdout


def test_a_tap_of_one_cart_shows_no_other(make):
    system = make()
    words = [str(BUILD / "bin" / "cartbus"), "tap", "--json", "--shop", "demo", "--cart", "c2", "--config", str(system.config_path)]
    event(system, "c2")
    wait_until(lambda: row(system, "c2"), "the cart's row")
    tap = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        def says_something():
            event(system, "c1")
            event(system, "c2", total="99.00")
            return select.select([tap.stdout], [], [], 0.2)[0]
        wait_until(says_something, "a line of the tap")
        event(system, "c2", total="101.00")
    finally:
        wait_until(lambda: row(system, "c2").total_minor == 10100, "the last change")
        tap.terminate()
        said, _ = tap.communicate(timeout=10)
    assert tap.returncode == 0
    assert "r/c2" in said and "r/c1" not in said
    assert {one["topic"] for one in map(json.loads, said.splitlines())} >= {"cart.changed", "cart.state"}
