"""Over TCP: a service on another host, and everybody who has no business there, against the real broker."""

import concurrent.futures
import contextlib
import os
import signal
import socket
import time

import pytest
import zmq
import zmq.utils.monitor
import zmq.utils.z85

from cartbus_system import wait_until
from messages import messages
from two_hosts import CONTROL, INGRESS, LANES, PORTS, TAP, TAP_CLEAR, Far, Near, leave_cart

RATE = 3600  # an hour of the shop is a second of ours
RULES = "Small carts (under 40 EUR): remind after 1 hour, then after 6. Medium carts: 1 hour, then 6.\nBig carts (over 150 EUR): 1 hour, then 6.\n"
PATIENCE_S, BEAT_S = 20, 0.3
EVENTS = {}


@pytest.fixture(scope="module")
def shared():
    """One broker for all that must not change anything."""
    with Near() as system:
        system.start("broker")
        yield system


@pytest.fixture
def near():
    with Near() as system:
        system.start("broker")
        yield system


# ---- a service on another host ----


def test_a_sender_on_another_host_sends_the_mail():
    now_us = int(time.time() * 1e6)
    clock = {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us}
    with Near({"clock": clock}) as near, Far(near, "sender", {"clock": clock}) as far:
        shop = near.add_shop("demo", rules=RULES)
        near.start("broker")
        near.start("gateway", "intake", "timer", "waiter", "mirror", wait=False)
        far.start("sender")
        for process in near.processes.values():
            process.wait_ready()
        near.cartbus("shop", "mode", "demo", "live")
        session, = near.sessions("sender")
        assert session["who"] == "key:" + near.public("sender")[0]
        leave_cart(near, shop, "c-1")
        mails = far.folder / "state" / "mail" / "new"
        wait_until(lambda: mails.exists() and any(mails.iterdir()), "the first mail", 30)
        wait_until(lambda: near.log("reminder.sent"), "its outcome in the log", 30)
        assert not (near.folder / "state" / "mail").exists()


# ---- who has no business there ----


class Stranger:
    """A client of our own making: pyzmq, and the messages that protoc makes of bus.proto."""

    def __init__(self, near, key=None, server_key=None):
        self.near, self.context = near, zmq.Context()
        self.key = key
        self.server_key = server_key or bytes.fromhex((near.keys / "broker.pub").read_text())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.destroy(linger=0)

    def open(self, kind, endpoint):
        opened = self.context.socket(kind)
        opened.linger = 0
        if self.key:
            opened.curve_serverkey = zmq_key(self.server_key)
            opened.curve_publickey, opened.curve_secretkey = (zmq_key(half) for half in self.key)
        return watched(opened, endpoint)

    def hello(self, opened, service, instance="x", **more):
        bus = messages("bus")
        said = bus.Control(hello=bus.Hello(service=service, instance=instance, run="r", **more))
        opened.send(said.SerializeToString())

    def answer(self, opened, within_s=PATIENCE_S):
        """The next Control from the broker; None: nothing came."""
        if not opened.poll(within_s * 1000):
            return None
        return messages("bus").Control.FromString(opened.recv())


def beating(sessions, call):
    """What `call` answers; meanwhile these sessions, (socket, epoch), say that they live: the broker ends who is silent for 1.5 s."""
    bus = messages("bus")
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        called = pool.submit(call)
        while not called.done():
            for opened, epoch in sessions:
                with contextlib.suppress(zmq.Again):  # who was cut off says it to nobody
                    opened.send(bus.Control(heartbeat=bus.Heartbeat(epoch=epoch)).SerializeToString(), zmq.DONTWAIT)
            concurrent.futures.wait([called], BEAT_S)
        return called.result()


def watched(opened, endpoint):
    """Connects, and keeps what libzmq tells of it for end_of_handshake."""
    EVENTS[opened] = opened.get_monitor_socket()
    opened.connect(endpoint)
    return opened


def zmq_key(raw):
    return zmq.utils.z85.encode(raw)


def fresh_key():
    return tuple(zmq.utils.z85.decode(half) for half in zmq.curve_keypair())


