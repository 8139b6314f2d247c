"""Bounces and complaints come back: from SES by way of SNS over HTTP, and as mails in a folder.

Messages of SNS are signed here by another library than cartbus' own. The server that has the certificate stands in for SNS: it listens in a
network of the test's own, under SNS's name and address, and the process that fetches trusts the test's authority as its system's.
"""

import base64
import datetime
import email.message
import hashlib
import hmac
import json
import os
import shutil
import socket
import time
import uuid

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from cartbus_system import System, wait_until
from hosts import Host
from http_peer import Certificates, Peer, reply
from mounts import with_etc
from shop_webhooks import Shop

pytestmark = pytest.mark.xdist_group("feedback")

REGION = "eu-central-1"
SNS = f"sns.{REGION}.amazonaws.com"
ADDRESS = "93.184.216.34"
TOPIC = f"arn:aws:sns:{REGION}:123456789012:bounces"
PEM = f"https://{SNS}/SimpleNotificationService-0123456789abcdef.pem"
COVERED = {"Notification": ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"]}
OTHER_COVERED = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]


class Signer:
    def __init__(self, days=30):
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, SNS)])
        now = datetime.datetime.utcnow()
        self.certificate = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(self.key.public_key())
                            .serial_number(1).not_valid_before(now - datetime.timedelta(days=60))
                            .not_valid_after(now + datetime.timedelta(days=days)).sign(self.key, hashes.SHA256()))

    def pem(self):
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def sign(self, envelope):
        names = COVERED.get(envelope["Type"], OTHER_COVERED)
        text = "".join(f"{name}\n{envelope[name]}\n" for name in names if name in envelope)
        digest = hashes.SHA1() if envelope["SignatureVersion"] == "1" else hashes.SHA256()
        envelope["Signature"] = base64.b64encode(self.key.sign(text.encode(), padding.PKCS1v15(), digest)).decode()
        return envelope


class Places(System):
    """mailin runs in a network where SNS is the test's server; everything else where it always does."""

    def __init__(self, host, etc, settings):
        self.host_of_mailin = host
        self.etc = etc
        super().__init__(settings)

    def where(self, name):
        if name != "mailin":
            return []
        return [*self.host_of_mailin.inside, *with_etc(self.etc)]


