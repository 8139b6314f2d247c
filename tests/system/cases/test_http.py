"""What the HTTP client promises, shown against real servers that misbehave, in a network of the test's own where it matters."""

import datetime
import socket
import threading

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest

from cartbus_system import wait_until
from hosts import Host
from http_peer import BAD, Certificates, HttpProbe, Peer, reply

PUBLIC = "93.184.216.34"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def tls(certificates):
    return certificates.context()


@pytest.fixture
def start(tmp_path, certificates, tls):
    things = []

    class Starter:
        ca = str(certificates.ca)

        def peer(self, answer=reply, context=tls, **options):
            things.append(Peer(answer, context, **options))
            return things[-1]

        def probe(self, **options):
            things.append(HttpProbe(tmp_path, **options))
            return things[-1]

    yield Starter()
    for thing in reversed(things):
        thing.close()


# ---- what is asked, and what comes back ----


def test_a_request_arrives_as_it_was_made_and_its_answer_comes_back(start):
    peer = start.peer(lambda request: reply(request, 201, b'{"a":1}', Retry_After="2.5", X_Other="no"))
    probe = start.probe()
    probe.secret("shop/api", "shpat_1")
    answer = probe.ask(peer.url + "/a/b?c=d%20e", "POST", ca=start.ca, body='{"q":1}', wanted=["Retry-After"],
                       headers={"Content-Type": "application/json"},
                       auth={"kind": "header", "name": "X-Shopify-Access-Token", "secret": "shop/api"})
    assert (answer["end"], answer["status"], answer["body"], answer["words"]) == ("answered", 201, '{"a":1}', "HTTP 201")
    assert answer["headers"] == {"Retry-After": "2.5"} and answer["retry_us"] == 2_500_000
    request = peer.requests[0]
    assert (request.method, request.path, request.body) == ("POST", "/a/b?c=d%20e", b'{"q":1}')
    assert request.headers["X-Shopify-Access-Token"] == "shpat_1" and request.headers["Content-Type"] == "application/json"
    assert request.headers["User-Agent"].startswith("cartbus/") and not request.headers["Expect"]


@pytest.mark.parametrize("auth, header", [
    ({"kind": "bearer", "secret": "s"}, "Bearer user:word"),
    ({"kind": "bearer", "value": "in-memory"}, "Bearer in-memory"),
    ({"kind": "basic", "secret": "s"}, "Basic dXNlcjp3b3Jk"),
])
def test_a_secret_is_shown_as_the_server_wants_it(start, auth, header):
    peer, probe = start.peer(), start.probe()
    probe.secret("s", "user:word")
    assert probe.ask(peer.url, ca=start.ca, auth=auth)["status"] == 200
    assert peer.requests[0].headers["Authorization"] == header


def test_a_new_secret_counts_for_the_next_request(start):
    peer, probe = start.peer(), start.probe()
    for word in ("first", "second"):
        probe.secret("s", word)
        probe.ask(peer.url, ca=start.ca, auth={"kind": "bearer", "secret": "s"})
    assert [request.headers["Authorization"] for request in peer.requests] == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize("text, mode", [(None, 0), ("open", 0o644), ("", 0o600), ("two\nlines", 0o600)])
def test_without_a_good_secret_nothing_is_sent(start, text, mode):
    peer, probe = start.peer(), start.probe()
    if text is not None:
        probe.secret("s", text, mode)
    answer = probe.ask(peer.url, ca=start.ca, auth={"kind": "bearer", "secret": "s"})
    assert answer["end"] == "barred" and "the secret s" in answer["words"] and (not text or text not in answer["words"])
    assert peer.connections == 0


