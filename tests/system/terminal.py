"""A terminal as a person has one: a program runs in it, keys are typed, and what stands on the screen is read."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import threading

import pyte

from cartbus_system import end_with_parent, wait_until

NAMED = {"enter": "\r", "escape": "\033", "up": "\033OA", "down": "\033OB", "page up": "\033[5~", "page down": "\033[6~", "^C": "\003"}


class Terminal:
    def __init__(self, words, columns=80, lines=24, **environment):
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._drawing = threading.Lock()
        self.written = b""
        self._ours, self._its = pty.openpty()  # its end stays open here, so that its settings can be read when the program is gone
        self.resize(columns, lines)
        self.settings_before = termios.tcgetattr(self._its)
        self.pid = os.fork()
        if self.pid == 0:
            self._become([str(word) for word in words], environment)
        self.code = None
        self._closed = False
        threading.Thread(target=self._read, daemon=True).start()

    def _become(self, words, environment):
        try:
            end_with_parent()
            self._log_in()
            os.execvpe(words[0], words, {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **environment})
        finally:
            os._exit(127)

    def _log_in(self):
        os.setsid()
        fcntl.ioctl(self._its, termios.TIOCSCTTY, 0)
        for descriptor in range(3):
            os.dup2(self._its, descriptor)

    def _read(self):
        while True:
            try:
                select.select([self._ours], [], [])
            except (OSError, ValueError):
                return
            with self._drawing:
                if self._closed:
                    return
                some = os.read(self._ours, 1 << 16)
                self.written += some
                self._stream.feed(some)

    def resize(self, columns, lines):
        """The kernel tells the program."""
        with self._drawing:
            self.screen.resize(lines, columns)
        fcntl.ioctl(self._its, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def lines(self):
        with self._drawing:
            return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def type(self, *keys):
        for key in keys:
            os.write(self._ours, NAMED.get(key, key).encode())

    def shows(self, *words, within_s=20):
        """Waits until all of these stand on the screen."""
        try:
            wait_until(lambda: all(word in self.text() for word in words), f"{words} on the screen", within_s)
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.text()}") from None

    def has_ended(self):
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code is not None

    def ends(self, within_s=20):
        """Waits for the end and until its last words are read; the exit code."""
        wait_until(self.has_ended, "the end of the program", within_s)
        wait_until(self._is_drained, "the last words being read", within_s)
        return self.code

    def _is_drained(self):
        """What it wrote lies in the terminal until it is drawn."""
        with self._drawing:
            return not select.select([self._ours], [], [], 0)[0]

    def is_as_before(self):
        """Line by line with an echo again, on the screen that was there before, with a cursor."""
        ending = self.written[self.written.rindex(b"\033[?1049h"):]
        return (termios.tcgetattr(self._its) == self.settings_before and b"\033[?1049l" in ending
                and ending.rindex(b"\033[?25h") > ending.index(b"\033[?25l"))

    def close(self):
        if not self.has_ended():
            os.kill(self.pid, signal.SIGKILL)
            self.ends()
        with self._drawing:  # the reader does not read from what gets this number next
            self._closed = True
            os.close(self._its)
            os.close(self._ours)
