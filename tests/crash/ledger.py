"""What was acknowledged, kept outside the system, and what follows from it: the oracle of the crash campaign.

A saying is a message that was sent once; it is *acked* when its confirm came, else the broker may have it or not. A letter is a
message in the worker's queue; `possible` holds every state that its acknowledged turns, and the one without an answer, allow.
"""

import dataclasses
import json

from bus_peer import bus, decode_message

FAILURE_LIMIT = 2
PENDING, DONE, DEAD, DROPPED = "pending", "done", "dead", "dropped"


def essence(message):
    """What two views of one message agree on; the operator's question leaves the sayer's clock out."""
    envelope, payload = decode_message(message)
    return (envelope.topic, envelope.shop, envelope.key, envelope.idem, envelope.version, envelope.tombstone, envelope.cause, payload)


@dataclasses.dataclass
class Saying:
    label: str
    message: bytes
    topic: str
    key: str
    idem: str
    claim: bool
    unit: int                 # messages of one unit are in the log together or not at all
    seq: int | None = None    # known from a confirm
    acked: bool = False


@dataclasses.dataclass
class Letter:
    seq: int
    key: str
    possible: set = dataclasses.field(default_factory=lambda: {(PENDING, 0)})
    turn_units: list = dataclasses.field(default_factory=list)   # of turns that settle it, with facts
    redriven: bool = False
    may_have_died: bool = False


