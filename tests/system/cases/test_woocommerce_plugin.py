"""The WooCommerce plugin, run by PHP in a store whose WordPress and WooCommerce are stand-ins (woocommerce_store.php), against the real gateway."""

import http.cookiejar
import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest

from cartbus_system import SOURCES, System, fixture, free_port, wait_until

pytestmark = pytest.mark.xdist_group("woocommerce")  # one running system for all of it
CONSENT = "Remind me by mail <of> this"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    """Somebody with cookies of his own."""

    def __init__(self, base):
        self.base = base
        self.opener = urllib.request.build_opener(NoRedirect, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def open(self, path, body=None):
        try:
            with self.opener.open(self.base + path, data=body.encode() if body is not None else None, timeout=20) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            assert error.code == 302, error
            return error.headers["Location"]

    def basket(self):
        return json.loads(self.open("/cart/"))


class Store:
    def __init__(self, system, folder, consent=None):
        self.folder = folder
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        (folder / "store.json").write_text(json.dumps({
            "url": f"http://127.0.0.1:{system.port}/hooks/demo/cart", "secret": system.secret("webhook/demo").decode(), "consent": consent,
            "plugin": str(SOURCES / "deploy/woocommerce/cartbus.php")}))
        self.process = subprocess.Popen(["php", "-S", f"127.0.0.1:{port}", str(SOURCES / "tests/system/peers/woocommerce_store.php")],
                                        env={"CARTBUS_STORE": str(folder), "PATH": "/usr/bin:/bin"},
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.answers, "the store answers")

    def answers(self):
        try:
            Browser(self.base).basket()
        except OSError:
            return False
        return True

    def posted(self, count):
        """What the plugin posted, all of it taken by the gateway."""
        path = self.folder / "posted.jsonl"
        lines = wait_until(lambda: path.exists() and len(path.read_text().splitlines()) >= count and path.read_text().splitlines(),
                           f"{count} posts")
        posts = [json.loads(line) for line in lines]
        assert len(posts) == count and all("200" in status and "accepted" in answer for _, status, answer in posts), posts
        return [body for body, _, _ in posts]


@pytest.fixture(scope="module")
def system():
    with System() as system:
        system.add_shop("demo")
        system.start("broker", "gateway", "intake")
        wait_until(system.connected, "the gateway is connected")
        yield system


@pytest.fixture
def open_store(system, tmp_path):
    stores = []

    def make(consent=None):
        stores.append(Store(system, tmp_path, consent))
        return stores[-1]

    yield make
    for store in stores:
        store.process.kill()
        store.process.wait()


def state_of(system, cart):
    return [entry["message"] for entry in system.log("cart.state") if entry["key"] == cart]


def test_a_cart_its_address_and_its_order_are_told(system, open_store):
    store = open_store()
    ada = Browser(store.base)
    ada.open("/add?product=1&quantity=2")
    (body,) = store.posted(1)
    assert (body["total"], body["currency"], body["email"], body["consent"]) == ("9.00", "EUR", None, None)
    assert (body["items"][0]["title"], body["items"][0]["quantity"], body["items"][0]["price"]) == ("Rose rot", 2, "4.50")
    ada.open("/review", "billing_email=ada%40mail.example&billing_first_name=Ada")
    ada.open("/review", "billing_email=ada%40mail.example&billing_first_name=Ada")  # the form is posted again and again: told once
    ada.open("/review", "billing_email=ada%40mail")
    ada.open("/add?product=2")
    *_, last = store.posted(3)
    assert (last["email"], last["cart"], len(last["items"])) == ("ada@mail.example", body["cart"], 2)
    wait_until(lambda: any(row.total_minor == 2900 and row.ids.email == "ada@mail.example" for row in state_of(system, body["cart"])),
               "the cart is known")
    assert json.loads(ada.open("/order")) == {"_cartbus_cart": body["cart"]}
    order = fixture("woocommerce-order-created", meta_data=[{"id": 1, "key": "_cartbus_cart", "value": body["cart"]}])
    assert system.post(system.shops["demo"].woocommerce("order.created", order)).status == 200
    wait_until(lambda: state_of(system, body["cart"])[-1].status == 1, "the cart is bought")
    ada.open("/add?product=1")
    assert store.posted(4)[-1]["cart"] != body["cart"]  # a next cart is another cart


def test_the_way_back_fills_the_basket_in_any_browser_and_tells_nobody(open_store):
    store = open_store()
    ada, other = Browser(store.base), Browser(store.base)
    ada.open("/add?product=1&quantity=2")
    ada.open("/add?product=3")
    ada.open("/coupon?code=welcome")
    link = urllib.parse.urlsplit(store.posted(3)[-1]["recovery_url"])
    assert link.scheme == "https" and link.path == "/cart/"
    other.open("/add?product=2")
    other.open("/sell-out")
    assert other.open(f"{link.path}?{link.query}") == "https://store.example/cart/"
    other.open(f"{link.path}?{link.query}")  # twice is no more than once
    basket = other.basket()
    assert [(line["product_id"], line["quantity"]) for line in basket["lines"]] == [(2, 1), (1, 2)] and basket["coupons"] == ["welcome"]
    store.posted(4)  # the one of its own, and none of the way back
    other.open("/add?product=2")
    assert store.posted(5)[-1]["cart"] == store.posted(5)[0]["cart"]  # what goes on is the same cart


def test_a_forged_or_old_way_back_leads_to_the_cart_and_does_nothing(open_store):
    store = open_store()
    ada, other = Browser(store.base), Browser(store.base)
    ada.open("/add?product=1")
    cart, _, mark = urllib.parse.parse_qs(urllib.parse.urlsplit(store.posted(1)[0]["recovery_url"]).query)["cartbus"][0].partition(".")
    for forged in (cart, f"{cart}.", f"{cart}.{mark[:-1]}0x", f"{cart}x.{mark}", f".{mark}", "..", f"{cart}.{mark}.{mark}"):
        assert other.open(f"/cart/?cartbus={forged}") == "https://store.example/cart/"
        assert other.basket()["lines"] == []
    assert other.open("/cart/?cartbus[]=x")
    ada.open("/order")
    other.open(f"/cart/?cartbus={cart}.{mark}")  # bought: there is nothing to return to
    assert other.basket()["lines"] == []


def test_without_a_ticked_box_no_address_leaves_the_store(open_store):
    store = open_store(CONSENT)
    ada = Browser(store.base)
    assert "Remind me by mail &lt;of&gt; this" in ada.open("/checkout")
    ada.open("/add?product=1")
    ada.open("/review", "billing_email=ada%40mail.example")
    ada.open("/block?email=ada%40mail.example")
    assert [(body["email"], body["first_name"], body["consent"]) for body in store.posted(2)] == [(None, None, None), (None, None, False)]
    ada.open("/review", "billing_email=ada%40mail.example&cartbus_consent=1")
    assert (store.posted(3)[-1]["email"], store.posted(3)[-1]["consent"]) == ("ada@mail.example", True)
    ada.open("/review", "billing_email=ada%40mail.example")  # and taken back
    assert (store.posted(4)[-1]["email"], store.posted(4)[-1]["consent"]) == (None, False)


def test_the_blocks_checkout_tells_an_address_too_and_an_emptied_cart_is_told(open_store):
    store = open_store()
    ada = Browser(store.base)
    ada.open("/add?product=1")
    ada.open("/block?email=ada%40mail.example")
    assert store.posted(2)[-1]["email"] == "ada@mail.example"
    ada.open("/empty")
    assert store.posted(3)[-1]["items"] == []
    Browser(store.base).open("/empty")
    store.posted(3)  # who never had a cart has none to empty