class World:
    def __init__(self, folder):
        self.signer = Signer()
        self.host = Host("internet")
        self.host.ip("addr", "add", f"{ADDRESS}/32", "dev", "lo")
        certificates = Certificates(folder / "ca")
        etc = folder / "etc"
        (etc / "ssl/certs").mkdir(parents=True)
        (etc / "hosts").write_text(f"127.0.0.1 localhost\n{ADDRESS} {SNS}\n")
        shutil.copy(certificates.ca, etc / "ssl/certs/ca-certificates.crt")
        self.sns = Peer(self.answer, certificates.context(f"DNS:{SNS}"), listener=self.host.listener(ADDRESS, 443))
        self.maildir = folder / "bounces"
        for part in ("new", "cur", "tmp"):
            (self.maildir / part).mkdir(parents=True)
        self.system = Places(self.host, etc, {"mailin": {"folder": self.maildir}})
        self.shop = self.system.add_shop("demo", extra=f"sns-topic = {TOPIC}")
        self.tag_the_bounces()
        self.system.start("broker", "mirror", "gateway", "unsub", "mailin")
        wait_until(self.system.connected, "the gateway's connection")
        wait_until(lambda: self.system.log(topic="document"), "the shop's document")

    def tag_the_bounces(self):
        path = self.system.folder / "shops" / "demo" / "shop.conf"
        path.write_text(path.read_text().replace("bounce = bounce@", "bounce = bounces+*@"))

    def answer(self, request):
        reply(request, 200, self.signer.pem() if request.path.endswith(".pem") else b"<ok/>")

    def close(self):
        self.system.close()
        self.sns.close()
        self.host.keeper.kill()

    # -- SNS --

    def envelope(self, message, version="2", kind="Notification", signer=None, **changes):
        body = {"Type": kind, "MessageId": str(uuid.uuid4()), "TopicArn": TOPIC,
                "Message": message if isinstance(message, str) else json.dumps(message),
                "Timestamp": datetime.datetime.utcnow().strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
                "SignatureVersion": version, "SigningCertURL": PEM, **changes}
        return (signer or self.signer).sign({name: value for name, value in body.items() if value is not None})

    def post(self, envelope, shop="demo", **headers):
        body = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
        kind, topic = (envelope.get("Type", ""), envelope.get("TopicArn", TOPIC)) if isinstance(envelope, dict) else ("Notification", TOPIC)
        return self.system.request("POST", f"/feedback/{shop}/sns", body,
                                   {"Content-Type": "text/plain; charset=UTF-8", "x-amz-sns-message-type": kind,
                                    "x-amz-sns-topic-arn": topic, **headers})

    def known(self):
        """The gateway knows the certificate: it asks for it at the first message that is signed with it."""
        wait_until(lambda: self.post(self.envelope("hello")).status == 200, "the certificate", within_s=30, step_s=0.2)

    def listed(self):
        return {entry["message"].address_hash: entry["message"] for entry in self.system.log(topic="suppression")}

    def feedback(self, address):
        return [entry["message"] for entry in self.system.log(topic="mail.feedback")
                if entry["message"].address_hash == self.shop.address_hash(address)]

    def audited(self, action):
        return [entry["message"] for entry in self.system.log(topic="audit") if entry["message"].action == action]

    # -- mails --

    def tagged(self, address, step=1, mail="0123456789abcdef0123456789abcdef", shop="demo", key=None):
        shop = self.shop if shop == "demo" else Shop(self.system, shop, "", "EUR")
        return shop.bounce_address(address, "demo.example", step, mail, key)

    def deliver(self, content, name=None, age_s=0):
        name = name or f"{time.time_ns()}.test"
        tmp, new = self.maildir / "tmp" / name, self.maildir / "new" / name
        tmp.write_bytes(content if isinstance(content, bytes) else content.as_bytes())
        os.utime(tmp, times=(time.time() - age_s,) * 2)
        tmp.rename(new)
        return new

    def aside(self):
        return {path.name for path in (self.maildir / "aside").iterdir()}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("world"))
    yield world
    world.close()


def bounce(*addresses, kind="Permanent", shape="notificationType"):
    recipients = [{"emailAddress": address, "action": "failed", "status": "5.1.1",
                   "diagnosticCode": f"smtp; 550 5.1.1 <{address}> unknown"} for address in addresses]
    return {shape: "Bounce", "mail": {"messageId": "0100"}, "bounce": {"bounceType": kind, "bouncedRecipients": recipients}}


def complaint(*addresses, shape="notificationType"):
    recipients = [{"emailAddress": address} for address in addresses]
    return {"complaint": {"complainedRecipients": recipients, "complaintFeedbackType": "abuse"}, shape: "Complaint"}


def report(to, fields, kind="delivery-status", message_id="<x@y>"):
    mail = email.message.Message()
    mail["From"], mail["To"], mail["Subject"] = "MAILER-DAEMON@mx.example", to, "Undelivered"
    mail["MIME-Version"], mail["Content-Type"] = "1.0", f'multipart/report; report-type={kind}; boundary="bb"'
    blocks = "Reporting-MTA: dns; mx.example\n\n" + fields if kind == "delivery-status" else fields
    mail.set_payload(f"--bb\n\nSorry.\n--bb\nContent-Type: message/{kind}\n\n{blocks}\n--bb\nContent-Type: message/rfc822\n\n"
                     f"Message-ID: {message_id}\nSubject: Your cart\n\nHello\n--bb--\n")
    return mail


GONE = "Final-Recipient: rfc822; somebody@else.example\nAction: failed\nStatus: 5.1.1\n"
FULL = "Final-Recipient: rfc822; somebody@else.example\nAction: failed\nStatus: 5.2.2\n"


def test_the_first_message_waits_for_its_certificate_and_is_believed_then(world):
    message = world.envelope(complaint("first@mail.example"))
    assert world.post(message).status == 503
    wait_until(lambda: world.post(message).status == 200, "the certificate", within_s=30, step_s=0.2)
    assert [request.path for request in world.sns.requests] == ["/SimpleNotificationService-0123456789abcdef.pem"]
    listed = wait_until(lambda: world.listed().get(world.shop.address_hash("first@mail.example")), "the suppression")
    assert listed.source == 3 and not listed.lifted
    assert "mail.example" not in listed.reason
    assert "duplicate_of" in world.post(message).json
    assert len(world.feedback("first@mail.example")) == 1


