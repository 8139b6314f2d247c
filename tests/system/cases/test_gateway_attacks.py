"""Bad input over HTTP: each is answered, or its connection is cut, and the gateway goes on."""

import base64
import json
import socket
import time

import pytest
from cartbus_system import System, fixture, wait_until


@pytest.fixture(scope="module")
def system():
    with System() as system:
        system.add_shop("demo")
        system.add_shop("other")
        system.start("broker", "gateway")
        wait_until(lambda: system.request("GET", "/healthz").json.get("broker") == "connected", "the gateway's connection")
        yield system
        assert not system.said_since(0), "something got in"


@pytest.fixture
def shop(system):
    return system.shops["demo"]


@pytest.fixture(autouse=True)
def it_goes_on(system):
    yield
    assert system.request("GET", "/healthz").status == 200


def raw(system, data, timeout_s=10):
    """Sends bytes, answers all that comes back until the other side closes."""
    with socket.create_connection(("127.0.0.1", system.port), timeout=timeout_s) as s:
        s.sendall(data)
        received = b""
        try:
            while chunk := s.recv(65536):
                received += chunk
        except ConnectionResetError:
            pass
        return received


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


def head_of(webhook, **headers):
    lines = [f"POST {webhook.path} HTTP/1.1", "Host: x"]
    lines += [f"{name}: {value}" for name, value in {**webhook.headers, **headers}.items() if value is not None]
    return "\r\n".join(lines).encode() + b"\r\n"


# ---- signatures ----


def every_platform(shop):
    return [
        ("X-Shopify-Hmac-Sha256", shop.shopify("carts/create", fixture("shopify-carts-create"))),
        ("X-WC-Webhook-Signature", shop.woocommerce("order.created", fixture("woocommerce-order-created"))),
        ("X-Cartbus-Signature", shop.cart(fixture("cart-changed"))),
    ]


def test_wrong_missing_truncated_and_undecodable_signatures_are_401(system, shop):
    for header, webhook in every_platform(shop):
        right = webhook.headers[header]
        wrong = base64.b64encode(b"\0" * 32).decode()
        for value in (None, "", wrong, right[:-1], right[:10], right + "=", right[1:], "*" * 44, " " + right.swapcase(),
                      "sha256=" + right, right[:-2] + "é"):
            answer = system.post(webhook.with_header(header, value.encode("latin-1") if value else value))
            assert answer.status == 401, (header, value)
            assert "signature" in answer.json["error"]


def test_a_signature_given_twice_is_401_even_if_one_is_right(system, shop):
    for header, webhook in every_platform(shop):
        body = webhook.body
        for second in (webhook.headers[header], "wrong"):
            request = head_of(webhook, **{"Content-Length": len(body), "Connection": "close"})
            answer = raw(system, request + f"{header}: {second}\r\n\r\n".encode() + body)
            assert status_of(answer) == 401


def test_another_body_or_another_shops_secret_is_401(system, shop):
    for _, webhook in every_platform(shop):
        webhook.body = webhook.body.replace(b"1", b"2", 1)
        assert system.post(webhook).status == 401
    webhook = shop.shopify("carts/create", fixture("shopify-carts-create"), secret=system.shops["other"].secret)
    assert system.post(webhook).status == 401


def test_a_recorded_request_to_our_own_endpoint_is_401_after_five_minutes(system, shop):
    now = int(system.now_s())
    for stamp in (now - 310, now + 310, 0, "", "abc", f"{now}.5", "9" * 30, f" {now}x"):
        assert system.post(shop.cart(fixture("cart-changed"), timestamp=stamp)).status == 401
    webhook = shop.cart(fixture("cart-changed"))
    another = str(int(webhook.headers["X-Cartbus-Timestamp"]) + 1)
    assert system.post(webhook.with_header("X-Cartbus-Timestamp", another)).status == 401
    assert system.post(webhook.with_header("X-Cartbus-Timestamp", None)).status == 401


def test_an_unproven_body_is_not_looked_at(system, shop):
    webhook = shop.shopify("carts/create", b"{broken", secret="another-secret")
    assert system.post(webhook).status == 401


# ---- bodies ----


def test_broken_json_with_a_right_signature_is_answered_200_with_words(system, shop):
    for body in (b"", b"{", b"null", b"[]", b"\xff\xfe\x00", b'{"a":1}{"b":2}', b'{"token":"a","token":"b"}'):
        answer = system.post(shop.shopify("carts/create", body))
        assert answer.status == 200 and answer.json["error"], body