def test_many_requests_run_beside_one_that_is_never_answered(start):
    release = threading.Event()

    def answer(request):
        if request.path == "/never":
            release.wait(60)
        reply(request)

    peer, probe = start.peer(answer), start.probe()
    probe.say(id="never", method="GET", url=peer.url + "/never", ca=start.ca)
    for i in range(20):
        probe.say(id=f"b{i}", method="GET", url=peer.url + f"/{i}", ca=start.ca)
    assert {probe.hear()["done"] for _ in range(20)} == {f"b{i}" for i in range(20)}
    release.set()
    assert probe.hear()["done"] == "never"


# ---- servers that misbehave ----


@pytest.mark.parametrize("answer, limits, words", [
    (BAD["never"], {"deadline_ms": 2000}, "timed out"),
    (BAD["slow"], {"deadline_ms": 2000}, "timed out"),
    (BAD["gigabyte"], {}, "longer than"),
    (BAD["announced"], {"deadline_ms": 2000}, "timed out"),
    (BAD["head"], {}, ""),
    (BAD["reset"], {}, ""),
    (BAD["noise"], {"deadline_ms": 2000}, ""),
    (lambda request: reply(request, body=b"x" * 1025), {"most": 1024}, "longer than 1024 bytes"),
], ids=["never", "slow", "gigabyte", "announced", "head", "reset", "garbage", "cap"])
def test_a_server_that_misbehaves_is_left_in_time(start, answer, limits, words):
    probe = start.probe()
    got = probe.ask(start.peer(answer).url, ca=start.ca, **limits)
    assert got["end"] == "unknown" and words in got["words"], got
    assert probe.ask(start.peer().url, ca=start.ca)["status"] == 200  # and the next one is none the worse


def test_a_redirect_is_an_answer_and_not_followed(start):
    other = start.peer()
    peer = start.peer(lambda request: reply(request, 302, b"", Location=other.url))
    assert start.probe().ask(peer.url, ca=start.ca)["status"] == 302
    assert other.connections == 0


def test_certificates_are_checked(start, certificates):
    probe = start.probe()
    for context, words in ((certificates.expired(), "expired"), (certificates.context("DNS:other.example"), "subject")):
        peer = start.peer(context=context)
        answer = probe.ask(peer.url, "POST", ca=start.ca, body="secret")
        assert answer["end"] == "not_sent" and words in answer["words"], answer
        assert not peer.requests
    peer = start.peer()
    assert probe.ask(peer.url)["end"] == "not_sent"  # the machine does not know the test's CA
    assert not peer.requests


def test_nobody_there_is_not_sent(start):
    with socket.socket() as kept:  # so that nobody else listens there either
        kept.bind(("127.0.0.1", 0))
        answer = start.probe().ask(f"https://127.0.0.1:{kept.getsockname()[1]}/", "POST", body="x", holds=True)
    assert answer["end"] == "not_sent" and answer["status"] == 0


# ---- before the last byte ----


@pytest.mark.parametrize("length", [1, 2, 200_000])
def test_the_last_byte_waits_for_a_yes(start, length):
    peer, probe = start.peer(), start.probe()
    probe.say(id="m", method="POST", url=peer.url, ca=start.ca, holds=True, body_len=length)
    assert probe.hear() == {"claim": "m"}
    if length > 1:
        wait_until(lambda: getattr(peer, "partial_now", 0) == length - 1, "all but the last byte")
    assert not peer.requests
    probe.say(go="m")
    assert probe.hear()["end"] == "answered"
    assert [len(request.body) for request in peer.requests] == [length]


@pytest.mark.parametrize("word", ["no", "stale", "stop", "close"])
def test_without_a_yes_it_never_leaves(start, word):
    peer, probe = start.peer(), start.probe()
    probe.say(id="m", method="POST", url=peer.url, ca=start.ca, holds=True, body_len=1000)
    assert probe.hear() == {"claim": "m"}
    if word == "close":
        probe.close()
    else:
        probe.say(**{word: "m"})
    if word in ("no", "stale"):
        assert probe.hear()["end"] == "not_sent"
    wait_until(lambda: peer.partial, "the cut connection")
    assert [len(body) for body in peer.partial] == [999] and not peer.requests


