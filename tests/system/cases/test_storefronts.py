"""What a storefront sees: the description of our own webhook is true, and an admin is told which webhooks never came."""

import json
import subprocess

import jsonschema
import pytest
import yaml

from cartbus_system import SOURCES, System, fixture, wait_until

pytestmark = pytest.mark.xdist_group("storefronts")  # one running system for all of it
API = yaml.safe_load((SOURCES / "deploy/webhook/openapi.yaml").read_text())
POST = API["paths"]["/hooks/{shop}/cart"]["post"]
EXAMPLES = POST["requestBody"]["content"]["application/json"]["examples"]


@pytest.fixture(scope="module")
def system():
    with System() as system:
        system.shop = system.add_shop("demo")
        system.add_shop("other")
        system.add_shop("woo")
        system.start("broker", "gateway", "intake")
        wait_until(system.connected, "the gateway is connected")
        yield system


def with_nulls(schema):
    """OpenAPI 3.0's `nullable`, as JSON Schema says it."""
    if isinstance(schema, list):
        return [with_nulls(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: with_nulls(value) for key, value in schema.items() if key != "nullable"}
    return {"anyOf": [{"type": "null"}, plain]} if schema.get("nullable") is True else plain


def check(value, schema):
    jsonschema.Draft4Validator({**with_nulls(schema), "components": with_nulls(API["components"])}).validate(value)


def described(answer):
    """The answer is one of those that the description knows."""
    media = POST["responses"][str(answer.status)]["content"]["application/json"]
    check(answer.json, media["schema"])
    return answer


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_of_the_description_fits_it_and_is_taken(system, name):
    event = EXAMPLES[name]["value"]
    check(event, POST["requestBody"]["content"]["application/json"]["schema"])
    answer = described(system.post(system.shop.cart(event)))
    assert answer.status == 200 and "accepted" in answer.json
    assert described(system.post(system.shop.cart(event))).json == {"duplicate_of": answer.json["accepted"]}


def test_a_purchase_may_name_the_shopper_alone(system):
    for field, value in (("email", "ada@mail.example"), ("customer_id", "78")):
        event = {"id": f"by-{field}", "event": "checked_out", field: value}
        check(event, POST["requestBody"]["content"]["application/json"]["schema"])
        answer = described(system.post(system.shop.cart(event)))
        (told,) = [one for one in system.log("cart.checkout") if one["seq"] == answer.json["accepted"]]
        assert told["key"], "no key of its own: its order among this shopper's others would be chance"


def test_the_answers_to_what_is_wrong_are_as_described(system):
    event = EXAMPLES["changed"]["value"]
    wrong = system.shop.cart(event)
    wrong.path = "/hooks/nobody/cart"
    assert described(system.post(wrong)).status == 404
    assert described(system.post(system.shop.cart(event, secret="wrong"))).status == 401
    assert described(system.post(system.shop.cart(event, timestamp=1))).status == 401
    assert "error" in described(system.post(system.shop.cart({"id": "x", "event": "changed"}))).json
    assert described(system.post(system.shop.cart(b"{" + b" " * (1 << 20)))).status == 413


def test_what_the_description_refuses_is_refused_or_read_without_it(system):
    """It is not stricter than the gateway where that matters: an event without an id, a kind or a cart."""
    schema = POST["requestBody"]["content"]["application/json"]["schema"]
    for broken in ({"event": "changed", "cart": "c"}, {"id": "1", "cart": "c"}, {"id": "1", "event": "what", "cart": "c"},
                   {"id": "2", "event": "changed"}, {"id": "3", "event": "changed", "customer_id": "78"},
                   {"id": "4", "event": "checked_out"}):
        with pytest.raises(jsonschema.ValidationError):
            check(broken, schema)
        assert "error" in system.post(system.shop.cart(json.dumps(broken).encode())).json


def test_the_example_in_curl_posts_an_event(system):
    url = f"http://127.0.0.1:{system.port}/hooks/demo/cart"
    secret = system.folder / "secrets" / "webhook" / "demo"
    event = json.dumps({"id": "by-curl", "event": "changed", "cart": "curl", "first_name": "Zoë"})
    done = subprocess.run([SOURCES / "deploy/webhook/post", url, secret], input=event, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "accepted" in json.loads(done.stdout), done.stderr
    other = system.folder / "secrets" / "webhook" / "other"
    done = subprocess.run([SOURCES / "deploy/webhook/post", url, other], input=event, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "error" in json.loads(done.stdout)


def test_the_admin_is_told_which_webhooks_never_came(system):
    other = system.shops["other"]
    told = system.cartbus("shop", "check", "other", check=False)
    assert told.returncode == 1 and "nothing has arrived" in told.stderr
    for topic in ("carts/create", "carts/update", "checkouts/create", "checkouts/update", "checkouts/update"):
        assert system.post(other.shopify(topic, fixture("shopify-" + topic.replace("/", "-")))).status == 200
    told = system.cartbus("shop", "check", "other", check=False)
    missed = [line.split()[1] for line in told.stdout.splitlines() if "MISSED" in line]
    assert told.returncode == 1 and missed == ["orders/create"]
    assert system.post(other.shopify("orders/create", fixture("shopify-orders-create"))).status == 200
    topics = {row["topic"]: row for row in system.cartbus("shop", "check", "other", json_output=True)["topics"]}
    assert topics["checkouts/update"]["arrived"] == 2 and topics["checkouts/update"]["last_us"] > 0
    assert topics["orders/create"]["arrived"] == 1 and topics["checkouts/delete"]["arrived"] == 0
    assert {row["platform"] for row in topics.values()} == {"shopify"}
    assert system.cartbus("shop", "check", "nobody", check=False).returncode != 0


def test_a_woocommerce_shop_is_well_with_its_orders_and_the_carts_of_the_plugin(system):
    """The plugin posts carts to our own endpoint, and no orders: WooCommerce has webhooks for those. Our own samples are no storefront's."""
    woo = system.shops["woo"]

    def missed():
        told = system.cartbus("shop", "check", "woo", check=False)
        assert told.returncode == 1
        return [line.split()[1] for line in told.stdout.splitlines() if "MISSED" in line]

    system.cartbus("webhook", "send", "woo")
    assert missed() == []  # and no topic at all: nothing has arrived
    for topic in ("order.created", "order.updated"):
        assert system.post(woo.woocommerce(topic, fixture("woocommerce-" + topic.replace(".", "-")))).status == 200
    assert missed() == ["changed"]
    assert "MISSED, only tests of our own came: " in system.cartbus("shop", "check", "woo", check=False).stdout
    assert system.post(woo.cart(EXAMPLES["changed"]["value"])).status == 200
    assert system.cartbus("shop", "check", "woo").returncode == 0