def key_of(near, name):
    """A registered pair, as whoever copied its file has it."""
    secret = bytes.fromhex((near.keys / f"{name}.key").read_text())
    return zmq.utils.z85.decode(zmq.curve_public(zmq_key(secret))), secret


REFUSED_BY_GATE = zmq.EVENT_HANDSHAKE_FAILED_AUTH
NO_COMMON_TONGUE = zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_DISCONNECTED


def end_of_handshake(opened):
    """What libzmq says became of a connection: the first event that decides."""
    deciding = zmq.EVENT_HANDSHAKE_SUCCEEDED | REFUSED_BY_GATE | NO_COMMON_TONGUE
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if EVENTS[opened].poll(200):
            event = zmq.utils.monitor.recv_monitor_message(EVENTS[opened])["event"]
            if event & deciding:
                return event
    raise AssertionError("the handshake came to no end")


OTHER_END = {CONTROL: zmq.DEALER, INGRESS: zmq.PUSH, TAP: zmq.SUB, TAP_CLEAR: zmq.SUB}


@pytest.mark.parametrize("offset", OTHER_END)
def test_who_is_not_registered_is_refused_at_every_socket(shared, offset):
    kind, endpoint = OTHER_END[offset], shared.endpoint(offset)
    with Stranger(shared, fresh_key()) as stranger:
        assert end_of_handshake(stranger.open(kind, endpoint)) == REFUSED_BY_GATE
    with Stranger(shared, key_of(shared, "sender")) as known:
        may = offset in (CONTROL, INGRESS, TAP)
        assert (end_of_handshake(known.open(kind, endpoint)) == zmq.EVENT_HANDSHAKE_SUCCEEDED) == may
    with Stranger(shared) as plain:
        assert end_of_handshake(plain.open(kind, endpoint)) & NO_COMMON_TONGUE
    with Stranger(shared) as plain:
        opened = plain.context.socket(kind)
        opened.plain_username, opened.plain_password = b"sender", b"sender"
        assert end_of_handshake(watched(opened, endpoint)) & NO_COMMON_TONGUE


def test_a_peer_that_expects_another_broker_does_not_talk_to_this_one(shared):
    with Stranger(shared, key_of(shared, "sender"), server_key=fresh_key()[0]) as misled:
        opened = misled.open(zmq.DEALER, shared.endpoint(CONTROL))
        assert end_of_handshake(opened) != zmq.EVENT_HANDSHAKE_SUCCEEDED


def test_noise_on_the_ports_changes_nothing(shared):
    for offset in OTHER_END:
        for noise in (b"GET / HTTP/1.1\r\n\r\n", b"\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL" + bytes(48), os.urandom(4096), b""):
            with socket.create_connection(("127.0.0.1", shared.base + offset), timeout=5) as raw:
                raw.sendall(noise)
                raw.settimeout(0.2)
                try:
                    while raw.recv(4096):
                        pass
                except OSError:
                    pass
    assert shared.processes["broker"].running
    with Stranger(shared, key_of(shared, "sender")) as known:
        opened = known.open(zmq.DEALER, shared.endpoint(CONTROL))
        known.hello(opened, "sender", "after-noise")
        assert known.answer(opened).WhichOneof("what") == "welcome"


def test_with_the_senders_key_nobody_is_intake(shared):
    before = shared.refused("hello")
    with Stranger(shared, key_of(shared, "sender")) as liar:
        opened = liar.open(zmq.DEALER, shared.endpoint(CONTROL))
        liar.hello(opened, "intake")
        answer = liar.answer(opened)
        assert answer.refusal.final and "may not be" in answer.refusal.reason
        liar.hello(opened, "cartbus", "cartbus-1")
        assert liar.answer(opened).refusal.final
        liar.hello(opened, "sender", "sender-1")
        assert liar.answer(opened).welcome.epoch
    assert shared.refused("hello") == before + 2
    assert shared.told("refused a hello of key:" + shared.public("sender")[0][:16]) and shared.told("of service intake")