def test_a_body_over_1_mb_is_413(system, shop):
    body = json.dumps({"token": "t", "note": "x" * (1024 * 1024)}).encode()
    assert system.post(shop.shopify("carts/create", body)).status == 413
    fits = json.dumps({"note": "x" * (1024 * 1024 - 12)}).encode()
    assert len(fits) == 1024 * 1024
    assert system.post(shop.shopify("carts/create", fits)).status == 200  # names no cart: rejected in words
    assert system.post(shop.shopify("carts/create", fits + b" ")).status == 413


def test_a_body_far_over_1_mb_is_not_read_to_its_end(system):
    answer = raw(system, b"POST /hooks/demo/shopify HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
    assert status_of(answer) == 413


def in_chunks(webhook, size):
    """The request, its body in chunks of so many bytes."""
    body = webhook.body
    chunks = [b"%x\r\n%s\r\n" % (len(body[at:at + size]), body[at:at + size]) for at in range(0, len(body), size)]
    return head_of(webhook, **{"Transfer-Encoding": "chunked"}) + b"\r\n" + b"".join(chunks) + b"0\r\n\r\n"


def test_a_small_body_in_chunks_is_taken_and_a_large_one_is_told_to_give_its_length(system, shop):
    for size in (1, 100, 100_000):
        assert status_of(raw(system, in_chunks(shop.shopify("carts/create", b'{"note":"names no cart"}'), size))) == 200
    assert status_of(raw(system, in_chunks(shop.shopify("carts/create", b'{"note":"x"}', secret="another-secret"), 5))) == 401
    answer = raw(system, in_chunks(shop.shopify("carts/create", b" " * 100_000), 10_000))
    assert status_of(answer) == 411 and b"Content-Length" in answer.partition(b"\r\n\r\n")[2]


def test_nesting_over_64_is_told(system, shop):
    for depth in (65, 5000, 400000):
        body = b'{"token":"t","x":' + b"[" * depth + b"]" * depth + b"}"
        answer = system.post(shop.shopify("carts/create", body))
        assert answer.status == 200 and "deeper than 64" in answer.json["error"]


# ---- paths and methods ----


@pytest.mark.parametrize("method, path, status", [
    ("POST", "/hooks/nobody/shopify", 404), ("POST", "/hooks/demo/magento", 404), ("POST", "/hooks/demo", 404),
    ("POST", "/", 404), ("POST", "/hooks/../secrets/shopify", 404), ("POST", "/hooks/demo%2f..%2fother/shopify", 404),
    ("POST", "/hooks/DEMO/shopify", 404), ("POST", "/hooks/demo/shopify/", 404), ("GET", "/favicon.ico", 404),
    ("GET", "/hooks/demo/shopify", 405), ("DELETE", "/hooks/demo/cart", 405), ("PUT", "/u/abc", 405),
    ("POST", "/healthz", 405), ("OPTIONS", "/healthz", 405), ("TRACE", "/healthz", 405), ("BREW", "/healthz", 405),
    ("GET", "/u/../healthz", 404), ("GET", "/" + "a" * 3000, 404),
], ids=lambda value: str(value)[:30])
def test_unknown_paths_and_methods_are_told(system, method, path, status):
    answer = system.request(method, path, b"" if method == "POST" else None)
    assert answer.status == status
    if status == 405:
        assert answer.headers["Allow"]
    if path != "/u/../healthz":
        assert answer.json["error"]


# ---- framing ----


@pytest.mark.parametrize("extra", [
    b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
    b"Content-Length: 4\r\nContent-Length: 5\r\n",
    b"Content-Length: 4\r\nContent-Length: 4\r\n",
    b"Content-Length: 4, 5\r\n", b"Content-Length: +4\r\n", b"Content-Length: -4\r\n", b"Content-Length: 0x4\r\n",
    b"Content-Length: \r\n", b"Content-Length: 4 4\r\n", b"Content-Length: 99999999999999999999999\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n", b"Transfer-Encoding: identity\r\n", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
])
def test_framing_that_could_be_read_differently_is_refused_and_nothing_behind_it_is_served(system, extra):
    hidden = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    answer = raw(system, b"POST /hooks/demo/shopify HTTP/1.1\r\nHost: x\r\n" + extra + b"\r\n" + b"0\r\n\r\n" + hidden)
    assert b'"ready"' not in answer
    statuses = [int(line.split(b" ")[1]) for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
    assert len(statuses) == 1 and set(statuses) <= {400, 413}


def test_bare_line_feeds_smuggle_nothing(system, shop):
    """The library would take them for line ends, and serve both."""
    answer = raw(system, b"GET /healthz HTTP/1.1\nHost: x\nConnection: close\n\nGET /healthz HTTP/1.1\nHost: x\n\n")
    assert status_of(answer) == 400 and b'"ready"' not in answer


def test_too_many_or_too_long_headers_are_refused(system):
    many = b"".join(b"X-%d: y\r\n" % number for number in range(100))
    assert status_of(raw(system, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + many + b"\r\n")) in (400, 431)
    long = b"X-Long: " + b"y" * 100000 + b"\r\n"
    assert status_of(raw(system, b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + long + b"\r\n")) in (400, 413, 431, None)


@pytest.mark.parametrize("rubbish", [
    b"\r\n\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
    b"\x00" * 500 + b"\r\n\r\n", b"POST /hooks/demo/shopify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    b"POST /hooks/demo/shopify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nx",
], ids=range(7))
def test_rubbish_ends_its_own_connection_only(system, rubbish):
    assert b'"ready"' not in raw(system, rubbish)


# ---- time ----


def cut_after(system, feed, most_s):
    """Runs `feed` on a fresh connection until the gateway closes it; answers after how many seconds."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", system.port), timeout=0.2) as s:
        steps = feed()
        while time.monotonic() - began < most_s:
            try:
                piece = next(steps, None)
                if piece:
                    s.sendall(piece)
                if s.recv(4096) == b"":
                    return time.monotonic() - began
            except TimeoutError:
                continue
            except (ConnectionResetError, BrokenPipeError):
                return time.monotonic() - began
    raise AssertionError(f"the connection lived for {most_s} s")


def test_one_byte_at_a_time_in_the_head_is_cut(system):
    assert cut_after(system, lambda: iter([bytes([byte]) for byte in b"GET /healthz HTTP/1.1\r\nX: " + b"a" * 1000]), 9) < 8


def test_one_byte_at_a_time_in_the_body_is_cut(system):
    def feed():
        yield b"POST /hooks/demo/shopify HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"
        yield from (b"x" for _ in range(5000))

    assert cut_after(system, feed, 9) < 8


def test_one_request_is_taken_on_a_connection_and_nothing_behind_it_is_served(system, shop):
    first = shop.shopify("carts/create", b'{"note":"names no cart"}')
    first = head_of(first, **{"Content-Length": len(first.body)}) + b"\r\n" + first.body
    for behind in (HIDDEN, HIDDEN * 10, HIDDEN * 100_000):
        answer = raw(system, first + behind)
        assert status_of(answer) == 200 and answer.count(b"HTTP/1.1 ") == 1
        assert b'"ready"' not in answer and b"connection: close" in answer.lower()


def test_half_open_and_silent_connections_are_cut(system):
    assert cut_after(system, lambda: iter([]), 9) < 8
    assert cut_after(system, lambda: iter([b"POST /hooks/demo/shopify HTTP/1.1\r\n"]), 9) < 8


def test_slow_clients_in_number_do_not_keep_others_out(system, shop):
    slow = [socket.create_connection(("127.0.0.1", system.port)) for _ in range(300)]
    try:
        for s in slow:
            s.sendall(b"POST /hooks/demo/shopify HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
        began = time.monotonic()
        assert system.request("GET", "/healthz").status == 200
        assert time.monotonic() - began < 1
    finally:
        for s in slow:
            s.close()


def test_more_slow_clients_than_there_is_room_for_keep_nobody_out():
    """The gateway may have 300 files open: fewer than the clients that hold a connection and say nothing."""
    with System() as system:
        system.where = lambda name: ["prlimit", "--nofile=300:300"] if name == "gateway" else []
        system.add_shop("demo")
        system.start("broker", "gateway")
        wait_until(system.connected, "the gateway meets the broker")
        slow = [socket.create_connection(("127.0.0.1", system.port)) for _ in range(280)]
        began = time.monotonic()
        assert system.request("GET", "/healthz").status == 200
        assert time.monotonic() - began < 4  # they are cut after 5 s; what comes before that is room made for a newcomer
        for s in slow:
            s.close()


def test_clients_that_leave_in_the_middle_harm_nobody(system, shop):
    webhook = shop.shopify("carts/create", fixture("shopify-carts-create"), secret="another-secret")
    whole = head_of(webhook, **{"Content-Length": len(webhook.body)}) + b"\r\n" + webhook.body
    for cut in range(1, len(whole), 97):
        with socket.create_connection(("127.0.0.1", system.port)) as s:
            s.sendall(whole[:cut])


# ---- what two servers read differently ----

HIDDEN = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /hooks/demo/shopify HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize("attack", [
    POST + b"Content-Len: 5\r\n gth\r\n\r\nhello",  # the line goes on, and with it the header's name
    POST + b"X: y\r\n Content-Length: 5\r\n\r\nhello",
    POST + b"Transfer-Encoding : chunked\r\nContent-Length: 50\r\n\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
    POST + b"Content-Length : 50\r\n\r\n",
    POST + b"X: a\0b\r\nContent-Length: 0\r\n\r\n",
    POST + b"Content-Length: 0\0\r\n\r\n",
    POST + b"X: a\rContent-Length: 50\r\n\r\n",
    POST + b"X: a\nContent-Length: 50\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n5;x\nhello\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n",
    POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\n\r\n",
    POST + b"Host: y\r\nContent-Length: 0\r\n\r\n",
    b"POST /hooks/demo/shopify HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n\r\n",
], ids=range(16))
def test_a_head_or_chunk_that_two_servers_read_differently_is_400_and_nothing_behind_it_is_served(system, shop, attack):
    """With the form of a signature, so that it is for its framing that it is refused."""
    signed = b"X-Shopify-Hmac-Sha256: " + b"A" * 43 + b"=\r\n"
    attack = attack.replace(b"Host: x\r\n", b"Host: x\r\n" + signed, 1)
    answer = raw(system, attack + HIDDEN)
    assert status_of(answer) == 400 and answer.count(b"HTTP/1.1 ") == 1, answer
    assert b'"ready"' not in answer and b"connection: close" in answer.lower()


# ---- an answer, whatever comes ----


def test_many_arguments_and_cookies_are_read(system, shop):
    arguments = "&".join(f"a{number}={number}" for number in range(400))
    assert status_of(raw(system, f"GET /healthz?{arguments} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())) == 200
    cookies = "; ".join(f"c{number}={number}" for number in range(500))
    assert status_of(raw(system, f"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: {cookies}\r\n\r\n".encode())) == 200


def test_endless_headers_and_slow_heads_are_answered(system):
    assert status_of(raw(system, b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"X-Endless: y\r\n" * 100_000)) == 431
    assert status_of(raw(system, b"GET /" + b"a" * 100_000)) == 431
    assert status_of(raw(system, b"GET /healthz HTTP/1.1\r\nHo")) == 408
    assert status_of(raw(system, head_of(shop_webhook(system), **{"Content-Length": 10}) + b"\r\nhalf")) == 408


def shop_webhook(system):
    return system.shops["demo"].shopify("carts/create", fixture("shopify-carts-create"), secret="another-secret")


def test_what_is_wrong_with_a_head_is_told_before_its_body_is_taken(system, shop):
    """Each says that a megabyte is to come, sends none of it, and is answered at once."""
    signed = {"X-Shopify-Hmac-Sha256": "A" * 43 + "="}
    for path, headers, status in [("/nowhere", {}, 404), ("/hooks/nobody/shopify", signed, 404), ("/hooks/demo/shopify", {}, 401),
                                  ("/hooks/demo/shopify", {"X-Shopify-Hmac-Sha256": "short"}, 401), ("/healthz", {}, 405),
                                  ("/hooks/demo/cart", {"X-Cartbus-Signature": "a" * 64, "X-Cartbus-Timestamp": "1"}, 401),
                                  ("/feedback/demo/sns", {}, 404), ("/feedback/nobody/sns", {}, 404),
                                  (shop.unsubscribe_path("ada@example.com"), {}, 413)]:
        lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Length: 1000000", *(f"{name}: {value}" for name, value in headers.items())]
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", system.port), timeout=10) as s:
            s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
            assert status_of(s.recv(4096)) == status, path
        assert time.monotonic() - began < 3, path


# ---- who holds what others need ----


def park(system, shop, count):
    """As many webhooks of a mebibyte, all there but their last byte."""
    signed = head_of(shop.shopify("carts/create", b"", secret="another-secret"), **{"Content-Length": 1 << 20}) + b"\r\n" + b"x" * ((1 << 20) - 1)
    parked = []
    for _ in range(count):
        parked.append(socket.create_connection(("127.0.0.1", system.port), timeout=5))
        try:
            parked[-1].sendall(signed)
        except OSError:
            continue  # it was told to go
    return parked


def test_parked_bodies_keep_no_webhook_and_no_opt_out_from_being_taken():
    with System() as system:
        shop = system.add_shop("demo")
        system.start("broker", "gateway")
        parked = park(system, shop, 100)
        for number in range(30):
            cart = fixture("shopify-carts-create", note="x" * (1000 * number))
            assert system.post(shop.shopify("carts/create", cart)).status == 200
            path = shop.unsubscribe_path(f"shopper-{number}@example.com")
            assert system.request("POST", path, b"List-Unsubscribe=One-Click",
                                  {"Content-Type": "application/x-www-form-urlencoded"}).status == 200
        for s in parked:
            s.close()
