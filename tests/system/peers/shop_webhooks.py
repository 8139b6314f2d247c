"""Signed requests as storefronts send them, and the links that stand in a shop's mails, computed independently of the product."""

import base64
import dataclasses
import hashlib
import hmac
import json
import urllib.parse
import uuid


@dataclasses.dataclass
class Webhook:
    """A signed request. Change its fields to make a bad one."""

    path: str
    body: bytes
    headers: dict
    signed_anew: object = None  # () -> Webhook: the same as of now; None: it is to be sent as it is

    def with_header(self, name, value):
        headers = {key: old for key, old in self.headers.items() if key.lower() != name.lower()}
        if value is not None:
            headers[name] = value
        return dataclasses.replace(self, headers=headers, signed_anew=None)


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict
    body: bytes
    seconds: float = 0.0

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()


def encoded(body):
    return body if isinstance(body, bytes) else json.dumps(body).encode()


class Shop:
    def __init__(self, system, name, secret, currency):
        self.system, self.name, self.secret, self.currency = system, name, secret, currency

    def _mac(self, text, secret):
        return hmac.new((secret or self.secret).encode(), text, hashlib.sha256)

    def shopify(self, topic, body, webhook_id=None, secret=None, **headers):
        body = encoded(body)
        return Webhook(f"/hooks/{self.name}/shopify", body, {
            "Content-Type": "application/json",
            "X-Shopify-Topic": topic,
            "X-Shopify-Webhook-Id": webhook_id or str(uuid.uuid4()),
            "X-Shopify-Shop-Domain": f"{self.name}.myshopify.example",
            "X-Shopify-Hmac-Sha256": base64.b64encode(self._mac(body, secret).digest()).decode(),
            **headers,
        })

    def woocommerce(self, topic, body, delivery_id=None, secret=None, **headers):
        body = encoded(body)
        resource, event = topic.split(".") if "." in topic else (topic, "")
        return Webhook(f"/hooks/{self.name}/woocommerce", body, {
            "Content-Type": "application/json",
            "X-WC-Webhook-Source": f"https://{self.name}.example/",
            "X-WC-Webhook-Topic": topic,
            "X-WC-Webhook-Resource": resource,
            "X-WC-Webhook-Event": event,
            "X-WC-Webhook-ID": "1",
            "X-WC-Webhook-Delivery-ID": delivery_id or uuid.uuid4().hex,
            "X-WC-Webhook-Signature": base64.b64encode(self._mac(body, secret).digest()).decode(),
            **headers,
        })

    def cart(self, body, secret=None, timestamp=None, **headers):
        """Our own endpoint; `body` gets an id when it is a dict without one."""
        if isinstance(body, dict):
            body = {"id": uuid.uuid4().hex, **body}
        body = encoded(body)
        stamp = str(int(self.system.now_s()) if timestamp is None else timestamp)
        return Webhook(f"/hooks/{self.name}/cart", body, {
            "Content-Type": "application/json",
            "X-Cartbus-Timestamp": stamp,
            "X-Cartbus-Signature": self._mac(stamp.encode() + b"." + body, secret).hexdigest(),
            **headers,
        }, (lambda: self.cart(body, secret, **headers)) if timestamp is None else None)

    def address_hash(self, address):
        """What the bus knows a shopper by (services/kit/mail/address.h), computed independently; `address` in its plain form."""
        text = self.name.encode() + b"\0" + address.encode()
        return hmac.new(self.system.secret("address.key"), text, hashlib.sha256).hexdigest()[:32]

    def unsubscribe_path(self, address, cart_id="", step=1, key=None):
        """The link of a mail (services/kit/web/signed_link.h), computed independently."""
        return "/u/" + self.link_token(1, self.address_hash(address), cart_id, step, key)

    def action_path(self, verb, cart_id="", address="", lasts_s=14 * 86400, key=None, shop=None):
        """The owner's link of the export (services/kit/web/admin_link.h); verb as AdminVerb numbers it."""
        key = key or self.system.secret("admin.key")
        key_id = hmac.new(key, b"cartbus admin link key id\0", hashlib.sha256).digest()[:4]
        expires_us = int((self.system.now_s() + lasts_s) * 1e6)
        words = [word.encode() for word in (shop or self.name, cart_id, self.address_hash(address) if address else "")]
        raw = bytes([1]) + key_id + bytes([verb]) + expires_us.to_bytes(8, "big")
        raw += b"".join(bytes([len(word)]) + word for word in words)
        raw += hmac.new(key, b"cartbus admin link\0" + raw, hashlib.sha256).digest()
        return "/a/" + base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def return_path(self, url, cart_id, step=1, key=None):
        """The way back to the basket (services/kit/web/signed_link.h)."""
        digest = hashlib.sha256(url.encode()).hexdigest()[:32]
        return f"/r/{self.link_token(2, digest, cart_id, step, key)}?to={urllib.parse.quote(url, safe='')}"

    def link_token(self, purpose, digest, cart_id, step, key):
        key = key or self.system.secret("link.key")
        key_id = hmac.new(key, b"cartbus link key id\0", hashlib.sha256).digest()[:4]
        words = [word.encode() for word in (self.name, digest, cart_id)]
        raw = bytes([1]) + key_id + bytes([purpose, step]) + b"".join(bytes([len(word)]) + word for word in words)
        raw += hmac.new(key, b"cartbus link\0" + raw, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def bounce_address(self, address, domain="demo.example", step=1, mail="0123456789abcdef0123456789abcdef", key=None):
        """The envelope sender of a mail where `bounce = bounces+*@` (services/kit/mail/bounce_tag.h)."""
        raw = bytes([16 + step]) + bytes.fromhex(mail[:8]) + bytes.fromhex(self.address_hash(address))
        key = key or self.system.secret("bounce.key")
        raw += hmac.new(key, b"cartbus bounce tag\0" + self.name.encode() + b"\0" + raw, hashlib.sha256).digest()[:7]
        return f"bounces+{raw.hex()}@{domain}"