def test_a_lane_takes_one_connection_of_its_own_key(shared):
    with Stranger(shared, key_of(shared, "sender")) as owner, Stranger(shared, key_of(shared, "intake")) as other:
        control = owner.open(zmq.DEALER, shared.endpoint(CONTROL))
        owner.hello(control, "sender", "with-a-lane")
        welcome = owner.answer(control).welcome
        lane = f"tcp://127.0.0.1:{welcome.lane.rsplit(':', 1)[1]}"
        assert shared.base + LANES <= int(lane.rsplit(":", 1)[1]) < shared.base + PORTS
        assert end_of_handshake(other.open(zmq.PULL, lane)) == REFUSED_BY_GATE
        mine = owner.open(zmq.PULL, lane)
        assert end_of_handshake(mine) == zmq.EVENT_HANDSHAKE_SUCCEEDED
        assert end_of_handshake(owner.open(zmq.PULL, lane)) == REFUSED_BY_GATE


def test_an_epoch_counts_only_from_its_own_connection(shared):
    """Whoever learns a session's number, and has a good key of another service, gains nothing."""
    bus = messages("bus")
    with Stranger(shared, key_of(shared, "sender")) as owner, Stranger(shared, key_of(shared, "intake")) as thief:
        ingress, theft = thief.open(zmq.PUSH, shared.endpoint(INGRESS)), thief.open(zmq.DEALER, shared.endpoint(CONTROL))
        assert [end_of_handshake(opened) for opened in (ingress, theft)] == [zmq.EVENT_HANDSHAKE_SUCCEEDED] * 2
        control = owner.open(zmq.DEALER, shared.endpoint(CONTROL))
        owner.hello(control, "sender", "robbed")
        epoch = owner.answer(control).welcome.epoch
        assert epoch > 1 << 40, "an epoch that can be guessed"
        before = shared.refused("epoch")
        head = bus.FrameHead(epoch=epoch, number=1, items=0).SerializeToString()
        ingress.send(len(head).to_bytes(4, "little") + head)
        theft.send(bus.Control(heartbeat=bus.Heartbeat(epoch=epoch, goodbye=True)).SerializeToString())
        assert thief.answer(theft).heartbeat_answer.lost
        control.send(bus.Control(heartbeat=bus.Heartbeat(epoch=epoch)).SerializeToString())
        assert not owner.answer(control).heartbeat_answer.lost
        wait_until(lambda: shared.refused("epoch") > before, "the refusal of a stolen frame")


# ---- keys come and go ----


def test_a_key_is_rotated_and_revoked_while_the_broker_runs(near):
    old = key_of(near, "sender")
    near.cartbus("keys", "rotate", "sender")
    assert near.cartbus("keys", "rotate", "sender", check=False).returncode == 1  # one at a time
    new = key_of(near, "sender")
    assert new != old and len(near.public("sender")) == 2
    with Stranger(near, old) as before, Stranger(near, new) as after:
        ours, theirs = before.open(zmq.DEALER, near.endpoint(CONTROL)), after.open(zmq.DEALER, near.endpoint(CONTROL))
        before.hello(ours, "sender", "old")
        after.hello(theirs, "sender", "new")
        living = [(ours, before.answer(ours).welcome.epoch), (theirs, after.answer(theirs).welcome.epoch)]
        assert all(epoch for _, epoch in living)
        beating(living, lambda: near.cartbus("keys", "rotate", "sender", "--finish"))
        assert [one["instance"] for one in beating(living, lambda: near.sessions("sender"))] == ["new"]
        assert [end_of_handshake(ours) for _ in range(3)] == [zmq.EVENT_HANDSHAKE_SUCCEEDED, zmq.EVENT_DISCONNECTED, REFUSED_BY_GATE]
        near.cartbus("keys", "revoke", "sender")
        assert near.sessions("sender") == [] and not (near.keys / "sender.key").exists()
    for key in (old, new):
        with Stranger(near, key) as gone:
            assert end_of_handshake(gone.open(zmq.DEALER, near.endpoint(CONTROL))) == REFUSED_BY_GATE


def tap_with(stranger, near):
    opened = stranger.open(zmq.SUB, near.endpoint(TAP))
    opened.subscribe(b"")
    assert end_of_handshake(opened) == zmq.EVENT_HANDSHAKE_SUCCEEDED
    return opened


