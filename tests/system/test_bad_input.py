"""Garbage on every socket of the running broker: refused, counted, told with who sent it; and the bus goes on."""

import os
import socket

import pytest
import zmq
from cartbus_system import System, fixture, wait_until

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


def test_noise_below_the_sockets_changes_nothing(system):
    for name in ("ingress", "control", "tap", "tap-clear"):
        for noise in (b"GET / HTTP/1.1\r\n\r\n", os.urandom(2048), b"\xff\0\0\0\0\0\0\0\1\x7f", b""):
            with socket.socket(socket.AF_UNIX) as raw:
                raw.settimeout(2)
                raw.connect(str(run_folder(system) / name))
                raw.sendall(noise)
    assert system.processes["broker"].running


def test_and_the_bus_goes_on(system):
    assert system.post(system.shop.cart(fixture("cart-changed", id="after-all", cart="after"))).status == 200
    wait_until(lambda: any(entry["topic"] == "cart.state" for entry in system.log()), "the cart is decided on")
