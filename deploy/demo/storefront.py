"""Signed webhooks as Shopify, WooCommerce and a store's own snippet send them.

The bodies are the platforms' complete shapes (tests/fixtures), with this shopper's ids, items and times put in. Everything goes
over real HTTP to the gateway's door, signed with the secret that `cartbus shop add` made.
"""

import base64
import copy
import datetime
import hashlib
import hmac
import http.client
import json
import pathlib
import urllib.parse

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures"


def fixture(name):
    return json.loads((FIXTURES / f"{name}.json").read_text())


def number_for(text):
    """A number as the platforms use for ids, the same for the same text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def total_of(items):
    return "%.2f" % sum(float(one["price"]) * one["quantity"] for one in items)


class Storefront:
    """One shop's side of the wire."""

    def __init__(self, name, facts, secret, port):
        self.name, self.facts, self.secret, self.port = name, facts, secret.encode(), port

    # ---- the wire ----

    def _mac(self, text):
        return hmac.new(self.secret, text, hashlib.sha256)

    def _post(self, door, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("POST", f"/hooks/{self.name}/{door}", body, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    def _shopify(self, topic, body, webhook_id, times):
        data = json.dumps(body).encode()
        headers = {
            "X-Shopify-Topic": topic,
            "X-Shopify-Hmac-Sha256": base64.b64encode(self._mac(data).digest()).decode(),
            "X-Shopify-Shop-Domain": f"{self.name}.myshopify.example",
            "X-Shopify-API-Version": "2026-10",
            "X-Shopify-Webhook-Id": webhook_id,
            "X-Shopify-Event-Id": webhook_id + "-event",
            "X-Shopify-Triggered-At": body["updated_at"],
        }
        return [self._post("shopify", data, headers) for _ in range(times)]

    def _woocommerce(self, topic, body, times):
        data = json.dumps(body).encode()
        headers = {
            "X-WC-Webhook-Source": self.facts["url"] + "/",
            "X-WC-Webhook-Topic": topic,
            "X-WC-Webhook-Resource": "order",
            "X-WC-Webhook-Event": topic.split(".")[1],
            "X-WC-Webhook-ID": "1",
            "X-WC-Webhook-Delivery-ID": hashlib.md5(data).hexdigest(),
            "X-WC-Webhook-Signature": base64.b64encode(self._mac(data).digest()).decode(),
        }
        return [self._post("woocommerce", data, headers) for _ in range(times)]

    def _generic(self, body, now, times):
        data = json.dumps(body).encode()
        stamp = str(int(now.timestamp()))
        headers = {
            "X-Cartbus-Timestamp": stamp,
            "X-Cartbus-Signature": self._mac(stamp.encode() + b"." + data).hexdigest(),
        }
        return [self._post("cart", data, headers) for _ in range(times)]

    @staticmethod
    def _webhook_id(cart):
        """Two shops give the same ids to carts of the same name, on purpose: they must not shadow one another."""
        cart["webhooks"] = cart.get("webhooks", 0) + 1
        return f"{cart['cart']}-{cart['webhooks']}"

    # ---- what a shopper does ----

    def left(self, cart, items, happened, now, new, email, times):
        """A cart is created or changed. Answers the HTTP statuses."""
        if self.facts["platform"] != "shopify":
            return self._generic(self._snippet_body(cart, items, happened, email), now, times)
        body = self._checkout_body(cart, items, happened, email)
        return self._shopify("checkouts/create" if new else "checkouts/update", body, self._webhook_id(cart), times)

    def bought(self, cart, items, happened, other_device, times):
        if self.facts["platform"] != "shopify":
            return self._woocommerce("order.created", self._woocommerce_order(cart, items, happened), times)
        body = self._shopify_order(cart, items, happened, other_device)
        statuses = []
        for topic in ("orders/create", "orders/paid"):
            body["financial_status"] = "paid" if topic == "orders/paid" else "pending"
            statuses += self._shopify(topic, body, self._webhook_id(cart), times)
        return statuses

    def override(self, cart, first, second, happened, now):
        body = fixture("cart-wait-override")
        body.update(id=self._webhook_id(cart), cart=cart["cart"], at=happened.isoformat(),
                    first_wait=first, second_wait=second)
        return self._generic(body, now, 1)

    # ---- bodies ----

    def picture(self, name):
        """Where the storefront would have it. Nothing answers there: the demo's album puts the file in."""
        return f"{self.facts['url']}/pictures/{name}.png"

    def _lines(self, items, like):
        lines = []
        for number, one in enumerate(items):
            line = copy.deepcopy(like)
            title, variant, price = one["title"], one.get("variant"), one["price"]
            line.update(title=title, presentment_title=title, quantity=one["quantity"], price=price,
                        line_price="%.2f" % (float(price) * one["quantity"]), variant_price=price, variant_title=variant,
                        presentment_variant_title=variant or "", vendor=self.facts["title"],
                        sku=f"SKU-{number_for(title) % 10000}", product_id=number_for(title),
                        variant_id=number_for(title) + 1, key=str(number), image_url=self.picture(one["name"]))
            lines.append(line)
        return lines

    def _checkout_body(self, cart, items, happened, email):
        body = fixture("shopify-checkouts-update")
        total, stamp = total_of(items), happened.isoformat(timespec="seconds")
        body.update(id=number_for("checkout " + cart["cart"]), token=cart["cart"], cart_token=cart["cart"] + "-cart",
                    name="#" + str(number_for(cart["cart"])), email=email, created_at=stamp, updated_at=stamp,
                    completed_at=None, closed_at=None, currency=self.facts["currency"],
                    presentment_currency=self.facts["currency"], customer_locale=self.facts["locale"],
                    abandoned_checkout_url=f"{self.facts['url']}/checkouts/{cart['cart']}/recover",
                    line_items=self._lines(items, body["line_items"][0]), discount_codes=[], note_attributes=[],
                    total_price=total, subtotal_price=total, total_line_items_price=total,
                    shipping_address=None, billing_address=None)
        if email is None:
            body["customer"] = None
        else:
            first = cart["cart"].split("-")[0].capitalize()
            body["customer"].update(id=number_for("customer " + email), email=email, first_name=first)
        return body

    def _shopify_order(self, cart, items, happened, other_device):
        body = fixture("shopify-orders-create")
        token = cart["cart"] + ("-phone" if other_device else "")
        total, stamp = total_of(items), happened.isoformat(timespec="seconds")
        body.update(id=number_for("order " + token), token="order-" + token, checkout_token=token,
                    cart_token=token + "-cart", checkout_id=number_for("checkout " + token),
                    email=cart["who"], contact_email=cart["who"], created_at=stamp, processed_at=stamp, updated_at=stamp,
                    currency=self.facts["currency"], presentment_currency=self.facts["currency"], total_price=total,
                    customer_locale=self.facts["locale"], cancelled_at=None, test=False,
                    line_items=self._lines(items, body["line_items"][0]))
        body["total_price_set"] = {kind: {"amount": total, "currency_code": self.facts["currency"]}
                                   for kind in ("shop_money", "presentment_money")}
        body["customer"].update(id=number_for("customer " + cart["who"]), email=cart["who"])
        return body

    def _snippet_body(self, cart, items, happened, email):
        body = fixture("cart-changed")
        body.update(id=self._webhook_id(cart), cart=cart["cart"], cart_token=cart["cart"] + "-cart",
                    at=happened.isoformat(), email=email, first_name=cart["cart"].capitalize(),
                    locale=self.facts["locale"], currency=self.facts["currency"], total=total_of(items),
                    recovery_url=f"{self.facts['url']}/cart/?cartbus={cart['cart']}", discount_codes=[],
                    note_attributes=[])
        like = body["items"][0]
        body["items"] = [{**like, "title": one["title"], "variant": one.get("variant"), "price": one["price"],
                          "quantity": one["quantity"], "product_id": number_for(one["title"]),
                          "picture": self.picture(one["name"]), "link": f"{self.facts['url']}/product/{one['name']}"}
                         for one in items]
        return body

    def _woocommerce_order(self, cart, items, happened):
        body = fixture("woocommerce-order-created")
        stamp = happened.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
        body.update(id=number_for("order " + cart["cart"]) % 100000, currency=self.facts["currency"],
                    total=total_of(items), status="processing")
        for field in ("date_created", "date_modified", "date_paid"):
            body[field] = body[field + "_gmt"] = stamp
        body["billing"]["email"] = cart["who"]
        like = body["line_items"][0]
        body["line_items"] = [{**like, "name": one["title"], "product_id": number_for(one["title"]),
                               "quantity": one["quantity"], "price": float(one["price"]),
                               "total": "%.2f" % (float(one["price"]) * one["quantity"])} for one in items]
        for entry in body["meta_data"]:
            if entry["key"] == "_cartbus_cart":
                entry["value"] = cart["cart"]
        return body

    # ---- what a mailbox does with the links in a mail ----

    def follow(self, url, method, form=None):
        """A GET or POST to a link of a mail; answers (status, body)."""
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if form is not None else {}
        connection.request(method, parts.path, form, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text
