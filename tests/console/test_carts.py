"""The owner's pages about carts, beside real processes: what a page shows is what the command says."""

import json
import time

import pytest

from cartbus_system import wait_until
from console_system import Console
from two_hosts import leave_cart

NAMES = ("ann", "bert", "cleo")

pytestmark = pytest.mark.xdist_group("console-carts")  # one running system for all of it


@pytest.fixture(scope="module")
def carts():
    with Console() as console:
        shop = console.add_shop("demo")
        console.start("broker", "mirror", "gateway", "intake", "timer", "waiter", "sender", "unsub", "console")
        console.add_admin()
        console.add("owner", "owner:demo")
        console.add("viewer", "viewer:demo")
        console.cartbus("shop", "mode", "demo", "live")
        for name in NAMES:
            leave_cart(console, shop, f"cart-{name}", f"{name}@mail.example")
        wait_until(lambda: len(listed(console)) == len(NAMES), "the carts are listed")
        yield console


def listed(console, query="", who="owner"):
    return json.loads(console.people[who].get(f"/s/demo/carts.json{query}").text)["items"]


def test_the_list_has_what_the_command_lists(carts):
    told = carts.cartbus("carts", "demo", json_output=True)["carts"]
    shown = listed(carts)
    assert [cart["cart"] for cart in shown] == [cart["cart"] for cart in told]
    for one, other in zip(shown, told):
        for name in ("left_us", "total_minor", "currency", "address"):
            assert one[name] == other[name]


def test_the_next_mail_is_the_one_that_the_command_foretells(carts):
    told = {cart["cart"]: cart["send"] for cart in carts.cartbus("carts", "demo", json_output=True)["carts"]}
    for cart in listed(carts):
        assert cart["next"]["at_us"] == told[cart["cart"]]["at_us"] and cart["next"]["step"] == told[cart["cart"]]["step"]


def test_addresses_are_masked_for_everybody(carts):
    for who in ("owner", "viewer"):
        for path in ("/s/demo/", "/s/demo/carts", "/s/demo/carts.json", "/s/demo/.json"):
            assert "@mail.example" not in carts.people[who].get(path).text.replace("***@mail.example", "")


def test_a_carts_story_is_told_in_the_words_of_the_command(carts):
    for cart in listed(carts):
        shown = json.loads(carts.people["owner"].get(f"/s/demo/carts/{cart['cart']}.json").text)["story"]
        told = carts.cartbus("why", "demo", cart["cart"], json_output=True)["story"]
        assert shown and [(one["seq"], one["words"]) for one in shown] == [
            (one["seq"], one["words"]) for one in told if one["topic"] not in ("cart.changed", "shop.status", "document")]


@pytest.mark.parametrize("text", ["ann@mail.example", " Ann@Mail.Example ", "cart-ann"])
def test_a_cart_is_found_by_one_word(carts, text):
    ann = next(cart for cart in listed(carts) if cart["address"] == "a***@mail.example")
    owner = carts.people["owner"]
    answer = owner.press(owner.get("/s/demo/"), "/s/demo/find", q=text)
    assert answer.status == 303 and answer.location.startswith(f"/s/demo/carts/{ann['cart']}")
    assert "a***@mail.example" in owner.get(answer.location).text


def test_what_is_not_there_is_answered_in_words(carts):
    owner = carts.people["owner"]
    assert "nothing is called so" in owner.press(owner.get("/s/demo/"), "/s/demo/find", q="nobody@mail.example").text
    assert owner.get("/s/demo/carts/0000").status == 404
    assert owner.get("/s/demo/carts?state=lost").status == 422
    assert owner.get("/s/demo/carts?after=AAAA").status == 400
    assert owner.get("/s/demo/carts?from=2026-02-31x").status == 422


