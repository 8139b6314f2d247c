"""Mail servers that misbehave on purpose (aiosmtpd), and the probe that sends to them."""

import contextlib
import os
import pathlib
import select
import socket
import ssl
import subprocess
import threading
import time

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from cartbus_system import free_port

BUILD = pathlib.Path(os.environ.get("CARTBUS_BUILD", "build-asan"))
PATIENCE_S = 20


class Keep:
    """Keeps what was delivered; answers what the test wants at each step."""

    def __init__(self, rcpt=None, data=None, hang_up_after_data=False):
        self.rcpt, self.data, self.hang_up = rcpt, data, hang_up_after_data
        self.mails, self.transactions, self.peers = [], 0, set()
        self.connection = None

    async def handle_MAIL(self, server, session, envelope, address, options):
        self.transactions += 1
        self.peers.add(session.peer)
        self.connection = server.transport
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        if self.rcpt:
            return self.rcpt
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.data:
            return self.data
        self.mails.append(envelope)
        if self.hang_up:  # it has the mail, and nobody will ever hear of it
            server.transport.abort()
        return "250 kept for <someone@mail.example>"


class Peer:
    def __init__(self, handler, **options):
        self.handler = handler

        class Quick(Controller):
            def factory(inner):
                return SMTP(inner.handler, timeout=60, **options)

        self.port = free_port()
        self.controller = Quick(handler, hostname="127.0.0.1", port=self.port)
        self.controller.start()

    def hang_up(self):
        """Cuts the latest connection and comes back when it is cut."""
        cut = threading.Event()

        def do():
            self.handler.connection.abort()
            self.controller.loop.call_later(0.01, cut.set)  # abort closes in the loop's next round

        self.controller.loop.call_soon_threadsafe(do)
        assert cut.wait(PATIENCE_S)

    def close(self):
        if self.controller.server:
            self.controller.stop()
            self.controller.server = None


class Scripted:
    """A server that says exactly these bytes: at first the greeting, then after each line that it hears what stands for its verb.

    A value is a list of pieces, sent one by one, a call that says it to the socket, or None: it hangs up. What it takes after DATA's answer ends with a line that is a dot.
    """

    ANSWERS = {"": [b"220 here\r\n"], "EHLO": [b"250 hello\r\n"], "MAIL": [b"250 OK\r\n"], "RCPT": [b"250 OK\r\n"],
               "DATA": [b"354 go on\r\n"], ".": [b"250 kept\r\n"], "QUIT": None}

    def __init__(self, **answers):
        self.answers = {**self.ANSWERS, **{"." if verb == "dot" else verb: answer for verb, answer in answers.items()}}
        self.mails, self.heard, self.enough, self.connections = [], [], threading.Event(), []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(time.monotonic())
            threading.Thread(target=self.converse, args=(peer,), daemon=True).start()

    def converse(self, peer):
        with contextlib.suppress(ConnectionResetError), peer, peer.makefile("rb") as heard:
            alive, taking = self.say(peer, ""), None
            while alive and (line := heard.readline()):
                if taking is not None and line != b".\r\n":
                    taking.append(line)
                    continue
                verb = "." if taking is not None else line[:4].decode().strip().upper()
                if taking is not None:
                    self.mails.append(b"".join(taking))
                taking = [] if verb == "DATA" and self.takes_data() else None
                self.heard.append(verb)
                alive = verb in self.answers and self.say(peer, verb)

    def takes_data(self):
        return isinstance(self.answers["DATA"], list) and self.answers["DATA"][0].startswith(b"354")

    def say(self, peer, verb):
        pieces = self.answers[verb]
        if callable(pieces):
            with contextlib.suppress(OSError):
                pieces(peer)
            return False
        for piece in pieces or []:
            peer.sendall(piece)
            self.enough.wait(0.05)  # so that it travels alone
        return pieces is not None

    def close(self):
        self.listener.close()


def certificates(folder):
    """A CA of the test's own and a server certificate for 127.0.0.1."""

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key",
            "-out", "ca.pem", "-subj", "/CN=test ca", "-days", "2")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "server.key",
            "-out", "server.csr", "-subj", "/CN=127.0.0.1")
    (folder / "ext").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
            "server.pem", "-extfile", "ext", "-days", "2")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    return folder / "ca.pem", context


def login(name, password):
    def authenticate(server, session, envelope, mechanism, data):
        good = isinstance(data, LoginPassword) and (data.login, data.password) == (name.encode(), password.encode())
        return AuthResult(success=good, handled=False)

    return authenticate


class Probe:
    """One mail transport, as tests/system/programs/mail_probe.c offers it."""

    def __init__(self, folder, inside=(), **mail):
        """`inside`: what a command begins with that is to run on another host (hosts.py)."""
        secrets = folder / "secrets"
        secrets.mkdir(exist_ok=True)
        mail = {key.replace("_", "-"): value for key, value in mail.items()}
        if "smtp-password" in mail:
            (secrets / "smtp.password").write_text(mail.pop("smtp-password") + "\n")
            (secrets / "smtp.password").chmod(0o600)
        if "ses-key" in mail:
            (secrets / "ses.key").write_text(mail.pop("ses-key") + "\n")
            (secrets / "ses.key").chmod(0o600)
        keys = "\n".join(f"{key} = {value}" for key, value in mail.items())
        config = folder / "cartbus.conf"
        config.write_text(f"[paths]\nstate = {folder}\nsecrets = {secrets}\n[mail]\n{keys}\n")
        self.process = subprocess.Popen([*inside, BUILD / "bin" / "mail_probe", config], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0)
        self.heard = b""

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")

    def hear(self):
        while b"\n" not in self.heard:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_S)
            assert ready, f"the probe said nothing within {PATIENCE_S} s"
            more = os.read(self.process.stdout.fileno(), 65536)
            assert more, "the probe has ended"
            self.heard += more
        line, self.heard = self.heard.split(b"\n", 1)
        return line.decode()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        """Ends it as SIGTERM would end a sender; returns what it still said."""
        if self.process.poll() is None:
            out, _ = self.process.communicate(timeout=PATIENCE_S)
            return out.decode().splitlines()
        return []
