"""The scripted run of the broker: publish, lease, ack, return, dead-letter, redrive, drop, claim, fold, repeat; one after the other.

Each bout is one broker in a folder of its own, a ledger beside it, and whatever goes wrong on the way. `judge` starts the
broker again on what is left and holds it against the ledger.
"""

import base64
import itertools
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import threading
import time

from bus_peer import BrokerGone, Peer, bus, encode_message
from cartbus_system import BUILD, end_with_parent, wait_until
from ledger import DEAD, DROPPED, FAILURE_LIMIT, PENDING, Ledger

TOPOLOGY = f"""[topic raw]
retention = raw
[topic work]
retention = fact
[topic fact]
retention = fact
[topic row]
retention = fact
group = row
[topic row.end]
retention = fact
group = row
[topic claim]
retention = claim
[peer talker]
says = raw
says = work
says = fact
says = row
says = row.end
says = claim
[peer worker]
hears = work
remembers = fact
says = fact
failure-limit = {FAILURE_LIMIT}
[peer reader]
remembers = raw
remembers = work
remembers = fact
remembers = row
remembers = row.end
remembers = claim
remembers = dead.letter
[peer folder]
remembers = row
remembers = row.end
[peer admin]
operator = yes
"""
KEYS = 3
PLANS = ("done", "facts", "return", "fail", "facts", "dead", "exhaust", "redrive", "drop")  # what befalls a message of work
DRAINED_WITHIN_S = 60
SMALL, LARGE = 200, 900_000  # bytes; a few large ones fill a write buffer: flush, new write-ahead log, new tables