def test_an_act_is_in_the_log_once_with_the_persons_name(carts):
    cart = next(cart for cart in listed(carts) if cart["address"] == "b***@mail.example")["cart"]
    owner = carts.people["owner"]
    page = owner.get(f"/s/demo/carts/{cart}")
    answers = [owner.press(page, f"/s/demo/carts/{cart}/write-off", reason="called us") for _ in range(3)]  # Back, and pressed again
    assert [answer.status for answer in answers] == [303] * 3
    assert "done=" in answers[0].location and "before=" in answers[1].location and "before=" in answers[2].location
    said = [entry["message"] for entry in carts.log(topic="admin.action") if entry["message"].cart_id == cart]
    assert [(action.who, action.reason) for action in said] == [("owner", "called us")]
    wait_until(lambda: any("owner" in one["words"] for one in json.loads(owner.get(f"/s/demo/carts/{cart}.json").text)["story"]), "the story tells who")


def test_a_viewer_may_look_and_not_act(carts):
    cart = listed(carts)[0]["cart"]
    viewer = carts.people["viewer"]
    page = viewer.get(f"/s/demo/carts/{cart}")
    assert page.status == 200 and "write-off" not in page.text
    token = page.form("/sign-out")["t"]
    assert viewer.request("POST", f"/s/demo/carts/{cart}/write-off", {"t": token, "once": "00-1"}).status == 403


def test_an_address_is_put_on_the_list_found_there_and_taken_off(carts):
    owner = carts.people["owner"]
    page = owner.get("/s/demo/not-mailed")
    assert "Nobody is on the list" in page.text
    for reason, status in (("", 422), ("told by max@mail.example", 422), ("asked on the phone", 303)):
        assert owner.press(page, "/s/demo/add-not-mailed", address="Cleo@Mail.Example", reason=reason).status == status
    wait_until(lambda: "asked on the phone" in owner.get("/s/demo/not-mailed").text, "it is on the list")
    told = carts.cartbus("suppressions", "list", "demo", json_output=True)["suppressions"]
    shown = json.loads(owner.get("/s/demo/not-mailed.json").text)["suppressions"]
    assert [{name: row[name] for name in told[0]} for row in shown] == told
    found = owner.press(owner.get("/s/demo/not-mailed"), "/s/demo/find-not-mailed", address="cleo@mail.example").location.partition("?")[0]
    assert found == f"/s/demo/not-mailed/{told[0]['address_hash']}"
    assert owner.press(owner.get(found), f"{found}/lift", reason="asked again").status == 303
    wait_until(lambda: "may be mailed again" in owner.get(found).text, "it is off the list")
    assert "Nobody is on the list" in owner.get("/s/demo/not-mailed").text
    for path in ("/s/demo/not-mailed", "/s/demo/not-mailed.json", found):
        assert "leo@" not in owner.get(path).text.lower()
    assert carts.people["viewer"].get(found).status == 200
    assert carts.people["viewer"].get("/s/demo/not-mailed").text.count("add-not-mailed") == 0


HOSTILE = ["<script>alert(1)</script>", "</title><img src=x onerror=alert(1)>", "\" onmouseover=alert(1) x=\"", "\u202egnp.exe", "{{cart}}", "a" * 250]


def test_what_a_storefront_says_is_shown_and_never_run(carts):
    for number, title in enumerate(HOSTILE):
        leave_titled(carts, f"hostile-{number}", title)
    wait_until(lambda: len(listed(carts)) == len(NAMES) + len(HOSTILE), "the carts are listed")
    owner = carts.people["owner"]
    pages = [owner.get("/s/demo/carts").text] + [owner.get(f"/s/demo/carts/{cart['cart']}").text for cart in listed(carts)]
    for text in pages:
        assert "<script>alert" not in text and "<img src=x" not in text and '" onmouseover=' not in text and "\u202e" not in text


def leave_titled(system, cart, title):
    body = {"event": "changed", "cart": cart, "email": f"{cart}@mail.example", "first_name": title[:60], "currency": "EUR",
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "total": "29.90", "recovery_url": "https://demo.example/r/x",
            "items": [{"title": title, "quantity": 1, "price": "29.90"}]}
    assert system.post(system.shops["demo"].cart(body)).status == 200
