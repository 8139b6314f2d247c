"""A session with the broker, spoken from outside: frames and control messages as bus/wire/frame.h and bus.proto have them.

Nothing of the runtime is used, so that what it forgives is not forgiven here: frames are counted, every confirm is kept.
"""

import json
import pathlib
import struct
import time
import uuid

import zmq
from messages import messages

BEAT_S = 0.1
ANSWER_WITHIN_S = 60

bus = messages("bus")


class BrokerGone(Exception):
    """The process ended while somebody waited for it."""


class SessionLost(Exception):
    """The broker ended this session; leases are free again, what was not answered is unknown."""


def encode_message(payload, **envelope):
    head = bus.Envelope(**envelope).SerializeToString()
    return struct.pack("<H", len(head)) + head + payload


def decode_message(message):
    (length,) = struct.unpack_from("<H", message)
    return bus.Envelope.FromString(message[2:2 + length]), message[2 + length:]


def decode_frame(frame):
    (length,) = struct.unpack_from("<I", frame)
    head, at, items = bus.FrameHead.FromString(frame[4:4 + length]), 4 + length, []
    for _ in range(head.items):
        length, body = struct.unpack_from("<II", frame, at)
        at += 8
        items.append((bus.Down.FromString(frame[at:at + length]), frame[at + length:at + length + body]))
        at += length + body
    assert at == len(frame), "a frame that does not add up"
    return head, items


