"""This tree's package and the last release's are made; a bare Debian is booted for a whole file of tests."""

import os
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "systemd"))

from machine import Machine  # noqa: E402  (found through the path above)
from packaged import bare_debian, field, former, make, repacked  # noqa: E402  (needs it too)


@pytest.fixture(scope="session")
def package():
    return make()


@pytest.fixture(scope="session")
def old(package):
    """(what is upgraded from, its sources)"""
    return former(package)


@pytest.fixture(scope="session")
def later(package):
    """A release after this one: its configuration files read differently, and it has a unit more."""
    return repacked(package, f"{field(package, 'Version')}+later", {
        "/etc/cartbus/cartbus.conf": "# reworded\n", "/etc/cartbus/cartbus.conf.d/10-users.conf": "# reworded\n",
        "/lib/systemd/system/cartbus-brought.timer": "[Timer]\nOnCalendar=yearly\nUnit=cartbus-backup.service\n",
        "/lib/systemd/system/cartbus.target.d/brought.conf": "[Unit]\nWants=cartbus-brought.timer\n"})


@pytest.fixture(scope="session")
def root(package, old):
    if os.geteuid() != 0:
        pytest.fail("a machine is booted in namespaces, which takes root: sudo tests/run package")
    return bare_debian(package, str(old[0]))


@pytest.fixture(scope="module")
def machine(tmp_path_factory, root, package, old, later):
    machine = Machine(tmp_path_factory.mktemp("machine"), root)
    for version in (package, old[0], later):
        shutil.copy(version, machine.upper)
    with machine:
        yield machine
