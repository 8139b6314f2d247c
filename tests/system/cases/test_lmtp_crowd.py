"""A crowd at LMTP keeps no mail server out: who finishes no mail makes room, mails are bounded, and a socket is for one group."""

import contextlib
import grp
import os
import resource
import socket
import stat
import tempfile
import threading
import time

import pytest

from cartbus_system import System, free_port, wait_until
from lmtp_world import come_back_over_lmtp

pytestmark = pytest.mark.xdist_group("crowd")

MOST, MAILS = 128, 16  # connections; mails of a megabyte
BEGIN = b"LHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<bounces@lmtp.example>\r\nDATA\r\n"


class World(System):
    def __init__(self, settings, **more):
        super().__init__({"mailin": settings, **more})
        self.add_shop("demo")
        come_back_over_lmtp(self, "demo")
        self.start("broker", "mirror", "mailin")
        wait_until(lambda: self.log(topic="document"), "the shop's document")


@pytest.fixture
def place():
    """Of a socket, which nobody else on this machine uses; pytest's own folders have longer names than a socket may have."""
    with tempfile.TemporaryDirectory(prefix="cartbus-lmtp-") as folder:
        os.chmod(folder, 0o755)
        yield f"{folder}/lmtp"


def said_to(peer, words, until):
    """What comes until these words, or the end."""
    peer.sendall(words)
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while until not in said and (chunk := peer.recv(4096)):
            said += chunk
    return said


def come_to(port, crowd):
    return crowd.enter_context(socket.create_connection(("127.0.0.1", port), 20))


def rest_of(peer):
    """All that is still said to it, until its connection has ended."""
    said = b""
    with contextlib.suppress(ConnectionResetError):
        while chunk := peer.recv(4096):
            said += chunk
    return said


def keep_saying(port, words, first, over):
    """More peers than there is room for: each says these words again and again, and comes back at once when it is sent away."""
    peers = [None] * (MOST + 22)
    while not over.wait(0.1):
        for number, peer in enumerate(peers):
            try:
                if peer is None:
                    peers[number] = peer = socket.create_connection(("127.0.0.1", port), 20)
                    peer.setblocking(False)
                    peer.send(first)
                with contextlib.suppress(BlockingIOError):
                    while peer.recv(65536):
                        pass
                    raise ConnectionResetError
                peer.send(words)
            except BlockingIOError:
                pass
            except OSError:
                peer.close()
                peers[number] = None
    for peer in filter(None, peers):
        peer.close()


@pytest.mark.parametrize("first, words", [
    (b"", b"NOOP\r\n"), (b"LHLO x\r\n", b"RSET\r\n"), (b"LHLO x\r\n", b"MAIL FROM:<>\r\nRSET\r\n"), (b"", b"HELP\r\n"), (BEGIN, b"x"), (b"", b""),
], ids=["noop", "rset", "mail", "nonsense", "drops", "silent"])
def test_a_mail_server_gets_in_past_a_crowd_that_never_falls_silent(first, words):
    port = free_port()
    over = threading.Event()
    with World({"lmtp": f"127.0.0.1:{port}"}) as system:
        crowd = threading.Thread(target=keep_saying, args=(port, words, first, over))
        crowd.start()
        try:
            wait_until(lambda: "were turned away" in system.processes["mailin"].log_path.read_text(), "they are all there", within_s=30)
            for number in range(5):
                began = time.monotonic()
                with contextlib.ExitStack() as held:
                    server = come_to(port, held)
                    assert b"354" in said_to(server, BEGIN, b"354")
                    assert b"250 2.0.0" in said_to(server, b"Subject: %d\r\n\r\nx\r\n.\r\n" % number, b"250 ")
                assert time.monotonic() - began < 5
        finally:
            over.set()
            crowd.join()
        assert system.processes["mailin"].running


