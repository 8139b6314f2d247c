"""The broker alone, ended at every place where it touches the disk; the ledger of what it acknowledged is kept outside.

The scripted run (scripted.py) is counted first: each of its persistence calls is a point. Then, one bout per point, the process
is killed there, or the power goes, or the call fails or is cut short. After each bout the broker is started on what is left and
held against the ledger; then the power goes once more, because what was only in the page cache must not be believed, and what the
first judgement was shown must still be there.

The model of a power cut (disk_shadow.c): synced is what a sync that succeeded covered; of the rest any sector may be there or not;
names are as the folder was last synced, or as they are now. A page whose sync failed looks clean and is lost.

By default a few points of every kind of call, drawn by the printed seed; --points=0 takes all of them.
"""

import collections
import dataclasses
import errno
import os
import random
import time

import pytest

from bouts import HARMLESS, Spec, by_kind, count_points, run, run_all, run_cycles
from disk import Fault

pytestmark = pytest.mark.xdist_group("faults")  # one campaign, judged test by test
BOUTS_PER_CORE = 8  # a bout is mostly waiting: for the grace period after a restart, and for the disk
CYCLES_PER_BOUT = 3
ENDINGS = {"write": "kill halfway"}
COMMIT = (("write", "log"), ("fdatasync", "log"))  # of the write-ahead log
CUTS = (("synced", "synced"), ("now", "synced"), ("now", "some"), ("synced", "some"))
EIO, EIO_FOR_GOOD, FULL = Fault("fail", 0, errno.EIO), Fault("fail", 0, errno.EIO, True), Fault("fail", 0, errno.ENOSPC, True)
FAILURES = {
    "write": (EIO, FULL, Fault("short", 0)),
    "open": (EIO, FULL),
    "fsync": (EIO, EIO_FOR_GOOD),
    "fdatasync": (EIO, EIO_FOR_GOOD),
    "fallocate": (FULL,),
}
SHARES = {"killed": 0.25, "power cut": 0.3, "failed": 0.45}  # of --points


@dataclasses.dataclass
class Campaign:
    points: list
    seed: int
    seconds: float = 0
    results: dict = dataclasses.field(default_factory=dict)  # name: [Result]


def draw(points, most, dice):
    """At most so many of them, of every kind of call one before any comes twice, the commits' own calls first; 0: all."""
    kinds = sorted(by_kind(points).items(), key=lambda kind: (kind[0] not in COMMIT, dice.random()))
    kinds = [dice.sample(found, len(found)) for _, found in kinds]
    drawn = set()
    while most and len(drawn) < min(most, len(points)):
        for found in kinds:
            if found and len(drawn) < most:
                drawn.add(found.pop())
    return [point for point in points if point[0] in drawn or not most]


def kills(points, seed, most, dice):
    return [Spec("killed", seed, Fault(ENDINGS.get(call, "kill before"), number)) for number, call, _ in draw(points, most, dice)]


def power_cuts(points, seed, most, dice):
    return [Spec("power cut", seed + number, Fault("kill before", number), dice.choice(CUTS))
            for number, _, _ in draw(points, most, dice)]


def failures(points, seed, most, dice):
    chosen = [dataclasses.replace(fault, at=number, call=call)
              for number, call, _ in draw(points, most, dice) for fault in FAILURES.get(call, (EIO,))]
    return [Spec("failed", seed, fault) for fault in (dice.sample(chosen, min(most, len(chosen))) if most else chosen)]


def failed_sync(points, seed, dice):
    """The sync of one commit fails, once; the next one would work again, and the page cache still shows what was not synced."""
    number = dice.choice(by_kind(points)["fdatasync", "log"])
    return [Spec("failed sync", seed, dataclasses.replace(EIO, at=number, call="fdatasync", name=".log"))]


@pytest.fixture(scope="module")
def campaign(request):
    """All bouts side by side, whatever goes wrong in them; the tests look at the results."""
    option = request.config.getoption
    seed = option("--seed") or random.randrange(1 << 31)
    campaign, dice, began = Campaign(count_points(), seed), random.Random(seed), time.monotonic()
    jobs = []
    for choose, (name, share) in zip((kills, power_cuts, failures), SHARES.items()):
        specs = choose(campaign.points, seed, round(option("--points") * share), dice)
        jobs += [(run, (spec,)) for spec in specs]
        campaign.results[name] = []
    jobs += [(run, (spec,)) for spec in failed_sync(campaign.points, seed, dice)]
    campaign.results["failed sync"] = []
    cycles = option("--cycles")
    jobs += [(run_cycles, (seed + i, min(CYCLES_PER_BOUT, cycles - i))) for i in range(0, cycles, CYCLES_PER_BOUT)]
    campaign.results["random kills"] = []
    dice.shuffle(jobs)
    for result in run_all(jobs, option("--jobs") or (os.cpu_count() or 1) * BOUTS_PER_CORE):
        campaign.results[result.spec.name].append(result)
    campaign.seconds = time.monotonic() - began
    print(f"\nseed {seed}: {len(jobs)} bouts, {len(campaign.points)} points in a run, {campaign.seconds:.0f} s")
    return campaign


def hold(campaign, name):
    """Prints the figures, and fails with what was found."""
    results = campaign.results[name]
    struck = collections.Counter(result.what.partition(" ")[0] for result in results)
    ends = collections.Counter("went on" if result.code is None else f"ended with {result.code}" for result in results)
    failed = [f"{result.spec.fault} ({result.what}), cut {result.spec.cut}, seed {result.spec.seed}: {result.error}"
              for result in results if result.error]
    print(f"\n{name}: {len(results)} bouts; struck {dict(struck)}; {dict(ends)}; "
          f"{sum(result.disturbed for result in results)} sessions lost on the way; {len(failed)} failed")
    assert results, "no bout of this kind"
    for result in filter(lambda result: result.error, results):
        print(f"  {result.spec.fault} ({result.what}): {result.error.partition('Error: ')[2][:200]!r}")
    assert not failed, f"{name}: {len(failed)} bouts failed, the first of them:\n" + "\n\n".join(failed[:3])


def test_killed_at_any_persistence_call_it_loses_nothing(campaign):
    hold(campaign, "killed")


def test_no_power_cut_takes_what_was_acknowledged(campaign):
    hold(campaign, "power cut")


def test_a_disk_that_fails_is_told_and_nothing_is_lost(campaign):
    hold(campaign, "failed")


def test_a_failed_sync_ends_the_process_and_the_page_cache_is_not_believed(campaign):
    hold(campaign, "failed sync")
    result, = campaign.results["failed sync"]
    print(f"it said: {result.last_words}")
    assert result.code == 1 and result.what.startswith("fdatasync") and result.what.endswith(".log")
    assert "While fdatasync" in result.last_words
    ways = ("a commit failed", "cannot open the log", "the log could not be opened")  # at work; at a start, where the tail is rewritten
    assert any(words in result.last_words for words in ways)


def test_killed_at_random_moments_it_loses_nothing(campaign):
    hold(campaign, "random kills")
    print(f"random kills: {sum(result.hits for result in campaign.results['random kills'])}")
    assert all(result.hits for result in campaign.results["random kills"])


def test_what_may_fail_without_consequence_is_known(campaign):
    """The list of excuses is not longer than it must be."""
    known = {name for _, _, name in campaign.points} | {call for _, call, _ in campaign.points}
    assert [word for word in HARMLESS if not any(name.startswith(word) for name in known)] == []
