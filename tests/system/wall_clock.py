"""A wall clock of their own for processes that are started with it (wall.c)."""

import os
import struct

from cartbus_system import BUILD


class Wall:
    """The wall clock of the processes that are started with its environment."""

    def __init__(self, system):
        self.path = system.folder / "wall"
        self.set(0)

    def set(self, ahead_s):
        with open(self.path, "r+b" if self.path.exists() else "w+b", buffering=0) as file:
            file.write(struct.pack("=q", ahead_s))

    def environment(self):
        options = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        return {"LD_PRELOAD": str(BUILD / "bin" / "system_wall.so"), "CARTBUS_TEST_WALL": str(self.path), "ASAN_OPTIONS": options}
