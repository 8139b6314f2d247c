"""The owner's pages about carts, beside real processes: what a page shows is what the command says."""

import json

import pytest

from cartbus_system import wait_until
from conftest import Console
from two_hosts import leave_cart

NAMES = ("ann", "bert", "cleo")


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
