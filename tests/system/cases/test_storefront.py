"""What is asked of a storefront's API, by the real processes over real TLS.

The servers check the shape of what they are asked, and are made for the test: none of them is Shopify or WooCommerce.
"""

import datetime
import json
import os
import subprocess
import time
import urllib.parse

import pytest

from cartbus_system import BUILD, System, wait_until
from http_peer import Certificates, Peer, reply
from mail_peer import Keep
from mail_peer import Peer as MailPeer

RATE = 3600  # an hour of the shop is a second of ours
RULES = "Small carts (under 40 EUR): remind after 1 hour, then after 9. Medium carts: 1 hour, then 9. " \
        "Big carts (over 150 EUR): 1 hour, then 9.\n"


def iso(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Shopify:
    """Answers the questions that cartbus asks Shopify's API, after checking how they are asked."""

    def __init__(self, context):
        self.orders, self.answer, self.wrong = {}, self.usual, []
        self.changed, self.pages = {"orders": [], "checkouts": []}, []
        self.struck = []
        self.peer = Peer(lambda request: self.answer(request), context)

    def usual(self, request):
        if request.method == "GET":
            self.page(request)
            return
        try:
            if request.headers["X-Shopify-Access-Token"] != "shpat_secret_of_demo":
                reply(request, 401)
                return
            assert request.headers["Content-Type"] == "application/json"
            assert (request.method, request.path) == ("POST", "/admin/api/2026-07/graphql.json")
            asked = request.json()
            for name, search in asked["variables"].items():
                assert f"{name}: orders(" in asked["query"] and f"${name}: String!" in asked["query"]
                assert search.split(":")[0] in ("checkout_token", "cart_token", "email")
        except AssertionError as error:
            self.wrong.append(error)
            reply(request, 400)
            return
        reply(request, body={"data": {name: {"nodes": self.found(search)} for name, search in asked["variables"].items()}})

    def page(self, request):
        """Orders and checkouts that changed, as the REST API pages them; the second question comes too soon."""
        url = urllib.parse.urlsplit(request.path)
        asked = dict(urllib.parse.parse_qsl(url.query))
        name = url.path.removeprefix("/admin/api/2026-07/").removesuffix(".json")
        try:
            assert request.headers["X-Shopify-Access-Token"] == "shpat_secret_of_demo" and name in ("orders", "checkouts")
            assert asked["status"] == ("any" if name == "orders" else "open") and asked["updated_at_min"].endswith("Z")
        except AssertionError as error:
            self.wrong.append(error)
        self.pages.append((name, int(asked["since_id"])))
        if self.pages[-1] not in self.struck:  # each page's first question is never answered
            self.struck.append(self.pages[-1])
            request.handler.rfile.read()
            return
        if len(self.pages) == 2:
            reply(request, 429, Retry_After="1.0")
            return
        rest = [one for one in self.changed[name] if one["id"] > int(asked["since_id"])]
        reply(request, body={name: rest[:int(asked["limit"])]})

    def found(self, search):
        return [order for word, order in self.orders.items() if f"{word}" in search]


def order(number, address, at_s):
    return {"legacyResourceId": str(number), "createdAt": iso(at_s), "cancelledAt": None, "test": False, "email": address,
            "displayFinancialStatus": "PAID",
            "totalPriceSet": {"presentmentMoney": {"amount": "89.70", "currencyCode": "EUR"}}}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def keep():
    return Keep()


@pytest.fixture
def shopify(certificates):
    server = Shopify(certificates.context())
    yield server
    server.peer.close()


@pytest.fixture
def system(keep, shopify, certificates):
    peer = MailPeer(keep)
    now_us = int(time.time() * 1e6)
    settings = {"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us},
                "mail": {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": peer.port, "smtp-tls": "none"},
                "storefront": {"private": "yes", "ca": certificates.ca}}
    with System(settings) as running:
        running.demo = running.add_shop("demo", rules=RULES, extra=f"[storefront]\nplatform = shopify\n"
                                        f"api = {shopify.peer.url}\napi-deadline = 2s\n")
        running.other = running.add_shop("other", rules=RULES)
        running.write_secret("api/demo", "shpat_secret_of_demo")
        running.start()
        for shop in ("demo", "other"):
            running.cartbus("shop", "mode", shop, "live")
        yield running
    peer.close()


def leave_cart(system, shop, cart_id, address):
    body = {"event": "changed", "cart": cart_id, "email": address, "at": iso(system.now_s()), "currency": "EUR", "total": "89.70",
            "recovery_url": f"https://{shop.name}.example/r/{cart_id}", "items": [{"title": "Vase", "quantity": 3, "price": "29.90"}]}
    answer = system.post(shop.cart(body))
    assert answer.status == 200, answer.text


def mailed(keep):
    return [mail.rcpt_tos[0] for mail in keep.mails]


def grounds(system, action, address):
    digest = system.demo.address_hash(address)
    return [entry["message"].grounds for entry in system.log(topic="audit")
            if entry["message"].action == action and entry["message"].address_hash == digest]


def test_an_order_of_which_no_webhook_told_ends_the_chase(system, shopify, keep):
    bought = order(4711, "anna@mail.example", system.now_s() + 600)
    shopify.orders["anna@mail.example"] = bought
    leave_cart(system, system.demo, "c-1", "anna@mail.example")
    leave_cart(system, system.demo, "c-2", "bert@mail.example")
    wait_until(lambda: mailed(keep) == ["bert@mail.example"], "the mail of who did not buy", within_s=30)
    (note,) = wait_until(lambda: grounds(system, "skipped", "anna@mail.example"), "the end of the other chase")
    assert "the storefront knows order 4711" in note
    assert "the storefront knows no order of it" in wait_until(lambda: grounds(system, "mailed", "bert@mail.example"), "its record")[0]
    wait_until(lambda: [row for row in system.log(topic="cart.state") if row["message"].order_id == "4711"], "intake's word")
    assert not shopify.wrong and "shpat_secret_of_demo" not in "".join(process.tail(100000) for process in system.processes.values())
    before = wait_until(lambda: grounds(system, "bought", "anna@mail.example"), "the record of the purchase")
    late = system.post(system.demo.shopify("orders/create", {"id": 4711, "email": "anna@mail.example", "total_price": "89.70",
                                                             "currency": "EUR", "created_at": bought["createdAt"]}))
    assert late.status == 200
    wait_until(lambda: len(system.log(topic="cart.checkout")) == 2, "the order's own webhook")
    leave_cart(system, system.other, "c-9", "carl@mail.example")  # behind it in intake's queue
    wait_until(lambda: system.log(topic="cart.state", shop="other"), "what came after it")
    assert grounds(system, "bought", "anna@mail.example") == before
    assert "anna@mail.example" not in mailed(keep)
    a_refused_key_is_told_until_one_is_taken(system, shopify, keep)


def set_key(system, key):
    words = [BUILD / "bin" / "cartbus", "shop", "secret", "demo", "--api", "--set", "--config", system.config_path]
    done = subprocess.run(words, input=key + "\n", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and key not in done.stdout, done.stderr


def alarms_of(system, kind):
    return [entry["message"].raised for entry in system.log(topic="alarm", shop="demo") if entry["message"].kind == kind]


def a_refused_key_is_told_until_one_is_taken(system, shopify, keep):
    told = json.loads(system.cartbus("shop", "check", "demo", "--json", check=False).stdout)  # webhooks are missing as well
    assert (told["api"]["platform"], told["api"]["answers"]) == ("shopify", True)
    set_key(system, "shpat_that_was_revoked")
    leave_cart(system, system.demo, "k-1", "kim@mail.example")
    wait_until(lambda: "kim@mail.example" in mailed(keep), "the mail that the log decided on", within_s=30)
    wait_until(lambda: alarms_of(system, "storefront-key") == [True], "the alarm")
    assert "the secret file api/demo is refused: HTTP 401; refusals since the start: 1" in system.processes["sender"].tail(20000)
    told = system.cartbus("shop", "check", "demo", check=False)
    assert told.returncode == 1 and "refuses our key (HTTP 401" in told.stdout and "shop secret demo --api --set" in told.stdout
    set_key(system, "shpat_secret_of_demo")
    leave_cart(system, system.demo, "k-2", "kit@mail.example")
    wait_until(lambda: alarms_of(system, "storefront-key") == [True, False], "its end", within_s=30)
    assert not alarms_of(system, "storefront") and not shopify.wrong


def test_a_storefront_that_never_answers_holds_up_nobody_and_is_left_alone(system, shopify, keep):
    shopify.answer = lambda request: request.handler.rfile.read()  # until the other side has had enough
    for i in range(6):
        leave_cart(system, system.demo, f"s-{i}", f"s{i}@mail.example")
    leave_cart(system, system.other, "c-1", "quick@mail.example")
    wait_until(lambda: "quick@mail.example" in mailed(keep), "the mail of the other shop", within_s=30)
    wait_until(lambda: {f"s{i}@mail.example" for i in range(6)} <= set(mailed(keep)), "what the log decided", within_s=30)
    assert "the storefront gave no answer, the log decided" in wait_until(
        lambda: grounds(system, "mailed", "s0@mail.example"), "its record")[0]
    (alarm,) = [entry["message"] for entry in system.log(topic="alarm") if entry["message"].kind == "storefront"]
    assert alarm.raised
    asked = len(shopify.peer.requests)
    leave_cart(system, system.demo, "s-9", "s9@mail.example")
    wait_until(lambda: "s9@mail.example" in mailed(keep), "the mail without a question", within_s=30)
    assert len(shopify.peer.requests) == asked
    assert "failed 5 times in a row" in wait_until(lambda: grounds(system, "mailed", "s9@mail.example"), "its record")[0]


def audits(system, action):
    return [entry["message"] for entry in system.log(topic="audit") if entry["message"].action == action]


def test_what_changed_while_the_gateway_was_away_is_made_up_for_though_it_is_killed_between_any_two_pages(system, shopify):
    shopify.changed["orders"] = [{"id": 100 + i, "email": f"o{i}@mail.example", "checkout_token": f"k{i}", "currency": "EUR",
                                  "total_price": "5.00", "financial_status": "paid", "created_at": iso(system.now_s())}
                                 for i in range(45)]
    shopify.changed["checkouts"] = [{"id": 900, "token": "k900", "email": "open@mail.example", "currency": "EUR", "total_price": "3.00",
                                     "updated_at": iso(system.now_s()), "abandoned_checkout_url": "https://demo.example/r/900",
                                     "line_items": [{"title": "Mug", "quantity": 1, "price": "3.00"}]}]
    system.kill("gateway")
    alive = system.folder / "state" / "gateway" / "alive"
    os.utime(alive, times=(time.time() - 120, time.time() - 120))  # as if it had been dead for two minutes
    system.start("gateway")
    pages = [("orders", 0), ("orders", 119), ("orders", 139), ("checkouts", 0)]
    for page in pages:
        wait_until(lambda: page in shopify.struck, f"the question for {page}", within_s=30)  # the one before is decided on
        system.kill("storefront")
        system.start("storefront")
    (done,) = wait_until(lambda: audits(system, "reconciled"), "the end of it", within_s=30)
    assert "orders 45, open checkouts 1" in done.grounds and done.who == "system"
    assert not shopify.wrong and shopify.pages == [pages[0]] * 3 + [page for page in pages[1:] for _ in range(2)]
    assert len(system.log(topic="cart.checkout")) == 45 and len(system.log(topic="cart.changed")) == 1
    bought = wait_until(lambda: len(audits(system, "bought")) == 45 and audits(system, "bought"), "intake's word")
    wait_until(lambda: [row for row in system.log(topic="cart.state") if row["message"].ids.checkout_token == "k900"], "the cart")
    assert system.cartbus("reconcile", "other", check=False).returncode == 1  # it has no API
    assert system.cartbus("reconcile", "demo", "--since", "soon", check=False).returncode == 2
    system.cartbus("reconcile", "demo", "--since", "12h")
    wait_until(lambda: len(audits(system, "reconciled")) == 2, "the end of the second", within_s=30)
    leave_cart(system, system.other, "c-1", "last@mail.example")  # behind it in intake's queue
    wait_until(lambda: system.log(topic="cart.state", shop="other"), "what came after it")
    assert len(audits(system, "bought")) == len(bought)


def test_bigcommerce_tells_an_id_and_the_cart_is_fetched(system, certificates):
    asked = []

    def answer(request):
        asked.append((request.path, request.headers["X-Auth-Token"]))
        reply(request, body={"data": {
            "id": "0934", "customer_id": 0, "email": "Big@mail.example", "currency": {"code": "EUR"}, "cart_amount": 24.5,
            "created_time": iso(system.now_s()), "updated_time": iso(system.now_s()),
            "line_items": {"physical_items": [{"name": "Mug", "quantity": 2, "sale_price": 12.25}]},
            "redirect_urls": {"cart_url": "https://big.example/cart.php?id=0934"}}})

    peer = Peer(answer, certificates.context())
    big = system.add_shop("big", rules=RULES, extra=f"[storefront]\nplatform = bigcommerce\napi = {peer.url}/stores/h\n")
    system.write_secret("api/big", "big_token")
    wait_until(lambda: system.log(topic="document", shop="big"), "the shop's configuration")
    body = {"created_at": int(system.now_s()), "store_id": "1", "producer": "stores/h", "scope": "store/cart/updated", "hash": "x",
            "data": {"type": "cart", "id": "0934"}}

    def post(body, secret):
        return system.request("POST", "/hooks/big/bigcommerce", body=json.dumps(body), headers={"X-Cartbus-Secret": secret}).status

    assert post(body, "guessed-wrongly") == 401
    assert post(body, big.secret) == 200
    (changed,) = wait_until(lambda: system.log(topic="cart.changed", shop="big"), "the cart", within_s=40)
    assert changed["message"].ids.email == "big@mail.example" and changed["message"].items[0].title == "Mug"
    assert asked == [("/stores/h/v3/carts/0934?include=redirect_urls", "big_token")]
    assert post({**body, "scope": "store/cart/converted", "data": {"type": "cart", "id": "0934", "orderId": 252}}, big.secret) == 200
    wait_until(lambda: [row for row in system.log(topic="cart.state", shop="big") if row["message"].order_id == "252"], "the purchase")
    peer.close()
