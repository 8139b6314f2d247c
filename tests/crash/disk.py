"""The test's side of the failing disk (disk.c): where a fault strikes, and what a power cut leaves."""

import dataclasses
import errno
import mmap
import os
import pathlib
import shutil
import struct

from cartbus_system import BUILD

LIBRARY = BUILD / "bin" / "crash_disk.so"
LAYOUT = struct.Struct("<QQIIIIQ64s16s16s")  # struct board of disk.h
PAGE, SECTOR = 4096, 512
DIRTY = 1
KINDS = {"none": 0, "kill before": 1, "kill after": 2, "kill halfway": 3, "fail": 4, "short": 5}


@dataclasses.dataclass(frozen=True)
class Fault:
    """What goes wrong, and at which point: the first one from `at` on that is of `call` and has `name` in its file's name.

    `sticky`: at every later call of that kind too, as when a disk is full or gone.
    """

    kind: str
    at: int
    error: int = 0
    sticky: bool = False
    call: str = ""
    name: str = ""

    def __str__(self):
        name = f" {errno.errorcode[self.error]}" if self.error else ""
        return f"{self.kind}{name}{' from' if self.sticky else ' at'} point {self.at}"


class Disk:
    """Watches one folder. Outlives the processes that work in it.

    `deep`: also what lies in the folders below; such a disk begins empty.
    """

    def __init__(self, folder, place, keeps_shadow=False, traces=False, deep=False):
        self.folder, self.place = pathlib.Path(folder), pathlib.Path(place)
        self.place.mkdir()
        self.shadow = self.place / "shadow" if keeps_shadow else None
        self.trace = self.place / "trace" if traces else None
        self.deep = deep
        if self.shadow:
            (self.shadow / "content").mkdir(parents=True)
        board = self.place / "board"
        board.write_bytes(bytes(LAYOUT.size))
        with open(board, "r+b") as file:
            self._board = mmap.mmap(file.fileno(), LAYOUT.size)

    def environment(self):
        more = {"LD_PRELOAD": str(LIBRARY), "CRASH_DISK_FOLDER": str(self.folder), "CRASH_DISK_BOARD": str(self.place / "board")}
        if self.shadow:
            more["CRASH_DISK_SHADOW"] = str(self.shadow)
        if self.trace:
            more["CRASH_DISK_TRACE"] = str(self.trace)
        if self.deep:
            more["CRASH_DISK_DEEP"] = "1"
        # The sanitizer wants to be first; ours asks the kernel itself and hides nothing of it but these calls. An abort is no finding
        # on such a disk: RocksDB asserts where the head of its diary cannot be written, and the bouts judge what is left.
        more["ASAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0:handle_abort=0"]))
        return more

    def _read(self):
        return list(LAYOUT.unpack(self._board[:]))

    def _write(self, fields):
        self._board[:] = LAYOUT.pack(*fields)

    def arm(self, fault):
        """Before the process is started, or while it does nothing."""
        fields = self._read()
        fields[1:6] = fault.at, KINDS[fault.kind], fault.error, int(fault.sticky), 0
        fields[8:10] = fault.call.encode(), fault.name.encode()
        self._write(fields)

    def disarm(self):
        fields = self._read()
        fields[1:3] = 0, 0
        self._write(fields)

    @property
    def armed(self):
        return self._read()[1] != 0

    @property
    def points(self):
        return self._read()[0]

    @property
    def hits(self):
        return self._read()[5]

    @property
    def what(self):
        return self._read()[7].rstrip(b"\0").decode()

    def traced(self):
        """[(point, call, file)] of what was counted so far."""
        rows = (line.split(" ", 2) for line in self.trace.read_text().splitlines())
        return [(int(number), call, name) for number, call, name in rows]

    # -- the power goes

    def cut_power(self, names="synced", pages="synced", random=None):
        """The process is dead; the folder becomes what the disk holds.

        names: "synced", as the folder was last synced; "now", as it is (a file system may write names early).
        pages: "synced", each file as it was last synced; "some", any of its unsynced sectors too, as the kernel may have
        written pages back, in any order, and the last one in part. A page that a failed sync lost is gone either way.
        """
        kept = self.shadow / f"names-{self._read()[6]}"
        found = self._kept(kept) if kept.exists() else {}
        if names == "now":
            assert not self.deep
            contents = ((path.name, self.shadow / "content" / str(path.stat().st_ino)) for path in self.folder.iterdir())
            found = {name: content for name, content in contents if content.exists()}
        left = {name: content and self._content(name, content, pages, random) for name, content in found.items()}
        for path in self.folder.iterdir():
            if not path.is_dir():  # what lies further below is watched only if the disk is deep
                path.unlink()
            elif self.deep:
                shutil.rmtree(path)
        self._begin_anew()
        kept_in = {self.folder: self.shadow / "names-1"}
        for name, content in left.items():
            self._lay(self.folder / name, content, kept_in)

    def _kept(self, names, above=""):
        """{name: where its content lies, as it was last synced, or None of a folder}, each folder before what is in it."""
        found = {}
        for path in names.iterdir():
            name = above + path.name
            found[name] = None if path.is_symlink() else path
            if path.is_symlink() and path.exists():
                found.update(self._kept(path, f"{name}/"))
        return found

    def _lay(self, path, content, kept_in):
        """`kept_in`: {folder: where it is kept which names were synced in it}."""
        if content is None:
            path.mkdir(mode=0o700)
            kept_in[path] = self.shadow / f"names-{len(kept_in) + 1}"
            kept_in[path].mkdir()
            link = self.shadow / f"folder-{path.stat().st_ino}"
            link.symlink_to(kept_in[path])
            (kept_in[path.parent] / path.name).symlink_to(link)
            return
        path.write_bytes(content)
        path.chmod(0o600 if self.deep else 0o640)
        copy = self.shadow / "content" / str(path.stat().st_ino)
        copy.write_bytes(content)
        os.link(copy, kept_in[path.parent] / path.name)

    def append(self, name, content):
        """The process is dead: of what it wrote last this had reached the disk."""
        path = self.folder / name
        for copy in (path, self.shadow / "content" / str(path.stat().st_ino)):
            with copy.open("ab") as file:
                file.write(content)

    def _content(self, name, path, pages, random):
        content = bytearray(path.read_bytes())
        now = self.folder / name
        if pages != "some" or not now.exists() or str(now.stat().st_ino) != self._inode_of(path):
            return content
        cached = now.read_bytes()
        states = (self.shadow / "content" / f"{now.stat().st_ino}.pages").read_bytes()
        for sector in range((len(cached) + SECTOR - 1) // SECTOR):
            if sector % (PAGE // SECTOR) == 0:
                chance = random.choice((0, 0.5, 1))
            if states[sector * SECTOR // PAGE] == DIRTY and random.random() < chance:
                start, end = sector * SECTOR, min((sector + 1) * SECTOR, len(cached))
                content.extend(bytes(max(0, end - len(content))))
                content[start:end] = cached[start:end]
        return content

    def _inode_of(self, path):
        """Of the file whose content lies at `path`; the same content may hang at an old name too."""
        wanted = path.stat().st_ino
        for content in (self.shadow / "content").iterdir():
            if content.suffix != ".pages" and content.stat().st_ino == wanted:
                return content.name
        return None

    def _begin_anew(self):
        shutil.rmtree(self.shadow)
        (self.shadow / "content").mkdir(parents=True)
        (self.shadow / "names-1").mkdir()
        fields = self._read()
        fields[6] = 1
        self._write(fields)

    def close(self):
        self._board.close()
