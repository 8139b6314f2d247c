"""An installation whose programs are of the older release until it is upgraded: everything is stopped, and started as this tree's."""

import os
import pathlib

import pytest

from cartbus_system import BUILD, System

OLD = pathlib.Path(os.environ.get("CARTBUS_BUILD_OLD", "nowhere")).resolve()


def need_old_build():
    if not (OLD / "bin" / "cartbus-broker").exists():
        pytest.fail("there is no older build in $CARTBUS_BUILD_OLD: tests/run versions makes one")


class Upgraded(System):
    """Its keys and folders are those that the older release made by itself."""

    def __init__(self, settings=None):
        self.is_old = True
        super().__init__(settings)
        for secret in (self.folder / "secrets").iterdir():
            secret.unlink()
        self.cartbus("secrets", "make")

    def built(self, instance):
        return OLD if self.is_old else BUILD

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
