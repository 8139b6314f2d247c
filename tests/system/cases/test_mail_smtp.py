"""What the SMTP transport promises, shown against real servers: aiosmtpd, which misbehaves as told, OpenSMTPD and Postfix."""

import asyncio
import itertools
import socket
import threading
import time

import pytest

import mail_peer
from http_peer import Certificates
from mail_peer import Keep, Peer, Probe, Scripted, certificates, login
from postfix_server import PostfixServer
from smtp_server import SmtpServer, wait_until

TO = "anna@mail.example"


@pytest.fixture
def start(tmp_path):
    """Peers and probes that end with the test."""
    things = []

    class Starter:
        def peer(self, handler, **options):
            things.append(Peer(handler, **options))
            return things[-1]

        def script(self, **answers):
            things.append(Scripted(**answers))
            return things[-1]

        def probe(self, port, **mail):
            mail = {"transport": "smtp", "smtp_host": "127.0.0.1", "smtp_port": port, "smtp_tls": "none", **mail}
            things.append(Probe(tmp_path, **mail))
            return things[-1]

    yield Starter()
    for thing in reversed(things):
        if isinstance(thing, Probe) and thing.process.poll() is None:
            thing.kill()
        elif isinstance(thing, (Peer, Scripted)):
            thing.close()


@pytest.fixture(params=["aiosmtpd", "opensmtpd", "postfix"])
def server(request, start):
    """Any of the servers, as (port, how many mails it has delivered)."""
    if request.param == "aiosmtpd":
        keep = Keep()
        yield start.peer(keep).port, lambda: len(keep.mails)
        return
    smtpd = SmtpServer() if request.param == "opensmtpd" else PostfixServer()
    yield smtpd.port, lambda: len(smtpd.mails())
    smtpd.close()


def body_of(mail):
    return mail.content.decode("ascii")


def send_another(probe, delivered):
    """The servers deliver in order: once this one is there, nothing of before can still be on its way."""
    before = delivered()
    probe.say(f"mail last plain {TO}")
    assert probe.hear().startswith("done last sent")
    wait_until(lambda: delivered() > before, "the delivery of the last mail")
    return delivered() - 1


def test_a_mail_with_a_yes_is_delivered_once(start, server):
    port, delivered = server
    probe = start.probe(port)
    probe.say(f"mail a claim {TO}")
    assert probe.hear() == "claim a"
    assert delivered() == 0
    probe.say("go a")
    assert probe.hear().startswith("done a sent")
    wait_until(lambda: delivered() == 1, "the delivery")
    assert send_another(probe, delivered) == 1


def test_a_mail_with_a_no_is_never_delivered(start, server):
    port, delivered = server
    probe = start.probe(port)
    probe.say(f"mail a claim {TO}")
    assert probe.hear() == "claim a"
    probe.say("no a")
    assert probe.hear().startswith("done a not_sent")
    assert send_another(probe, delivered) == 0


def test_a_sender_killed_before_the_last_byte_delivers_nothing(start, server):
    port, delivered = server
    probe = start.probe(port)
    probe.say(f"mail a claim {TO}")
    assert probe.hear() == "claim a"
    probe.kill()
    assert send_another(start.probe(port), delivered) == 0


def test_a_deadline_before_the_last_byte_delivers_nothing(start, server):
    port, delivered = server
    probe = start.probe(port)
    probe.say(f"mail a claim {TO}")
    assert probe.hear() == "claim a"
    probe.say("stop a")
    assert send_another(probe, delivered) == 0


def test_a_sender_that_ends_before_the_last_byte_delivers_nothing(start, server):
    port, delivered = server
    probe = start.probe(port)
    for i in range(3):
        probe.say(f"mail m{i} claim {TO}")
    assert {probe.hear() for _ in range(3)} == {"claim m0", "claim m1", "claim m2"}
    assert probe.close()[-1] == "closed"
    assert send_another(start.probe(port), delivered) == 0


