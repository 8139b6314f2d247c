"""The broker's folder is damaged, anywhere: a bit flips, the end of a file is gone, a file is gone.

The oracle lies outside: what was acknowledged, and what the log said of itself before. After each damage a broker on a copy of the
folder refuses it, naming the place and what to do; or it opens and everything is there, to the last message and its place in the
queues; or it comes upon the damage while everything is read, and ends with the place. `cartbus-broker --verify` must not call a
log sound that is not. It never opens a shorter log without a word.
"""

import json
import random
import re
import shutil
import subprocess
import uuid

import pytest
from cartbus_system import System, fixture, wait_until

WEBHOOKS = 30
DAMAGES = ("flip", "truncate", "missing")
# What tells nothing about the log: locks, and RocksDB's own diary.
HARMLESS = ("LOCK", ".lock", "LOG")
PLACE = re.compile(r"state/broker|\.log\b|\.sst|MANIFEST|CURRENT|OPTIONS|message \d+|byte \d+", re.ASCII)
REMEDY = re.compile(r"put the newest|restore|backup|delete|use the version", re.IGNORECASE)


class Victim:
    """A log with everything in it: written in several starts, so that there are sorted files, and ended by a kill."""

    def __init__(self):
        self.system = System()
        shop = self.system.add_shop("demo")
        self.acknowledged = set()
        for bout in range(3):
            self.system.start("broker", "gateway", "intake")
            wait_until(self.system.connected, "the gateway's connection")
            for _ in range(WEBHOOKS // 3):
                name = uuid.uuid4().hex
                body = fixture("cart-changed", id=name, cart=f"c-{len(self.acknowledged)}")
                assert self.system.post(shop.cart(body)).status == 200
                self.acknowledged.add(name)
            if bout == 2:
                self.system.stop("intake")  # so that something is pending
                for _ in range(5):
                    self.leave(shop)
                # RocksDB has left its MANIFEST alone for a second, and a commit was made since
                wait_until(lambda: self.leave(shop) or self.witness_knows_the_manifest(), "that the witness knows how long it is")
            wait_until(self.system.drained, "that all of it is in the log")
            self.system.kill(*(name for name in ("gateway", "intake", "broker") if self.system.processes[name].running))
        self.state = self.system.folder / "state" / "broker"
        self.pristine = self.system.folder / "pristine"
        shutil.copytree(self.state, self.pristine)
        self.known = self.read()
        assert self.acknowledged <= self.known[0], "the oracle and the log differ before anything was damaged"

    def leave(self, shop):
        name = uuid.uuid4().hex
        assert self.system.post(shop.cart(fixture("cart-changed", id=name, cart=f"p-{name}"))).status == 200
        self.acknowledged.add(name)

    def witness_knows_the_manifest(self):
        """Its length stands before the sum at the end (bus/store/rocks/witness.c)."""
        return int.from_bytes((self.system.folder / "state" / "broker" / "witness").read_bytes()[-12:-4], "big") > 0

    def restore(self):
        shutil.rmtree(self.state)
        shutil.copytree(self.pristine, self.state)

    def read(self):
        """What the log holds: the ids that were acknowledged, every message, what waits where."""
        self.system.start("broker")
        try:
            log = self.system.log()
            queues = {queue["name"]: (queue["ready"] + queue["leased"] + queue["delayed"], queue["dead"])
                      for queue in self.system.ask("queues")["queues"]}
        finally:
            if self.system.processes["broker"].running:
                self.system.kill("broker")
        ids = {entry["message"].webhook_id for entry in log if entry["topic"] == "cart.changed"}
        return ids, [(entry["seq"], entry["topic"], entry["payload"]) for entry in log], queues

    def verify(self):
        done = self.system.program("broker", "--verify", "--json")
        return done.returncode, done.stdout

    def files(self):
        return sorted(path.name for path in self.pristine.iterdir() if not path.name.startswith(HARMLESS))


def hurt(path, damage, chance):
    size = path.stat().st_size
    if damage == "missing" or size == 0:
        path.unlink()
        return "all of it"
    at = chance.randrange(size)
    if damage == "truncate":
        with open(path, "r+b") as file:
            file.truncate(at)
        return f"cut off at byte {at}"
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
    return f"a bit of byte {at}"


def make_plan(files, count, chance):
    """Which damage to which file: each kind of file once, then each kind in every way, then whatever chance says."""
    kinds = {}
    for name in sorted(files, key=lambda name: (name.startswith(("OPTIONS", "IDENTITY")), name)):
        kinds.setdefault(re.sub(r"[0-9]+", "N", name), []).append(name)
    ways = {kind: chance.sample(DAMAGES, len(DAMAGES)) for kind in kinds}
    plan = [(chance.choice(names), ways[kind][turn]) for turn in range(len(DAMAGES)) for kind, names in kinds.items()]
    plan += [(chance.choice(files), chance.choice(DAMAGES)) for _ in range(count - len(plan))]
    return plan[:count]


def judge(victim, what):
    """The verdict on the damaged folder; an AssertionError when it is none of those that are allowed."""
    verified, report = victim.verify()
    log = victim.system.folder / "logs" / "broker.log"
    log.write_text("")
    try:
        found = victim.read()
    except (AssertionError, OSError, subprocess.SubprocessError):
        broker = victim.system.processes["broker"]
        said = log.read_text(errors="replace")
        assert broker.popen.returncode == 1, f"{what}: the broker ended with {broker.popen.returncode}: {said}"
        assert PLACE.search(said), f"{what}: no place is named: {said}"
        assert REMEDY.search(said), f"{what}: no remedy is named: {said}"
        assert verified == 1, f"{what}: verify ended with {verified} on a log that the broker refuses: {report}"
        return "refused"
    assert found == victim.known, f"{what}: another log opened without a word: {len(found[1])} messages of {len(victim.known[1])}"
    assert verified in (0, 1), f"{what}: verify ended with {verified}: {report}"
    return "whole"


@pytest.fixture(scope="module")
def victim():
    victim = Victim()
    with victim.system:
        yield victim


def test_every_kind_of_file_and_every_kind_of_damage(victim, request):
    count, seed = request.config.getoption("--damages"), request.config.getoption("--seed")
    seed = random.randrange(1 << 32) if seed is None else seed
    print(f"seed {seed}, files: {' '.join(victim.files())}")
    chance = random.Random(seed)
    verdicts = {}
    for name, damage in make_plan(victim.files(), count, chance):
        victim.restore()
        what = f"{name}: {damage}: {hurt(victim.state / name, damage, chance)}"
        verdict = judge(victim, what)
        print(f"{verdict}: {what}")
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
    print(json.dumps(verdicts))
    assert verdicts.get("refused"), "no damage was ever noticed: nothing was tested"


def test_an_undamaged_log_is_sound(victim):
    victim.restore()
    code, report = victim.verify()
    assert code == 0, report
    queues = {queue["name"]: queue for queue in json.loads(report)["queues"]}
    assert queues["intake"]["heard"] >= len(victim.acknowledged)
    assert queues["intake"]["pending"] >= 5
    assert queues["intake"]["done"] + queues["intake"]["pending"] == queues["intake"]["heard"]
    victim.system.start("broker")
    try:
        assert victim.verify()[0] == 3, "a log that a broker has open was read"
    finally:
        victim.system.kill("broker")
