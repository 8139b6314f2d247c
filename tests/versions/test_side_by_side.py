"""Two releases work together while one takes the place of the other: nothing is lost, nobody is mailed twice.

The older one's programs lie in $CARTBUS_BUILD_OLD (tests/run versions builds them). Judged as kills are (tests/crash/test_kills.py).
"""

import ast
import configparser
import functools
import os
import pathlib
import random
import re
import sys

import pytest

SOURCES = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "tests" / "crash"))

from cartbus_system import BUILD, System, every_program  # noqa: E402  (tests/conftest.py knows where it lies)
from releases import OLD, need_builds  # noqa: E402
from storefront import STORIES  # noqa: E402
from test_kills import Killer, campaign  # noqa: E402

BOUT_S, CARTS = 40, 24


@functools.cache
def known(section, key):
    """To the older release, which refuses a configuration with any other key."""
    row = re.compile(rf'"{section}",\s*"{key}"')
    tables = [*(OLD.parent / "source" / "services").rglob("*.c"), *(OLD.parent / "source" / "bus").rglob("*.c")]
    return any(row.search(table.read_text()) for table in tables)


def stories():
    """Those that the older release was judged by: what it did wrong and did not know of, it still does beside this one."""
    listed = re.search(r"^STORIES = (\(.*?\))", (OLD.parent / "source" / "tests" / "crash" / "storefront.py").read_text(), re.M | re.S)
    return tuple(story for story in ast.literal_eval(listed[1]) if story in STORIES)


class TwoReleases(System):
    """Its processes are of the older release, but for those that are said to be `upgraded`."""

    def __init__(self, settings, upgraded):
        self.upgraded = set(upgraded)
        super().__init__(settings)

    def built(self, instance):
        return BUILD if instance in self.upgraded else OLD

    def config_for(self, instance):
        """As it was before the upgrade; a release's new keys are for its own processes."""
        if instance in self.upgraded:
            return self.config_path
        config = configparser.ConfigParser(interpolation=None)
        config.read(self.config_path)
        for section in config.sections():
            for key in [key for key in config[section] if not known(section, key)]:
                config.remove_option(section, key)
        with open(self.folder / f"{instance}.conf", "w") as file:
            config.write(file)
        return self.folder / f"{instance}.conf"

    def start(self, *names, wait=True):
        started = super().start(*names, wait=wait)
        for instance in names or every_program():
            running = os.readlink(f"/proc/{self.processes[instance].popen.pid}/exe")
            assert running == str(self.built(instance) / "bin" / f"cartbus-{instance}")
        return started


class Exchanger(Killer):
    """Ends one process after the other as a supervisor does, in the order given, and starts the other release's in its place."""

    def __init__(self, system, order, over_s, seed):
        super().__init__(system, order, over_s, seed)
        self.victims = list(reversed(order))

    def end(self, victim):
        self.system.stop(victim)
        self.system.upgraded ^= {victim}


@pytest.fixture(scope="module", autouse=True)
def old_build():
    need_builds()


@pytest.fixture
def bout(mail_server, request):
    seed = request.config.getoption("--seed") or random.randrange(1 << 31)

    def play(victims, upgraded, killer_of):
        return campaign(mail_server, victims, BOUT_S, CARTS, seed, functools.partial(TwoReleases, upgraded=upgraded), killer_of,
                        stories())

    return play


def log_format(sources):
    return re.search(r'FORMAT\[\] = "(\d+)"', next((sources / "bus" / "broker").rglob("recover.c")).read_text()).group(1)


def test_an_upgrade_one_process_after_the_other(bout):
    """The broker is the first: it alone knows all topics."""
    assert set(bout(list(every_program()), (), Exchanger)) == set(every_program())


def test_the_way_back_with_the_broker_last(bout):
    if log_format(OLD.parent / "source") != log_format(SOURCES):
        pytest.skip("the log's format is another: the way back is the backup")
    assert set(bout(list(reversed(every_program())), every_program(), Exchanger)) == set(every_program())


@pytest.mark.parametrize("upgraded", [{"broker"}, set(every_program()) - {"sender"}, {"sender"}, set(every_program()) - {"broker"}],
                         ids=["a-new-broker", "an-old-sender", "a-new-sender", "an-old-broker"])
def test_releases_that_stay_side_by_side_and_are_killed(bout, upgraded):
    killed = bout(["broker", "sender", "gateway", "sender", "broker", "waiter"], upgraded, Killer)
    assert killed["broker"] == killed["sender"] == 2