def test_a_server_that_thinks_about_one_mail_holds_up_no_other(start):
    class Thoughtful(Keep):
        async def handle_DATA(self, server, session, envelope):
            if not self.mails:
                self.mails.append(envelope)
                await self.enough.wait()
            return await super().handle_DATA(server, session, envelope)

    keep = Thoughtful()
    keep.enough = asyncio.Event()
    peer = start.peer(keep)
    probe = start.probe(peer.port, smtp_connections=2)
    probe.say(f"mail slow plain {TO}")
    wait_until(lambda: keep.mails, "the last byte of the slow mail")
    probe.say(f"mail held claim {TO}")
    assert probe.hear() == "claim held"
    probe.say("go held")
    assert probe.hear().startswith("done held sent")
    peer.controller.loop.call_soon_threadsafe(keep.enough.set)
    assert probe.hear().startswith("done slow sent")


def test_a_line_that_is_a_dot_ends_no_mail_and_arrives(start):
    """The composer encodes dots at the beginning of a line; whatever else may be handed over must survive as well."""
    keep = Keep()
    probe = start.probe(start.peer(keep).port)
    probe.say(f"mail a dots {TO}")
    assert probe.hear().startswith("done a sent")
    assert body_of(keep.mails[0]).endswith("\r\n\r\n.\r\n..two\r\nthe end\r\n")


def test_a_server_that_does_not_answer_a_goodbye_holds_nobody_up(start):
    class Silent(Keep):
        async def handle_QUIT(self, server, session, envelope):
            self.left.set()
            await asyncio.Event().wait()

    keep = Silent()
    keep.left = threading.Event()
    probe = start.probe(start.peer(keep).port)
    probe.say(f"mail a plain {TO}")
    assert probe.hear().startswith("done a sent")
    assert probe.close()[-1] == "closed"  # within its patience; libcurl alone would wait for two minutes
    assert keep.left.wait(mail_peer.PATIENCE_S)


def test_the_body_arrives_byte_for_byte(start):
    keep = Keep()
    probe = start.probe(start.peer(keep).port)
    probe.say(f"mail a plain {TO}")
    assert probe.hear().startswith("done a sent")
    assert body_of(keep.mails[0]).endswith("\r\n\r\n=2E\r\n=46rom here\r\n=2E.\r\nwith dots\r\n=2E\r\n")
    assert keep.mails[0].rcpt_tos == [TO]


def test_words_of_the_server_come_without_addresses(start):
    probe = start.probe(start.peer(Keep()).port)
    probe.say(f"mail a plain {TO}")
    assert probe.hear() == "done a sent 250 kept for (address)"


@pytest.mark.parametrize("handler, end", [
    (Keep(rcpt="450 mailbox busy"), "later 450 mailbox busy"),
    (Keep(rcpt="550 no such user"), "refused 550 no such user"),
    (Keep(data="451 try again"), "later 451 try again"),
    (Keep(data="554 not wanted"), "refused 554 not wanted"),
])
def test_what_the_server_answers_is_told_apart(start, handler, end):
    probe = start.probe(start.peer(handler).port)
    probe.say(f"mail a claim {TO}")
    if handler.data:
        assert probe.hear() == "claim a"
        probe.say("go a")
    assert probe.hear() == f"done a {end}"
    assert handler.mails == []


def test_an_answer_in_many_lines_and_pieces_is_one_answer(start):
    server = start.script(MAIL=[b"250-one\r\n250-t", b"wo\r\n25", b"0 three\r", b"\n"], dot=[b"2", b"50-kept\r\n", b"250 as 4711\r\n"])
    probe = start.probe(server.port)
    probe.say(f"mail a claim {TO}")
    assert probe.hear() == "claim a"
    assert server.mails == []
    probe.say("go a")
    assert probe.hear() == "done a sent 250 as 4711"
    assert len(server.mails) == 1


@pytest.mark.parametrize("answers, end", [
    ({"DATA": [b"354 go on\r\n250 kept\r\n"]}, "not_sent"),              # an answer to what was not said yet proves nothing
    ({"MAIL": [b"250 OK\r\n250 OK\r\n354 go on\r\n250 kept\r\n"]}, "not_sent"),
    ({"MAIL": [b"250 OK\r\n250 OK\r\n354 go on\r\n"]}, "not_sent"),
    ({"RCPT": [b"what?\r\n"]}, "not_sent"),
    ({"RCPT": [b"x" * 100_000 + b"\r\n"]}, "not_sent"),
    ({"RCPT": None}, "not_sent"),
    ({"MAIL": [b"421 closing\r\n"]}, "later"),
    ({"MAIL": [b"530 login first\r\n"]}, "not_sent"),                     # about us, not about this mail
])
def test_a_server_out_of_step_gets_no_last_byte(start, answers, end):
    server = start.script(**answers)
    probe = start.probe(server.port)
    probe.say(f"mail a claim {TO}")
    heard = probe.hear()
    if heard == "claim a":
        probe.say("go a")
        heard = probe.hear()
    assert heard.startswith(f"done a {end}")
    assert server.mails == [] and set(server.heard) <= {"EHLO", "MAIL", "RCPT", "DATA"}


