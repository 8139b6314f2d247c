"""Mails that are written to kill who reads them, or to fill its memory: over real Postfix, over LMTP, from a maildir.

Each is put aside or refused, and the good mail behind it is read.
"""

import base64
import contextlib
import smtplib
import socket

import pytest

from cartbus_system import free_port, wait_until
from lmtp_world import LmtpWorld, over_lmtp
from postfix_server import PostfixServer
from smtp_server import MAIL_USER, user_of_ours
from test_feedback import GONE, report

pytestmark = pytest.mark.xdist_group("deadly")

GROUPS = b"a:" * 48_000
PACKED = (b"Content-Type: multipart/report; report-type=feedback-report; boundary=b\r\n\r\n--b\r\n"
          b"Content-Type: message/feedback-report\r\nContent-Transfer-Encoding: base64\r\n\r\n"
          + base64.encodebytes(b"Feedback-Type: abuse\nOriginal-Mail-From: " + b"a:" * 100_000).replace(b"\n", b"\r\n") + b"--b--\r\n")
FOLDED = b"\r\n ".join([b"From: a:"] + [b"a:" * 200] * 240) + b"\r\nSubject: x\r\n\r\nx\r\n"  # as lines that a mail server takes
NESTED = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (i, i) for i in range(8000))
PARTS = b"Content-Type: multipart/report; boundary=b\r\n\r\n" + b"--b\r\n\r\n" * 100_000
MESSAGES = b"Content-Type: message/rfc822\r\n\r\n" * 20_000
HEADERS = b"X-Header: of which there is no end\r\n" * 25_000
DEADLY = {"packed": PACKED, "folded": FOLDED, "nested": NESTED, "parts": PARTS, "messages": MESSAGES, "headers": HEADERS}


class World(LmtpWorld):
    def __init__(self):
        lmtp, user = free_port(), user_of_ours(MAIL_USER)
        self.postfix = PostfixServer(lmtp=lmtp)
        super().__init__(self.postfix.folder / "mail" / "bounces", owner=(user.pw_uid, user.pw_gid), lmtp=lmtp)

    def close(self):
        super().close()
        self.postfix.close()

    @property
    def mailin(self):
        return self.system.processes["mailin"]

    def memory_mb(self):
        """Of the process and of those that it started, at most so far."""
        pids, status = [self.mailin.popen.pid], ""
        with contextlib.suppress(OSError):
            pids += open(f"/proc/{pids[0]}/task/{pids[0]}/children").read().split()
        for pid in pids:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # who read a mail for it ends meanwhile
                status += open(f"/proc/{pid}/status").read()
        return sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024

    def aside(self):
        return [path for folder in (self.system.folder / "state" / "mailin" / "aside", self.maildir / "aside")
                if folder.exists() for path in folder.iterdir()]

    def bounce(self, address):
        return report(self.shop.bounce_address(address, "lmtp.example"), GONE).as_bytes().replace(b"\n", b"\r\n")

    def send(self, content, to="bounces@lmtp.example"):
        with smtplib.SMTP("127.0.0.1", self.postfix.port) as server:
            server.sendmail("", [to], content)

    def lives(self):
        assert self.mailin.running, f"mailin ended with {self.mailin.popen.poll()}: {self.mailin.tail()}"
        return True


@pytest.fixture(scope="module")
def world():
    world = World()
    yield world
    assert world.lives()
    world.close()


@pytest.mark.parametrize("kind", DEADLY)
def test_over_lmtp_a_deadly_mail_is_answered_and_nobody_dies(world, kind):
    before = len(world.aside())
    assert over_lmtp(world.lmtp, DEADLY[kind]).startswith("250 2.0.0")
    assert world.lives() and len(world.aside()) == before + 1
    good = f"behind-{kind}@mail.example"
    assert over_lmtp(world.lmtp, world.bounce(good)).startswith("250")
    wait_until(lambda: world.listed(good), "the good bounce")


def test_through_postfix_a_deadly_mail_is_taken_once_and_the_bounce_behind_it_is_read(world):
    before = len(world.aside())
    for kind in ("packed", "folded"):
        world.send(DEADLY[kind])
    world.send(world.bounce("behind@mail.example"), world.shop.bounce_address("behind@mail.example", "lmtp.example"))
    wait_until(lambda: world.lives() and world.listed("behind@mail.example"), "the bounce behind", within_s=60)
    wait_until(lambda: len(world.aside()) == before + 2, "the deadly ones aside", within_s=60)
    wait_until(lambda: not any(path.is_file() for name in ("active", "deferred", "incoming")
                               for path in (world.postfix.folder / "queue" / name).rglob("*")), "an empty queue of Postfix", within_s=60)


def test_in_a_maildir_the_bounce_behind_deadly_mails_is_read(world):
    for kind, mail in {**DEADLY, "groups": b"From: " + GROUPS + b"\n\nx\n"}.items():
        (world.maildir / "new" / f"0.{kind}").write_bytes(mail)
    (world.maildir / "new" / "1.good").write_bytes(world.bounce("in-a-maildir@mail.example"))
    wait_until(lambda: world.lives() and world.listed("in-a-maildir@mail.example"), "the bounce behind", within_s=60)
    wait_until(lambda: world.lives() and not any((world.maildir / "new").iterdir()), "the end of every mail", within_s=60)
    assert {f"0.{kind}" for kind in (*DEADLY, "groups")} <= {path.name for path in world.aside()}


def test_a_mail_without_end_takes_no_memory(world):
    before_mb = world.memory_mb()
    with socket.create_connection(("127.0.0.1", world.lmtp), 60) as peer:
        peer.sendall(b"LHLO x\r\nMAIL FROM:<> SIZE=1000000000\r\nQUIT\r\n")
        said = b"".join(iter(lambda: peer.recv(4096), b""))
    assert b"552 5.3.4" in said
    line = b"x" * 998 + b"\r\n"
    sent, said = 0, b""
    with socket.create_connection(("127.0.0.1", world.lmtp), 60) as peer:
        peer.sendall(b"LHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<bounces@lmtp.example>\r\nDATA\r\n")
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent < 1_000_000_000:
                peer.sendall(line * 1000)
                sent += len(line) * 1000
        with contextlib.suppress(ConnectionResetError):
            said = b"".join(iter(lambda: peer.recv(4096), b""))
    assert sent < 100_000_000 and (not said or b"421 4.3.4" in said)
    assert world.lives() and world.memory_mb() < before_mb + 60