def hears(near, *taps):
    """Until each has heard something that was said from now on."""
    for opened in taps:
        while opened.poll(0):
            opened.recv_multipart()

    def heard():
        near.cartbus("shop", "mode", "demo", "live")
        return all(opened.poll(100) for opened in taps)

    wait_until(heard, "the taps hearing what is said")


@pytest.fixture
def tapped(near):
    """A shop to speak of, and two keys on one host that may tap; one of them is about to lose that."""
    near.add_shop("demo")
    near.make("watcher", "bystander", service="cartbus", rights="tap")
    with Stranger(near, key_of(near, "watcher")) as gone, Stranger(near, key_of(near, "bystander")) as stays:
        yield near, tap_with(gone, near), tap_with(stays, near)


def assert_cut(near, ours, theirs):
    assert end_of_handshake(ours) == zmq.EVENT_DISCONNECTED
    assert end_of_handshake(ours) == REFUSED_BY_GATE
    hears(near, theirs)  # a neighbour on the same host is back
    while ours.poll(0):
        ours.recv_multipart()
    hears(near, theirs)
    assert not ours.poll(200)


def test_a_tap_without_the_right_sees_masked_addresses(tapped):
    near, ours, _ = tapped
    hears(near, ours)
    near.start("gateway")
    wait_until(near.connected, "the gateway, to the broker")
    leave_cart(near, near.shops["demo"], "c-1")

    def cart():
        while ours.poll(100):
            topic, _, message = ours.recv_multipart()
            if topic.startswith(b"cart.changed"):
                return message

    seen = wait_until(cart, "the cart on the tap")
    assert b"****@************" in seen and b"EUR" in seen
    assert not any(word in seen for word in (b"anna", b"Anna", b"mail.example", b"demo.example", b"Vase"))


def test_a_revoked_key_hears_nothing_more_where_it_was_connected(tapped):
    near, ours, theirs = tapped
    with Far(near, "sender") as far:
        far.start("sender")
        hears(near, ours, theirs)
        near.cartbus("keys", "revoke", "watcher")
        assert_cut(near, ours, theirs)
        wait_until(lambda: near.sessions("sender"), "the sender of the same host being back")
        assert far.processes["sender"].running


def test_a_key_that_loses_the_right_to_tap_is_cut_off(tapped):
    near, ours, theirs = tapped
    hears(near, ours, theirs)
    peers = near.keys / "peers.conf"
    before, head, after = peers.read_text().partition("[key watcher]")
    peers.write_text(before + head + after.replace("rights = tap", "rights = ask", 1))
    near.processes["broker"].popen.send_signal(signal.SIGHUP)
    assert_cut(near, ours, theirs)


def test_a_list_that_does_not_add_up_is_refused_and_the_old_one_stays(near):
    peers = near.keys / "peers.conf"
    good = peers.read_text()
    peers.write_text(good + "[key broken]\nservice = sender\npublic = xyz\n")
    near.processes["broker"].popen.send_signal(signal.SIGHUP)
    wait_until(lambda: near.told("peers.conf is not taken, and who may connect is left as it was"), "the refusal")
    done = near.cartbus("config", "check", check=False)
    assert done.returncode == 1 and "64 hex digits" in done.stderr
    with Stranger(near, key_of(near, "sender")) as known:
        assert end_of_handshake(known.open(zmq.DEALER, near.endpoint(CONTROL))) == zmq.EVENT_HANDSHAKE_SUCCEEDED


def test_who_may_only_look_changes_nothing(near):
    near.make("watcher", service="cartbus", rights="ask tap")
    with Far(near, "watcher") as far:
        assert far.ask("status")["log"]
        with pytest.raises(AssertionError, match="payloads"):
            far.ask("read")
        with pytest.raises(AssertionError, match="no right to operate"):
            far.ask("gateway.strike", name="gateway")


def test_without_its_key_the_broker_does_not_listen():
    with Near() as system:
        (system.keys / "broker.key").chmod(0o644)
        assert "chmod 600" in system.cartbus("config", "check", check=False).stderr
        with pytest.raises(AssertionError, match="chmod 600"):
            system.start("broker")
        (system.keys / "broker.key").unlink()
        with pytest.raises(AssertionError, match="listen needs the broker's key"):
            system.start("broker")