@pytest.mark.parametrize("answer, end", [([b"kept it\r\n"], "unknown"), ([b"354 more?\r\n"], "unknown"), ([b"250\r\n"], "sent"), (None, "unknown"),
                                         (lambda peer: peer.sendall(b"250-kept\r\n"), "unknown"), (lambda peer: peer.sendall(b"554-no\r\n"), "unknown")])
def test_what_the_last_answer_means_is_not_guessed(start, answer, end):
    server = start.script(dot=answer)
    probe = start.probe(server.port)
    probe.say(f"mail a plain {TO}")
    assert probe.hear().startswith(f"done a {end}")
    assert len(server.mails) == 1


def endless(piece):
    def say(peer):
        while True:
            peer.sendall(piece * 4096)
    return say


def silent(peer):
    peer.recv(1)  # until the other side has had enough


def dripping(peer):
    """A byte at a time of an answer of many lines: each one could be the last."""
    pause = threading.Event()
    for byte in itertools.cycle(b"250-more\r\n"):
        peer.sendall(bytes([byte]))
        pause.wait(0.02)


@pytest.mark.parametrize("verb, patience_s", [("MAIL", 300), ("RCPT", 300), ("DATA", 300), ("dot", 600)])
@pytest.mark.parametrize("say", [silent, dripping])
def test_an_answer_that_does_not_come_or_drips_is_waited_for_so_long_and_no_longer(start, verb, patience_s, say):
    came = threading.Event()

    def answer(peer):
        came.set()
        say(peer)

    probe = start.probe(start.script(**{verb: answer}).port)
    probe.say(f"mail a claim {TO}")
    if verb == "dot":
        assert probe.hear() == "claim a"
        probe.say("go a")
    assert came.wait(mail_peer.PATIENCE_S)
    probe.say(f"later {patience_s - 30}")
    probe.say(f"mail b claim {TO}")  # another place; it comes to the same answer and says that the time is heard
    if verb == "dot":
        assert probe.hear() == "claim b"
    probe.say("later 40")
    heard = probe.hear()
    assert heard.startswith(f"done a {'unknown' if verb == 'dot' else 'not_sent'}") and "in time" in heard


@pytest.mark.parametrize("verb", ["", "EHLO", "MAIL", "RCPT", "DATA", "dot"])
@pytest.mark.parametrize("piece", [b"x", b"250-more\r\n"], ids=["line", "lines"])
def test_an_answer_without_an_end_costs_its_mail_alone(start, verb, piece):
    """It comes as fast as it is read."""
    endless_server = start.script(**{verb: endless(piece)})
    probe = start.probe(endless_server.port, smtp_connections=2)
    probe.say(f"mail a claim {TO}")
    heard = probe.hear()
    if heard == "claim a":
        assert verb == "dot"
        probe.say("go a")
        heard = probe.hear()
    assert heard.startswith("done a unknown" if verb == "dot" else "done a not_sent"), heard
    assert probe.close()[-1] == "closed"  # it still hears


def test_a_connection_that_the_server_left_meanwhile_costs_no_mail(start):
    keep = Keep()
    peer = start.peer(keep)
    probe = start.probe(peer.port)
    for name in ("a", "b", "c"):
        probe.say(f"mail {name} plain {TO}")
        assert probe.hear().startswith(f"done {name} sent")
        peer.hang_up()
    assert len(keep.mails) == 3 and len(keep.peers) == 3


def test_a_long_mail_arrives_whole_also_over_tls(start, tmp_path):
    ca, context = certificates(tmp_path)
    for tls in ({}, {"smtp_tls": "starttls", "smtp_ca": ca}):
        keep = Keep()
        peer = start.peer(keep, data_size_limit=1 << 25, **({"tls_context": context} if tls else {}))
        probe = start.probe(peer.port, **tls)
        probe.say(f"mail a long {TO}")
        assert probe.hear().startswith("done a sent")
        lines = body_of(keep.mails[0]).splitlines()
        assert lines[-200_000].startswith("line 0000000") and lines[-1].startswith("line 0199999")


