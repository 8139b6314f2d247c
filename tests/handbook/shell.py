"""A root's shell on a machine: one for a whole page, so that what one command sets is there for the next."""

import os
import secrets
import select
import subprocess
import time

TYPED_WITHIN_S = 120


class Shell:
    def __init__(self, machine):
        self.process = subprocess.Popen(machine.entering("bash", "--norc"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env={**machine.ENVIRONMENT, "HOME": "/root"}, cwd="/")
        self.type("cd /root")

    def close(self):
        self.process.kill()
        self.process.wait()

    def type(self, script):
        """(what it printed, errors too; its exit code)"""
        mark = secrets.token_hex(8)
        words = f"{{\n{script}\n}} </dev/null\nprintf '\\n%s %d\\n' {mark} $?\n"
        self.process.stdin.write(words.encode())
        self.process.stdin.flush()
        printed = self._read_until(f"\n{mark} ", script)
        text, _, code = printed.rpartition(f"\n{mark} ")
        return text, int(code)

    def _read_until(self, mark, script):
        printed, deadline = "", time.monotonic() + TYPED_WITHIN_S
        while mark not in printed or not printed.endswith("\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            some = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not some:
                raise AssertionError(f"it did not end: {script}\n{printed}")
            printed += some.decode(errors="replace")
        return printed
