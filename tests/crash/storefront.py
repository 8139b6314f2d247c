"""A storefront under test: carts with a story, told by webhooks until each is answered 200, as a platform does.

Every cart has an address of its own, so that the mailbox alone tells which cart was mailed. `ledger` records what was
answered 200 and when by the system's clock: the oracle outside the system.
"""

import collections
import concurrent.futures
import dataclasses
import heapq
import http.client
import itertools
import random
import re
import threading
import time
import urllib.parse

from cartbus_system import fixture

RETRY_AFTER_S = 0.3
STORIES = ("left", "left", "bought_early", "bought_late", "opted_out", "emptied", "paid_by_update", "bought_by_a_slow_clock")
SLOW_CLOCK_S = 7  # so much the storefront's orders are stamped behind its carts
SEEN_WITHIN_S = 3  # a mail that was on its way when the stop was answered is in the mailbox by then, and noticed


@dataclasses.dataclass
class Cart:
    shop: str
    name: str
    story: str
    address: str
    opened: bool = False            # answered 200
    stop_asked: bool = False
    stopped_at_s: float | None = None  # the system's clock when the stop was answered 200
    stopped_after_s: float | None = None  # the same, by this machine's boot time
    changed_at_s: float = 0.0       # as its last change was stamped
    mails: list = dataclasses.field(default_factory=list)  # boot times at which they were noticed in the mailbox
    answers: list = dataclasses.field(default_factory=list)


def stamp(at_s):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at_s))


