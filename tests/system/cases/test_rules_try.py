"""Edited rules, tried on the carts of the last days before they go live: the real processes, an hour of the shop in a second."""

import datetime
import fcntl
import os
import time

import pytest

from cartbus_system import System, wait_until

RATE = 3600
RULES = ("Small carts (under 40 EUR): remind after 1 hour, then after 6. Medium carts: {medium} hours, then {second}. "
         "Big carts (over 150 EUR): 1 hour, then 6. At most one mail per shopper every 1 hour.\n")
HOUR_US = 3_600_000_000
DECIDES = ("cart.", "reminder.", "send.", "document", "suppression", "shop.")  # what nights bring is none of it: ticks, exports
CARTS = {"ada": "12.50", "bea": "89.70", "cem": "200.00", "dora": "89.70"}

pytestmark = pytest.mark.xdist_group("rules-try")


@pytest.fixture(scope="module")
def lived():
    """Four carts of a shop: two mails each, but dora's, who says no after the first."""
    now_us = int(time.time() * 1e6)
    with System({"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us}}) as system:
        shop = system.add_shop("demo", rules=RULES.format(medium=2, second=7))
        system.start()
        wait_until(lambda: len(system.log(topic="document")) == 2, "the documents being read")
        system.cartbus("shop", "mode", "demo", "live")
        for name, total in CARTS.items():
            at = datetime.datetime.fromtimestamp(system.now_s(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            answer = system.post(shop.cart({
                "event": "changed", "cart": name, "email": f"{name}@mail.example", "currency": "EUR", "total": total, "at": at,
                "recovery_url": f"https://demo.example/r/{name}", "items": [{"title": "Vase", "quantity": 1, "price": total}]}))
            assert answer.status == 200, answer.text
        wait_until(lambda: len(sent(system)) >= 4, "the first mails", 60)
        answer = system.request("POST", shop.unsubscribe_path("dora@mail.example", "dora"), "List-Unsubscribe=One-Click",
                                {"Content-Type": "application/x-www-form-urlencoded"})
        assert answer.status == 200, answer.text
        wait_until(lambda: len(sent(system)) == 7 and system.log(topic="cart.closed"), "the second mails, and dora's end", 60)
        yield system


def sent(system):
    return system.log(topic="reminder.sent")


def tried(system, *words):
    return system.cartbus("rules", "try", *words, json_output=True)


def test_what_was_not_edited_gives_exactly_what_happened(lived, tmp_path):
    as_it_was = tried(lived, "demo", "--as-it-was")
    assert (as_it_was["was"], as_it_was["would"]) == (7, 7)
    assert all(step["was"] == step["would"] for step in as_it_was["steps"]), as_it_was
    same = tmp_path / "rules.txt"
    same.write_text(RULES.format(medium=2, second=7))
    assert tried(lived, "demo", str(same))["changes"]["same"] == 7


def test_what_a_killed_command_left_behind_goes_with_the_next_one(lived, tmp_path):
    folders = {name: tmp_path / f"cartbus-try-{name}" for name in ("killed", "atwork", "begun")}
    for folder in [*folders.values(), tmp_path / "of-somebody"]:
        (folder / "waiter").mkdir(parents=True)
        (folder / "waiter" / "000012.sst").write_text("a shopper")
    for name in ("killed", "atwork"):
        os.utime(folders[name], (time.time() - 120, time.time() - 120))
    at_work = os.open(folders["atwork"], os.O_RDONLY)
    fcntl.flock(at_work, fcntl.LOCK_EX)
    tried(lived, "demo", "--as-it-was", "--scratch", str(tmp_path))
    os.close(at_work)
    assert {path.name for path in tmp_path.iterdir()} == {"cartbus-try-atwork", "cartbus-try-begun", "of-somebody"}


def test_longer_waits_are_told_with_their_mails_their_time_and_their_money(lived, tmp_path):
    edited = tmp_path / "rules.txt"
    edited.write_text(RULES.format(medium=3, second=400))
    head = lived.ask("status")["head"]
    told = tried(lived, "demo", str(edited))
    changes = {(step["cart"], step["step"]): step for step in told["steps"] if step["change"] != "same"}
    assert {key: step["change"] for key, step in changes.items() if key[0] != "dora"} == {("bea", 1): "later", ("bea", 2): "gone"}
    first = changes[("bea", 1)]
    left_us = next(entry["message"].abandoned_us for entry in lived.log(topic="cart.state") if entry["key"] == "bea")
    assert first["would"]["at_us"] - left_us == 3 * HOUR_US
    assert first["to"] == "b***@mail.example" and first["was"]["end"] == "sent"
    assert told["money"][0]["currency"] == "EUR" and told["money"][0]["total_minor"] == 8970 * told["money"][0]["carts"]
    assert told["not_known"]
    text = lived.cartbus("rules", "try", str(edited)).stdout  # of the only shop
    assert "b***@mail.example" in text and "bea@mail.example" not in text and "not known:" in text
    changed = [(said["topic"], said["key"]) for said in lived.said_since(head) if said["topic"].startswith(DECIDES)]
    assert changed == [] and len(sent(lived)) == 7


def test_a_shop_conf_decides_as_well(lived, tmp_path):
    conf = tmp_path / "shop.conf"
    conf.write_text((lived.folder / "shops" / "demo" / "shop.conf").read_text() + "\nconsent = marketing\n")
    told = tried(lived, "demo", "--conf", str(conf))
    assert (told["was"], told["would"], told["changes"]["gone"]) == (7, 0, 7)


def test_what_makes_no_sense_is_refused_with_the_place(lived, tmp_path):
    wrong = tmp_path / "rules.txt"
    wrong.write_text("Small carts (under 40 EUR): remind after 1 bananas.")
    for words, ended, says in (
            (("demo", str(wrong)), 1, "line 1, column"), (("demo", str(wrong), "--days", "31"), 2, "30 at most"),
            (("nowhere", str(wrong)), 1, "nowhere"), (("demo", "/nonexistent"), 1, "No such file"),
            (("demo", str(wrong), "--as-it-was"), 2, "no other texts")):
        done = lived.cartbus("rules", "try", *words, check=False)
        assert (done.returncode, says in done.stderr) == (ended, True), (words, done.stderr)
