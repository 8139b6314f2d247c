"""The handbook is true: each page's commands are typed in order on a booted machine, and print what the page shows."""

import os
import time

import pytest

from machine import Machine
from pages import all_pages, matches, usual
from shell import Shell

PAGES = all_pages()
SHOWN_WITHIN_S = 90  # what a page says to repeat


class Fresh(Machine):
    """A machine with a network of its own, so that the ports are those of the pages."""

    own_network = True


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


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_types_prints_what_it_shows(tmp_path, name):
    if os.geteuid() != 0:
        pytest.fail("a machine is booted in namespaces, which takes root: sudo tests/run handbook")
    with Fresh(tmp_path) as machine:
        shell = Shell(machine)
        try:
            for page in PAGES[name].chain():
                for step in page.steps:
                    take(shell, page, step)
        finally:
            shell.close()
