"""The monitor's metrics, as a real Prometheus scrapes them: well formed, true, and all that the dashboard and the alerts ask for."""

import json
import pathlib
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest
import yaml

from alerts import FIRES, rule_tests
from cartbus_system import SOURCES, System, every_program, free_port, wait_until
from prometheus import Prometheus

RULES_PATH = SOURCES / "deploy" / "prometheus" / "cartbus.rules.yml"
DASHBOARD_PATH = SOURCES / "deploy" / "grafana" / "cartbus.json"
RATE = 120  # two minutes are a second; the second reminders would go in a quarter of an hour
WITHIN_S = 60
TEXTS = ("Small carts (under 40 EUR): remind after 10 minutes, then after 24 hours. Medium carts: 2 hours, then 22. "
         "Big carts (over 150 EUR): 1 hour, then 20.\n")
LABELS = {"queue", "service", "process", "kind", "outcome", "answer", "direction", "le", "version", "peer", "reason"}
MAILS = 5


def rules():
    return yaml.safe_load(RULES_PATH.read_text())["groups"][0]["rules"]


def queries():
    """Of the dashboard, each with its panel's title; the interval of a rate as Grafana would fill it in."""
    panels = json.loads(DASHBOARD_PATH.read_text())["panels"]
    return [(panel["title"], target["expr"].replace("$__rate_interval", "1m")) for panel in panels for target in panel.get("targets", [])]


class World:
    """A system that has mailed to five shoppers, and a Prometheus that has seen it."""

    def __init__(self):
        now_us = int(time.time() * 1e6)
        noon_us = now_us // 86400_000_000 * 86400_000_000 + 10 * 3600_000_000
        self.page_port = free_port()
        self.system = System({"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": noon_us},
                              "monitor": {"port": self.page_port}})
        self.shop = self.system.add_shop("nameofshop", rules=TEXTS)
        self.prometheus = None

    def open(self):
        self.system.start(*every_program())
        self.system.cartbus("shop", "mode", "nameofshop", "live")
        for number in range(MAILS):
            assert self.post(f"cart-{number}").status == 200
        assert self.system.post(self.shop.cart({"event": "changed", "cart": "x"}, secret="not the secret")).status == 401
        self.prometheus = Prometheus(self.page_port, RULES_PATH)

    def post(self, cart):
        return self.system.post(self.shop.cart({
            "event": "changed", "cart": cart, "email": f"{cart}@shopper.example", "consent": True, "currency": "EUR", "total": "12.50",
            "recovery_url": "https://nameofshop.example/cart", "items": [{"title": "Rose", "quantity": 1, "price": "12.50"}]}))

    def page(self, path="/metrics", method="GET"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.page_port}{path}", method=method)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read().decode()

    def value(self, expression):
        found = self.prometheus.query(expression)
        return found[0][1] if len(found) == 1 else None

    def becomes(self, expression, wanted, within_s=WITHIN_S):
        wait_until(lambda: self.value(expression) == wanted, f"{expression} being {wanted}", within_s)

    def close(self):
        if self.prometheus:
            self.prometheus.close()
        self.system.close()


@pytest.fixture(scope="module")
def world():
    world = World()
    try:
        world.open()
        yield world
    finally:
        world.close()


def test_what_was_done_is_what_is_counted(world):
    world.becomes('cartbus_mails_total{outcome="sent"}', MAILS)
    world.becomes("cartbus_reminders_due_total", MAILS)
    world.becomes("cartbus_gateway_accepted_total", MAILS)
    world.becomes("cartbus_gateway_bad_signatures_total", 1)
    world.becomes('sum(cartbus_service_effects_total{service="sender"})', MAILS)
    world.becomes('sum(cartbus_service_claims_total{answer="fresh"})', MAILS)
    world.becomes('sum(cartbus_service_effect_seconds_count{service="sender"})', MAILS)
    world.becomes("cartbus_reminders_waiting", 0)
    world.becomes("cartbus_timers_pending", MAILS)  # each cart's second reminder
    world.becomes("cartbus_timer_lateness_seconds_count >= bool 5", 1)
    world.becomes("cartbus_budget_spent_dollars", MAILS * 0.10 / 1000)
    head = world.system.ask("status")["head"]
    wait_until(lambda: world.value("cartbus_log_messages_total") >= head, "the head of the log being told", WITHIN_S)


def test_the_page_is_well_formed_and_names_nobody(world):
    text = world.page()
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert set(re.findall(r'[{,](\w+)="', text)) <= LABELS
    assert all(line.startswith("cartbus_") for line in text.splitlines() if not line.startswith("#"))
    for private in ("nameofshop", "shopper", "cart-", "@", str(world.system.folder)):
        assert private not in text, private