@pytest.mark.parametrize("shape", ["notificationType", "eventType"])
@pytest.mark.parametrize("version", ["1", "2"])
def test_both_shapes_in_both_signatures_list_every_recipient(world, shape, version):
    world.known()
    gone = [f"gone{i}.{shape}{version}@mail.example".lower() for i in range(3)]
    cross = f"Cross.{shape}{version}@Mail.Example"
    full = f"full.{shape}{version}@mail.example".lower()
    subject = {"Subject": "Amazon SES Email Event Notification"} if version == "1" else {}
    assert world.post(world.envelope(bounce(*reversed(gone), shape=shape), version, **subject)).status == 200
    assert world.post(world.envelope(complaint(f"Ada <{cross}>", shape=shape), version)).status == 200
    assert world.post(world.envelope(bounce(full, kind="Transient", shape=shape), version)).status == 200
    hashes_of = world.shop.address_hash
    wait_until(lambda: {hashes_of(address) for address in [*gone, cross.lower()]} <= set(world.listed()), "the suppressions")
    assert [world.listed()[hashes_of(address)].source for address in [*gone, cross.lower()]] == [4, 4, 4, 3]
    wait_until(lambda: [audit for audit in world.audited("bounced") if audit.address_hash == hashes_of(full)], "the count")
    assert hashes_of(full) not in world.listed()


def leave(world, cart, address):
    posted = world.system.post(world.shop.cart({"event": "changed", "cart": cart, "email": address, "currency": "EUR", "total": "12.00",
                                                "items": [{"title": "Vase", "quantity": 1, "price": "12.00"}]}))
    assert posted.status == 200
    wait_until(lambda: cart in [entry["message"].ids.cart_id for entry in world.system.log(topic="cart.state")], "the cart")


def named(cart, step=1, shop="demo"):
    """As services/kit/mail/message.h names a reminder, computed independently."""
    return f"{step}.{hashlib.sha256(f'{shop}{chr(0)}{cart}{chr(0)}{step}'.encode()).hexdigest()[:32]}"


def of_mail(event, tag=None, message_id=None):
    return {**event, "mail": {"tags": {"cartbus-mail": [tag]} if tag else {}, "commonHeaders": {"messageId": message_id} if message_id else {}}}


def test_what_ses_tells_about_a_mail_is_told_of_its_cart_and_of_no_other(world):
    """SES names the mail by the tag that it was sent with, or by the Message-ID where it tells headers. Others may write such names too."""
    world.known()
    world.system.start("intake")
    first, second, foreign = "tagged-1", "tagged-2", "tagged-3"
    for cart in (first, second):
        leave(world, cart, "two@carts.example")
    leave(world, foreign, "other@carts.example")

    def spam(tag):
        return of_mail(complaint("two@carts.example", shape="eventType"), tag)

    events = [(spam(named(first).replace(".", "-")), named(first)),
              (of_mail(bounce("two@carts.example"), "x", f"<{named(second, 2)}@demo.example>"), named(second, 2)),
              (of_mail(bounce("two@carts.example", kind="Transient"), "x", "<a@b>"), ""),
              (spam(named(foreign).replace(".", "-")), named(foreign)),  # another shopper's
              (spam(named(first, shop="other").replace(".", "-")), named(first, shop="other")),
              (spam(named(first, 3).replace(".", "-")), named(first, 3))]  # no reminder of any cart
    for event, _ in events:
        assert world.post(world.envelope(event)).status == 200
    assert [message.message_id for message in world.feedback("two@carts.example")] == [name for _, name in events]

    def told(cart):
        story = world.system.cartbus("why", "demo", cart, json_output=True)["story"]
        return [line["words"].split(":")[0] for line in story if line["topic"] == "mail.feedback"]

    unnamed = ["a mail came back for now", *["a mail was reported as spam"] * 3]
    assert told(first) == ["reminder 1 was reported as spam", *unnamed]
    assert told(second) == ["reminder 2 came back for good", *unnamed]
    assert told(foreign) == []
    assert sorted(told("two@carts.example")) == sorted(
        ["reminder 1 was reported as spam", "reminder 2 came back for good", *unnamed])
    traced = [line for line in world.system.cartbus("trace", "demo", second).stdout.splitlines() if "mail.feedback" in line]
    assert len(traced) == 5 and "reminder 2 came back for good" in traced[0]