class Storefront:
    def __init__(self, system, shops, count, over_s, seed, stories=STORIES):
        self.system, self.shops = system, shops
        self.random = random.Random(seed)
        self.carts = [
            Cart(shop, f"c-{n}", story, f"{story.replace('_', '-')}-{n}-{shop}@shopper.example")
            for n, story in zip(range(count), itertools.cycle(stories)) for shop in shops
        ]
        self.posts = self.answered = self.refused = 0
        self.unexpected = []
        self._due, self._tick, self._lock = [], itertools.count(), threading.Condition()
        self._pool = concurrent.futures.ThreadPoolExecutor(8)
        self._over = False
        for n, cart in enumerate(self.carts):
            self._later(over_s * n / len(self.carts), self._open, cart)
        self._runner = threading.Thread(target=self._run, daemon=True)
        self._runner.start()

    # -- what a platform does: repeat until it is answered 200

    def _later(self, seconds, call, *arguments):
        with self._lock:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._tick), call, arguments))
            self._lock.notify()

    def _run(self):
        while not self._over:
            with self._lock:
                if not self._due or self._due[0][0] > time.monotonic():
                    self._lock.wait(min(0.2, max(0, self._due[0][0] - time.monotonic())) if self._due else 0.2)
                    continue
                _, _, call, arguments = heapq.heappop(self._due)
            self._pool.submit(self._guarded, call, *arguments)

    def _guarded(self, call, *arguments):
        try:
            call(*arguments)
        except Exception as error:  # a bug of the test must not end it silently
            self.unexpected.append(repr(error))

    def _deliver(self, cart, body, done):
        shop = self.system.shops[cart.shop]
        self._attempt(cart, lambda: self.system.post(shop.cart(body), timeout_s=6), done)

    def _attempt(self, cart, send, done):
        with self._lock:
            self.posts += 1
        try:
            answer = send()
        except (OSError, http.client.HTTPException):  # no answer, or half of one
            answer = None
        if answer is not None and answer.status == 200:
            with self._lock:
                self.answered += 1
            cart.answers.append(answer)
            done(cart)
            return
        late = answer is not None and answer.status == 401 and b"within 300 seconds" in answer.body  # a third of a second of ours
        if answer is not None and answer.status != 503 and not late:
            self.unexpected.append(f"{cart.address}: {answer.status} {answer.body[:200]!r}")
            return
        with self._lock:
            self.refused += 1
        self._later(RETRY_AFTER_S, self._attempt, cart, send, done)

    # -- the stories

    def _body(self, cart, event, **more):
        at = stamp(self.system.now_s())
        if event == "changed":
            cart.changed_at_s = self.system.now_s()
        return {
            "id": f"{cart.name}-{event}-{more.pop('n', 0)}", "event": event, "cart": cart.name, "at": at, "email": cart.address,
            "currency": "EUR", "total": "30.00", "recovery_url": f"https://{cart.shop}.example/cart/{cart.name}",
            "items": [{"title": f"Thing of {cart.name}", "sku": "T-1", "quantity": 1, "price": "30.00"}], **more,
        }

    def _open(self, cart):
        self._deliver(cart, self._body(cart, "changed"), self._opened)

    def _opened(self, cart):
        cart.opened = True
        if cart.story == "bought_early":
            self._later(0.5, self._buy, cart)
        elif cart.story == "emptied":
            self._later(0.5, self._empty, cart)
        elif cart.story == "paid_by_update":
            self._later(0.5, self._order, cart, "orders/updated", self.system.now_s())
        elif cart.story == "bought_by_a_slow_clock":
            self._later(0.5, self._order, cart, "orders/create", cart.changed_at_s - SLOW_CLOCK_S)

    def _buy(self, cart):
        cart.stop_asked = True
        self._deliver(cart, self._body(cart, "checked_out", order_id=f"o-{cart.name}"), self._stopped)

    def _order(self, cart, topic, at_s):
        """An order that shares nothing with the cart but the address; of orders/updated the creation was never heard of."""
        cart.stop_asked = True
        number = 1000 + self.carts.index(cart)
        order = fixture("shopify-orders-create", id=number, checkout_id=number, checkout_token=f"other-{number}", cart_token=f"other-{number}",
                        customer=None, email=cart.address, contact_email=cart.address, created_at=stamp(at_s), processed_at=stamp(at_s),
                        updated_at=stamp(at_s), financial_status="paid")
        shop = self.system.shops[cart.shop]
        self._attempt(cart, lambda: self.system.post(shop.shopify(topic, order, webhook_id=f"order-{number}"), timeout_s=6), self._stopped)

    def _empty(self, cart):
        cart.stop_asked = True
        self._deliver(cart, self._body(cart, "changed", n=1, items=[], total="0.00"), self._stopped)

    def _stopped(self, cart):
        cart.stopped_at_s = self.system.now_s()
        cart.stopped_after_s = time.monotonic()

    def follow(self, mails):
        """Shoppers react to what lies in the mailbox: some buy, some click."""
        first, count = {}, collections.Counter(mail.delivered_to for mail in mails)
        for mail in mails:
            first.setdefault(mail.delivered_to, mail)
        for cart in self.carts:
            cart.mails += [time.monotonic()] * (count[cart.address] - len(cart.mails))
            mail = first.get(cart.address)
            if cart.stop_asked or not mail:
                continue
            if cart.story == "bought_late":
                self._later(0, self._buy, cart)
                cart.stop_asked = True
            elif cart.story == "opted_out":
                cart.stop_asked = True
                self._later(0, self._one_click, cart, mail)

    def _one_click(self, cart, mail):
        url = re.search(r"<(http[^>]+)>", mail["List-Unsubscribe"]).group(1)
        path = urllib.parse.urlparse(url).path
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        self._attempt(cart, lambda: self.system.request("POST", path, b"List-Unsubscribe=One-Click", form, 6), self._stopped)

    def mailed_after_stop(self):
        """By the mailbox and the 200s alone: who was mailed although the storefront had been told that the stop was heard."""
        return [f"{cart.address}: {late:.0f} s after its stop was answered 200"
                for cart in self.carts if cart.stopped_after_s
                for late in (at - cart.stopped_after_s for at in cart.mails) if late > SEEN_WITHIN_S]

    # -- the end

    def all_told(self):
        return all(cart.opened and (not cart.stop_asked or cart.stopped_at_s) for cart in self.carts)

    def close(self):
        self._over = True
        self._runner.join(5)
        self._pool.shutdown(wait=True, cancel_futures=True)
