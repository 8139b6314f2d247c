"""One cart's way from the webhook to its mail, as the traces that a collector gets; and a collector that is slow, refuses, or is gone."""

import json
import time
import urllib.request

import pytest

from cartbus_system import System, free_port, wait_until
from http_peer import reply
from otlp_peer import Collector

pytestmark = pytest.mark.xdist_group("tracing")  # one running system for all of it
RATE = 3600
RULES = "Small carts (under 40 EUR): remind after 1 hour, then after 600. Medium carts: 1 hour, then 600. Big carts (over 150 EUR): 1 hour, then 600.\n"
PATIENCE_S = 60
PARENT = "00f067aa0ba902b7"


def trace_id(number):
    return f"4bf92f3577b34da6a3ce929d0e{number:06x}"


@pytest.fixture(scope="module")
def collector():
    collector = Collector()
    yield collector
    collector.close()


@pytest.fixture(scope="module")
def system(collector):
    now_us = int(time.time() * 1e6)
    noon_us = now_us // 86400_000_000 * 86400_000_000 + 36000_000_000
    system = System({"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": noon_us}, "trace": {"collector": collector.url},
                     "monitor": {"port": free_port()}})
    with system:
        system.add_shop("demo", rules=RULES)
        for process in system.start("broker", "mirror", "gateway", "intake", "timer", "waiter", "sender", "monitor", wait=False):
            process.wait_ready()
        system.cartbus("shop", "mode", "demo", "live")
        number = iter(range(1, 10**6))
        wait_until(lambda: leave(system, f"first-{next(number)}") and collector.spans, "the monitor listens", PATIENCE_S, step_s=0.5)
        yield system


def leave(system, cart, traceparent=None):
    webhook = system.shops["demo"].cart({"event": "changed", "cart": cart, "email": f"{cart}@mail.example", "first_name": "Ada-Name",
                                         "currency": "EUR", "total": "12.00", "recovery_url": f"https://demo.example/r/{cart}",
                                         "items": [{"title": "Vase-Title", "quantity": 1, "price": "12.00"}]},
                                        **({"traceparent": traceparent} if traceparent else {}))
    answer = system.post(webhook)
    assert answer.status == 200, answer.text
    return True


def trace(collector, number):
    return [span for span in collector.spans if span["traceId"] == trace_id(number)]


def topics(spans):
    return [span["attributes"]["messaging.destination.name"] for span in spans]


def counter(system, name):
    with urllib.request.urlopen(f"http://127.0.0.1:{port_of(system)}/metrics", timeout=20) as page:
        return next(float(line.split()[-1]) for line in page.read().decode().splitlines() if line.startswith(name))


def port_of(system):
    text = system.config_path.read_text().split("[monitor]")[1]
    return int(text.split("port = ")[1].split()[0])


def test_one_trace_leads_from_the_storefronts_own_span_to_the_mail(system, collector):
    leave(system, "c1", f"00-{trace_id(1)}-{PARENT}-01")
    wait_until(lambda: "reminder.sent" in topics(trace(collector, 1)), "the trace of the mail", PATIENCE_S)
    spans = trace(collector, 1)
    assert collector.wrong == []
    by_id = {span["spanId"]: span for span in spans}
    assert len(by_id) == len(spans)
    by_topic = {topic: span for topic, span in zip(topics(spans), spans)}
    assert {"cart.changed", "cart.state", "timer.set", "cart.wake", "reminder.due", "send.claim", "reminder.sent"} <= by_topic.keys()

    way, span = [], by_topic["reminder.sent"]
    while span:
        way.append((span["service"], span["attributes"]["messaging.destination.name"]))
        root, span = span, by_id.get(span["parentSpanId"])
    assert way == [("cartbus-sender", "reminder.sent"), ("cartbus-waiter", "reminder.due"), ("cartbus-timer", "cart.wake"),
                   ("cartbus-intake", "timer.set"), ("cartbus-gateway", "cart.changed")]
    assert root["parentSpanId"] == PARENT
    assert all(span["parentSpanId"] in by_id or span is root for span in spans)
    assert by_topic["reminder.sent"]["status"] == {"code": 1} and by_topic["reminder.sent"]["attributes"]["cartbus.step"] == 1
    assert {span["attributes"]["cartbus.cart"] for span in spans if "cartbus.cart" in span["attributes"]} == {"c1"}
    assert {span["attributes"]["cartbus.shop"] for span in spans} == {"demo"}
    everything = json.dumps(collector.spans)
    assert not any(secret in everything for secret in ("@", "Ada-Name", "Vase-Title", "demo.example"))


def test_what_its_beginner_does_not_record_is_not_exported(system, collector):
    leave(system, "c2", f"00-{trace_id(2)}-{PARENT}-00")
    leave(system, "c3", f"00-{trace_id(3)}-{PARENT}-01")
    wait_until(lambda: "reminder.sent" in topics(trace(collector, 3)), "the trace that is recorded", PATIENCE_S)
    assert trace(collector, 2) == []


def test_a_collector_that_is_not_ready_gets_the_spans_later_and_holds_up_nobody(system, collector):
    collector.answer = lambda request: reply(request, 503, Retry_After="1")
    leave(system, "c4", f"00-{trace_id(4)}-{PARENT}-01")
    wait_until(lambda: collector.refused > 0, "it was tried", PATIENCE_S)
    wait_until(lambda: [entry for entry in system.log(topic="reminder.sent") if entry["message"].cart_id == "c4"], "the mail goes", PATIENCE_S)
    assert trace(collector, 4) == []
    collector.answer = None
    wait_until(lambda: "reminder.sent" in topics(trace(collector, 4)), "the whole trace", PATIENCE_S)
    spans = trace(collector, 4)
    assert "cart.changed" in topics(spans) and len({span["spanId"] for span in spans}) == len(spans)
    assert counter(system, 'cartbus_trace_spans_total{outcome="refused"}') == 0
    wait_until(lambda: counter(system, 'cartbus_trace_spans_total{outcome="sent"}') >= len(spans), "that they are counted", PATIENCE_S)


def test_what_a_collector_refuses_for_good_is_counted_and_not_tried_again(system, collector):
    collector.answer, before = lambda request: reply(request, 400), collector.refused
    leave(system, "c5", f"00-{trace_id(5)}-{PARENT}-01")
    refused = wait_until(lambda: counter(system, 'cartbus_trace_spans_total{outcome="refused"}'), "it is counted", PATIENCE_S)
    assert refused <= collector.refused - before
    collector.answer = None
    leave(system, "c6", f"00-{trace_id(6)}-{PARENT}-01")
    wait_until(lambda: "reminder.sent" in topics(trace(collector, 6)), "spans go again", PATIENCE_S)
    assert "cart.changed" not in topics(trace(collector, 5))
    assert "does not take spans: HTTP 400" in system.processes["monitor"].tail(100000)
    assert collector.wrong == []
