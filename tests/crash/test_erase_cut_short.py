"""An erasure that a kill, a power cut or a failing disk cuts short at any of its steps: it is gone on from, and touches nothing else."""

import base64
import errno
import functools
import json
import random
import subprocess

from bus_peer import BrokerGone, SessionLost, bus, encode_message
from cartbus_system import BUILD, wait_until
from disk import Disk, Fault
from scripted import Bout

SECRET = b"q7Zk2mVx9Lr4Tb8N"
FAULTS = (("kill before", 0), ("kill halfway", 0), ("kill after", 0), ("fail", errno.EIO), ("fail", errno.ENOSPC))
POINTS_MOST = 400
SESSIONS_MOST = 5


def message(topic, number, erased, **more):
    payload = (SECRET if erased else b"of another ") + str(number).encode()
    return encode_message(payload, topic=topic, shop="s", key=f"{'mine' if erased else 'other'}-{number}", **more)


def fill(bout):
    """Messages of two persons in turn, in one commit and in many; work that is dead, that waits, and that nobody has."""
    bout.open_peers()
    for number in range(0, 24, 4):
        said = [message("raw", number, True, idem=f"i{number}"), message("row", number + 1, number % 8 == 0, version=number + 1),
                message("work", number + 2, number % 8 == 4), message("fact", number + 3, False)]
        bout.talker.publish_many(said) if number % 8 else [bout.talker.publish(one) for one in said]
    bout.talker.publish(message("claim", 90, True, idem="q7Zk2mVx9Lr4Tb8N/1", claim=True))
    bout.worker.grant(3)
    bout.worker.wait(lambda: len(bout.worker.deliveries) == 3, "three letters")
    for delivery, _ in bout.worker.deliveries[:2]:
        bout.worker.turn(delivery.receipt, bus.VERDICT_DEAD, reason="planned")
    bout.worker.turn(bout.worker.deliveries[2][0].receipt, bus.VERDICT_RETURN, delay_us=10**12, failed=True, reason="planned")
    bout.worker.goodbye()
    bout.leave()  # who folded what is erased would lose the session
    bout.admin = bout.connect("admin")


def shown(bout):
    """What anybody may read; a machine so busy that a session is lost says nothing about the log."""
    for _ in range(SESSIONS_MOST):
        try:
            return read_all(bout)
        except SessionLost:
            bout.admin = bout.connect("admin")
    raise AssertionError("one session after the other was lost")


def read_all(bout):
    entries, start = {}, 1
    while start:
        answer = bout.admin.ask("read", **{"from": start, "limit": 1000})
        entries.update({one["seq"]: (one["topic"], one["key"], one["payload"], one["time_us"]) for one in answer["messages"]})
        start = answer["next"]
    return entries


def is_secret(entry):
    return entry[1].startswith("mine") or SECRET in base64.b64decode(entry[2])


def files_with_secret(bout):
    return [path.name for path in bout.store.iterdir() if path.is_file() and SECRET in path.read_bytes()]


def is_over(bout):
    """A machine so busy that a session is lost says nothing about the erasure."""
    try:
        return bout.admin.ask("erasure")["running"] is False
    except SessionLost:
        bout.admin = bout.connect("admin")
        return False


def ask(bout, before, numbers):
    keyed = [seq for seq in numbers if before[seq][0] == "claim"]
    bout.admin.ask("erase", begin=True, messages=[seq for seq in numbers if seq not in keyed], with_keys=keyed, run=True)


def erase_until_struck(bout, fault):
    """False: it was over before the point came."""
    before = shown(bout)
    numbers = [seq for seq, entry in before.items() if is_secret(entry)]
    bout.disk.arm(Fault(fault[0], bout.disk.points + fault[2], fault[1]))
    asked = False
    try:
        ask(bout, before, numbers)
        asked = True
        wait_until(lambda: is_over(bout), "the erasure's end", within_s=60)
    except BrokerGone:
        pass
    struck = bool(bout.disk.hits)
    bout.disk.disarm()
    if bout.alive():
        bout.kill()
    else:
        bout.broker.wait()
        bout.leave()
    return before, asked, struck


def judge(bout, before, asked):
    """What was asked for and answered is done; else it is asked for again. Then nothing is found, and all else is as it was."""
    bout.start()
    bout.admin = bout.connect("admin")
    numbers = [seq for seq, entry in before.items() if is_secret(entry)]
    wait_until(lambda: is_over(bout), "the erasure's end", within_s=60)
    left = [seq for seq, entry in shown(bout).items() if is_secret(entry)]
    assert not asked or not left, f"it was answered, and is not done: {left}"
    if not asked:
        ask(bout, before, numbers)
        wait_until(lambda: is_over(bout), "the second erasure's end", within_s=60)
    now = shown(bout)
    assert {seq: entry for seq, entry in before.items() if not is_secret(entry)} == {seq: now[seq] for seq in before if seq in now}
    assert not [seq for seq in numbers if seq in now]
    bout.stop()
    assert not files_with_secret(bout)
    words = [BUILD / "bin" / "cartbus-broker", "--config", bout.folder / "cartbus.conf", "--verify", "--json"]
    told = json.loads(subprocess.run(words, capture_output=True, text=True, timeout=60).stdout)
    assert told["sound"] and told["erased"] >= len(numbers), told


def bout_at(point, kind, error, cut):
    """False: the erasure has fewer points."""
    bout = Bout(point, functools.partial(Disk, keeps_shadow=True))
    try:
        bout.start()
        fill(bout)
        before, asked, struck = erase_until_struck(bout, (kind, error, point))
        if struck and cut:
            bout.disk.cut_power()
        judge(bout, before, asked)
        return struck
    except Exception:
        print(f"{kind} {error} at point {point}, cut {cut}: {bout.disk.what}\n{bout.said()[-2000:]}")
        raise
    finally:
        bout.close()


def test_an_erasure_that_ends_at_any_step_is_gone_on_from(request):
    seed = request.config.getoption("--seed") or random.randrange(1 << 31)
    wanted = request.config.getoption("--points")
    dice = random.Random(seed)
    print(f"seed {seed}")
    struck = 0
    points = range(1, POINTS_MOST) if wanted == 0 else sorted(dice.sample(range(1, 60), max(3, wanted // 6)))
    for point in points:
        kind, error = dice.choice(FAULTS)
        if not bout_at(point, kind, error, dice.random() < 0.5):
            break
        struck += 1
    print(f"{struck} points struck")
    assert struck >= (30 if wanted == 0 else 1)
