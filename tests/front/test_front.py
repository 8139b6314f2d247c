"""A gateway behind the servers that most put in front of one, each with the configuration that deploy/front tells to take."""

import concurrent.futures
import contextlib
import http.client
import http.server
import json
import threading
import time

import pytest

from front import NAME, PATIENCE_S, Caddy, Nginx, wait_until
from cartbus_system import System, fixture
from test_handed_socket import STOREFRONTS, Storefront, Supervised

ADDRESS = "ada.lovelace@example.com"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
RESTARTS = 3
MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module", params=[Nginx, Caddy], ids=["nginx", "caddy"])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def system():
    with Supervised() as system:
        system.add_shop("demo")
        system.start("broker", "gateway")
        yield system


@pytest.fixture
def shop(system):
    return system.shops["demo"]


@pytest.fixture(scope="module")
def front(kind, system, tmp_path_factory):
    with kind(tmp_path_factory.mktemp(kind.__name__), system.port) as front:
        yield front


def post(front, webhook, timeout_s=PATIENCE_S):
    return front.request("POST", webhook.path, webhook.body, webhook.headers, timeout_s)


def test_a_signed_webhook_is_taken_and_an_unsigned_one_is_not(front, system, shop):
    body = fixture("shopify-carts-create", note=f"by {type(front).__name__}")
    answer = post(front, shop.shopify("carts/create", body))
    assert answer.status == 200 and answer.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert answer.json["accepted"] in [entry["seq"] for entry in system.log("cart.changed")]
    assert post(front, shop.shopify("carts/create", body, secret="another")).status == 401


def test_a_body_is_taken_up_to_what_the_gateway_takes(front, shop):
    body = json.dumps(fixture("shopify-carts-create")).encode()
    assert post(front, shop.shopify("carts/create", body + b" " * (MEBIBYTE - len(body)))).status == 200
    assert too_large(front, MEBIBYTE + 1) == too_large(front, 64 * MEBIBYTE) == b"413"


def too_large(front, length):
    """What is answered to who says that so much comes, and begins to send it."""
    with front.connect() as connection:
        connection.sendall(f"POST /hooks/demo/shopify HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: {length}\r\n\r\n".encode())
        with contextlib.suppress(OSError):  # he may be told before, and find the connection ended
            connection.sendall(b" " * min(length, 2 * MEBIBYTE))
        return connection.recv(4096).split(b" ")[1]


@pytest.mark.parametrize("head", [b"GET /u/x HTTP/1.1\r\nHost: cartbus.shop.example\r\nX-Slow: ",
                                  b"POST /hooks/demo/cart HTTP/1.1\r\nHost: cartbus.shop.example\r\nContent-Length: 9999\r\n\r\n"], ids=["head", "body"])
def test_a_client_that_sends_a_byte_now_and_then_is_cut(front, head):
    with front.connect() as connection:
        connection.sendall(head)
        connection.settimeout(0.5)
        until = time.monotonic() + PATIENCE_S
        while True:
            assert time.monotonic() < until, "it is still listened to"
            try:
                connection.sendall(b"x")
                if connection.recv(4096) == b"":
                    return
            except TimeoutError:
                continue
            except OSError:
                return


def test_one_click_unsubscribes_and_the_page_shows(front, system, shop):
    path = shop.unsubscribe_path(ADDRESS, "c-1")
    before = len(system.log("optout.request"))
    assert '<form method="post">' in front.request("GET", path).text
    assert front.request("POST", path, b"List-Unsubscribe=One-Click", FORM).status == 200
    assert len(system.log("optout.request")) == before + 1


def test_the_way_back_leads_to_the_storefront(front, shop):
    basket = "https://shop.example/cart/c1?key=a%20b&x=%C3%B6+1#top"
    answer = front.request("GET", shop.return_path(basket, "c-1"))
    assert (answer.status, answer.headers["Location"]) == (302, basket)


@pytest.mark.parametrize("path", ["/", "/healthz", "/hooks", "/metrics", "//healthz", "/hooks/../healthz", "/u/%2e%2e/healthz",
                                  "/u/..%2fhealthz", "/healthz/../u/x", "/u/x/../../healthz?to=x", "/.well-known/x"])
def test_what_the_gateway_does_not_serve_the_world_is_not_found(front, path):
    answer = front.request("GET", path)
    assert answer.status in (400, 404) and b"ready" not in answer.body


def test_plain_http_is_led_to_https(front, shop):
    connection = http.client.HTTPConnection("127.0.0.1", front.plain_port, timeout=PATIENCE_S)
    path = shop.unsubscribe_path(ADDRESS)
    with contextlib.closing(connection):
        connection.request("GET", path, headers={"Host": "cartbus.shop.example"})
        answer = connection.getresponse()
        assert answer.status == 308 and answer.headers["Location"] == f"https://cartbus.shop.example{path}"


def test_who_looks_too_often_is_slowed_down_and_no_unsubscribe_is(front, shop):
    path = shop.unsubscribe_path(ADDRESS, "c-2")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        looked = list(pool.map(lambda _: front.request("GET", path).status, range(200)))
        clicked = list(pool.map(lambda _: front.request("POST", path, b"List-Unsubscribe=One-Click", FORM).status, range(50)))
    assert set(clicked) == {200}
    assert set(looked) == ({200, 429} if front.rate_limits else {200})