def test_who_has_finished_no_mail_for_longest_makes_room():
    port = free_port()
    with World({"lmtp": f"127.0.0.1:{port}"}) as system, contextlib.ExitStack() as crowd:
        peers = [come_to(port, crowd) for _ in range(MOST)]
        assert all(peer.recv(3) == b"220" for peer in peers)
        assert b"354" in said_to(peers[0], BEGIN, b"354")
        assert b"250 2.0.0" in said_to(peers[0], b"Subject: x\r\n\r\nx\r\n.\r\n", b"250 ")
        assert come_to(port, crowd).recv(3) == b"220"
        assert b"421 4.4.2 no whole mail" in rest_of(peers[1])
        assert b"250 2.0.0" in said_to(peers[0], b"NOOP\r\n", b"250 ")
        assert system.processes["mailin"].running


def test_mails_that_are_never_finished_make_room_for_those_that_are():
    port = free_port()
    with World({"lmtp": f"127.0.0.1:{port}"}) as system, contextlib.ExitStack() as crowd:
        parked = [come_to(port, crowd) for _ in range(MAILS + 4)]
        for peer in parked:
            assert b"354" in said_to(peer, BEGIN, b"354")
            peer.sendall(b"x" * 998 + b"\r\n")
        for peer in parked:
            with contextlib.suppress(ConnectionError):
                peer.sendall((b"x" * 998 + b"\r\n") * 1000)
        server = come_to(port, crowd)
        assert b"354" in said_to(server, BEGIN, b"354")
        assert b"250 2.0.0" in said_to(server, (b"x" * 998 + b"\r\n") * 1000 + b".\r\n", b"250 ")
        assert b"421 4.4.2 no whole mail" in rest_of(parked[0])
        assert system.processes["mailin"].running


def counted(system):
    return sum(one["counts"].get("turned_away", 0) for one in system.ask("status")["sessions"] if one["service"] == "mailin")


def test_a_socket_is_for_its_group_and_one_user_takes_half_of_it(place):
    settings = {"lmtp": place, "lmtp-group": "mail"}
    with World(settings, monitor={"port": free_port()}) as system, contextlib.ExitStack() as crowd:
        system.start("monitor")
        found = os.stat(place)
        assert stat.S_IMODE(found.st_mode) == 0o660 and grp.getgrgid(found.st_gid).gr_name == "mail"

        def come():
            peer = crowd.enter_context(socket.socket(socket.AF_UNIX))
            peer.settimeout(20)
            peer.connect(place)
            return peer.recv(3)

        assert [come() for _ in range(MOST // 2 + 1)] == [b"220"] * (MOST // 2 + 1)  # the oldest has made room
        mailin = system.processes["mailin"]
        assert mailin.running
        wait_until(lambda: f"of uid:{os.geteuid()} were turned away: it holds as much" in mailin.log_path.read_text(), "the line in the log")
        wait_until(lambda: counted(system) == 1, "the broker is told")
        (alarm,) = wait_until(lambda: [one["message"] for one in system.log("alarm") if one["message"].kind == "strangers"], "the alarm", 60)
        assert alarm.raised and "of LMTP, and what is more is turned away" in alarm.text


def test_without_a_descriptor_a_client_is_told_so_and_does_not_wait():
    port = free_port()
    with World({"lmtp": f"127.0.0.1:{port}"}) as system, contextlib.ExitStack() as crowd:
        mailin = system.processes["mailin"]
        used = [int(name) for name in os.listdir(f"/proc/{mailin.popen.pid}/fd")]
        resource.prlimit(mailin.popen.pid, resource.RLIMIT_NOFILE, (max(used) + 3, 4096))
        answers = [crowd.enter_context(socket.create_connection(("127.0.0.1", port), 20)).recv(3) for _ in range(20)]
        assert b"421" in answers and set(answers) <= {b"220", b"421"}
        wait_until(lambda: "LimitNOFILE" in mailin.log_path.read_text(), "the line in the log")
        assert mailin.running


def test_a_group_that_is_not_there_is_named(place):
    with World({"lmtp": place}) as system:
        assert stat.S_IMODE(os.stat(place).st_mode) == 0o666  # as of 0.1.0, and warned of
        assert "lmtp-group names" in system.processes["mailin"].log_path.read_text()
        system.stop("mailin")
        system.configure({"mailin": {"lmtp": place, "lmtp-group": "nobodys-group"}})
        started = system.start("mailin", wait=False)
        wait_until(lambda: not started.running, "the end")
        assert "nobodys-group: there is no such group" in started.tail()