def test_a_message_that_comes_again_says_nothing_twice(world):
    world.known()
    message = world.envelope(bounce("twice1@mail.example", "twice2@mail.example"))
    assert [world.post(message).status for _ in range(3)] == [200] * 3
    assert [len(world.feedback(f"twice{i}@mail.example")) for i in (1, 2)] == [1, 1]


def test_what_sns_has_not_signed_for_this_shop_changes_nothing(world):
    world.known()
    system, before, fetched = world.system, world.system.ask("status")["head"], len(world.sns.requests)
    event = complaint("victim@mail.example")
    host = "https://sns.evil.example/a.pem"
    forged = world.envelope(event)
    forged["Message"] = forged["Message"].replace("victim", "victin")
    moved = world.envelope(event)
    moved["Signature"] = world.envelope(event)["Signature"]
    refused = [
        forged, moved, world.envelope(event, signer=Signer()),
        world.envelope(event, TopicArn=TOPIC + "x"), world.envelope(event, SigningCertURL=host),
        world.envelope(event, SigningCertURL=PEM.replace(REGION, "us-east-1")), world.envelope(event, SigningCertURL=PEM + "?x"),
        world.envelope(event, SigningCertURL=PEM.replace("https", "http")),
        world.envelope(event, Timestamp="2020-01-01T00:00:00.000Z"), world.envelope(event, Timestamp="2999-01-01T00:00:00.000Z"),
        world.envelope("x", kind="SubscriptionConfirmation", Token="t", SubscribeURL=f"https://evil.example/?Action=ConfirmSubscription&TopicArn={TOPIC}"),
        world.envelope("x", kind="SubscriptionConfirmation", Token="t", SubscribeURL=f"https://{SNS}/?Action=ConfirmSubscription&TopicArn={TOPIC}2"),
    ]
    assert [world.post(message).status for message in refused] == [403] * len(refused)
    malformed = [b"", b"{", b"[]", b"{}", b"\xff" * 100, json.dumps({**world.envelope(event), "Signature": "!"}).encode(),
                 json.dumps({**world.envelope(event), "SignatureVersion": "3"}).encode(), b"[" * 100_000,
                 json.dumps({**world.envelope(event), "Type": "Other"}).encode(),
                 json.dumps({**world.envelope(event), "MessageId": "a\nb"}).encode()]
    assert [world.post(message).status for message in malformed] == [400] * len(malformed)
    assert world.post(world.envelope(event), **{"x-amz-sns-message-type": "SubscriptionConfirmation"}).status == 400
    assert world.post(world.envelope(event), shop="nobody").status == 404
    assert world.post(b"x" * 2_000_000).status == 413
    assert world.system.request("GET", "/feedback/demo/sns").status == 405
    assert [world.post(world.envelope(message)).status for message in (
        "Successfully validated SNS topic for Amazon SES event publishing.", {"notificationType": "Delivery"}, {}, [1],
        {"eventType": "Complaint", "complaint": {"complaintFeedbackType": "not-spam"}})] == [200] * 5
    assert not system.said_since(before) and len(world.sns.requests) == fetched
    log = system.processes["gateway"].log_path.read_text()
    assert "victim" not in log and "mail.example" not in log and "refused shop=demo" in log


def test_a_subscription_of_a_topic_of_the_shops_own_is_confirmed_once_and_recorded(world):
    world.known()
    url = f"https://{SNS}/?Action=ConfirmSubscription&TopicArn={TOPIC}&Token=23364"
    message = world.envelope("You have chosen to subscribe", kind="SubscriptionConfirmation", Token="23364", SubscribeURL=url)
    assert [world.post(message).status for _ in range(2)] == [200, 200]
    wait_until(lambda: world.audited("sns_subscribed"), "the record")
    assert [request.path for request in world.sns.requests if "Token" in request.path] == [
        f"/?Action=ConfirmSubscription&TopicArn={TOPIC}&Token=23364"]
    assert world.audited("sns_subscribed")[0].grounds == TOPIC