class Bout:
    def __init__(self, seed=1, disk=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cartbus-crash-"))
        self.store = self.folder / "state" / "broker"
        self.store.mkdir(parents=True)
        (self.folder / "topology.conf").write_text(TOPOLOGY)
        (self.folder / "cartbus.conf").write_text(
            f"[paths]\nstate = {self.folder}/state\nrun = {self.folder}/run\n[broker]\ntopology = {self.folder}/topology.conf\n")
        self.disk = disk(self.store, self.folder / "disk") if disk else None
        self.ledger = Ledger(self.folder / "ledger")
        self.random = random.Random(seed)
        self.broker, self.crowd, self.starts, self.numbers = None, [], 0, 0
        self.was_killed, self.killer, self.kill_after_s = False, None, None
        self.turns = 0

    def close(self, keep=False):
        self.leave()
        if self.broker and self.broker.poll() is None:
            self.broker.kill()
            self.broker.wait()
        if self.disk:
            self.disk.close()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    # -- the process

    @property
    def log(self):
        return self.folder / f"broker-{self.starts}.log"

    def alive(self):
        return self.broker.poll() is None

    def start(self):
        """Starts the broker and waits until it is ready; BrokerGone if it ends instead."""
        self.starts += 1
        self.was_killed = False
        more = self.disk.environment() if self.disk else {}
        with open(self.log, "wb") as log:
            self.broker = subprocess.Popen([str(BUILD / "bin" / "cartbus-broker"), "--config", str(self.folder / "cartbus.conf")],
                                           stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent,
                                           env={**os.environ, **more})
        if self.kill_after_s is not None:
            self.killer = threading.Timer(self.kill_after_s, self._kill_now)
            self.killer.start()
        wait_until(lambda: b"ready log=" in self.log.read_bytes() or not self.alive(), "the broker being ready", 60, step_s=0.005)
        if not self.alive():
            raise BrokerGone

    def leave(self):
        """Its peers forget this life of the broker."""
        for peer in list(self.crowd):
            peer.close()

    def kill(self):
        if self.killer:
            self.killer.cancel()
            self.killer.join()
        self.broker.kill()
        self.broker.wait()
        self.leave()

    def _kill_now(self):
        """From another thread, while this one is at anything."""
        self.was_killed = True
        self.broker.kill()

    def stop(self):
        self.broker.terminate()
        wait_until(lambda: not self.alive(), "the broker's end", 30, step_s=0.005)
        self.leave()

    def said(self):
        """The log of its last life."""
        return self.log.read_text(errors="replace")

    def connect(self, service, **hello):
        return Peer(self.folder / "run", self.alive, service, f"{service}-1", self.crowd, **hello)

    # -- saying

    def compose(self, topic, plan="-", key="", size=SMALL, unit=None, **envelope):
        self.numbers += 1
        label = f"{topic}-{plan}-{self.numbers}"
        payload = label.encode() + b"|" + self.random.randbytes(size)
        message = encode_message(payload, topic=topic, shop="s", key=key or "k", **envelope)
        return self.ledger.saying(label, message, unit)

    def publish(self, *arguments, **named):
        saying = self.compose(*arguments, **named)
        self.ledger.hear_first(saying, self.talker.publish(saying.message))
        return saying

    def repeat(self, saying):
        self.ledger.hear_repeat(saying, self.talker.publish(saying.message))

    # -- the script

    def open_peers(self):
        self.talker = self.connect("talker")
        self.worker = self.connect("worker")
        self.admin = self.connect("admin")
        self.reader = self.connect("reader")

    def publish_together(self, *frames):
        confirms = self.talker.publish_many(*[[one.message for one in frame] for frame in frames])
        for saying, confirm in zip(itertools.chain(*frames), confirms):
            self.ledger.hear_first(saying, confirm)

    def say_all_sorts(self, turn):
        for i, plan in enumerate(PLANS):
            self.publish("work", plan, key=f"k{i % KEYS}", **({"idem": f"w{turn}-{i}"} if i % 2 else {}))
        for i in range(3):
            self.publish("row", key=f"r{i}", version=turn * 10 + 3 - i)
        self.publish("row.end", key="r1", version=turn * 10 + 5, tombstone=True)
        self.publish("row", key="r1", version=turn * 10 + 4)  # late: it must not come back
        self.publish("claim", key=f"c{turn}", idem=f"claim-{turn}", claim=True)
        self.publish_together([self.compose("raw", key=f"x{i}", idem=f"x{turn}-{i}") for i in range(4)])
        # so many that the broker's other thread commits them, and some that are heard meanwhile
        self.publish_together([self.compose("fact", key=f"m{i}", idem=f"m{turn}-{i}") for i in range(20)],
                              [self.compose("fact", key=f"m{i}", idem=f"n{turn}-{i}") for i in range(4)])
        for saying in [one for one in self.ledger.sayings.values() if one.idem][::4]:
            self.repeat(saying)

    def say_much(self, count):
        """Fills the write buffer of a family, so that what was only in the write-ahead log becomes a table."""
        for _ in range(count):
            self.publish("fact", key="large", size=LARGE)

    def work_off(self, most=200):
        """Takes what the queue hands out, until it hands out nothing any more, and gives each letter its verdict."""
        self.worker.grant(4)
        for _ in range(most):
            if not self.worker.deliveries:
                state = self.admin.ask("queues")["queues"][0]
                if not self.worker.deliveries and state["ready"] + state["leased"] + state["unread"] + state["delayed"] == 0:
                    return
                self.worker.pump(5)
                continue
            self.settle(*self.worker.deliveries.pop(0))
            self.worker.grant(1)

    def settle(self, delivery, message):
        letter = self.ledger.delivered(delivery, message)
        plan = message.split(b"|", 1)[0].rsplit(b"-", 2)[-2].decode()
        first = delivery.failures == 0 and delivery.receipt.attempt == 1
        if delivery.redriven_from:
            self.turn(letter, delivery, bus.VERDICT_DONE)
        elif plan in ("dead", "redrive", "drop"):
            self.turn(letter, delivery, bus.VERDICT_DEAD, reason=f"planned: {plan}")
        elif plan == "return" and first:
            self.turn(letter, delivery, bus.VERDICT_RETURN, delay_us=1000)
        elif plan == "exhaust" or plan == "fail" and delivery.failures == 0:
            self.turn(letter, delivery, bus.VERDICT_RETURN, delay_us=1000, failed=True, reason="planned failure")
        else:
            self.turn(letter, delivery, bus.VERDICT_DONE, facts=2 if plan == "facts" else 0)

    def turn(self, letter, delivery, verdict, facts=0, failed=False, **more):
        unit = self.ledger.unit()
        said = [self.compose("fact", "told", key=f"of-{letter.seq}", unit=unit, cause=letter.seq) for _ in range(facts)]
        after = self.ledger.after(letter, verdict, failed)
        self.ledger.asks(letter, after)
        if facts:
            letter.turn_units.append(unit)
        confirm = self.worker.turn(delivery.receipt, verdict, [one.message for one in said], failed=failed, **more)
        assert confirm.kind == bus.CONFIRM_FRESH, f"a verdict on a leased letter is answered {confirm}"
        self.ledger.answered(letter, after)
        for i, saying in enumerate(said):
            self.ledger.acknowledge(saying, confirm.seq + i)

    def operate(self):
        """Redrives and drops those of the dead letters that are planned for it."""
        for dead in self.admin.ask("dead.list", limit=1000)["dead"]:
            letter = self.ledger.letters[dead["seq"]]
            label = next(one.label for one in self.ledger.sayings.values() if one.seq == dead["seq"])
            self.ledger.observe(letter, DEAD)
            if "-redrive-" in label:
                self.change(letter, (PENDING, 0), "dead.redrive", "redriven")
            elif "-drop-" in label:
                self.change(letter, (DROPPED, 0), "dead.drop", "dropped")

    def change(self, letter, after, verb, count):
        letter.redriven |= after[0] == PENDING
        self.ledger.asks(letter, after)
        answer = self.admin.ask(verb, queue="worker", seq=letter.seq, why="planned")
        assert answer[count] == 1, answer
        self.ledger.answered(letter, after)

    def hear_projections(self):
        """What the reader was shown has left the broker."""
        for projection, message in self.reader.projections:
            self.ledger.remember(projection.seq, message)
        self.reader.projections.clear()

    def play(self, large=0):
        """One life of the broker; ends with some letters pending and one leased."""
        self.turns += 1
        turn = self.turns
        self.open_peers()
        self.say_all_sorts(turn)
        self.work_off()
        self.operate()
        self.say_much(large)
        self.work_off()
        for i in range(KEYS + 2):
            self.publish("work", "done", key=f"k{i % KEYS}", idem=f"left-{turn}-{i}")
        self.worker.grant(1)
        self.hear_projections()

    def play_more(self):
        """Commit after commit, for a point that did not come yet."""
        if not self.crowd:
            self.open_peers()
        for _ in range(50):
            self.publish("work", "done", key=f"k{self.numbers % KEYS}")

    # -- the judgement

    def judge(self):
        """The broker starts on what is left, with no fault any more, and nothing acknowledged is missing."""
        started = time.monotonic()
        try:
            self.start()
        except BrokerGone:
            if self.was_killed:
                raise
            raise AssertionError(f"the broker does not start again: {self.said()}") from None
        self.admin = self.connect("admin", remembered=max(self.ledger.let_out, default=0))
        self.ledger.check_log(self.read_log())
        self.talker, self.reader = self.connect("talker"), self.connect("reader")
        for saying in [one for one in self.ledger.sayings.values() if one.idem]:
            if saying.acked or not saying.label.startswith("fact"):
                self.repeat(saying)
        self.check_dead()
        self.drain(started)
        self.check_rows()
        self.ledger.forget_unsaid()
        self.ledger.check_log(self.read_log())

    def judge_again(self):
        """After one more end of the process: what the first judgement was shown is still there."""
        try:
            self.start()
        except BrokerGone:
            raise AssertionError(f"the broker does not start a second time: {self.said()}") from None
        self.admin = self.connect("admin", remembered=max(self.ledger.let_out, default=0))
        self.ledger.check_log(self.read_log())
        self.stop()
        assert self.broker.returncode == 0, self.said()

    def read_log(self):
        entries, start = [], 1
        while start:
            answer = self.admin.ask("read", **{"from": start, "limit": 1000})
            for one in answer["messages"]:
                entries.append((one["seq"], one["said_by"], self.as_said(one)))
            start = answer["next"]
        return entries

    def as_said(self, one):
        more = {name: one[name] for name in ("topic", "shop", "key", "idem", "version", "tombstone", "cause")}
        return encode_message(base64.b64decode(one["payload"]), **more)

    def check_dead(self):
        dead = {one["seq"] for one in self.admin.ask("dead.list", limit=1000)["dead"]}
        for seq in dead:
            self.ledger.observe(self.ledger.letters[seq], DEAD)
        for letter in self.ledger.letters.values():
            if letter.seq not in dead:
                letter.possible = {one for one in letter.possible if one[0] != DEAD}
                assert letter.possible, f"message {letter.seq} is no dead letter any more"

    def drain(self, started):
        """Every letter that is not over is handed out, in the order of its key; and nothing else is."""
        self.worker = self.connect("worker")
        self.worker.grant(10_000)
        must = {one.seq for one in self.ledger.letters.values() if all(state == PENDING for state, _ in one.possible)}
        until = started + DRAINED_WITHIN_S
        while True:
            while self.worker.deliveries:
                delivery, message = self.worker.deliveries.pop(0)
                letter = self.ledger.delivered(delivery, message)
                self.turn(letter, delivery, bus.VERDICT_DONE)
                must.discard(letter.seq)
            state = self.admin.ask("queues")["queues"][0]
            if state["ready"] + state["leased"] + state["delayed"] + state["unread"] == 0 and not self.worker.deliveries:
                break
            assert time.monotonic() < until, f"not handed out: {sorted(must)}; {state}"
            self.worker.pump(20)
        assert not must, f"acknowledged, not settled, and never handed out: {sorted(must)}"
        for letter in self.ledger.letters.values():
            letter.possible = {one for one in letter.possible if one[0] != PENDING}
            assert letter.possible, f"message {letter.seq} is pending and was not handed out"

    def check_rows(self):
        """Who comes without anything gets the rows that stand, and the log behind them: folded, they are what was said."""
        folder = self.connect("folder")
        head = self.admin.ask("status")["head"]
        folder.wait(lambda: folder.progress >= head, "the fold's end")
        rows = {}
        for projection, message in folder.projections:
            saying = next(one for one in self.ledger.sayings.values() if one.seq == projection.seq)
            assert saying.message == message
            version = self.version_of(message)
            if version >= rows.get(saying.key, (0,))[0]:
                rows[saying.key] = (version, projection.seq)
        assert rows == self.ledger.rows(), f"folded {rows}, said {self.ledger.rows()}"

    @staticmethod
    def version_of(message):
        length = int.from_bytes(message[:2], "little")
        return bus.Envelope.FromString(message[2:2 + length]).version