class Peer:
    """One session at a time of one instance. Whatever waits, pumps: heartbeats go out, the lane is read."""

    def __init__(self, run, alive, service, instance, crowd, **hello):
        """`alive` says whether the broker's process runs; `crowd`: the peers of this process, which wait together."""
        self.run, self.alive, self.service, self.instance = pathlib.Path(run), alive, service, instance
        self.credit, self.run_name, self.crowd = 0, uuid.uuid4().hex, crowd
        self.context, self.epoch = zmq.Context(), 0
        self.control, self.ingress, self.lane = self._socket(zmq.DEALER, "control"), self._socket(zmq.PUSH, "ingress"), None
        self.requests = self.questions = 0
        self.answers = {}
        crowd.append(self)
        self.hello(**hello)

    def _socket(self, kind, name):
        socket = self.context.socket(kind)
        socket.linger, socket.immediate, socket.reconnect_ivl = 0, 1, 10
        socket.sndhwm = socket.rcvhwm = 0
        socket.connect(f"ipc://{self.run}/{name}")
        return socket

    def close(self):
        self.crowd.remove(self)
        if self.lane:
            self.lane.close()
        self.control.close()
        self.ingress.close()
        self.context.term()

    # -- the session

    def hello(self, **more):
        """A new session of the same run of the process. After a broker's restart: a new Peer."""
        self.welcome, self.epoch = None, 0
        self._say_control(hello=bus.Hello(service=self.service, instance=self.instance, run=self.run_name, **more))
        self.wait(lambda: self.welcome, "a welcome")
        self.sent = self.received = self.progress = self.credit = 0
        self.deliveries, self.projections, self.confirms = [], [], {}
        if self.lane:
            self.lane.close()
        self.lane = self.context.socket(zmq.PULL)
        self.lane.linger, self.lane.rcvhwm, self.lane.reconnect_ivl = 0, 0, -1
        self.lane.connect(self.welcome.lane)
        self.epoch = self.welcome.epoch
        self._beat()

    def goodbye(self):
        self._say_control(heartbeat=bus.Heartbeat(epoch=self.epoch, received=self.received, goodbye=True))

    def _say_control(self, **what):
        self._send(self.control, bus.Control(**what).SerializeToString())

    def _send(self, socket, message):
        until = time.monotonic() + ANSWER_WITHIN_S
        while True:
            try:
                socket.send(message, zmq.DONTWAIT)
                return
            except zmq.Again:
                if not self.alive():
                    raise BrokerGone from None
                assert time.monotonic() < until, "the broker takes nothing"
                socket.poll(10, zmq.POLLOUT)

    def grant(self, more):
        self.credit += more
        self._beat()

    def _credit(self):
        return bus.UpCredit(delivery_messages=self.credit, delivery_bytes=1 << 40, projection_messages=1 << 40,
                            projection_bytes=1 << 40)

    def _beat(self):
        self.beat_at = time.monotonic() + BEAT_S
        self._say_control(heartbeat=bus.Heartbeat(epoch=self.epoch, received=self.received, credit=self._credit()))

    def pump(self, most_ms=10):
        if not self.alive():
            raise BrokerGone
        poller, sockets = zmq.Poller(), {}
        for peer in self.crowd:
            if peer.epoch and time.monotonic() >= peer.beat_at:
                peer._beat()
            for socket, hear in ((peer.control, peer._hear_control), (peer.lane, peer._hear_frame)):
                if socket:
                    poller.register(socket, zmq.POLLIN)
                    sockets[socket] = hear
        for socket, _ in poller.poll(most_ms):
            sockets[socket](socket.recv())

    def wait(self, condition, what):
        until = time.monotonic() + ANSWER_WITHIN_S
        while not condition():
            assert time.monotonic() < until, f"{self.instance}: {what} did not come"
            self.pump()
        return condition()

    def _hear_control(self, message):
        control = bus.Control.FromString(message)
        kind = control.WhichOneof("what")
        if kind == "welcome":
            self.welcome = control.welcome
        elif kind == "refusal":
            raise AssertionError(f"{self.instance} was refused: {control.refusal.reason}")
        elif kind == "heartbeat_answer" and control.heartbeat_answer.lost:
            if control.heartbeat_answer.epoch == self.epoch:
                raise SessionLost
        elif kind == "answer":
            text = self.answers.get(control.answer.id, (None, ""))[1] + control.answer.text
            self.answers[control.answer.id] = (None if control.answer.more else control.answer.ok, text)

    def _hear_frame(self, frame):
        head, items = decode_frame(frame)
        if head.epoch != self.epoch:
            return
        assert head.number == self.received + 1, "the lane lost a frame"
        self.received = head.number
        for item, body in items:
            kind = item.WhichOneof("what")
            if kind == "delivery":
                self.deliveries.append((item.delivery, body))
            elif kind == "projection":
                self.projections.append((item.projection, body))
            elif kind == "progress":
                self.progress = item.progress.seq
            elif kind == "confirm":
                self.confirms[item.confirm.request] = item.confirm

    # -- what is said

    def _say_items(self, items):
        self.sent += 1
        head = bus.FrameHead(epoch=self.epoch, number=self.sent, items=len(items)).SerializeToString()
        frame = [struct.pack("<I", len(head)), head]
        for item, body in items:
            item = item.SerializeToString()
            frame += [struct.pack("<II", len(item), len(body)), item, body]
        self._send(self.ingress, b"".join(frame))

    def publish(self, message):
        return self.publish_many([message])[0]

    def publish_many(self, *frames):
        """All messages of a frame are in one commit; one frame follows the other at once. The confirms of all."""
        first = self.requests + 1
        for messages in frames:
            self._say_items([(bus.Up(publish=bus.UpPublish(request=self.requests + 1 + i)), message)
                             for i, message in enumerate(messages)])
            self.requests += len(messages)
        return [self.wait_confirm(request) for request in range(first, self.requests + 1)]

    def turn(self, receipt, verdict, facts=(), delay_us=0, failed=False, reason=""):
        self.requests += 1
        turn = bus.UpTurn(request=self.requests, receipt=receipt, verdict=verdict, delay_us=delay_us, failed=failed,
                          reason=reason, facts=len(facts))
        items = [(bus.Up(fact=bus.UpFact(index=i)), fact) for i, fact in enumerate(facts)]
        self._say_items([(bus.Up(turn=turn), b""), *items])
        return self.wait_confirm(self.requests)

    def wait_confirm(self, request):
        self.wait(lambda: request in self.confirms, f"confirm {request}")
        return self.confirms.pop(request)

    def ask(self, verb, **argument):
        self.questions += 1
        question, before = self.questions, self.answers
        self._say_control(question=bus.Question(id=question, verb=verb, argument=json.dumps(argument)))
        self.wait(lambda: before.get(question, (None,))[0] is not None, f"an answer to {verb}")
        ok, text = before.pop(question)
        assert ok, f"{verb}: {text}"
        return json.loads(text)
