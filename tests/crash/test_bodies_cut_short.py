"""Files that come to a gateway (file_endpoint.c), which is killed, or whose disk fails or loses its power, at each call that keeps one.

Afterwards no message names a blob that is not there, what was answered 200 is whole, and the same request succeeds.
"""

import errno
import http.client
import os
import signal

import pytest

from cartbus_system import wait_until
from disk import Disk, Fault
from hatch_system import PROGRAM, Hatch, name_of

SIZE, TAIL = 60_000, 1000  # it is streamed; what its last piece brings about is the same each time
KEEPING = {"write", "fsync", "mkdir", "rename", "open", "unlink"}


def content_of(name):
    return (f"file {name}\n" * SIZE).encode()[:SIZE]


class Keeping:
    """A gateway whose blobs lie on a failing disk."""

    def __init__(self, hatch, disk, monkeypatch):
        self.hatch, self.disk, self.monkeypatch, self.answered = hatch, disk, monkeypatch, set()

    def open(self):
        with self.monkeypatch.context() as patch:
            for name, value in self.disk.environment().items():
                patch.setenv(name, value)
            self.hatch.open()

    def put(self, name):
        answer = self.hatch.put(name, content_of(name))
        assert answer.status == 200, answer.text
        self.answered.add(name)

    def begin(self, name):
        """All of it has come but its last piece; the gateway waits."""
        content = content_of(name)
        peer = self.hatch.begin(name, SIZE)
        peer.sendall(content[:-TAIL])
        wait_until(lambda: [path.stat().st_size for path in self.hatch.writing()] == [SIZE - TAIL], "all but the last piece", step_s=0.005)
        return peer

    def end(self, peer, name):
        """The answer; None: it died before."""
        with peer:
            try:
                peer.sendall(content_of(name)[-TAIL:])
                return self.hatch.answer(peer)
            except (OSError, http.client.HTTPException):
                return None

    def cut_short(self, name, fault):
        """`fault` strikes at the `at`th call from the last piece on."""
        peer = self.begin(name)
        self.disk.arm(Fault(fault.kind, self.disk.points + fault.at, fault.error))
        answer = self.end(peer, name)
        assert self.disk.hits > 0, "it was never reached"
        self.disk.disarm()
        return answer

    def kill(self):
        process = self.hatch.processes[PROGRAM]
        assert process.popen.wait(20) == -signal.SIGKILL
        self.hatch.kill(PROGRAM)

    def check_named(self, where):
        """Whatever was named or answered is whole and has its reference."""
        said, blobs = self.hatch.said(), self.hatch.blobs()
        assert said.keys() >= self.answered, where
        for name, message in said.items():
            assert message.digest == name_of(content_of(name)) and self.hatch.blob(message.digest).read_bytes() == content_of(name), (name, where)
        referred = {path.parent.name for path in self.hatch.references()}
        assert {message.digest for message in said.values()} <= referred <= set(blobs), where

    def check_surplus(self, where):
        """After an end: nothing else is told."""
        self.check_named(where)
        sound, told = self.hatch.verify()
        assert sound and all("no message is known to name it" in line for line in told), (told, where)

    def come_again(self, name, where):
        """The same request; nothing of what was cut short is left."""
        self.put(name)
        self.check_named(where)
        count = len(self.hatch.said())
        assert (len(self.hatch.blobs()), len(self.hatch.references()), self.hatch.writing()) == (count, count, []), where


@pytest.fixture
def keeping(tmp_path, monkeypatch):
    with Hatch() as hatch:
        folder = hatch.folder / "state" / "blobs" / "gateway"
        folder.mkdir(mode=0o700, parents=True)
        disk = Disk(folder, tmp_path / "disk", keeps_shadow=True, traces=True, deep=True)
        hatch.start("broker")
        keeping = Keeping(hatch, disk, monkeypatch)
        keeping.open()
        yield keeping
        disk.close()


def calls_of_keeping(keeping):
    """[(call, file)] from the last piece of a file on."""
    keeping.put("first")
    peer = keeping.begin("counted")
    before = keeping.disk.points
    assert keeping.end(peer, "counted").status == 200
    calls = [(call, name) for number, call, name in keeping.disk.traced() if number > before]
    assert {call for call, _ in calls} == KEEPING, calls
    return calls


