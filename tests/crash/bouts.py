"""Bouts of the crash campaign: one scripted run each, with one thing that goes wrong, and the judgement afterwards.

A bout runs in a process of its own and answers a Result; many run side by side, since most of each is waiting.
"""

import collections
import dataclasses
import errno
import functools
import multiprocessing
import os
import random
import signal
import traceback

from bus_peer import BrokerGone, SessionLost
from disk import Disk, Fault
from scripted import Bout

LARGE_MESSAGES = 6
EXTRA_LIVES = 3
BOUT_WITHIN_S = 240
DISTURBED_MOST = 5  # on a machine so busy that a peer is silent for too long
LIVES_MOST = 10  # of one cycle, if the kill does not come before
SYNCS = ("fsync", "fdatasync")
# Where a failure may stay without consequence, and why. Anything else must end the process.
HARMLESS = {
    "fallocate": "room set aside: what counts is the write behind it",
    "ftruncate": "room that was set aside and not used is given back, when everything is synced",
    "reopen": "of a write-ahead log that was read already: to give back what was set aside",
    "unlink": "what nobody needs any more stays a while longer",
    "LOG": "RocksDB's own diary, not the log",
    "OPTIONS": "a note of the options, which nobody reads back",
    "LOCK": "taken before anything is there",
}


@dataclasses.dataclass(frozen=True)
class Spec:
    name: str
    seed: int
    fault: Fault
    cut: tuple | None = None   # (names, pages) of Disk.cut_power right after the end
    cuts_later: bool = True    # the power goes after the first judgement, too


@dataclasses.dataclass
class Result:
    spec: Spec
    what: str = ""             # the call that was struck
    hits: int = 0
    code: int | None = None    # how the process ended; None: it went on
    last_words: str = ""
    disturbed: int = 0         # a session was lost because this process did not run in time: one more kill, at that moment
    error: str = ""
    folder: str = ""


def play_whole(bout):
    """The whole scripted run: two lives with a SIGKILL between them, and an orderly end. BrokerGone if it ends before."""
    bout.start()
    bout.play()
    bout.kill()
    bout.start()
    bout.play(large=LARGE_MESSAGES)
    bout.stop()


def undisturbed(bout, result, act):
    """What a lost session leaves open is open in the ledger as well; the broker is killed and the act begins anew."""
    for _ in range(DISTURBED_MOST):
        try:
            return act()
        except SessionLost:
            result.disturbed += 1
            bout.kill()
    raise AssertionError("one session after the other was lost")


def play_until_struck(bout):
    """Ends when the process has ended by itself, or the script is over and the point has been hit: its exit code, None for 0."""
    try:
        play_whole(bout)
        for _ in range(EXTRA_LIVES):
            if bout.disk.hits or bout.broker.returncode != 0:
                break
            bout.start()
            bout.play_more()
            bout.stop()
    except BrokerGone:
        bout.broker.wait()
        bout.leave()
        return bout.broker.returncode
    return bout.broker.returncode or None  # it may be struck while it stops


def count_points(seed=1):
    bout = Bout(seed, functools.partial(Disk, traces=True))
    try:
        play_whole(bout)
        assert bout.broker.returncode == 0, bout.said()
        return bout.disk.traced()
    finally:
        bout.close()


def critical_line(said):
    return next((line for line in said.splitlines() if line.startswith("<2>broker: ")), "")