def test_no_answer_after_the_last_byte_is_unknown(start):
    keep = Keep(hang_up_after_data=True)
    probe = start.probe(start.peer(keep).port)
    probe.say(f"mail a claim {TO}")
    assert probe.hear() == "claim a"
    probe.say("go a")
    assert probe.hear().startswith("done a unknown")
    assert len(keep.mails) == 1  # it may have gone, and it had


def test_a_server_that_hung_up_during_the_claim_is_not_ambiguous(start):
    keep = Keep()
    peer = start.peer(keep)
    probe = start.probe(peer.port)
    probe.say(f"mail a claim {TO}")
    assert probe.hear() == "claim a"
    peer.hang_up()
    probe.say("go a")
    assert probe.hear().startswith("done a not_sent")
    assert keep.mails == []


def test_nobody_listening_is_not_sent(start):
    with socket.socket() as kept:  # so that nobody else listens there either
        kept.bind(("127.0.0.1", 0))
        probe = start.probe(kept.getsockname()[1])
        probe.say(f"mail a claim {TO}")
        assert probe.hear().startswith("done a not_sent")


def test_connections_are_used_again_and_never_more_than_configured(start):
    keep = Keep()
    probe = start.probe(start.peer(keep).port, smtp_connections=3)
    for i in range(30):
        probe.say(f"mail m{i} plain {TO}")
    ends = [probe.hear() for _ in range(30)]
    assert all(" sent " in end for end in ends)
    assert len(keep.mails) == 30
    assert len(keep.peers) <= 3


def test_mails_that_wait_for_their_claim_hold_up_no_more_than_their_place(start):
    keep = Keep()
    probe = start.probe(start.peer(keep).port, smtp_connections=2)
    probe.say(f"mail held claim {TO}")
    assert probe.hear() == "claim held"
    for i in range(5):
        probe.say(f"mail m{i} plain {TO}")
    assert [probe.hear().split()[2] for _ in range(5)] == ["sent"] * 5
    probe.say("go held")
    assert probe.hear().startswith("done held sent")


def test_starttls_with_a_known_authority_and_login(start, tmp_path):
    ca, context = certificates(tmp_path)
    keep = Keep()
    peer = start.peer(keep, tls_context=context, require_starttls=True, auth_required=True,
                      authenticator=login("shop", "secret"))
    probe = start.probe(peer.port, smtp_tls="starttls", smtp_ca=ca, smtp_user="shop", smtp_password="secret")
    probe.say(f"mail a claim {TO}")
    assert probe.hear() == "claim a"
    probe.say("go a")
    assert probe.hear().startswith("done a sent")
    assert len(keep.mails) == 1


def test_a_no_over_tls_is_never_delivered(start, tmp_path):
    ca, context = certificates(tmp_path)
    keep = Keep()
    probe = start.probe(start.peer(keep, tls_context=context).port, smtp_tls="starttls", smtp_ca=ca)
    probe.say(f"mail a claim {TO}")
    assert probe.hear() == "claim a"
    probe.say("no a")
    assert probe.hear().startswith("done a not_sent")
    assert send_another(probe, lambda: len(keep.mails)) == 0


@pytest.mark.parametrize("wrong", ["authority", "expired", "name"])
def test_a_server_that_cannot_prove_who_it_is_gets_no_mail(start, tmp_path, wrong):
    made = Certificates(tmp_path / "ca")
    context = made.expired() if wrong == "expired" else made.context("DNS:other.example") if wrong == "name" else made.context()
    keep = Keep()
    trusted = {} if wrong == "authority" else {"smtp_ca": made.ca}
    probe = start.probe(start.peer(keep, tls_context=context).port, smtp_tls="starttls", **trusted)
    probe.say(f"mail a claim {TO}")
    assert probe.hear().startswith("done a not_sent")
    assert keep.transactions == 0


def test_a_server_without_starttls_gets_no_mail(start):
    keep = Keep()
    probe = start.probe(start.peer(keep).port, smtp_tls="starttls")
    probe.say(f"mail a claim {TO}")
    assert probe.hear().startswith("done a not_sent")
    assert keep.transactions == 0


