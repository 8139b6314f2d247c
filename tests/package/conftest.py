"""The package is made twice, the second time as a higher version, and a bare Debian is booted for a whole file of tests."""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "systemd"))

from machine import Machine  # noqa: E402  (found through the path above)
from packaged import bare_debian, field, make  # noqa: E402  (needs it too)


@pytest.fixture(scope="session")
def package():
    return make()


@pytest.fixture(scope="session")
def newer(package):
    return make("--version", f"{field(package, 'Version')}+1")


@pytest.fixture(scope="module")
def machine(tmp_path_factory, package, newer):
    if os.geteuid() != 0:
        pytest.fail("a machine is booted in namespaces, which takes root: sudo tests/run package")
    with Machine(tmp_path_factory.mktemp("machine"), bare_debian(package)) as machine:
        for version in (package, newer):
            (machine.upper / version.name).write_bytes(version.read_bytes())
        yield machine
