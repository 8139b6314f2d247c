"""The admin hears of what goes wrong, and when it is over: by mail and webhook, whatever the others that are told do.

Real processes, a real SMTP server (aiosmtpd), real HTTP receivers; the clock runs sixty times as fast.
"""

import base64
import email
import email.policy
import hashlib
import hmac
import json
import threading
import time

import pytest

from cartbus_system import System, wait_until
from http_peer import Certificates, Peer, reply
from mail_peer import Keep
from mail_peer import Peer as MailPeer

SECRET = b"a secret of at least twenty-four bytes"


def fast_clock(rate=60):
    now_us = int(time.time() * 1e6)
    return {"rate": rate, "origin-real-us": now_us, "origin-wall-us": now_us}


class Told:
    """A system whose admin is told at a mail server and at these URLs, in order."""

    def __init__(self, urls, **monitor):
        self.keep = Keep()
        self.smtp = MailPeer(self.keep)
        self.system = System({
            "clock": fast_clock(),
            "mail": {"transport": "smtp", "smtp-port": self.smtp.port, "smtp-tls": "none"},
            "monitor": {"admin": "admin@shop.example", "from": "cartbus@shop.example", **monitor},
        })
        path = self.system.config_path
        path.write_text(path.read_text().replace("admin = admin@shop.example\n", "admin = admin@shop.example\n" + "".join(f"webhook = {url}\n" for url in urls)))
        self.system.write_secret("alarm.webhook", "whsec_" + base64.b64encode(SECRET).decode())
        self.shop = self.system.add_shop("demo")

    def mails(self, kind):
        found = [email.message_from_bytes(mail.content, policy=email.policy.default) for mail in self.keep.mails]
        return [mail for mail in found if kind in mail["Subject"]]

    def close(self):
        self.system.close()
        self.smtp.close()


@pytest.fixture
def told():
    things = []

    def make(*urls, **monitor):
        things.append(Told(urls, **monitor))
        return things[-1]
    yield make
    for thing in things:
        thing.close()


def verified(request):
    """The body, if Standard Webhooks' signature over id, time and body is right."""
    headers = request.headers
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + request.body
    ours = base64.b64encode(hmac.new(SECRET, text, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"].split() == [f"v1,{ours}"], headers["webhook-signature"]
    return json.loads(request.body)


def alarms(peer, kind):
    return [one for one in map(verified, peer.requests) if one["data"]["kind"] == kind]


def standing(system):
    listed = json.loads(system.cartbus("alarm", "list", "--json", check=False).stdout)["alarms"]
    return {(one["kind"], one["shop"]): one for one in listed}


def test_an_alarm_is_told_once_when_raised_and_once_when_over_whatever_other_receivers_do(told, tmp_path):
    never = threading.Event()
    good = Peer()
    bad = {
        "never": Peer(lambda request: never.wait(60)),
        "redirect": Peer(lambda request: reply(request, 302, Location=good.url)),
        "refuses": Peer(lambda request: reply(request, 500, b"\xff\x00 garbage")),
        "gigabyte": Peer(lambda request: (reply(request, 200, b"", Content_Length=str(1 << 30)),
                                          [request.handler.wfile.write(b"x" * 65536) for _ in range(64)])),
    }
    certificates = Certificates(tmp_path / "certificates")
    expired = Peer(context=certificates.expired())
    all_ = told(good.url, *(peer.url for peer in bad.values()), expired.url, **{"webhook-ca": certificates.ca})
    system = all_.system
    system.start()

    asked = system.cartbus("alarm", "test", "--json", check=False)
    answers = {one["way"]: one for one in json.loads(asked.stdout)["answers"]}
    assert asked.returncode == 1 and len(answers) == 7, asked.stdout + asked.stderr
    assert [way for way, one in sorted(answers.items()) if one["reached"]] == ["mail 1", "webhook 1"]
    assert all(one["answer"] for one in answers.values())
    assert "302" in answers["webhook 3"]["answer"] and "certificate" in answers["webhook 6"]["answer"].lower()
    assert len(alarms(good, "test")) == 1 and not expired.requests
    assert system.cartbus("status", check=False).returncode == 0  # a test is no alarm that stands

    for _ in range(4):
        assert system.post(all_.shop.cart({"event": "changed", "cart": "c"}, secret="not the secret of this shop")).status == 401
    wait_until(lambda: alarms(good, "signatures") and all_.mails("signatures"), "the alarm on both good ways", within_s=60)
    red = system.cartbus("status", check=False)
    assert red.returncode == 1 and "signatures of shop demo" in red.stdout
    listed = standing(system)
    assert "mail 1" in [one["way"] for one in listed["signatures", "demo"]["told"] if one["reached"]]
    (undelivered,) = wait_until(lambda: alarms(good, "alarm-undelivered"), "that it does not arrive everywhere", within_s=60)
    assert "webhook 3 (HTTP 302" in undelivered["data"]["text"] and "webhook 1" not in undelivered["data"]["text"]
    assert system.cartbus("alarm", "ack", "nothing", check=False).returncode == 1
    system.cartbus("alarm", "ack", "signatures", "--shop", "demo")
    system.cartbus("alarm", "ack", "alarm-undelivered")
    seen = system.cartbus("status", check=False)
    assert seen.returncode == 0 and "has seen it" in seen.stdout

    system.kill("monitor")
    system.start("monitor")
    for i in range(6):
        assert system.post(all_.shop.cart({"event": "changed", "cart": f"c{i}", "currency": "EUR", "total": "10.00"})).status == 200
    wait_until(lambda: len(alarms(good, "signatures")) == 2 and len(all_.mails("signatures")) == 2, "that it is over", within_s=60)
    assert [one["type"] for one in alarms(good, "signatures")] == ["alarm.raised", "alarm.over"]
    assert [mail["Subject"].startswith("[cartbus] over:") for mail in all_.mails("signatures")] == [False, True]
    assert "not signed" in all_.mails("signatures")[0].get_content() and "What to do:" in all_.mails("signatures")[0].get_content()
    assert set(standing(system)) == {("alarm-undelivered", "")} and len(alarms(good, "alarm-undelivered")) == 1
    never.set()
    for peer in (good, expired, *bad.values()):
        peer.close()


def test_who_dies_while_telling_tells_again_with_the_same_id(told):
    """At least once: the receiver can tell that it is the same."""
    held, go_on = threading.Event(), threading.Event()

    def hold_the_first(request):
        if not held.is_set():
            held.set()
            go_on.wait(60)
        reply(request)

    peer = Peer(hold_the_first)
    all_ = told(peer.url)
    system = all_.system
    system.start()
    asking = threading.Thread(target=lambda: system.cartbus("alarm", "test", check=False))
    asking.start()
    assert held.wait(30)
    system.kill("monitor")
    system.start("monitor")
    wait_until(lambda: len(peer.requests) == 2, "the same alarm once more", within_s=60)
    go_on.set()
    asking.join()
    assert len({request.headers["webhook-id"] for request in peer.requests}) == 1
    assert len({verified(request)["data"]["at_us"] for request in peer.requests}) == 1
    peer.close()
