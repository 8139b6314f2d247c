"""Webhooks that come late, twice, in another order, once more after everything, or at another shop: of every storefront, in mails that arrive.

Two shops share every id and every shopper, and nothing else. The real processes and a real mail server; an hour of the shops is a second.
The BigCommerce that is fetched from is a stand-in.
"""

import base64
import collections
import datetime
import json
import re
import time
import zlib

import pytest

from cartbus_system import System, fixture, wait_until
from shop_webhooks import Webhook
from http_peer import Certificates, Peer, reply
from smtp_server import SmtpServer

RATE = 3600
MINUTE, HOUR, DAY = 60, 3600, 86400
SETTLED_WITHIN_S = 120
RULES = "Small carts (under {small}): remind after 4 hours, then after 14. Medium carts: 4 hours, then 14. Big carts (over {big}): 4 hours, then 14.\n"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
pytestmark = pytest.mark.xdist_group("deliveries")  # one running system for all of it


def iso(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def number(name):
    return zlib.crc32(name.encode())


# ---- what each storefront says ----


class Shopify:
    def left(self, shop, name, at_s, total, delivery):
        return shop.shopify("checkouts/update", fixture(
            "shopify-checkouts-update", id=number(name), token=f"checkout-{name}", cart_token=f"cart-{name}", email=f"{name}@mail.example",
            created_at=iso(at_s - MINUTE), updated_at=iso(at_s), customer=None, currency=shop.currency, presentment_currency=shop.currency,
            total_price=total, abandoned_checkout_url=f"https://{shop.name}.example/recover/{name}"), webhook_id=f"{delivery}-{name}")

    def bought(self, shop, name, at_s, delivery, topic="orders/create", joined_by=None, **fields):
        by = name if joined_by is None else joined_by
        return shop.shopify(topic, fixture(
            "shopify-orders-create", id=number(name) + 1, checkout_id=number(by), checkout_token=f"checkout-{by}", customer=None,
            cart_token=f"cart-{by}", email=f"{name}@mail.example", contact_email=f"{name}@mail.example", created_at=iso(at_s),
            processed_at=iso(at_s), **{"updated_at": iso(at_s), **fields}), webhook_id=f"{delivery}-order-{name}")

    def known_as(self, name):
        return f"checkout-{name}"


class Json:
    """Our own endpoint. Its deliveries are known by the body's id."""

    def left(self, shop, name, at_s, total, delivery):
        return shop.cart(fixture(
            "cart-changed", id=f"{delivery}-{name}", cart=name, at=iso(at_s), email=f"{name}@mail.example", currency=shop.currency, total=total,
            recovery_url=f"https://{shop.name}.example/recover/{name}"))

    def bought(self, shop, name, at_s, delivery, joined_by=None):
        return shop.cart(fixture("cart-checked-out", id=f"{delivery}-order-{name}", cart=joined_by or name, order_id=number(name), at=iso(at_s),
                                 email=f"{name}@mail.example", currency=shop.currency, total="18"))

    def known_as(self, name):
        return name


class WooCommerce(Json):
    """Carts by the plugin (deploy/woocommerce/cartbus.php, cartbus_body), orders by WooCommerce's own webhook."""

    def left(self, shop, name, at_s, total, delivery):
        return shop.cart({
            "id": f"{delivery}-{name}", "event": "changed", "cart": name, "at": iso(at_s), "email": f"{name}@mail.example",
            "customer_id": None, "first_name": "Ada", "consent": None, "locale": "de-DE", "currency": shop.currency, "total": total,
            "recovery_url": f"https://{shop.name}.example/cart/?cartbus={name}.{'0' * 32}", "discount_codes": [],
            "items": [{"title": "Rose rot", "sku": "R1", "product_id": "1", "variant_id": "0", "quantity": 2, "price": "9",
                       "picture": None, "link": f"https://{shop.name}.example/product/1"}]})

    def bought(self, shop, name, at_s, delivery, joined_by=None):
        order = fixture("woocommerce-order-created", id=number(name), currency=shop.currency, date_created_gmt=iso(at_s)[:-1],
                        date_paid_gmt=iso(at_s)[:-1], date_modified_gmt=iso(at_s)[:-1])
        order["billing"]["email"] = f"{name}@mail.example"
        for meta in order["meta_data"]:
            if meta["key"] == "_cartbus_cart":
                meta["value"] = joined_by or name
        return shop.woocommerce("order.created", order, delivery_id=f"{delivery}-order-{name}")


class BigCommerce:
    """Its webhooks hold ids alone and have none themselves; what they speak of is fetched from here."""

    def __init__(self, context):
        self.carts, self.wrong = {}, []
        self.peer = Peer(self.answer, context)

    def answer(self, request):
        _, _, shop, version, what, *rest = request.path.split("?")[0].split("/")
        if request.headers["X-Auth-Token"] != f"{shop}-token":
            self.wrong.append(request.path)
        if (version, what) == ("v2", "orders"):  # before a mail: it knows of none, so that the log decides
            reply(request, 204, b"", Content_Type=None)
        elif (shop, rest[0]) in self.carts:
            reply(request, 200, {"data": self.carts[shop, rest[0]]})
        else:
            reply(request, 404)

    def webhook(self, shop, scope, data, at_s):
        body = {"scope": scope, "store_id": "1001", "data": data, "hash": "352e4afc", "created_at": int(at_s), "producer": f"stores/{shop.name}"}
        return Webhook(f"/hooks/{shop.name}/bigcommerce", json.dumps(body).encode(),
                       {"Content-Type": "application/json", "X-Cartbus-Secret": shop.secret})

    def left(self, shop, name, at_s, total, delivery):
        cart = f"big-{name}"
        if at_s >= self.carts.get((shop.name, cart), {}).get("at_s", 0):  # what it answers is always the cart as it is
            self.carts[shop.name, cart] = {
                "id": cart, "customer_id": 0, "email": f"{name}@mail.example", "currency": {"code": shop.currency}, "cart_amount": float(total),
                "created_time": iso(at_s - MINUTE), "updated_time": iso(at_s), "at_s": at_s, "locale": "de-DE",
                "line_items": {"physical_items": [{"name": "Rose", "product_id": 7, "variant_id": 8, "quantity": 2, "sale_price": 9}],
                               "digital_items": [], "custom_items": []},
                "redirect_urls": {"cart_url": f"https://{shop.name}.example/cart.php?id={cart}"}}
        return self.webhook(shop, "store/cart/updated", {"type": "cart", "id": cart}, at_s + (delivery == "again"))

    def bought(self, shop, name, at_s, delivery):
        self.carts.pop((shop.name, f"big-{name}"), None)  # a cart that was converted is gone
        data = {"type": "cart", "id": f"big-{name}", "orderId": number(name)}
        return self.webhook(shop, "store/cart/converted", data, at_s + (delivery == "again"))

    def known_as(self, name):
        return f"big-{name}"


BOUGHT = " decided  bought: "
STOREFRONTS = ("shopify", "woocommerce", "bigcommerce", "json")
BY_ADDRESS = ("shopify", "woocommerce", "json")  # BigCommerce's webhook of an order names its cart, and no address
OTHER_TOPICS = {"paid": {"financial_status": "paid"}, "fulfilled": {"financial_status": "paid", "fulfillment_status": "fulfilled"},
                "refunded": {"financial_status": "refunded", "current_total_price": "0.00"}}
ANOMALIES = ("late", "duplicate", "reordered", "replayed", "other-shop")


# ---- what happens ----


class Story:
    """Everything that is delivered, and how many mails each shopper of each shop is to get."""

    def __init__(self, system, server, big):
        self.system, self.server = system, server
        self.fronts = {"shopify": Shopify(), "woocommerce": WooCommerce(), "bigcommerce": big, "json": Json()}
        self.north, self.south = system.shops["north"], system.shops["south"]
        self.expected, self.refused, self.late_orders = {}, 0, []

    def post(self, webhook, status=200):
        answer = self.system.post(webhook)
        assert answer.status == status and ("error" in answer.json) == (status != 200), answer.text
        return answer.json

    def left(self, front, shop, name, ago_s=0, total="18", delivery="first"):
        return self.fronts[front].left(shop, name, self.system.now_s() - ago_s, total, delivery)

    def bought(self, front, shop, name, ago_s=0, delivery="first", **more):
        return self.fronts[front].bought(shop, name, self.system.now_s() - ago_s, delivery, **more)

    def expect(self, name, mails, shop="north"):
        self.expected[shop, f"{name}@mail.example"] = mails

    def late(self, front):
        """Of two days ago at first sight; and a purchase of which the word comes after the first mail."""
        self.post(self.left(front, self.north, f"late-cart-{front}", 2 * DAY))
        self.expect(f"late-cart-{front}", 0)
        self.post(self.left(front, self.north, f"late-order-{front}"))
        self.late_orders.append((front, f"late-order-{front}"))
        self.expect(f"late-order-{front}", 1)

    def duplicate(self, front):
        name = f"duplicate-{front}"
        first = self.left(front, self.north, name)
        accepted = self.post(first)["accepted"]
        assert self.post(first) == {"duplicate_of": accepted}
        assert "accepted" in self.post(self.left(front, self.north, name, delivery="again"))
        self.expect(name, 2)

    def reordered(self, front):
        self.post(self.bought(front, self.north, f"order-first-{front}", 5 * MINUTE))
        self.post(self.left(front, self.north, f"order-first-{front}", 10 * MINUTE))
        self.expect(f"order-first-{front}", 0)
        self.post(self.left(front, self.north, f"newest-first-{front}", total="55"))
        self.post(self.left(front, self.north, f"newest-first-{front}", 10 * MINUTE, total="33", delivery="again"))
        self.expect(f"newest-first-{front}", 2)

    def replayed(self, front):
        name = f"replayed-{front}"
        deliveries = [self.left(front, self.north, name, 20 * MINUTE), self.bought(front, self.north, name, 10 * MINUTE)]
        for _ in range(2):
            for webhook in deliveries:
                self.post(webhook)
        self.post(self.left(front, self.north, name, 20 * MINUTE, delivery="again"))  # ids of deliveries are not signed
        self.expect(name, 0)

    def other_shop(self, front):
        """One shop's deliveries at the other's address; and two that share every id, of which one sells."""
        name = f"stray-{front}"
        for webhook in (self.left(front, self.north, name), self.bought(front, self.north, name)):
            path = webhook.path.replace("/north/", "/south/")
            # not by System.post: what came too late for its stamp would be signed anew, for the shop that it is of
            assert self.system.request("POST", path, webhook.body, webhook.headers).status == 401
            self.refused += 1
        self.expect(name, 0, "south")
        for shop in (self.north, self.south):
            assert "accepted" in self.post(self.left(front, shop, f"shared-{front}"))
        self.post(self.bought(front, self.south, f"shared-{front}"))
        self.expect(f"shared-{front}", 2)
        self.expect(f"shared-{front}", 0, "south")

    def by_another_topic(self):
        """Shopify's webhook of the order's creation is lost; a later one, of its payment's status, is heard an hour afterwards."""
        for name, fields in OTHER_TOPICS.items():
            name = f"topic-{name}"
            self.post(self.left("shopify", self.north, name))
            self.post(self.bought("shopify", self.north, name, topic="orders/updated", **fields))
            self.expect(name, 0)

    def by_another_clock(self, front):
        """The order shares the address alone, and the storefront's clock is seconds behind of the one that the cart was stamped by."""
        name = f"clocks-{front}"
        self.post(self.left(front, self.north, name))
        self.post(self.bought(front, self.north, name, 7, joined_by=f"unknown-{name}"))
        self.expect(name, 0)

    def arrived(self):
        """{(shop, address): [mail]} of what the mail server has."""
        found = collections.defaultdict(list)
        for mail in self.server.mails():
            found[re.search(r"@(\w+)\.example", mail["From"]).group(1), mail["To"]].append(mail)
        return found

    def go(self):
        acts = {"late": self.late, "duplicate": self.duplicate, "reordered": self.reordered, "replayed": self.replayed,
                "other-shop": self.other_shop}
        for front in STOREFRONTS:
            for anomaly in ANOMALIES:
                acts[anomaly](front)
        self.by_another_topic()
        for front in BY_ADDRESS:
            self.by_another_clock(front)
        for shop in (self.north, self.south):  # one says no to one shop alone
            self.post(self.left("json", shop, "says-no"))
        self.expect("says-no", 1)
        self.expect("says-no", 2, "south")
        self.after_the_first_mails()
        self.post(self.left("json", self.north, "last"))  # behind everything else
        self.expect("last", 2)
        wait_until(lambda: all(len(self.arrived()[who]) >= count for who, count in self.expected.items()), "every mail", SETTLED_WITHIN_S, 0.3)

    def after_the_first_mails(self):
        first = [("north", f"{name}@mail.example") for _, name in self.late_orders] + [(shop, "says-no@mail.example") for shop in ("north", "south")]
        wait_until(lambda: all(who in self.arrived() for who in first), "the first mails", SETTLED_WITHIN_S, 0.1)
        for front, name in self.late_orders:
            self.post(self.bought(front, self.north, name, 2 * HOUR))
        link = unsubscribe_link(self.arrived()["north", "says-no@mail.example"][0])
        assert self.system.request("POST", link, b"List-Unsubscribe=One-Click", FORM).status == 200
        told = self.system.cartbus("replay", "--queue", "intake", "--from", "1", json_output=True)
        assert told["state"] == "finished" and told["fed"] > 50


def unsubscribe_link(mail):
    return re.search(r"<http://[^/]+(/u/[^>]+)>", mail["List-Unsubscribe"]).group(1)


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    certificates = Certificates(tmp_path_factory.mktemp("ca"))
    server, big = SmtpServer(), BigCommerce(certificates.context())
    now_us = int(time.time() * 1e6)
    settings = {"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us},
                "mail": {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": server.port, "smtp-tls": "none"},
                "storefront": {"private": "yes", "ca": certificates.ca}}
    with System(settings) as system:
        for name, currency, more in (("north", "EUR", {}), ("south", "JPY", {"zone": "Asia/Tokyo", "locale": "ja-JP"})):
            rules = RULES.format(small=f"{currency} 40", big=f"{currency} 15000")
            system.add_shop(name, rules=rules, currency=currency, **more,
                            extra=f"[storefront]\nplatform = bigcommerce\napi = {big.peer.url}/stores/{name}\n")
            system.write_secret(f"api/{name}", f"{name}-token")
        system.start()
        for name in ("north", "south"):
            system.cartbus("shop", "mode", name, "live")
        story = Story(system, server, big)
        story.go()
        assert not big.wrong
        yield story
    big.peer.close()
    server.close()


# ---- what came of it ----


def why(story, front, name, shop="north"):
    done = story.system.cartbus("why", shop, story.fronts[front].known_as(name), check=False)
    assert not done.stderr or not done.stdout, done.stderr  # a story that is told is told whole
    return done.stdout


def names_of(anomaly, front):
    return {"late": [f"late-cart-{front}", f"late-order-{front}"], "duplicate": [f"duplicate-{front}"],
            "reordered": [f"order-first-{front}", f"newest-first-{front}"], "replayed": [f"replayed-{front}"],
            "other-shop": [f"stray-{front}", f"shared-{front}"]}[anomaly]


@pytest.mark.parametrize("front", STOREFRONTS)
@pytest.mark.parametrize("anomaly", ANOMALIES)
def test_nobody_gets_a_mail_too_many_or_too_few_however_it_is_delivered(story, anomaly, front):
    arrived = story.arrived()
    for name in names_of(anomaly, front):
        for shop in ("north", "south"):
            mails = arrived[shop, f"{name}@mail.example"]
            assert len(mails) == story.expected.get((shop, f"{name}@mail.example"), 0), (shop, name)
            assert len({mail["Message-ID"] for mail in mails}) == len(mails)


@pytest.mark.parametrize("name", OTHER_TOPICS)
def test_an_order_stops_whichever_of_its_webhooks_comes_first(story, name):
    assert not story.arrived()["north", f"topic-{name}@mail.example"]
    assert BOUGHT in why(story, "shopify", f"topic-{name}")


@pytest.mark.parametrize("front", BY_ADDRESS)
def test_an_order_by_the_same_address_stops_though_two_clocks_differ_by_seconds(story, front):
    assert not story.arrived()["north", f"clocks-{front}@mail.example"]
    told, order = why(story, front, f"clocks-{front}"), number(f"clocks-{front}") + (front == "shopify")
    assert re.search(f"bought: .*order {order} by the same address", told), told


@pytest.mark.parametrize("front", STOREFRONTS)
def test_why_says_what_became_of_each(story, front):
    told = {name: why(story, front, name) for anomaly in ANOMALIES for name in names_of(anomaly, front)}
    assert "its last change was old when it was first heard of" in told[f"late-cart-{front}"], told[f"late-cart-{front}"]
    for name in (f"late-order-{front}", f"order-first-{front}", f"replayed-{front}"):
        assert BOUGHT in told[name] and story.expected["north", f"{name}@mail.example"] == told[name].count("mailed: reminder"), told[name]
    for name in (f"duplicate-{front}", f"newest-first-{front}", f"shared-{front}"):
        assert BOUGHT not in told[name] and told[name].count("mailed: reminder") == 2, told[name]
    assert BOUGHT in why(story, front, f"shared-{front}", "south")
    assert not why(story, front, f"stray-{front}", "south")
    mails = story.arrived()["north", f"newest-first-{front}@mail.example"]
    assert all(re.search("55[.,]00", mail.get_body(("plain",)).get_content()) for mail in mails)


def test_what_was_signed_with_another_shops_secret_is_counted_at_the_shop_it_came_to(story):
    def bad(shop):
        return sum(entry["message"].bad_signatures for entry in story.system.log(topic="gateway.seen", shop=shop))
    assert story.refused == 2 * len(STOREFRONTS)
    wait_until(lambda: bad("south") == story.refused + story.system.too_old["south"], "the count")
    assert bad("north") == story.system.too_old["north"]
    assert not [entry for entry in story.system.log(shop="south") if "stray" in str(entry["message"])]


def test_one_shops_unsubscribe_link_is_no_link_of_the_other(story):
    links = {shop: unsubscribe_link(story.arrived()[shop, "says-no@mail.example"][0]) for shop in ("north", "south")}
    decoded = base64.urlsafe_b64decode(links["south"].removeprefix("/u/") + "==")
    assert b"south" in decoded
    token = base64.urlsafe_b64encode(decoded.replace(b"south", b"north")).decode().rstrip("=")
    assert story.system.request("POST", f"/u/{token}", b"List-Unsubscribe=One-Click", FORM).status == 404


def test_who_says_no_to_one_shop_says_nothing_to_the_other(story):
    arrived = story.arrived()
    assert [len(arrived[shop, "says-no@mail.example"]) for shop in ("north", "south")] == [1, 2]


def test_each_shop_keeps_its_own_time_and_money(story):
    ticks = {entry["shop"]: entry["message"] for entry in story.system.log(topic="timer.set") if entry["message"].topic == "tick.nightly"}
    assert ticks["north"].zone == "Europe/Berlin" and ticks["south"].zone == "Asia/Tokyo"
    assert "Europe/Berlin" in why(story, "json", "says-no") and "Asia/Tokyo" in why(story, "json", "says-no", "south")
    text = {shop: story.arrived()[shop, "says-no@mail.example"][0].get_body(("plain",)).get_content() for shop in ("north", "south")}
    assert re.search("18[.,]00", text["north"]) and re.search("[¥￥]18", text["south"])
