"""The broker is away, slow, or was never there: what was answered 200 is never lost and never overtaken."""

import contextlib
import os
import signal
import subprocess
import threading
import time

import pytest
from cartbus_system import System, fixture, wait_until

AWAY_S = 60


@pytest.fixture
def system():
    with System() as system:
        system.add_shop("demo")
        system.start("broker", "gateway")
        wait_until(system.connected, "the gateway's connection")
        yield system


@pytest.fixture
def shop(system):
    return system.shops["demo"]


class Storefronts:
    """Threads that each post one cart's changes, one after the other, and its checkout every tenth time."""

    def __init__(self, system, shop, carts=6, pause_s=0):
        self.system, self.shop, self.pause_s = system, shop, pause_s
        self.answered, self.others, self.slowest = {}, [], {"change": 0.0, "stop": 0.0}
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(f"cart-{number}",)) for number in range(carts)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, cart):
        step = 0
        while not self._stop.wait(self.pause_s):
            step += 1
            stop = step % 10 == 0
            body = {"id": f"{cart}/{step}", "event": "checked_out" if stop else "changed", "cart": cart,
                    "email": f"{cart}@example.com", "currency": "EUR", "total": f"{step}.00"}
            self._post_until_200(cart, step, self.shop.cart(body), "stop" if stop else "change")

    def _post_until_200(self, cart, step, webhook, kind):
        """As a platform does: what was not answered 200 is repeated."""
        while True:
            try:
                answer = self.system.post(webhook)
            except OSError as error:  # the gateway was killed under it: repeat
                self.others.append((cart, step, kind, repr(error)))
                if self._stop.wait(0.05):
                    return
                continue
            self.slowest[kind] = max(self.slowest[kind], answer.seconds)
            if answer.status == 200:
                self.answered.setdefault(cart, []).append(step)
                return
            self.others.append((cart, step, kind, answer.status))
            if self._stop.wait(0.05):
                return

    def total(self):
        return sum(len(steps) for steps in self.answered.values())