@pytest.mark.parametrize("path, method, status", [("/", "GET", 404), ("/metrics/x", "GET", 404), ("/metrics", "POST", 405)])
def test_what_is_no_question_for_metrics_is_refused(world, path, method, status):
    with pytest.raises(urllib.error.HTTPError) as refused:
        world.page(path, method)
    assert refused.value.code == status


def test_who_asks_slowly_or_nonsense_holds_up_nobody(world):
    idle = [socket.create_connection(("127.0.0.1", world.page_port), timeout=20) for _ in range(12)]
    try:
        for connection in idle[:6]:
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        idle[6].sendall(b"\x00\xff nonsense\r\n\r\n" * 100)
        assert "cartbus_broker_up 1\n" in world.page()
    finally:
        for connection in idle:
            connection.close()


def test_every_query_of_the_dashboard_returns_data(world):
    left = set(queries())
    assert len(left) > 50

    def asked():
        left.difference_update([one for one in left if world.prometheus.query(one[1])])
        return not left

    try:
        wait_until(asked, "data for every query", WITHIN_S)
    except AssertionError:
        raise AssertionError(f"no data for {sorted(left)}") from None


def test_every_metric_is_on_the_dashboard_or_in_a_rule(world):
    """So whoever takes a metric away, or renames one, finds out here."""
    told = set(re.findall(r"^# TYPE (\w+)", world.page(), re.M)) - {"cartbus_build_info"}
    used = set(re.findall(r"\bcartbus_\w+", " ".join([expression for _, expression in queries()] + [rule["expr"] for rule in rules()])))
    used = {re.sub(r"_seconds_(bucket|sum|count)$", "_seconds", name) for name in used}
    assert told == used


def test_the_handbook_tells_of_every_metric(world):
    told = {name: (kind, words) for name, words, kind in re.findall(r"^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)", world.page(), re.M)}
    page = (SOURCES / "deploy" / "handbook" / "metrics.md").read_text()
    assert {name: (kind, words) for name, kind, words in re.findall(r"^\| `(cartbus_\w+)` \| (\w+) \| [^|]*\| (.*) \|$", page, re.M)} == told


def test_every_alert_fires_and_is_quiet_when_all_is_well(tmp_path):
    subprocess.run(["promtool", "check", "rules", str(RULES_PATH)], check=True)
    assert {rule["alert"] for rule in rules()} == set(FIRES)
    path = tmp_path / "rules_test.yml"
    path.write_text(yaml.safe_dump(rule_tests(rules(), RULES_PATH)))
    done = subprocess.run(["promtool", "test", "rules", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_the_rules_and_no_alert_stands(world):
    def evaluated():
        told = world.prometheus.get("rules")["groups"][0]["rules"]
        return all(rule["health"] == "ok" for rule in told) and {rule["name"] for rule in told}

    assert wait_until(evaluated, "Prometheus evaluates the rules", WITHIN_S) == set(FIRES)
    firing = {alert["labels"]["alertname"] for alert in world.prometheus.get("alerts")["alerts"] if alert["state"] == "firing"}
    assert firing == set()


def test_a_service_that_is_away_is_seen_and_its_messages_wait(world):
    world.system.kill("intake")
    world.becomes('cartbus_service_instances{service="intake"}', 0)
    assert world.post("while-away").status == 200
    world.becomes('cartbus_queue_ready_messages{queue="intake"}', 1)
    world.system.start("intake")
    world.becomes('cartbus_service_instances{service="intake"}', 1)
    world.becomes('cartbus_mails_total{outcome="sent"}', MAILS + 1)


def test_totals_outlive_the_monitor(world):
    world.system.kill("monitor")
    world.becomes('up{job="cartbus"}', 0)
    world.system.start("monitor")
    world.becomes("cartbus_broker_up", 1)
    world.becomes('cartbus_mails_total{outcome="sent"}', MAILS + 1)


def test_a_broker_that_is_away_is_told_and_nothing_old_in_its_place(world):
    world.system.kill("broker")
    world.becomes("cartbus_broker_up", 0)
    assert world.value("cartbus_log_messages_total") is None
    assert world.value('cartbus_mails_total{outcome="sent"}') == MAILS + 1
    world.system.start("broker")
    world.becomes("cartbus_broker_up", 1)


def test_a_port_that_is_taken_is_said_once_and_taken_when_it_is_free(world):
    world.system.kill("monitor")
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", world.page_port))
        other.listen()
        monitor = world.system.start("monitor")
        assert monitor.tail().count("no metrics: cannot listen on 127.0.0.1") == 1
    world.becomes("cartbus_broker_up", 1)