def test_a_kill_before_the_yes_sends_nothing(start):
    peer, probe = start.peer(), start.probe()
    probe.say(id="m", method="POST", url=peer.url, ca=start.ca, holds=True, body_len=1000)
    assert probe.hear() == {"claim": "m"}
    probe.process.kill()
    probe.process.wait()
    wait_until(lambda: peer.partial, "the cut connection")
    assert not peer.requests


def test_a_server_that_hung_up_before_the_yes_got_nothing(start):
    claimed, gone = threading.Event(), threading.Event()

    listener = socket.create_server(("127.0.0.1", 0))

    def take():
        peer, _ = listener.accept()
        with peer:
            peer.recv(65536)
            claimed.wait(20)  # one that hangs up sooner is asked for no yes at all
            peer.shutdown(socket.SHUT_WR)  # closing it would reset the connection where something of the body lies unread
            gone.set()
            peer.recv(65536)

    threading.Thread(target=take, daemon=True).start()
    probe = start.probe()
    probe.say(id="m", method="POST", url=f"http://127.0.0.1:{listener.getsockname()[1]}/", holds=True, body_len=10)
    assert probe.hear() == {"claim": "m"}
    claimed.set()
    assert gone.wait(20)
    probe.say(go="m")
    answer = probe.hear()
    assert answer["end"] == "not_sent" and "hung up" in answer["words"]


@pytest.mark.parametrize("answer", [BAD["never"], BAD["reset"]], ids=["silent", "reset"])
def test_after_the_yes_only_an_answer_makes_it_certain(start, answer):
    peer, probe = start.peer(answer), start.probe()
    probe.say(id="m", method="POST", url=peer.url, ca=start.ca, holds=True, body_len=10, deadline_ms=2000)
    assert probe.hear() == {"claim": "m"}
    probe.say(go="m")
    assert probe.hear()["end"] == "unknown"
    assert len(peer.requests) == 1  # and it was not said again


def test_an_answer_before_the_last_byte_is_an_answer(start):
    """As a server says 403 after the head alone."""
    listener = socket.create_server(("127.0.0.1", 0))

    def take():
        peer, _ = listener.accept()
        with peer:
            peer.recv(65536)
            peer.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
            peer.recv(65536)

    threading.Thread(target=take, daemon=True).start()
    probe = start.probe()
    probe.say(id="m", method="POST", url=f"http://127.0.0.1:{listener.getsockname()[1]}/", holds=True, body_len=10)
    heard = [probe.hear()]
    if "claim" in heard[0]:
        probe.say(no="m")
        heard.append(probe.hear())
    assert heard[-1]["end"] in ("answered", "not_sent")


# ---- where a request may go ----


@pytest.mark.parametrize("url", ["http://{public}/", "ftp://{public}/", "https://user@{public}/", "https://a:b@{public}/",
                                 "file:///etc/passwd", "https://", "", "https://{public}/ x", "https://{public}/\x01"])
def test_a_url_of_somebody_else_that_is_no_plain_https_is_barred(start, url):
    answer = start.probe().ask(url.format(public=PUBLIC), public=True, deadline_ms=2000)
    assert answer["end"] == "barred", answer


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0x7f.1", "2130706433", "0.0.0.0", "[::ffff:127.0.0.1]"])
def test_a_public_request_never_reaches_this_machine(start, host):
    peer = start.peer()
    answer = start.probe().ask(f"https://{host}:{peer.port}/", public=True, ca=start.ca, deadline_ms=5000)
    assert answer["end"] == "barred" and "not public" in answer["words"], answer
    assert peer.connections == 0


def test_a_kept_connection_is_no_way_around(start):
    peer, probe = start.peer(), start.probe()
    assert probe.ask(peer.url, ca=start.ca)["status"] == 200
    answer = probe.ask(peer.url, ca=start.ca, public=True)
    assert answer["end"] == "barred" and len(peer.requests) == 1