def check_end(spec, result, said):
    """A kill is a kill; any other end is an exit code 1 and a line that says what and where."""
    if spec.fault.kind.startswith("kill"):
        assert result.code == -signal.SIGKILL, f"it ended with {result.code} instead of being killed: {said[-1500:]}"
        return
    call, _, name = result.what.partition(" ")
    harmless = any(name.startswith(word) or call == word for word in HARMLESS)
    if result.code is None:
        assert harmless or spec.fault.kind == "short", f"{result.what} failed, and the broker went on"
        return
    result.last_words = critical_line(said)
    assert result.last_words, f"it ended with {result.code} and without a word: {said[-1500:]}"
    if result.code == -signal.SIGABRT:  # an assertion of RocksDB: told, but never for a sync
        assert "stopped by an assertion" in said and call not in SYNCS, said[-1500:]
        return
    assert result.code == 1, f"it ended with {result.code}: {said[-1500:]}"
    words = "No space left" if spec.fault.error == errno.ENOSPC else os.strerror(errno.EIO)
    assert words in result.last_words, f"it does not say what: {result.last_words}"
    assert "/state" in result.last_words or "[paths] state" in result.last_words, f"it does not say where: {result.last_words}"


def run(spec):
    """One bout of the enumeration."""
    bout, result = Bout(spec.seed, functools.partial(Disk, keeps_shadow=True)), Result(spec)
    dice = random.Random(f"{spec.seed} {spec.fault.at}")
    try:
        bout.disk.arm(spec.fault)
        result.code = undisturbed(bout, result, lambda: play_until_struck(bout))
        result.hits, result.what = bout.disk.hits, bout.disk.what
        assert result.hits, "this point was never hit"
        check_end(spec, result, bout.said())
        bout.disk.disarm()
        if spec.cut:
            bout.disk.cut_power(*spec.cut, dice)
        undisturbed(bout, result, bout.judge)
        bout.kill()
        if spec.cuts_later:
            bout.disk.cut_power()
        undisturbed(bout, result, bout.judge_again)
    except Exception:
        result.error, result.folder = f"{traceback.format_exc()}\nthe broker's log:\n{bout.said()[-3000:]}", str(bout.folder)
    bout.close(keep=bool(result.error and os.environ.get("CARTBUS_KEEP")))
    return result


def run_cycles(seed, cycles):
    """Kills at random moments, one after the other in one folder, whatever the process is at."""
    bout, result = Bout(seed), Result(Spec("random kills", seed, Fault("none", 0)))
    dice = random.Random(seed)
    try:
        for _ in range(cycles):
            bout.kill_after_s = dice.choice((0.1, 0.5, 2.0, 8.0)) * dice.random()
            try:
                bout.judge()
                bout.leave()
                for _ in range(LIVES_MOST):
                    bout.play(large=1)
                    bout.leave()
            except BrokerGone:
                pass
            except SessionLost:
                result.disturbed += 1
            assert bout.was_killed or bout.alive(), f"it ended by itself with {bout.broker.poll()}: {bout.said()}"
            result.hits += bout.was_killed
            bout.kill()
        result.code, bout.kill_after_s = -signal.SIGKILL, None
        undisturbed(bout, result, bout.judge)
        bout.kill()
        undisturbed(bout, result, bout.judge_again)
    except Exception:
        result.error, result.folder = f"{traceback.format_exc()}\nthe broker's log:\n{bout.said()[-3000:]}", str(bout.folder)
    bout.close(keep=bool(result.error and os.environ.get("CARTBUS_KEEP")))
    return result


def hangs(*_):
    raise AssertionError(f"the bout did not end within {BOUT_WITHIN_S} s")


def call(job):
    function, arguments = job
    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(BOUT_WITHIN_S)
    try:
        return function(*arguments)
    finally:
        signal.alarm(0)


def run_all(jobs, at_once):
    """[(function, arguments)] side by side; their results in this order."""
    with multiprocessing.Pool(min(at_once, len(jobs)), maxtasksperchild=20) as pool:
        return pool.map(call, jobs, chunksize=1)


def by_kind(points):
    """{(call, sort of file): [point]}: a table is a table, whatever its number."""
    kinds = collections.defaultdict(list)
    for number, call, name in points:
        sort = name.rsplit(".", 1)[-1] if "." in name and not name.startswith("LOG") else name.split("-")[0]
        kinds[call, sort].append(number)
    return kinds
