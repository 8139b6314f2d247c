"""The moments of a send, each killed and each cut, on each transport: nothing is mailed twice, and nothing is lost unlisted.

before the claim, claimed, last byte out, answer in, settled: a SIGKILL of the sender, or the end of its connection. Real Postfix, real
OpenSMTPD, and a server that checks the signatures of Amazon SES. What is held is held by a proxy or the server, never by the sender.
"""

import base64
import collections
import datetime
import email
import email.policy
import signal
import threading
import time

import pytest

from cartbus_system import System, wait_until
from holding_proxy import HoldingProxy
from http_peer import Certificates, reply
from postfix_server import PostfixServer
from smtp_server import SmtpServer
from test_mail_ses import REGION, Ses

RATE = 1200
RULES = "Small carts (under $40): remind after 10 minutes, then after 480 hours. Medium carts: 15 minutes, then 480 hours. Big carts (over $150): 1 hour, then 480 hours.\n"
SERVICES = ("broker", "mirror", "gateway", "intake", "timer", "waiter", "sender")


def clock():
    now_us = int(time.time() * 1e6)
    return {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us}


class Smtp:
    def __init__(self, server):
        self.server, self.proxy = server, HoldingProxy(server.port)
        self.mail = {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": self.proxy.port, "smtp-tls": "none"}

    def set_up(self, system):
        pass

    def hold(self, moment):
        self.proxy.begin({"before": "data", "last": "dot", "answer": "dot", "claimed": "data"}[moment])

    def delivered(self):
        return collections.Counter(mail["To"] for mail in self.server.mails())

    def parsed(self):
        return self.server.mails()

    def reached(self):
        return self.proxy.held.is_set()

    def end(self):
        self.proxy.end()

    def close(self):
        self.proxy.close()
        self.server.close()


class OverSes:
    """The last byte is out when the server has the whole request, which then holds its answer."""

    def __init__(self, folder):
        certificates = Certificates(folder / "ca")
        self.thinking, self.go, self.holds = threading.Event(), threading.Event(), False
        self.ses = Ses(certificates.context(), self.answer)
        self.proxy = HoldingProxy(self.ses.peer.port)
        self.ca = certificates.ca
        self.mail = {"transport": "ses", "ses-region": REGION, "ses-ca": certificates.ca,
                     "ses-endpoint": f"https://127.0.0.1:{self.proxy.port}"}
        self.ses.peer.port = self.proxy.port  # what the signature is about

    def set_up(self, system):
        system.write_secret("ses.key", "AKIDEXAMPLE:secret/key")

    def answer(self, request):
        self.ses.mails.append(request.json())
        if self.holds:
            self.thinking.set()
            self.go.wait()
        reply(request, 200, {"MessageId": "0100-sesid"})

    def hold(self, moment):
        self.thinking.clear()
        self.go.clear()
        self.holds = moment in ("last", "answer")
        self.proxy.begin(None if self.holds else "all")

    def parsed(self):
        return [email.message_from_bytes(base64.b64decode(mail["Content"]["Raw"]["Data"]), policy=email.policy.default)
                for mail in self.ses.mails]

    def delivered(self):
        return collections.Counter(mail["To"] for mail in self.parsed())

    def reached(self):
        return self.thinking.is_set() or self.proxy.held.is_set()

    def end(self):
        self.holds = False
        self.go.set()
        self.proxy.end()

    def close(self):
        self.end()
        self.proxy.close()
        self.ses.peer.close()


@pytest.fixture(params=["postfix", "opensmtpd", "ses"])
def way(request, tmp_path):
    way = {"postfix": lambda: Smtp(PostfixServer()), "opensmtpd": lambda: Smtp(SmtpServer()), "ses": lambda: OverSes(tmp_path)}[request.param]()
    yield way
    way.close()


def leave_cart(system, address):
    answer = system.post(system.shop.cart({
        "event": "changed", "cart": address.split("@")[0], "email": address, "first_name": "Anna", "currency": "EUR", "total": "12.00",
        "at": datetime.datetime.fromtimestamp(system.now_s(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "locale": "de-DE", "recovery_url": f"https://{system.shop.name}.example/r", "items": [{"title": "Vase", "quantity": 1, "price": "12.00"}]}))
    assert answer.status == 200, answer.text


def outcome(system, address):
    for kind in ("sent", "ambiguous", "refused", "skipped"):
        if any(entry["message"].cart_id and entry["message"].address_hash == system.shop.address_hash(address)
               for entry in system.log(topic=f"reminder.{kind}")):
            return kind
    return ""


def claims(system, address):
    return [entry for entry in system.log(topic="send.claim") if entry["message"].address_hash == system.shop.address_hash(address)]


def strike(system, way, how):
    if how == "kill":
        system.kill("sender")
    else:
        way.proxy.cut()


def go_on(system, way, how):
    way.end()
    if how == "kill":
        system.start("sender")


def at_before(system, way, how, address):
    way.hold("before")
    leave_cart(system, address)
    wait_until(way.reached, "the moment before the claim")
    assert claims(system, address) == []
    strike(system, way, how)
    go_on(system, way, how)
    wait_until(lambda: outcome(system, address), "the outcome")


def at_claimed(system, way, how, address):
    """The broker stands still, so what the sender asks it for is asked and not answered."""
    way.hold("claimed")
    leave_cart(system, address)
    wait_until(way.reached, "the moment before the claim")
    broker = system.processes["broker"].popen
    broker.send_signal(signal.SIGSTOP)
    bodies = way.proxy.bodies
    way.end()
    if isinstance(way, Smtp):
        wait_until(lambda: way.proxy.bodies > bodies, "the body but for its last byte")
    else:
        wait_until(lambda: getattr(way.ses.peer, "partial_now", 0), "the body but for its last byte")
    strike(system, way, how)
    broker.send_signal(signal.SIGCONT)
    go_on(system, way, how)
    wait_until(lambda: outcome(system, address), "the outcome")  # of the next try: what is held next must not hold this one


def at_last(system, way, how, address):
    way.hold("last")
    leave_cart(system, address)
    wait_until(way.reached, "the last byte")
    strike(system, way, how)
    go_on(system, way, how)


def at_answer(system, way, how, address):
    way.hold("answer")
    leave_cart(system, address)
    wait_until(way.reached, "the last byte")
    way.end()
    wait_until(lambda: outcome(system, address), "the outcome", step_s=0.001)
    strike(system, way, how)
    go_on(system, way, how)


def at_settled(system, way, how, address):
    leave_cart(system, address)
    wait_until(lambda: outcome(system, address), "the outcome")
    wait_until(lambda: system.queue_of("sender")["leased"] == 0, "the end of the turn")
    strike(system, way, how)
    go_on(system, way, how)


MOMENTS = {"before": at_before, "claimed": at_claimed, "last": at_last, "answer": at_answer, "settled": at_settled}


def test_no_moment_of_a_send_doubles_a_mail_or_loses_one_unlisted(way):
    with System({"clock": clock(), "mail": way.mail}) as system:
        way.set_up(system)
        system.shop = system.add_shop("demo", rules=RULES)
        system.start(*SERVICES)
        system.cartbus("shop", "mode", "demo", "live")
        addresses = {}
        for moment, act in MOMENTS.items():
            for how in ("cut", "kill"):
                addresses[moment, how] = f"{moment}-{how}@mail.example"
                act(system, way, how, addresses[moment, how])
        leave_cart(system, "after@mail.example")
        wait_until(lambda: outcome(system, "after@mail.example") == "sent", "a mail after all that")
        wait_until(lambda: all(outcome(system, address) for address in addresses.values()), "every outcome", within_s=60, step_s=0.2)
        ends = {key: outcome(system, address) for key, address in addresses.items()}
        wait_until(lambda: way.delivered()["after@mail.example"], "the last delivery")
        got = {key: way.delivered()[address] for key, address in addresses.items()}
        for key in ends:
            if key[0] == "last":
                assert (ends[key], got[key]) == ("ambiguous", 1), (key, ends, got)
            else:
                assert (ends[key], got[key]) == ("sent", 1), (key, ends, got)
        for mail in way.parsed():  # what a signature of the domain has to cover is there once, as it was composed
            assert all(len(mail.get_all(name) or []) == 1 for name in (
                "From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "List-Unsubscribe", "List-Unsubscribe-Post")), mail
            assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