def test_a_mail_that_bears_our_tag_is_believed_and_one_that_does_not_is_put_aside(world):
    hash_of = world.shop.address_hash
    ours = {
        world.deliver(report(world.tagged("gone@back.example"), GONE)): ("gone@back.example", 4),
        world.deliver(report(world.tagged("angry@back.example").upper(), "Feedback-Type: abuse\nVersion: 1\n", "feedback-report")):
            ("angry@back.example", 3),
    }
    world.deliver(report(world.tagged("full@back.example"), FULL))
    other_key = world.tagged("victim@back.example", key=b"another key")
    other_shop = world.tagged("victim@back.example", shop="other")
    strangers = [world.deliver(report(to, GONE), age_s=600) for to in (
        other_key, other_shop, "victim@back.example", "bounces@demo.example", "bounces+owner@demo.example")]
    others = [world.deliver(content) for content in (
        b"", b"\0" * 1000, b"Subject: away\n\nI am away.\n", b"Content-Type: multipart/report; boundary=b\n\n" + b"--b\n" * 9000,
        "Subject: \u00fcber\n\n\u6f22\u5b57".encode("utf-16"), b"X" * 1_100_000)]
    fifo = world.maildir / "new" / "fifo"
    os.mkfifo(fifo)
    wait_until(lambda: not any((world.maildir / "new").iterdir()), "the end of every mail", within_s=30)
    assert world.aside() >= {path.name for path in [*strangers, *others, fifo]}
    for path, (address, source) in ours.items():
        assert path.name not in world.aside()
        assert wait_until(lambda: world.listed().get(hash_of(address)), "the suppression").source == source
    wait_until(lambda: [audit for audit in world.audited("bounced") if audit.address_hash == hash_of("full@back.example")], "the count")
    assert not {hash_of("full@back.example"), hash_of("victim@back.example")} & set(world.listed())
    log = world.system.processes["mailin"].log_path.read_text()
    assert "back.example" not in log


def test_a_mail_is_gone_only_when_what_it_says_is_kept(world):
    system = world.system
    system.kill("broker")
    path = world.deliver(report(world.tagged("late@back.example"), GONE))
    content = path.read_bytes()
    system.kill("mailin")
    system.start("mailin", wait=False)
    system.start("broker")
    wait_until(lambda: not path.exists(), "the end of the mail", within_s=30)
    assert len(world.feedback("late@back.example")) == 1
    system.kill("mailin")
    path = world.deliver(content)  # as if it had died between the confirm and the end of the file
    system.start("mailin")
    wait_until(lambda: not path.exists(), "the end of the mail", within_s=30)
    assert len(world.feedback("late@back.example")) == 1


# ---- what it costs to be nobody ----


def many_parts(size):
    return b'{"Type":"Notification",' + b",".join(b'"%d":[{"a":[[]]},1]' % number for number in range(size // 24)) + b"}"


def test_what_no_topic_of_the_shop_posted_is_refused_at_its_head(world):
    """A megabyte is announced and not sent: the answer comes at once."""
    world.system.add_shop("plain")
    for shop, headers, status in [("plain", {"x-amz-sns-topic-arn": TOPIC}, 404), ("nobody", {"x-amz-sns-topic-arn": TOPIC}, 404),
                                  ("demo", {"x-amz-sns-topic-arn": TOPIC + "-other"}, 403), ("demo", {}, 403),
                                  ("demo", {"x-amz-sns-topic-arn": TOPIC}, 413)]:
        lines = [f"POST /feedback/{shop}/sns HTTP/1.1", "Host: x", "Content-Length: 300000", "x-amz-sns-message-type: Notification",
                 *(f"{name}: {value}" for name, value in headers.items())]
        with socket.create_connection(("127.0.0.1", world.system.port), timeout=10) as s:
            s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
            assert s.recv(4096).split(b" ")[1] == str(status).encode(), (shop, headers)


def test_json_of_very_many_parts_is_not_parsed_for_a_stranger(world):
    answer = world.post(many_parts(250_000))
    assert answer.status == 400 and "too many parts" in answer.json["error"]
