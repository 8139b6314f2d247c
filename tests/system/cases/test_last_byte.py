"""The last byte of a mail against the time of a stop: none is let go a second after a stop was confirmed, by the sender's host's clock.

The sender is stopped at instructions between the yes to its claim and its write; the server closes its window, or acknowledges nothing.
"""

import datetime
import os
import signal
import socket
import subprocess
import threading
import time

import pytest

from cartbus_system import BUILD, System, wait_until
from http_peer import Certificates, reply
from mail_peer import Probe
from test_mail_moments import RULES, SERVICES, clock
from test_mail_ses import REGION, Ses

BOUND_S = 1.0  # of a last byte behind a stop
STOPPED_AT = (0, 200, 600, 1200, 2600, 3000, 6000, 12000)  # instructions behind the timer; with sanitizers the write is after 900 to 9,000

KILLED_AT = (0, 2600, 6000, "handed-over")  # the last: the kernel took it, and the sender has not seen that


class Window:
    """An SMTP server that notes when the end of a mail came, and whose TCP takes no more than a little until it is told to."""

    def __init__(self, closed=False, room=None, listener=None):
        self.closed, self.open = closed, threading.Event()
        self.ended, self.bodies, self.peers = [], 0, []
        self.listener = listener or self._listen(room)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @staticmethod
    def _listen(room):
        listener = socket.socket()
        if room:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        return listener

    def _accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.peers.append(peer)
            threading.Thread(target=self._converse, args=(peer,), daemon=True).start()

    def _converse(self, peer):
        try:
            peer.sendall(b"220 here\r\n")
            said = b""
            while data := peer.recv(4096):
                said += data
                while b"\r\n" in said:
                    line, said = said.split(b"\r\n", 1)
                    if line.upper() != b"DATA":
                        peer.sendall(b"250 OK\r\n")
                        continue
                    peer.sendall(b"354 go on\r\n")
                    self._take(peer, said)
                    said = b""
        except OSError:
            pass

    def _take(self, peer, body):
        self.bodies += 1
        if self.closed:
            self.open.wait()
        while not body.endswith(b"\r\n.\r\n"):
            data = peer.recv(4096)
            if not data:
                raise ConnectionResetError
            body += data
        self.ended.append(time.clock_gettime(time.CLOCK_BOOTTIME))
        peer.sendall(b"250 kept\r\n")

    def close(self):
        self.open.set()
        self.listener.close()
        for peer in self.peers:
            peer.close()


def leave_cart(system, name):
    answer = system.post(system.shop.cart({
        "event": "changed", "cart": name, "email": f"{name}@mail.example", "first_name": "Anna", "currency": "EUR", "total": "12.00",
        "at": datetime.datetime.fromtimestamp(system.now_s(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "locale": "de-DE", "recovery_url": "https://demo.example/r", "items": [{"title": "Vase", "quantity": 1, "price": "12.00"}]}))
    assert answer.status == 200, answer.text


def buy(system, name):
    """A stop; returns the boot time at which it was confirmed, at the latest."""
    answer = system.post(system.shop.cart({"event": "checked_out", "cart": name, "order_id": f"o-{name}", "total": "12.00", "currency": "EUR"}))
    assert answer.status == 200, answer.text
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def of_cart(system, topic, name):
    return [entry for entry in system.log(topic=topic) if entry["message"].cart_id == name]


def outcome(system, name):
    return next((kind for kind in ("sent", "ambiguous", "refused", "skipped") if of_cart(system, f"reminder.{kind}", name)), "")


def wait_past(moment_s):
    wait_until(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) > moment_s, "the moment", within_s=60)


def started(system):
    system.shop = system.add_shop("demo", rules=RULES)
    system.start(*SERVICES)
    system.cartbus("shop", "mode", "demo", "live")


def halt(process, instructions):
    """Begins to watch; the process stops itself at its next last byte."""
    halting = subprocess.Popen([BUILD / "bin" / "cartbus-test-halt", str(process.popen.pid), str(instructions)], stdout=subprocess.PIPE, text=True)
    assert halting.stdout.readline() == "watching\n"
    return halting


class Maildir:
    def __init__(self, folder):
        self.folder = folder / "mails"
        self.mail = {"transport": "maildir", "maildir": str(self.folder)}

    def set_up(self, system):
        pass

    def ends(self):
        """Boot times, as far as a file tells: its name was changed then."""
        ahead_s = time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_BOOTTIME)
        return [entry.stat().st_ctime - ahead_s for entry in (self.folder / "new").iterdir()]

    def close(self):
        pass


