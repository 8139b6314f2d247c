"""The handbook is true: each page's commands are typed in order on a booted machine, and print what the page shows.

A page that begins where another one ends begins on that one's machine, which was cut from the power and is booted again. It is ten in the
morning there, whatever the hour: a page tells of shop hours.
"""

import os
import re
import shutil
import time

import pytest

from machine import Machine
from packaged import bare_debian, make
from pages import all_pages, matches, usual
from shell import Shell

PAGES = all_pages()
SHOWN_WITHIN_S = 90  # what a page says to repeat
INSTALLS = re.compile(r"\bapt(?:-get)? install -y ([a-z-][\w.+ -]*)")
CLOCK = "/etc/cartbus/cartbus.conf.d/99-morning.conf"
DAY_US = 24 * 3600 * 10**6
MORNING_US = 9 * 3600 * 10**6  # of UTC


class Fresh(Machine):
    """A machine with a network of its own, so that the ports are those of the pages."""

    own_network = True


def morning():
    """cartbus' clock: this day's morning is now. (At a rate of 1 it would be the system's.)"""
    now_us = int(time.time() * 1e6)
    return f"[clock]\nrate = 1.0001\norigin-real-us = {now_us}\norigin-wall-us = {now_us // DAY_US * DAY_US + MORNING_US}\n"


def installed(pages):
    """What the pages install besides cartbus, a set for each command."""
    return [match[1].strip() for page in pages.values() for step in page.steps for match in INSTALLS.finditer(step.script)]


def typed(shell, step):
    """What a step printed, and whether that is well."""
    printed, code = shell.type(step.script)
    if step.staged:
        return printed, code == 0
    return printed, matches(step.prints, printed) and (code == 0 or step.prints.strip() != "")


def take(shell, page, step):
    deadline = time.monotonic() + SHOWN_WITHIN_S
    printed, well = typed(shell, step)
    while not well and step.until and time.monotonic() < deadline:
        time.sleep(0.5)
        printed, well = typed(shell, step)
    assert well, (f"{page.path.name}:{step.line}: # {step.script}\n--- the page shows\n{step.prints}--- it printed\n{printed}\n"
                  f"--- compared as\n{usual(step.prints)}\n--- and\n{usual(printed)}")


class Machines:
    """A file system for each page, as its commands left it: a layer over that of the page it goes on from."""

    def __init__(self, folder):
        self.folder = folder
        self.package = make()
        self.bare = bare_debian(self.package, *installed(PAGES), name="handbook")
        self.typed = {}

    def after(self, name):
        """The layers below a machine that begins where a page ends."""
        if name not in self.typed:
            self.typed[name] = None
            self.typed[name] = self._type(PAGES[name])
        if not self.typed[name]:
            pytest.fail(f"{name}.md does not come to its end")
        return self.typed[name]

    def _type(self, page):
        below = self.after(page.after.removesuffix(".md")) if page.after else self.bare
        folder = self.folder / page.path.stem
        folder.mkdir()
        machine = Fresh(folder, below)
        if not page.after:
            machine.write(CLOCK, morning())
            (machine.upper / "root").mkdir(mode=0o700)
            shutil.copy(self.package, machine.upper / "root")
        with machine:
            shell = Shell(machine)
            try:
                for step in page.steps:
                    take(shell, page, step)
            finally:
                shell.close()
        return f"{machine.upper}:{below}"


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    if os.geteuid() != 0:
        pytest.fail("a machine is booted in namespaces, which takes root: sudo tests/run handbook")
    return Machines(tmp_path_factory.mktemp("machines"))


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_types_prints_what_it_shows(machines, name):
    machines.after(name)
