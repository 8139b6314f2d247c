"""What the README tells a newcomer to type, on a Debian that has never seen cartbus: nothing else is typed, and all of it has to end well.

The Debian is minimal, has git, and is really booted; it fetches packages as this host does. In it lies a clone of what is committed here.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "systemd"))

from machine import SOURCES, Machine, debian  # noqa: E402  (found through the path above)

FIRST_WITHIN_S, SECOND_WITHIN_S = 1800, 5400
CLONE = "/root/cartbus"


class Newcomer(Machine):
    """Who has just logged in and cloned."""

    ENVIRONMENT = {**Machine.ENVIRONMENT, "HOME": "/root"}

    def __init__(self, folder):
        super().__init__(folder, debian("newcomer", ["ca-certificates", "git"]))
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", SOURCES, self.upper / CLONE.lstrip("/")], check=True)

    def types(self, command, limit_s):
        """(exit code, what it said)"""
        done = self.run("sh", "-c", f"cd {CLONE} && {command} 2>&1", check=False, limit_s=limit_s)
        return done.returncode, done.stdout


def told():
    """The commands of the README's blocks that are about this clone, in their order."""
    return re.findall(r"^    (deploy/quickstart|tests/run)$", (SOURCES / "README.md").read_text(), re.M)


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory):
    if os.geteuid() != 0:
        pytest.fail("a machine is booted in namespaces, which takes root: sudo tests/run fresh")
    with Newcomer(tmp_path_factory.mktemp("newcomer")) as machine:
        yield machine


def test_the_readme_tells_both_commands():
    assert told() == ["deploy/quickstart", "tests/run"]


def test_the_first_shows_it_at_work(newcomer):
    ended, said = newcomer.types(f"{told()[0]} --exit", FIRST_WITHIN_S)
    print(said[-3000:])
    assert ended == 0 and "quickstart: 21 of 21 carts as expected" in said


def test_the_second_ends_green(newcomer):
    ended, said = newcomer.types(told()[1], SECOND_WITHIN_S)
    print("\n".join(re.findall(r"^(?:FAILED .*|    so far: .*|\d+ passed, \d+ failed)$", said, re.M)))
    print(said[-3000:] if ended else "")
    assert ended == 0 and re.search(r"^\d+ passed, 0 failed$", said, re.M)