class Ledger:
    def __init__(self, path):
        self.file = open(path, "a", buffering=1)
        self.sayings, self.letters, self.let_out = {}, {}, {}
        self.units = 0
        self.log_id = None

    def note(self, what, **more):
        self.file.write(json.dumps({"what": what, **more}) + "\n")

    # -- what is said

    def saying(self, label, message, unit=None):
        envelope, _ = decode_message(message)
        if unit is None:
            self.units += 1
        self.sayings[label] = Saying(label, message, envelope.topic, envelope.key, envelope.idem, envelope.claim, unit or self.units)
        self.note("said", label=label, topic=envelope.topic, key=envelope.key, idem=envelope.idem)
        return self.sayings[label]

    def unit(self):
        self.units += 1
        return self.units

    def acknowledge(self, saying, seq):
        assert saying.seq in (None, seq), f"{saying.label} was confirmed as {saying.seq}, now as {seq}: a false confirm"
        other = next((one for one in self.sayings.values() if one.seq == seq and one is not saying), None)
        assert not other, f"{saying.label} and {other.label} were both confirmed as {seq}"
        saying.seq, saying.acked = seq, True
        self.note("acked", label=saying.label, seq=seq)
        if saying.topic == "work":
            self.letter(seq, saying.key)

    def hear_first(self, saying, confirm):
        """The answer to something that was never said before."""
        assert confirm.kind == bus.CONFIRM_FRESH, f"{saying.label}, said once, is answered {confirm}"
        self.acknowledge(saying, confirm.seq)

    def hear_repeat(self, saying, confirm):
        known = saying.acked
        if saying.claim or not known and confirm.kind == bus.CONFIRM_FRESH:
            assert confirm.kind == bus.CONFIRM_FRESH, f"the repeat of {saying.label} is answered {confirm}"
        else:
            assert confirm.kind == bus.CONFIRM_DUPLICATE, f"the repeat of {saying.label} ({saying.seq}) is answered {confirm}"
        self.acknowledge(saying, confirm.seq)

    def remember(self, seq, message):
        """Something left the broker: from now on it must be in the log."""
        assert self.let_out.setdefault(seq, essence(message)) == essence(message), f"message {seq} changed after it had left the broker"

    # -- the queue

    def letter(self, seq, key):
        return self.letters.setdefault(seq, Letter(seq, key))

    def delivered(self, delivery, message):
        envelope, _ = decode_message(message)
        seq = delivery.receipt.seq
        self.remember(seq, message)
        letter = self.letter(seq, envelope.key)
        alive = {failures for state, failures in letter.possible if state == PENDING}
        assert alive, f"message {seq} was delivered, but it is {letter.possible}"
        assert delivery.failures in alive, f"message {seq} has {delivery.failures} failures, not one of {alive}"
        letter.possible = {(PENDING, delivery.failures)}
        if letter.redriven:
            return letter
        for other in self.letters.values():
            if other.key == envelope.key and other.seq < seq and not other.redriven:
                assert any(state != PENDING for state, _ in other.possible), f"message {seq} overtook {other.seq} of its key"
        return letter

    def after(self, letter, verdict, failed):
        """What the letter is when the turn is committed."""
        (_, failures), = letter.possible
        if verdict == bus.VERDICT_DONE:
            return (DONE, 0)
        if verdict == bus.VERDICT_DEAD or failed and failures + 1 >= FAILURE_LIMIT:
            return (DEAD, 0)
        return (PENDING, failures + failed)

    def asks(self, letter, after):
        """A change of the letter is on its way; unanswered, it may have happened."""
        letter.possible = letter.possible | {after}
        letter.may_have_died |= after[0] == DEAD
        self.note("asked", seq=letter.seq, after=after)

    def answered(self, letter, after):
        letter.possible = {after}
        self.note("settled", seq=letter.seq, state=after)

    def observe(self, letter, state):
        assert any(state == possible for possible, _ in letter.possible), f"message {letter.seq} is {state}, not {letter.possible}"
        letter.possible = {one for one in letter.possible if one[0] == state}

    # -- the log

    def check_log(self, entries):
        """`entries`: [(seq, said_by, message)] of the whole log. What was unknown is known afterwards."""
        by_label = {}
        for expected, (seq, said_by, message) in enumerate(entries, 1):
            assert seq == expected, f"the log has a hole at {expected}"
            self.remember(seq, message)
            envelope, payload = decode_message(message)
            if said_by == "broker":
                self._check_obituary(envelope, payload)
                continue
            label = payload.split(b"|", 1)[0].decode()
            assert label in self.sayings, f"message {seq} ({label}) was never said"
            assert label not in by_label, f"{label} is in the log twice, as {by_label[label]} and {seq}"
            by_label[label] = seq
            assert essence(message) == essence(self.sayings[label].message), f"message {seq} ({label}) is not what was said"
        missing = [seq for seq in self.let_out if seq > len(entries)]
        assert not missing, f"left the broker, and lost: messages {missing}; the log ends at {len(entries)}"
        self._check_sayings(by_label)

    def _check_obituary(self, envelope, payload):
        fact = bus.DeadLetter.FromString(payload)
        assert envelope.topic == "dead.letter" and fact.seq == envelope.cause
        assert self.letters[fact.seq].may_have_died, f"message {fact.seq} is said to have died"

    def _check_sayings(self, by_label):
        found = {}
        for saying in self.sayings.values():
            seq = by_label.get(saying.label)
            if saying.acked:
                assert seq == saying.seq, f"{saying.label}, acknowledged as {saying.seq}, is lost or moved ({seq})"
            found.setdefault(saying.unit, set()).add(seq is not None)
            if seq is not None and not saying.acked:
                self.acknowledge(saying, seq)
        torn = [unit for unit, states in found.items() if len(states) > 1]
        assert not torn, f"units {torn} are in the log in part"
        for letter in self.letters.values():
            for unit in letter.turn_units:
                self._tie(letter, found[unit] == {True})
            letter.turn_units = [unit for unit in letter.turn_units if found[unit] == {True}]

    def _tie(self, letter, facts_are_there):
        """Verdict and facts are one unit: what the facts say holds for the verdict."""
        done = any(state == DONE for state, _ in letter.possible)
        pending = {one for one in letter.possible if one[0] != DONE}
        if facts_are_there:
            assert done, f"the facts about message {letter.seq} are there, its verdict is not"
            letter.possible = {(DONE, 0)}
        else:
            assert pending, f"the verdict on message {letter.seq} is there, its facts are not"
            letter.possible = pending

    def forget_unsaid(self):
        """After a check of the whole log: what is not in it was not committed, and will not be said again."""
        gone = [label for label, saying in self.sayings.items() if not saying.acked]
        for label in gone:
            self.note("never happened", label=label)
            del self.sayings[label]

    def rows(self):
        """The compacted topic as it must stand: per key the highest version, of equals the newest."""
        rows = {}
        for saying in sorted((one for one in self.sayings.values() if one.acked), key=lambda one: one.seq):
            envelope, _ = decode_message(saying.message)
            if envelope.topic.startswith("row") and envelope.version >= rows.get(envelope.key, (0,))[0]:
                rows[envelope.key] = (envelope.version, saying.seq)
        return rows
