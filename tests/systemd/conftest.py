"""A machine is made for a whole file of tests: to boot one takes seconds."""

import os

import pytest

from machine import Machine


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    if os.geteuid() != 0:
        pytest.fail("a machine is booted in namespaces, which takes root: sudo tests/run systemd")
    with Machine(tmp_path_factory.mktemp("machine")) as machine:
        yield machine