def steps_in_log(system):
    steps = {}
    for message in system.log():
        if message["topic"] in ("cart.changed", "cart.checkout"):
            steps.setdefault(message["key"], []).append(message["message"].total_minor // 100)
    return steps


def judge(system, storefronts):
    """Everything that was answered 200 is in the log once, and each cart's messages in the order they were answered."""
    log = steps_in_log(system)
    for cart, answered in storefronts.answered.items():
        assert len(log[cart]) == len(set(log[cart])), f"{cart}: doubled"
        assert set(answered) <= set(log[cart]), f"{cart}: lost {set(answered) - set(log[cart])}"
        assert log[cart] == sorted(log[cart]), f"{cart}: overtaken: {log[cart]}"


def test_the_broker_is_down_for_a_minute_under_load_and_every_webhook_is_answered_200(system, shop):
    # A shop's load, not all that six clients can do: what a minute spooled must drain within a stop's four seconds.
    with Storefronts(system, shop, pause_s=0.02) as storefronts:
        wait_until(lambda: storefronts.total() > 100, "some load")
        system.kill("broker")
        before, up_again_s = storefronts.total(), time.monotonic() + AWAY_S
        wait_until(lambda: time.monotonic() > up_again_s and storefronts.total() > before + 500, "a minute and webhooks while the broker is away",
                   within_s=10 * AWAY_S, step_s=0.5)
        system.start("broker")
        wait_until(system.connected, "the connection")
        before = storefronts.total()
        wait_until(lambda: storefronts.total() > before + 200, "webhooks after it came back")
    wait_until(system.drained, "the spool's end", within_s=AWAY_S)
    assert storefronts.others == []
    assert storefronts.slowest["change"] < 1.0 and storefronts.slowest["stop"] < 4.0
    judge(system, storefronts)


def test_the_broker_dies_again_while_the_spool_drains(system, shop):
    with Storefronts(system, shop) as storefronts:
        for _ in range(4):
            system.kill("broker")
            before = storefronts.total()
            wait_until(lambda: storefronts.total() > before + 100, "webhooks while the broker is away")
            system.start("broker")
    wait_until(system.drained, "the spool's end")
    assert storefronts.others == []
    judge(system, storefronts)


def test_the_gateway_is_killed_at_any_moment_and_loses_and_doubles_nothing(system, shop):
    with Storefronts(system, shop) as storefronts:
        for round_ in range(8):
            before = storefronts.total()
            wait_until(lambda: storefronts.total() > before + 40, "some load")
            if round_ % 2 == 0:
                system.kill("broker")
                before = storefronts.total()
                wait_until(lambda: storefronts.total() > before + 40, "webhooks while the broker is away")
            system.kill("gateway")
            system.start("gateway")
            if round_ % 2 == 0:
                system.start("broker")
    wait_until(system.drained, "the spool's end")
    judge(system, storefronts)


@pytest.mark.parametrize("topic", ["cart.checkout", "cart.changed"], ids=["bought", "emptied"])
def test_a_broker_that_hangs_is_waited_for_as_long_as_the_promise_says(system, shop, topic):
    """Stopped, not dead: the session still lives when these are posted, so a change is spooled after 500 ms."""
    broker = system.processes["broker"].popen
    os.kill(broker.pid, signal.SIGSTOP)
    try:
        change = system.post(shop.shopify("carts/update", fixture("shopify-carts-update")))
        if topic == "cart.checkout":
            stop = system.post(shop.shopify("orders/paid", fixture("shopify-orders-paid")))
        else:
            stop = system.post(shop.shopify("carts/update", fixture("shopify-carts-update", line_items=[]), "emptied"))
    finally:
        os.kill(broker.pid, signal.SIGCONT)
    assert change.json == {"spooled": True} and 0.4 < change.seconds < 1.0
    assert stop.json == {"spooled": True} and 0.5 < stop.seconds < 4.0  # not before the promise to the broker has run out
    wait_until(system.drained, "the spool's end")
    assert [message["topic"] for message in system.log()] == ["cart.changed", topic]


def test_who_never_met_a_broker_does_not_spool(shop):
    with System() as system:
        shop = system.add_shop("demo")
        system.start("gateway")
        for webhook in (shop.shopify("carts/create", fixture("shopify-carts-create")),
                        shop.shopify("orders/paid", fixture("shopify-orders-paid"))):
            answer = system.post(webhook)
            assert answer.status == 503 and "never met" in answer.json["error"]
            assert answer.headers["Retry-After"]
        assert system.request("GET", "/healthz").status == 503
        system.start("broker")
        wait_until(lambda: system.request("GET", "/healthz").status == 200, "readiness")
        assert "accepted" in system.post(webhook).json


def test_who_met_one_spools_after_a_restart_of_its_own(system, shop):
    system.kill("broker", "gateway")
    system.start("gateway")
    webhook = shop.shopify("carts/update", fixture("shopify-carts-update"))
    assert system.post(webhook).json == {"spooled": True}
    assert system.post(webhook).json == {"spooled": True}  # repeated: it cannot know better, the drain does
    health = system.request("GET", "/healthz")
    assert health.status == 200 and health.json == {"ready": True, "broker": "away", "spooled": 2}
    system.kill("gateway")
    system.start("broker", "gateway")
    wait_until(system.drained, "the spool's end")
    assert len(system.log(topic="cart.changed")) == 1


def test_an_optout_is_kept_too_while_the_broker_is_away(system, shop):
    system.kill("broker")
    answer = system.request("POST", shop.unsubscribe_path("ada@example.com"), b"List-Unsubscribe=One-Click",
                            {"Accept-Language": "en"})
    assert answer.status == 200 and "You are unsubscribed" in answer.text
    system.start("broker")
    wait_until(system.drained, "the spool's end")
    assert len(system.log(topic="optout.request")) == 1


def test_a_damaged_spool_is_refused_with_a_remedy(system, shop):
    system.kill("broker")
    for _ in range(3):
        assert system.post(shop.shopify("carts/update", fixture("shopify-carts-update"))).status == 200
    system.kill("gateway")
    (spool,) = (system.folder / "state" / "gateway" / "spool").glob("*.spool")
    whole = spool.read_bytes()
    spool.write_bytes(whole[:40] + b"\xff" + whole[41:])
    with pytest.raises(AssertionError, match="acknowledged to a storefront"):
        system.start("gateway")
    spool.write_bytes(whole[:-3])  # the last record torn: as a crash in the middle of a write leaves it
    system.start("broker", "gateway")
    wait_until(system.drained, "the spool's end")
    assert len(system.log(topic="cart.changed")) == 2


def test_a_full_disk_is_told_and_recovers(system, shop):
    spool = system.folder / "state" / "gateway" / "spool"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(spool)], check=True)
    try:
        (spool / "met").write_text("")
        system.kill("broker")
        webhook = shop.shopify("checkouts/update", fixture("shopify-checkouts-update"))
        assert system.post(webhook).json == {"spooled": True}
        with contextlib.suppress(OSError), open(spool / "filler", "wb", buffering=0) as filler:
            while filler.write(b"x" * 4096):
                pass
        statuses = [system.post(shop.shopify("checkouts/update", fixture("shopify-checkouts-update"))) for _ in range(10)]
        assert statuses[-1].status == 503 and "No space left" in statuses[-1].json["error"]
        assert "No space left" in system.processes["gateway"].tail()
        (spool / "filler").unlink()
        assert system.post(shop.shopify("checkouts/update", fixture("shopify-checkouts-update"))).status == 200
        accepted = 2 + [answer.status for answer in statuses].count(200)
        system.start("broker")
        wait_until(system.drained, "the spool's end")
        assert len(system.log(topic="cart.changed")) == accepted
    finally:
        system.stop("gateway")
        subprocess.run(["umount", str(spool)], check=True)


def test_a_stop_of_the_process_answers_who_waits(system, shop):
    broker = system.processes["broker"].popen
    os.kill(broker.pid, signal.SIGSTOP)
    answers = []
    thread = threading.Thread(
        target=lambda: answers.append(system.post(shop.shopify("orders/paid", fixture("shopify-orders-paid"))).status))
    try:
        thread.start()
        wait_until(lambda: sockets_in(system) > 0, "the request")
        system.stop("gateway")
        thread.join()
    finally:
        os.kill(broker.pid, signal.SIGCONT)
    assert system.processes["gateway"].popen.returncode == 0
    assert answers in ([503], [200])  # 200 only from the spool: it is there at the next start
    system.start("gateway")
    wait_until(system.drained, "the spool's end")
    assert len(system.log(topic="cart.checkout")) >= (1 if answers == [200] else 0)


def sockets_in(system):
    """Connections that the gateway has accepted and still holds."""
    found = 0
    for line in open("/proc/net/tcp").read().splitlines()[1:]:
        fields = line.split()
        found += fields[1].endswith(f":{system.port:04X}") and fields[3] == "01"
    return found