def test_no_proxy_is_taken_from_the_environment(start):
    proxy, peer = start.peer(context=None), start.peer()
    probe = start.probe(environment={name: proxy.url for name in ("https_proxy", "HTTPS_PROXY", "ALL_PROXY", "http_proxy")})
    assert probe.ask(peer.url, ca=start.ca)["status"] == 200
    assert proxy.connections == 0


def test_a_public_address_is_reached_over_tls_alone(start, certificates):
    host = Host("public")
    try:
        host.ip("addr", "add", f"{PUBLIC}/32", "dev", "lo")
        peer = start.peer(context=certificates.context(f"IP:{PUBLIC}"), listener=host.listener(PUBLIC, 443), host=PUBLIC)
        plain = start.peer(context=None, listener=host.listener(PUBLIC, 80), host=PUBLIC)
        probe = start.probe(inside=host.inside)
        assert probe.ask(f"https://{PUBLIC}/", ca=start.ca, public=True)["status"] == 200
        answer = probe.ask(f"http://{PUBLIC}/", "POST", body="x")  # not even an admin's endpoint may be plain out there
        assert answer["end"] == "barred" and plain.connections == 0
        assert len(peer.requests) == 1
        probe.close()
    finally:
        host.keeper.kill()


# ---- AWS ----


def expected_signature(request, peer, region, service, path):
    """What botocore, which is AWS's own, computes over what arrived."""
    names = request.headers["Authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    asked = botocore.awsrequest.AWSRequest(request.method, f"https://127.0.0.1:{peer.port}{path}", data=request.body,
                                           headers={name: request.headers[name] for name in names})
    asked.context["timestamp"] = request.headers["X-Amz-Date"]
    signer = botocore.auth.SigV4Auth(botocore.credentials.Credentials("AKIDEXAMPLE", "secret/key"), service, region)
    signer.headers_to_sign = lambda _: asked.headers
    canonical = signer.canonical_request(asked)
    return signer.signature(signer.string_to_sign(asked, canonical), asked), names


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("token", ["", ":session+token=="])
@pytest.mark.parametrize("path, service", [("/v2/email/outbound-emails", "ses"),
                                           ("/model/global.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse", "bedrock")])
def test_the_signature_is_the_one_that_aws_computes(start, holds, token, path, service):
    peer, probe = start.peer(), start.probe()
    probe.secret("aws", "AKIDEXAMPLE:secret/key" + token)
    probe.say(id="m", method="POST", url=peer.url + path, ca=start.ca, holds=holds, body='{"Content": "é"}',
              headers={"Content-Type": "application/json"},
              auth={"kind": "sigv4", "secret": "aws", "region": "ap-southeast-1", "service": service})
    if holds:
        assert probe.hear() == {"claim": "m"}
        probe.say(go="m")
    assert probe.hear()["status"] == 200
    request = peer.requests[0]
    assert request.path == path
    assert request.headers["X-Amz-Security-Token"] == (token[1:] or None)
    signature, names = expected_signature(request, peer, "ap-southeast-1", service, path)
    assert f"Signature={signature}" in request.headers["Authorization"]
    assert {"host", "x-amz-date"} <= set(names) and (not token or "x-amz-security-token" in names)
    stamp = datetime.datetime.strptime(request.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ")
    assert abs((datetime.datetime.utcnow() - stamp).total_seconds()) < 300


def test_what_cannot_be_signed_is_not_sent(start):
    peer, probe = start.peer(), start.probe()
    for secret, path in (("only-one-part", "/"), ("AKID:key", "/?a=b")):
        probe.secret("aws", secret)
        auth = {"kind": "sigv4", "secret": "aws", "region": "r", "service": "s"}
        answer = probe.ask(peer.url + path, "POST", ca=start.ca, body="x", auth=auth)
        assert answer["end"] == "barred" and secret not in answer["words"]
    assert peer.connections == 0