class OverSmtp:
    def __init__(self, folder):
        self.server = Window()
        self.mail = {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": self.server.port, "smtp-tls": "none"}

    def set_up(self, system):
        pass

    def ends(self):
        return list(self.server.ended)

    def close(self):
        self.server.close()


class OverSes:
    def __init__(self, folder):
        certificates = Certificates(folder / "ca")
        self.ended = []
        self.ses = Ses(certificates.context(), self.answer)
        self.mail = {"transport": "ses", "ses-region": REGION, "ses-ca": certificates.ca, "ses-endpoint": f"https://127.0.0.1:{self.ses.peer.port}"}

    def answer(self, request):
        self.ended.append(time.clock_gettime(time.CLOCK_BOOTTIME))
        reply(request, 200, {"MessageId": "0100-sesid"})

    def set_up(self, system):
        system.write_secret("ses.key", "AKIDEXAMPLE:secret/key")

    def ends(self):
        return list(self.ended)

    def close(self):
        self.ses.peer.close()


@pytest.fixture(params=[OverSmtp, OverSes, Maildir], ids=["smtp", "ses", "maildir"])
def way(request, tmp_path):
    way = request.param(tmp_path)
    yield way
    way.close()


def test_a_sender_stopped_between_its_claim_and_its_write_lets_nothing_go_after_a_stop(way):
    with System({"clock": clock(), "mail": way.mail}) as system:
        way.set_up(system)
        started(system)
        sender = system.processes["sender"].popen
        late = []
        for instructions in STOPPED_AT:
            name, before = f"at-{instructions}", len(way.ends())
            halting = halt(system.processes["sender"], instructions)
            leave_cart(system, name)
            assert halting.stdout.readline() == "stopped\n"
            assert halting.wait() == 0
            confirmed_s = buy(system, name)
            wait_past(confirmed_s + BOUND_S + 0.2)
            sender.send_signal(signal.SIGCONT)
            wait_until(lambda: outcome(system, name), "the outcome", within_s=60)
            late += [(instructions, end - confirmed_s) for end in way.ends()[before:] if end > confirmed_s + BOUND_S]
            end = outcome(system, name)
            # what was let go before the stop came went; what was not never does; nobody guesses
            assert (end in ("sent", "ambiguous")) == (len(way.ends()) > before) or end == "ambiguous", (instructions, end)
        assert late == []
        leave_cart(system, "after")
        wait_until(lambda: outcome(system, "after") == "sent", "a mail after all that", within_s=60)


def test_a_sender_killed_before_it_notes_what_the_kernel_took_mails_nobody_twice(way):
    """Stopped on its way from the yes to its claim to its note of the mail, and killed there. The next one cannot know, and says so."""
    with System({"clock": clock(), "mail": way.mail}) as system:
        way.set_up(system)
        started(system)
        went = {}
        for moment in KILLED_AT:
            name, before = f"at-{moment}", len(way.ends())
            halting = halt(system.processes["sender"], moment)
            leave_cart(system, name)
            assert halting.stdout.readline() == "stopped\n"
            assert halting.wait() == 0
            if moment == "handed-over":
                wait_until(lambda: len(way.ends()) == before + 1, "the last byte")
            system.kill("sender")
            system.start("sender")
            wait_until(lambda: outcome(system, name), "the outcome", within_s=60)
            went[name] = len(way.ends()) - before
            assert len(of_cart(system, "send.claim", name)) == 1, moment
            if not isinstance(way, Maildir):  # whose file's name says whether it went
                assert outcome(system, name) == "ambiguous", moment
                assert "ambiguous" in system.cartbus("why", "demo", name).stdout, moment
        assert went["at-handed-over"] == 1 and set(went.values()) <= {0, 1}, went
        leave_cart(system, "after")
        wait_until(lambda: outcome(system, "after") == "sent", "a mail after all that", within_s=60)
        assert len(way.ends()) == sum(went.values()) + 1, went


def test_a_server_that_closes_its_window_gets_no_last_byte_behind_a_stop(tmp_path):
    """All but a few KB of the body stay in our kernel: no claim is said. A stop that comes then is known when it opens again."""
    server = Window(closed=True, room=2048)
    with System({"clock": clock(), "mail": {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": server.port, "smtp-tls": "none"}}) as system:
        started(system)
        leave_cart(system, "closed")
        wait_until(lambda: server.bodies, "the body begins")
        wait_past(time.clock_gettime(time.CLOCK_BOOTTIME) + 1)
        assert of_cart(system, "send.claim", "closed") == []
        confirmed_s = buy(system, "closed")
        wait_past(confirmed_s + BOUND_S)
        server.open.set()
        wait_until(lambda: outcome(system, "closed") == "skipped", "the mail is given up", within_s=60)
        assert server.ended == []
        server.closed = False
        leave_cart(system, "open")
        wait_until(lambda: outcome(system, "open") == "sent", "a mail after it")
        assert len(server.ended) == 1
    server.close()


@pytest.fixture
def probe_of(tmp_path):
    probes = []

    def make(port):
        probes.append(Probe(tmp_path, transport="smtp", smtp_host="127.0.0.1", smtp_port=port, smtp_tls="none"))
        return probes[-1]

    yield make
    for probe in probes:
        if probe.process.poll() is None:
            probe.kill()


def test_a_claim_that_is_too_old_when_its_answer_comes_sends_nothing(probe_of):
    server = Window()
    probe = probe_of(server.port)
    probe.say("mail a claim anna@mail.example")
    assert probe.hear() == "claim a"
    probe.say("go a 0")
    assert probe.hear().startswith("done a not_sent stopped for too long")
    probe.say("mail b claim anna@mail.example")
    assert probe.hear() == "claim b"
    probe.say("go b")
    assert probe.hear().startswith("done b sent")
    assert len(server.ended) == 1
    server.close()


def test_a_server_that_has_the_last_byte_may_take_its_time(probe_of):
    """It is acknowledged: the timer that cuts finds nothing to cut."""
    server = Window()
    take = server._take

    def think(peer, body):
        take(type("Later", (), {"recv": peer.recv, "sendall": lambda _, data: (server.open.wait(), peer.sendall(data))})(), body)

    server._take = think
    probe = probe_of(server.port)
    probe.say("mail a claim anna@mail.example")
    assert probe.hear() == "claim a"
    probe.say("go a 300")
    wait_until(lambda: server.ended, "the last byte")
    wait_past(server.ended[0] + 0.6)
    server.open.set()
    assert probe.hear().startswith("done a sent")
    server.close()
