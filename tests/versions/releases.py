"""The builds of older releases, and an installation whose programs are of the first one until it is upgraded: everything is stopped, and
started as this tree's. That one's story is what every later release has to read for years; beside this tree only the last one runs."""

import os
import pathlib

import pytest

from cartbus_system import BUILD, System


def _built(variable):
    return pathlib.Path(os.environ.get(variable, "nowhere")).resolve()


OLD, FIRST = _built("CARTBUS_BUILD_OLD"), _built("CARTBUS_BUILD_FIRST")


def need_builds():
    for variable, build in (("CARTBUS_BUILD_OLD", OLD), ("CARTBUS_BUILD_FIRST", FIRST)):
        if not (build / "bin" / "cartbus-broker").exists():
            pytest.fail(f"there is no older build in ${variable}: tests/run versions makes one")


class Upgraded(System):
    """Its keys and folders are those that the first release made by itself."""

    def __init__(self, settings=None):
        self.is_old = True
        super().__init__(settings)
        for secret in (self.folder / "secrets").iterdir():
            secret.unlink()
        self.cartbus("secrets", "make")

    def built(self, instance):
        return FIRST if self.is_old else BUILD

    def command(self):
        return self.built("cartbus") / "bin" / "cartbus"

    def stop_all(self):
        self.stop(*reversed([name for name, process in self.processes.items() if process.running]))

    def change(self, *, to_old=False):
        """What runs is stopped; what is started from now on is of the other release. The command is run as the package runs it."""
        self.stop_all()
        self.is_old = to_old
        self.cartbus("secrets", "make")

    def start(self, *names, wait=True):
        started = super().start(*names, wait=wait)
        for process in self.processes.values():
            if process.running:
                assert os.readlink(f"/proc/{process.popen.pid}/exe") == str(self.built(process.instance) / "bin" / f"cartbus-{process.name}")
        return started