class Fronted(Storefront):
    """Posts by way of the server in front."""

    def __init__(self, front, *arguments):
        super().__init__(*arguments)
        self.system = self
        self.front, self.within = front, arguments[0]

    def post(self, webhook, timeout_s):
        return post(self.front, webhook, timeout_s)


@contextlib.contextmanager
def load(front, system, shop):
    over = threading.Event()
    storefronts = [Fronted(front, system, shop, number, over) for number in range(STOREFRONTS)]
    for storefront in storefronts:
        storefront.start()
    try:
        yield storefronts
    finally:
        over.set()
        for storefront in storefronts:
            storefront.join()


def restart_under(storefronts, system):
    for _ in range(RESTARTS):
        before = sum(storefront.accepted for storefront in storefronts)
        wait_until(lambda: sum(s.accepted for s in storefronts) > before + STOREFRONTS, "carts are taken in", PATIENCE_S)
        system.stop("gateway")
        system.start("gateway", wait=False)


def accounted(front, system, storefronts):
    """Every 200 is in the log; answers what was not taken."""
    system.processes["gateway"].wait_ready()
    wait_until(system.drained, "the gateway says all to the broker", PATIENCE_S)
    said = [entry["message"].webhook_id for entry in system.log("cart.changed") if entry["key"].split("-")[0].isdigit()]
    accepted, failed = sum(s.accepted for s in storefronts), [failure for s in storefronts for failure in s.failed]
    print(f"{type(front).__name__}: {RESTARTS} restarts, {accepted} webhooks answered 200, {len(failed)} not: {sorted(set(failed))[:3]}")
    assert len(set(said)) == len(said) >= accepted
    return failed


def test_a_restart_under_load_refuses_nobody_where_systemd_listens(kind, tmp_path):
    with Supervised() as system, kind(tmp_path, system.port) as front:
        shop = system.add_shop("demo")
        system.start("broker", "gateway")
        with load(front, system, shop) as storefronts:
            restart_under(storefronts, system)
        assert accounted(front, system, storefronts) == []


def test_what_a_restart_costs_where_nobody_listens_meanwhile(kind, tmp_path):
    """It is 502 then, which the platforms repeat, and soon. What is answered 200 is in the log."""
    with System() as system, kind(tmp_path, system.port) as front:
        shop = system.add_shop("demo")
        system.start("broker", "gateway")
        with load(front, system, shop) as storefronts:
            restart_under(storefronts, system)
        failed = accounted(front, system, storefronts)
        assert failed and all(failure.startswith("502") for failure in failed)


def test_no_log_in_front_holds_a_link_or_who_followed_it(kind, tmp_path):
    with System() as system, kind(tmp_path, system.port) as front:
        shop = system.add_shop("demo")
        system.start("broker", "gateway")
        links = [shop.unsubscribe_path(ADDRESS, "c-3"), shop.action_path(1, "c-3"), shop.return_path("https://shop.example/", "c-3")]
        for link in links:
            assert front.request("GET", link).status in (200, 302)
        system.stop("gateway")
        for link in links:
            assert front.request("GET", link).status == 502
        front.process.terminate()  # what it still has to write is written
        front.process.wait(PATIENCE_S)
        said = front.said()
        for link in links:
            assert link.split("?")[0][3:40] not in said
        assert "127.0.0.1" not in said.replace(f"127.0.0.1:{system.port}", "").replace(f"127.0.0.1:{front.port}", "").replace(
            f"127.0.0.1:{front.plain_port}", "")


POST = f"POST /hooks/demo/shopify HTTP/1.1\r\nHost: {NAME}\r\nX-Shopify-Hmac-Sha256: {'A' * 43}=\r\n".encode()
HIDDEN = f"GET /healthz HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode()  # what is not handed on: whoever reads "ready" has smuggled it


@pytest.mark.parametrize("attack", [
    b"Content-Len: 47\r\n gth\r\n\r\n", b"X: y\r\n Content-Length: 47\r\n\r\n", b"Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"Content-Length : 47\r\n\r\n", b"X: a\0b\r\nContent-Length: 0\r\n\r\n",
    b"X: a\rContent-Length: 47\r\n\r\n", b"X: a\nContent-Length: 47\r\n\r\n", b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n5;x\nhello\r\n0\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\n\r\n",
    b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", b"Content-Length: 0\r\nContent-Length: 47\r\n\r\n",
], ids=range(13))
def test_nothing_is_smuggled_past_the_server_in_front(front, attack):
    answer = b""
    with front.connect(10) as connection, contextlib.suppress(OSError):
        connection.sendall(POST + attack + HIDDEN)
        while piece := connection.recv(65536):
            answer += piece
    assert b'"ready"' not in answer, answer


def test_clients_are_told_apart_by_what_the_server_in_front_says(kind, tmp_path):
    """The client's own X-Forwarded-For is not what the gateway goes by: else everybody could spend in another's name."""
    heard = []

    class Listens(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            heard.append(self.headers.get_all("X-Forwarded-For"))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Listens) as behind, kind(tmp_path, behind.server_port) as front:
        thread = threading.Thread(target=behind.handle_request)
        thread.start()
        front.request("GET", "/u/x", headers={"X-Forwarded-For": "192.0.2.1"})
        thread.join()
    assert [line.split(",")[-1].strip() for line in heard[0]][-1] == "127.0.0.1"
