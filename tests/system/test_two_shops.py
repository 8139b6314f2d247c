"""Two shops that share everything but secrets, zones, currencies and mail: neither sees the other's shoppers."""

import base64
import datetime
import email
import email.policy
import re
import time

import pytest

from cartbus_system import System, wait_until

RATE = 900  # an hour of the shops' time in 4 s
pytestmark = pytest.mark.xdist_group("two_shops")  # one story, told in order


@pytest.fixture(scope="module")
def shops():
    """Both shops hear the same cart; Ada says no to one, and buys nothing."""
    now_us = int(time.time() * 1e6)
    with System({"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us}}) as system:
        berlin = system.add_shop("berlin", zone="Europe/Berlin", currency="EUR", locale="de-DE", rules=rules("EUR 40", "EUR 150"))
        tokyo = system.add_shop("tokyo", zone="Asia/Tokyo", currency="JPY", locale="ja-JP", rules=rules("JPY 6000", "JPY 20000"))
        system.start()
        for shop in (berlin, tokyo):
            system.cartbus("shop", "mode", shop.name, "live")
        yield system, berlin, tokyo


def rules(small, big):
    return (f"Small carts (under {small}): remind after 1 hour, then after 9. Medium carts: 1 hour, then 9. "
            f"Big carts (over {big}): 1 hour, then 9. At most one mail per shopper every 1 hour.\n")


def cart_of(system, shop, total, name="c-1"):
    return {
        "id": f"same-webhook-id-{name}", "event": "changed", "cart": name, "email": "ada@shopper.example",
        "at": datetime.datetime.fromtimestamp(system.now_s(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "currency": shop.currency, "total": total, "recovery_url": f"https://{shop.name}.example/cart/{name}",
        "items": [{"title": "Ein Ding" if shop.name == "berlin" else "品物", "quantity": 1, "price": total}],
    }


def mails_of(system, shop):
    folder = system.folder / "state" / "mail" / "new"
    found = [email.message_from_bytes(path.read_bytes(), policy=email.policy.default) for path in sorted(folder.glob("*"))]
    return [mail for mail in found if f"@{shop.name}.example" in mail["From"]]


def test_the_same_ids_in_two_shops_are_two_carts_with_two_chases(shops):
    system, berlin, tokyo = shops
    answers = [system.post(berlin.cart(cart_of(system, berlin, "99.50"))), system.post(tokyo.cart(cart_of(system, tokyo, "9950")))]
    assert [answer.status for answer in answers] == [200, 200]
    assert all("accepted" in answer.json for answer in answers), "the second shop's webhook id was taken for a repeat of the first"
    assert "duplicate_of" in system.post(tokyo.cart(cart_of(system, tokyo, "9950"))).json

    first = {shop: wait_until(lambda s=shop: mails_of(system, s), f"the first mail of {shop.name}", 30)[0] for shop in (berlin, tokyo)}
    assert "99,50" in first[berlin].get_body(("plain",)).get_content()
    assert re.search("[¥￥]9,950", first[tokyo].get_body(("plain",)).get_content())

    link = re.search(r"<http://[^/]+(/u/[^>]+)>", first[berlin]["List-Unsubscribe"]).group(1)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert system.request("POST", link, b"List-Unsubscribe=One-Click", form).status == 200

    wait_until(lambda: len(mails_of(system, tokyo)) == 2, "the second mail of the shop that Ada did not refuse", 60)
    assert len(mails_of(system, berlin)) == 1, "one shop's mail went on after Ada said no to it"


def test_one_shops_secret_opens_nothing_at_the_other(shops):
    system, berlin, tokyo = shops
    forged = tokyo.cart(cart_of(system, tokyo, "9950", "c-2"), secret=berlin.secret)
    assert system.post(forged).status == 401


def test_one_shops_unsubscribe_link_is_no_link_of_the_other(shops):
    system, berlin, tokyo = shops
    links = [re.search(r"/u/([^>]+)>", mails_of(system, shop)[0]["List-Unsubscribe"]).group(1) for shop in (berlin, tokyo)]
    assert links[0] != links[1]
    decoded = [base64.urlsafe_b64decode(link + "==") for link in links]
    swapped = decoded[0].replace(b"berlin", b"tokyo\0") if b"berlin" in decoded[0] else decoded[0][:-1] + bytes([decoded[0][-1] ^ 1])
    token = base64.urlsafe_b64encode(swapped).decode().rstrip("=")
    assert system.request("POST", f"/u/{token}", b"List-Unsubscribe=One-Click").status in (400, 403, 404)


def test_each_shop_keeps_its_own_time(shops):
    system, berlin, tokyo = shops
    ticks = {e["shop"]: e["message"] for e in system.log(topic="timer.set") if e["message"].topic == "tick.nightly"}
    assert ticks["berlin"].zone == "Europe/Berlin" and ticks["tokyo"].zone == "Asia/Tokyo"
    why = {shop: system.cartbus("why", shop.name, "c-1").stdout for shop in (berlin, tokyo)}
    assert "Europe/Berlin" in why[berlin] and "Asia/Tokyo" in why[tokyo]


def test_an_order_at_one_shop_does_not_end_the_chase_at_the_other(shops):
    system, berlin, tokyo = shops
    for shop, total in ((berlin, "80.00"), (tokyo, "8000")):
        body = {**cart_of(system, shop, total, "c-3"), "email": "bob@shopper.example"}
        assert system.post(shop.cart(body)).status == 200
    order = {**cart_of(system, berlin, "80.00", "c-3"), "id": "order-3", "event": "checked_out", "order_id": "9", "email": "bob@shopper.example"}
    assert system.post(berlin.cart(order)).status == 200
    wait_until(lambda: [m for m in mails_of(system, tokyo) if m["To"] == "bob@shopper.example"], "Bob's mail from the other shop", 30)
    assert not [m for m in mails_of(system, berlin) if m["To"] == "bob@shopper.example"]
