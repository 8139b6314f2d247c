"""Garbage on every socket of the running broker: refused, counted, told with who sent it; and the bus goes on."""

import os
import socket

import pytest
import zmq
from cartbus_system import System, fixture, wait_until

pytestmark = pytest.mark.xdist_group("bad_input")  # the last test is about what the others did

FRAME_MOST = 4 << 20
CONTROL_MOST = 64 << 10
ME = f"uid:{os.getuid()}"


@pytest.fixture(scope="module")
def system():
    with System() as system:
        system.shop = system.add_shop("demo")
        system.start("broker", "gateway", "intake")
        yield system


def refused(system, kind):
    return system.ask("status")["refused"][kind]


def said(system):
    return (system.folder / "logs" / "broker.log").read_text()


def run_folder(system):
    (folder,) = system.folder.glob("**/ingress")
    return folder.parent


@pytest.mark.parametrize("name, kind, parts, counted, told", [
    ("ingress", zmq.PUSH, [b"garbage"], "frame", "no frame"),
    ("ingress", zmq.PUSH, [b"two", b"parts"], "frame", "in several parts"),
    ("ingress", zmq.PUSH, [bytes(FRAME_MOST + 1)], "frame", "or too many"),
    ("ingress", zmq.PUSH, [b"\0\0\0\0"], "epoch", "no live session"),
    ("control", zmq.DEALER, [b"\xff\xff\xff"], "control", "none that this version knows"),
    ("control", zmq.DEALER, [b"two", b"parts"], "control", "a control message"),
    ("control", zmq.DEALER, [b"\x0a" * (CONTROL_MOST + 1)], "control", "a control message"),
    ("tap", zmq.XSUB, [b"what?"], "connection", "something was said to it"),
    ("tap-clear", zmq.XSUB, [b"\x07"], "connection", "something was said to it"),
])
def test_what_makes_no_sense_is_told_with_who_said_it(system, name, kind, parts, counted, told):
    before = refused(system, counted)
    context = zmq.Context()
    with context, context.socket(kind) as stranger:
        stranger.linger = 5000
        stranger.connect(f"ipc://{run_folder(system)}/{name}")
        stranger.send_multipart(parts)
        wait_until(lambda: refused(system, counted) > before, f"{name} counts what it refused")
    assert any("refused" in line and ME in line and told in line for line in said(system).splitlines()), said(system)


@pytest.mark.parametrize("name", ["ingress", "control", "tap", "tap-clear"])
def test_noise_below_the_sockets_is_counted_and_changes_nothing(system, name):
    noises = (b"GET / HTTP/1.1\r\n\r\n", os.urandom(2048), b"\xff\0\0\0\0\0\0\0\1\x7f", b"")
    for noise in noises:
        before = refused(system, "connection")
        with socket.socket(socket.AF_UNIX) as raw:
            raw.settimeout(2)
            raw.connect(str(run_folder(system) / name))
            raw.sendall(noise)
            raw.shutdown(socket.SHUT_WR)
            wait_until(lambda: refused(system, "connection") > before, f"{name} counts {noise[:12]}")


def test_noise_is_told_of_with_the_socket_it_came_to():
    with System() as system:
        system.start("broker")
        with socket.socket(socket.AF_UNIX) as raw:
            raw.connect(str(run_folder(system) / "control"))
            raw.sendall(b"GET / HTTP/1.1\r\n\r\n")
            wait_until(lambda: "refused a connection" in said(system), "the line")
        (line,) = [line for line in said(system).splitlines() if "refused a connection" in line]
        assert f"of {ME}, " in line or "of nobody known, " in line  # it may be over before anybody can look
        assert "control: it ended without a handshake" in line


def test_what_zeromq_itself_does_not_take_is_told_with_who_sent_it():
    with System() as system, zmq.Context() as context:
        system.start("broker")
        for name, kind, most, counted in ("ingress", zmq.PUSH, FRAME_MOST, "frame"), ("control", zmq.DEALER, CONTROL_MOST, "control"):
            with context.socket(kind) as stranger:
                stranger.linger = 0
                stranger.connect(f"ipc://{run_folder(system)}/{name}")
                stranger.send(b"garbage")
                wait_until(lambda: refused(system, counted) == 1, "an open connection")
                before = refused(system, "connection")
                stranger.send(bytes(2 * most + 1))
                wait_until(lambda: refused(system, "connection") == before + 1, f"{name} counts what is too large for ZeroMQ")
        (line,) = [line for line in said(system).splitlines() if "refused a connection" in line]
        assert f"of {ME}, number 1 " in line and "ingress: ZeroMQ ended it: what came is larger than may be" in line


def test_peers_that_come_and_go_are_not_told_of(system):
    system.stop("intake")
    system.start("intake")
    system.kill("intake")
    system.start("intake")
    before = refused(system, "connection")
    for _ in range(20):
        system.ask("status")
    assert refused(system, "connection") == before


def test_and_the_bus_goes_on(system):
    wait_until(system.connected, "the gateway is connected")
    assert system.post(system.shop.cart(fixture("cart-changed", id="after-all", cart="after"))).status == 200
    wait_until(lambda: any(entry["topic"] == "cart.state" for entry in system.log()), "the cart is decided on")