@pytest.mark.parametrize("cuts", [False, True], ids=["killed", "without-power"])
def test_a_file_whose_keeping_is_ended_anywhere_is_whole_or_comes_again(keeping, cuts):
    calls = calls_of_keeping(keeping)
    bouts = [("kill before", at) for at in range(1, len(calls) + 1)] + [("kill halfway", at) for at, (call, _) in enumerate(calls, 1) if call == "write"]
    for number, (kind, at) in enumerate([*bouts, ("kill after", len(calls))]):
        where, name = (kind, *calls[at - 1]), f"cut-{number}"
        assert keeping.cut_short(name, Fault(kind, at)) is None, where
        keeping.kill()
        if cuts:
            keeping.disk.cut_power()
        keeping.check_surplus(where)
        keeping.open()
        keeping.come_again(name, where)
    assert keeping.hatch.verify() == (True, [])


def test_what_was_answered_outlives_a_power_cut_from_the_first_file_on(keeping):
    for round_name in ("new", "known"):  # the second time its folders are there
        keeping.put(round_name)
        keeping.hatch.kill(PROGRAM)
        keeping.disk.cut_power()
        keeping.check_named(round_name)
        assert keeping.hatch.verify() == (True, [])
        keeping.open()
        keeping.come_again(f"{round_name}-again", round_name)


def test_a_store_whose_making_was_ended_anywhere_outlives_a_power_cut(keeping):
    """The next gateway finds a folder that is there, and need not be on the disk."""
    hatch = keeping.hatch
    for number, folder in enumerate(("files", "", "/writing", "/blobs", "/refs")):  # which holds all shops; the shop's; what it holds
        name = f"s{number}"
        hatch.shop = hatch.add_shop(name)
        keeping.disk.arm(Fault("kill after", keeping.disk.points + 1, call="mkdir", name=folder if number == 0 else f"{name}{folder}"))
        with pytest.raises((OSError, http.client.HTTPException)):
            hatch.put(name, content_of(name))
        keeping.kill()
        keeping.disk.disarm()
        keeping.open()
        keeping.answered = set()
        keeping.put(name)
        keeping.hatch.kill(PROGRAM)
        keeping.disk.cut_power()
        keeping.check_named(folder)
        keeping.open()
        keeping.come_again(f"{name}-again", folder)


@pytest.mark.parametrize("error, status", [(errno.EIO, 503), (errno.ENOSPC, 507)], ids=["broken", "full"])
def test_a_file_that_the_disk_does_not_keep_is_refused_and_named_by_nothing(keeping, error, status):
    calls = [(at, call) for at, call in enumerate(calls_of_keeping(keeping), 1) if call[0] != "unlink"]  # of what was renamed
    for at, where in calls:
        answer = keeping.cut_short(f"failed-{at}", Fault("fail", at, error))
        assert answer.status == status, (where, answer.text)
        assert f"failed-{at}" not in keeping.hatch.said() and keeping.hatch.writing() == [], where
        keeping.check_named(where)
        keeping.come_again(f"failed-{at}", where)
    assert keeping.hatch.verify() == (True, [])


def test_a_file_whose_streaming_is_ended_leaves_nothing(keeping):
    keeping.put("first")
    for kind, call in (("kill before", "open"), ("kill after", "open"), ("kill before", "write"), ("kill halfway", "write"), ("kill after", "write")):
        keeping.disk.arm(Fault(kind, keeping.disk.points + 1, call=call, name="/writing/"))
        with pytest.raises((OSError, http.client.HTTPException)):
            keeping.hatch.put(f"{kind}-{call}".replace(" ", "-"), content_of(kind))
        keeping.kill()
        keeping.disk.disarm()
        assert keeping.hatch.verify() == (True, [])
        keeping.open()
        assert keeping.hatch.writing() == [] and keeping.hatch.said().keys() == {"first"}, (kind, call)
    keeping.come_again("last", "the end")
