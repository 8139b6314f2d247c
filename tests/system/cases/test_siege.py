"""Strangers at the door in number: customers are served meanwhile, and what is turned away is counted. A short bout; tests/siege has the long ones."""

import contextlib
import http.client
import socket

from cartbus_system import System, fixture, free_port, wait_until
from siege import MEGABYTE, SIGNED, attackers, connect, customers, percentile, post_head, raw, raw_optout, send_all

ATTACKERS, SECONDS, HZ = 24, 6, 20
TOPIC = "arn:aws:sns:eu-central-1:123456789012:bounces"
PATIENCE_MS = 5000  # a storefront gives up then


def served(answer):
    assert set(answer["statuses"]) == {"200"}, answer["statuses"]
    assert percentile(answer["latencies_ms"], 0.99) < PATIENCE_MS


def test_customers_are_served_while_strangers_do_their_worst():
    with System() as system:
        shop = system.add_shop("demo", extra=f"sns-topic = {TOPIC}")
        system.start("broker", "gateway", "intake", "unsub")
        carts = [raw(shop.shopify("carts/create", fixture("shopify-carts-create", token=f"cart-{number}", id=f"cart-{number}")))
                 for number in range(HZ * SECONDS)]
        optouts = [raw_optout(shop.unsubscribe_path(f"shopper-{number}@example.com")) for number in range(HZ * SECONDS)]
        with attackers(system.port, ATTACKERS, SECONDS + 3, shop.name, TOPIC) as siege:
            bought, left = customers(system.port, carts, HZ), customers(system.port, optouts, HZ)
            served(bought.answer())
            served(left.answer())
        assert set(siege.report) == {"park_bodies", "post_json", "slow_heads", "many_arguments", "forge_signatures", "flood"}
        for kind, statuses in siege.report.items():
            assert not {"200", "302"} & set(statuses), f"{kind} got in: {statuses}"
        assert set(siege.report["many_arguments"]) <= {"404/404"}, "each is answered"
        wait_until(system.drained, "all that was taken is with the broker")
        assert len(system.log("optout.request")) == len(optouts)


def test_a_network_that_holds_all_it_may_makes_room_among_its_own_alone():
    """Nobody stands in front of this gateway: each address is a network of its own."""
    with System({"gateway": {"trusted-proxy": ""}}) as system:
        shop = system.add_shop("demo", extra=f"sns-topic = {TOPIC}")
        system.start("broker", "gateway")
        carts = [raw(shop.shopify("carts/create", fixture("shopify-carts-create", token=f"cart-{number}", id=f"cart-{number}")))
                 for number in range(HZ * SECONDS)]
        with attackers(system.port, ATTACKERS, SECONDS + 2, shop.name, TOPIC, networks=3) as siege:
            served(customers(system.port, carts, HZ).answer())
        assert siege.report


def test_whom_a_gateway_turns_away_is_counted_and_told():
    port = free_port()
    with System({"monitor": {"port": port}}) as system:
        shop = system.add_shop("demo")
        system.start("broker", "gateway", "monitor")
        head = post_head(f"/hooks/{shop.name}/shopify", MEGABYTE, f"X-Shopify-Hmac-Sha256: {SIGNED}")
        with contextlib.ExitStack() as held:
            for _ in range(80):  # 64 MB are for all
                client = held.enter_context(connect((system.port, None)))
                send_all(client, head + b"x" * (MEGABYTE - 1))
            wait_until(lambda: [alarm for alarm in system.log("alarm") if alarm["message"].kind == "strangers" and alarm["message"].raised],
                       "the alarm is raised", within_s=60)
            wait_until(lambda: turned_away(port), "the metrics tell of it")


def turned_away(port):
    lines = metrics(port, f"127.0.0.1:{port}")[1].splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("cartbus_gateway_turned_away_total{"))


def metrics(port, host):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", "/metrics", headers={"Host": host} if host else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_the_metrics_are_for_who_asks_for_this_machine_and_slow_clients_keep_nobody_out():
    """A page of somebody else whose name leads to 127.0.0.1 reads nothing in a browser here (DNS rebinding)."""
    port = free_port()
    with System({"monitor": {"port": port, "host": "metrics.shop.example"}}) as system, contextlib.ExitStack() as held:
        system.start("broker", "monitor")
        for _ in range(100):
            held.enter_context(connect((port, None))).sendall(b"GET /metrics HTTP/1.1\r\n")
        for host in ("127.0.0.1", f"localhost:{port}", "[::1]:9895", "METRICS.shop.example", socket.gethostname()):
            assert metrics(port, host)[0] == 200, host
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example"):
            status, text = metrics(port, host)
            assert status == 421 and "cartbus_" not in text, host