def test_a_wrong_password_spends_no_mail(start, tmp_path):
    ca, context = certificates(tmp_path)
    peer = start.peer(Keep(), tls_context=context, auth_required=True, authenticator=login("shop", "secret"))
    probe = start.probe(peer.port, smtp_tls="starttls", smtp_ca=ca, smtp_user="shop", smtp_password="wrong")
    probe.say(f"mail a claim {TO}")
    assert probe.hear().startswith("done a not_sent")


def test_a_password_is_never_sent_in_the_clear_to_another_machine(start):
    probe = start.probe(25, smtp_host="mail.example", smtp_user="shop", smtp_password="secret")
    assert probe.process.wait(mail_peer.PATIENCE_S) == 1


def test_postfix_over_tls_takes_puts_off_and_refuses(start, tmp_path):
    ca, _ = certificates(tmp_path)
    (tmp_path / "server.key").chmod(0o600)
    postfix = PostfixServer(tmp_path / "server.pem", tmp_path / "server.key")
    try:
        ends = {}
        probe = start.probe(postfix.port, smtp_tls="starttls", smtp_ca=ca)
        for name, to in (("taken", TO), ("full", "full@mail.example"), ("closed", "closed@mail.example"), ("late", "late@mail.example")):
            probe.say(f"mail {name} claim {to}")
            heard = probe.hear()
            if heard == f"claim {name}":
                probe.say(f"go {name}")
                heard = probe.hear()
            ends[name] = heard.split(" ", 2)[2]
        assert ends["taken"].startswith("sent 250 2.0.0")
        assert ends["full"].startswith("later 452 4.2.2 (address)")
        assert ends["closed"].startswith("refused 550 5.2.1")
        assert ends["late"].startswith("later 451 4.3.0")
        wait_until(lambda: postfix.count() == 1, "the delivery")
        assert not any("@" in words for words in ends.values())
        plain = start.probe(postfix.port)  # it wants TLS: about us, and no mail is spent
        plain.say(f"mail a claim {TO}")
        assert plain.hear().startswith("done a not_sent")
    finally:
        postfix.close()


def test_without_a_server_one_mail_probes_and_all_others_wait_in_their_order(start):
    turned_away = []

    def turn_away(peer):
        peer.sendall(b"421 not now\r\n")
        turned_away.append(peer)

    server = start.script(**{"": turn_away})
    probe = start.probe(server.port, smtp_connections=2)
    began_s = time.monotonic()  # before the first connection: how late a connection is noted here makes no time between two of them shorter
    for i in range(100):
        probe.say(f"mail m{i} claim {TO}")
    assert probe.hear().startswith("done m0 not_sent")  # so that it is known
    wait_until(lambda: len(turned_away) >= 3, "the second probe")
    after_s = [at_s - began_s for at_s in server.connections[1:]]
    assert after_s[0] > 1 and after_s[1] > 1 + 2, after_s  # 1 s, 2 s, 4 s: unit.kit.effect.circuit goes on
    server.answers[""] = [b"220 here\r\n"]
    asked = []
    while len(asked) < 99:
        word, name = probe.hear().split(" ")[:2]
        if word == "claim":
            asked.append(name)
            probe.say(f"go {name}")
        else:
            assert word == "done" and name in asked
    assert sorted(asked, key=lambda name: int(name[1:])) == [f"m{i}" for i in range(1, 100)]
    early = [place for place, name in enumerate(asked, 1) if abs(int(name[1:]) - place) > 1]
    assert not early, asked  # of the two connections either may be the faster one
    assert len(server.connections) == 5  # one to begin with, three probes, and when that one was open, another


@pytest.mark.parametrize("answer, no_mailbox", [
    ("550 5.1.1 <anna@mail.example> unknown", True), ("550 5.1.10 null MX", True), ("551 5.1.6 moved", True),
    ("550 5.7.1 no mail from you", False), ("550 no such user", False), ("554 5.1.1", True), ("450 4.1.1 greylisted", False)])
def test_a_mailbox_that_does_not_exist_is_told_from_other_refusals(start, answer, no_mailbox):
    probe = start.probe(start.script(RCPT=[f"{answer}\r\n".encode()]).port)
    probe.say(f"mail a claim {TO}")
    assert probe.hear().endswith(" no_mailbox") == no_mailbox
