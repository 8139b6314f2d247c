"""Peers of another release: raw frames of theirs to our broker, and raw frames of another broker to our services."""

import contextlib

import pytest
import zmq
from cartbus_system import System, wait_until
from messages import messages

pytestmark = pytest.mark.xdist_group("versions")  # one story, told in order

LATER = 77  # a version that nobody speaks yet
INSTALL = "install the same release of cartbus on both sides"


@pytest.fixture(scope="module")
def system():
    with System() as system:
        yield system


@pytest.fixture(scope="module")
def bus():
    return messages("bus")


@contextlib.contextmanager
def control_socket(system, kind):
    with zmq.Context() as context, context.socket(kind) as socket:
        socket.linger, socket.rcvtimeo = 0, 20000
        address = f"ipc://{system.folder}/run/control"
        if kind == zmq.ROUTER:
            socket.bind(address)
        else:
            socket.connect(address)
        yield socket


def answer_to_hello(system, bus, more=b"", **fields):
    control = bus.Control(hello=bus.Hello(service="unsub", instance="other", run="one", **fields))
    with control_socket(system, zmq.DEALER) as socket:
        socket.send(control.SerializeToString() + more)
        return bus.Control.FromString(socket.recv())


def line_with(system, instance, words):
    def found():
        return [line for line in system.processes[instance].log_path.read_text().splitlines() if words in line]
    return wait_until(found, f"{instance}: {words}")[0]


def test_a_hello_that_names_no_version_speaks_the_first(system, bus):
    system.start("broker")
    welcome = answer_to_hello(system, bus).welcome
    assert welcome.active and welcome.version == 1


def test_a_later_release_that_speaks_our_version_too_is_welcome_with_fields_that_we_do_not_know(system, bus):
    unknown = bytes([0xA2, 0x06, 3]) + b"new"  # field 100 of Control: a text
    welcome = answer_to_hello(system, bus, unknown, version=LATER, version_least=1).welcome
    assert welcome.active and welcome.version == 1


def test_a_later_release_that_does_not_is_refused_with_the_reason_on_both_sides_and_may_come_again(system, bus):
    before = system.ask("status")["refused"]["hello"]
    refusal = answer_to_hello(system, bus, version=LATER + 1, version_least=LATER).refusal
    assert refusal.reason == f"other speaks versions {LATER} to {LATER + 1} of the protocol and this broker 1 to 1: {INSTALL}"
    assert not refusal.final
    assert system.ask("status")["refused"]["hello"] == before + 1
    line_with(system, "broker", refusal.reason)
    assert answer_to_hello(system, bus).welcome.active
    system.stop("broker")


def test_a_service_says_hello_with_its_versions_and_takes_no_session_of_another(system, bus):
    with control_socket(system, zmq.ROUTER) as broker:
        service = system.start("unsub", wait=False)
        peer, hello = broker.recv_multipart()
        hello = bus.Control.FromString(hello).hello
        assert (hello.version_least, hello.version) == (1, 1)
        welcome = bus.Welcome(epoch=5, lane="ipc:///nowhere", log="another", head=1, active=True, heartbeat_ms=300, version=LATER)
        broker.send_multipart([peer, bus.Control(welcome=welcome).SerializeToString()])
        line_with(system, "unsub", f"the broker speaks version {LATER} of the protocol and this program 1 to 1: {INSTALL}")
        assert service.running
        broker.recv_multipart()  # it asks again
    system.start("broker")
    service.wait_ready()
