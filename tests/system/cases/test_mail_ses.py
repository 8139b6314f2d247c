"""What the SES transport promises, shown against an HTTPS server that checks each signature as AWS's own library computes it.

The server stands in for Amazon SES and is none: it knows the shapes of version 2 of the API, and misbehaves as told.
"""

import base64
import email
import email.policy
import socket
import struct

import pytest

import mail_peer
from cartbus_system import wait_until
from http_peer import Certificates, Peer, reply
from mail_peer import Probe
from test_http import expected_signature

TO = "anna@mail.example"
REGION = "eu-central-1"
PATH = "/v2/email/outbound-emails"


class Ses:
    """Takes mails whose signature is right; `answer(request)` may answer otherwise."""

    def __init__(self, context, answer=None):
        self.mails, self.wrong, self.other = [], [], answer
        self.peer = Peer(self.take, context)

    def take(self, request):
        signature, names = expected_signature(request, self.peer, REGION, "ses", PATH)
        if (request.method, request.path) != ("POST", PATH) or f"Signature={signature}" not in request.headers["Authorization"]:
            self.wrong.append(request)
            return reply(request, 403, {"message": "The request signature we calculated does not match"},
                         x_amzn_ErrorType="InvalidSignatureException")
        if self.other:
            return self.other(request)
        self.mails.append(request.json())
        return reply(request, 200, {"MessageId": "0100-sesid-000"})


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
        def ses(self, answer=None):
            things.append(Ses(tls, answer))
            return things[-1]

        def probe(self, ses, **mail):
            mail = {"transport": "ses", "ses_region": REGION, "ses_endpoint": ses.peer.url, "ses_ca": certificates.ca,
                    "ses_key": "AKIDEXAMPLE:secret/key", **mail}
            things.append(Probe(tmp_path, **mail))
            return things[-1]

    yield Starter()
    for thing in reversed(things):
        if isinstance(thing, Probe):
            if thing.process.poll() is None:
                thing.kill()
        else:
            thing.peer.close()


def claimed(probe, name="a"):
    probe.say(f"mail {name} claim {TO}")
    assert probe.hear() == f"claim {name}"


def send_another(probe, ses):
    """The server hears of each connection in order: once this one is there, nothing of before is still on its way."""
    before = len(ses.mails)
    probe.say(f"mail last plain {TO}")
    assert probe.hear().startswith("done last sent")
    return len(ses.mails) - (len(ses.mails) > before)


def test_a_mail_with_a_yes_is_taken_once_as_it_was_composed(start):
    ses = start.ses()
    probe = start.probe(ses, ses_configuration_set="reminders", ses_key="AKIDEXAMPLE:secret/key:token==")
    claimed(probe)
    assert ses.peer.requests == []
    probe.say("go a")
    assert probe.hear() == "done a sent MessageId 0100-sesid-000"
    body, = ses.mails
    assert ses.wrong == [] and ses.peer.requests[0].headers["X-Amz-Security-Token"] == "token=="
    assert body["ConfigurationSetName"] == "reminders" and body["Destination"] == {"ToAddresses": [TO]}
    mail = email.message_from_bytes(base64.b64decode(body["Content"]["Raw"]["Data"]), policy=email.policy.default)
    assert (mail["Message-ID"], mail["To"]) == ("<a@probe.example>", TO)
    assert mail.get_content().splitlines() == [".", "From here", "..", "with dots", "."]


def test_a_reminder_is_tagged_by_its_name_and_no_other_mail_is(start):
    ses = start.ses()
    probe = start.probe(ses)
    for name in (f"2.{'0123456789abcdef' * 2}", "note"):
        probe.say(f"mail {name} plain {TO}")
        assert probe.hear().startswith(f"done {name} sent")
    assert [mail.get("EmailTags") for mail in ses.mails] == [[{"Name": "cartbus-mail", "Value": f"2-{'0123456789abcdef' * 2}"}], None]


def test_a_mail_with_a_no_is_never_taken(start):
    ses = start.ses()
    probe = start.probe(ses)
    claimed(probe)
    probe.say("no a")
    assert probe.hear().startswith("done a not_sent")
    assert send_another(probe, ses) == 0
    wait_until(lambda: ses.peer.partial, "the end of the connection that was cut")


@pytest.mark.parametrize("how", ["kill", "stop", "close"])
def test_a_sender_that_ends_before_the_last_byte_gives_nothing(start, how):
    ses = start.ses()
    probe = start.probe(ses)
    claimed(probe)
    if how == "stop":
        probe.say("stop a")
    elif how == "kill":
        probe.kill()
    else:
        assert probe.close()[-1] == "closed"
    assert send_another(start.probe(ses), ses) == 0
    wait_until(lambda: ses.peer.partial, "the end of the connection that was cut")
    assert len(ses.peer.partial) == 1 and len(ses.peer.requests) == 1


def error(status, name, message="words", in_body=False):
    def answer(request):
        if in_body:
            reply(request, status, {"__type": f"com.amazonaws.ses#{name}", "message": message})
        else:
            reply(request, status, {"message": message}, x_amzn_ErrorType=f"{name}:http://internal.amazon.com/coral/")
    return answer


@pytest.mark.parametrize("answer, end", [
    (error(400, "MessageRejected", "no"), "refused HTTP 400 MessageRejected no"),
    (error(400, "BadRequestException", "Illegal address <x@y.example>"), "refused HTTP 400 BadRequestException Illegal address (address)"),
    (error(429, "TooManyRequestsException"), "later HTTP 429 TooManyRequestsException"),
    (error(400, "ThrottlingException", in_body=True), "later HTTP 400 ThrottlingException"),
    (error(400, "LimitExceededException"), "later HTTP 400 LimitExceededException"),
    (error(400, "SendingPausedException"), "not_sent HTTP 400 SendingPausedException"),
    (error(400, "AccountSuspendedException"), "not_sent HTTP 400"),
    (error(400, "MailFromDomainNotVerifiedException"), "not_sent HTTP 400 MailFromDomainNotVerified"),
    (error(404, "NotFoundException"), "not_sent HTTP 404 NotFoundException"),
    (error(403, "ExpiredTokenException"), "not_sent HTTP 403 ExpiredToken"),
    (error(503, "ServiceUnavailable"), "later HTTP 503"),
    (lambda request: reply(request, 429, b"slow down"), "later HTTP 429"),
    (lambda request: reply(request, 400, b"<html>"), "not_sent HTTP 400"),
    (lambda request: reply(request, 302, b"", Location="https://elsewhere.example/"), "unknown HTTP 302"),
    (error(500, "InternalFailure"), "unknown HTTP 500 InternalFailure"),
    (lambda request: reply(request, 504, b""), "unknown HTTP 504"),
    (lambda request: reply(request, 200, b"<html>"), "unknown HTTP 200"),
    (lambda request: reply(request, 200, b"x" * 3_000_000), "unknown"),
    (lambda request: request.handler.wfile.write(b"what?\r\n\r\n"), "unknown"),
])
def test_what_the_server_answers_is_told_apart(start, answer, end):
    ses = start.ses(answer)
    probe = start.probe(ses)
    claimed(probe)
    probe.say("go a")
    heard = probe.hear()
    assert heard.startswith(f"done a {end}")
    assert "secret/key" not in heard and "AKID" not in heard and "@" not in heard
    assert len(ses.peer.requests) == 1  # whatever it said: nothing was tried twice


def test_no_answer_after_the_last_byte_is_unknown_and_not_repeated(start):
    def hang_up(request):
        ses.mails.append(request.json())  # it has the mail, and nobody will ever hear of it
        request.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.handler.connection.close()
        request.handler.close_connection = True

    ses = start.ses()
    probe = start.probe(ses)
    for name in ("first", "second"):  # the second over a connection that was used before: libraries repeat on those
        claimed(probe, name)
        probe.say(f"go {name}")
        assert probe.hear().startswith(f"done {name} " + ("sent" if name == "first" else "unknown"))
        ses.other = hang_up
    assert len(ses.mails) == 2 and len(ses.peer.requests) == 2


@pytest.mark.parametrize("status", ["200 OK", "403 Forbidden"])
@pytest.mark.parametrize("claimed_first", [False, True])
def test_a_server_that_answers_before_the_end_gets_no_last_byte(start, certificates, tls, status, claimed_first):
    """It answers when it has seen the headers, as SES does with a signature that is wrong. A success then is none."""
    listener = socket.create_server(("127.0.0.1", 0))
    ses = type("Early", (), {"peer": type("", (), {"url": f"https://127.0.0.1:{listener.getsockname()[1]}", "close": listener.close})})
    probe = start.probe(ses)
    probe.say(f"mail a claim {TO}")
    connection = tls.wrap_socket(listener.accept()[0], server_side=True)
    heard = b""
    while b"\r\n\r\n" not in heard:
        heard += connection.recv(65536)
    if claimed_first:
        assert probe.hear() == "claim a"
    connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 17\r\nConnection: close\r\n\r\n".encode() + b'{"MessageId":"x"}')
    answer = probe.hear()
    if answer == "claim a":  # it was asked for before the answer came; nobody needs it any more
        answer = probe.hear()
    assert answer.startswith("done a not_sent")
    connection.close()


def test_nobody_listening_and_nobody_who_can_prove_to_be_ses_is_not_sent(start, tmp_path, certificates):
    for context in (certificates.expired(), certificates.context("DNS:other.example")):
        wrong = Peer(context=context)
        probe = start.probe(type("Wrong", (), {"peer": wrong}))
        probe.say(f"mail a claim {TO}")
        assert probe.hear().startswith("done a not_sent") and not wrong.requests
        wrong.close()
    ses = start.ses()
    probe = start.probe(ses, ses_ca=mail_peer.certificates(tmp_path)[0])
    probe.say(f"mail a claim {TO}")
    assert probe.hear().startswith("done a not_sent")
    ses.peer.close()
    probe = start.probe(ses)
    probe.say(f"mail a claim {TO}")
    assert probe.hear().startswith("done a not_sent")
    assert ses.peer.requests == []


@pytest.mark.parametrize("wrong", [{"ses_endpoint": "http://127.0.0.1:1"}, {"ses_region": "eu central"}, {"ses_region": ""}])
def test_settings_that_cannot_work_end_it_at_the_start(start, wrong):
    probe = start.probe(start.ses(), **wrong)
    assert probe.process.wait(mail_peer.PATIENCE_S) == 1
