"""Completion, asked for as a person does: with the tabulator key, in a bash and a zsh that run."""

import os
import pty
import re
import select
import time
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("CARTBUS_BUILD", "build-asan")).resolve()
BASH = BUILD / "share/bash-completion/completions/cartbus"
ZSH = BUILD / "share/zsh/vendor-completions"
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], f"bind 'set bell-style none'; source {BASH}"),
    "zsh": (["zsh", "-f", "-i"], f"fpath=({ZSH} $fpath); autoload -U compinit; compinit -D -u; LISTMAX=100; unsetopt beep"),
}
PATIENCE_S = 30
MARKS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x07")


class Shell:
    def __init__(self, name, folder):
        program, setup = START[name]
        self.heard = ""
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            own = {"PATH": f"{BUILD}/bin:{os.environ['PATH']}", "PS1": "$ ", "TERM": "dumb", "INPUTRC": "/dev/null", "HOME": str(folder)}
            os.execvpe(program[0], program, {**os.environ, **own})
        self.write(setup + "; echo set''up\n")
        self.wait_for("setup\r")

    def write(self, text):
        self.heard = ""
        os.write(self.terminal, text.encode())

    def wait_for(self, text):
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.heard:
            assert time.monotonic() < deadline, f"{text!r} is not in {self.heard!r}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.heard = MARKS.sub("", self.heard + os.read(self.terminal, 4096).decode())

    def close(self):
        os.close(self.terminal)  # it hangs up


@pytest.fixture(params=["bash", "zsh"])
def shell(request, tmp_path):
    for name in ("blumen", "books"):
        (tmp_path / "shops" / name).mkdir(parents=True)
        (tmp_path / "shops" / name / "shop.conf").write_text("")
    (tmp_path / "shops" / "bookunfinished").mkdir()
    (tmp_path / "c.conf").write_text(f"[paths]\nshops = {tmp_path}/shops\n")
    opened = Shell(request.param, tmp_path)
    yield opened
    opened.close()


def test_what_is_begun_is_ended(shell):
    for typed, ended in (
        ("cartbus stat", "us "),
        ("cartbus shop ch", "eck "),
        ("cartbus alarm te", "st "),
        ("cartbus shop add --time", "-zone "),
        ("cartbus shop mode books li", "ve "),
        ("cartbus rebuild wai", "ter "),
        ("cartbus why --config c.conf bl", "umen "),
        ("cartbus why --config=c.conf boo", "ks "),
        ("cartbus export --config c.conf --json bl", "umen "),
        ("cartbus rules check c.c", "onf "),
    ):
        shell.write(typed + "\t")
        shell.wait_for(typed + ended)
        shell.write("\x15")  # the line goes


def test_what_may_follow_is_listed(shell):
    shell.write("cartbus dlq \t\t")
    for name in ("drop", "list", "redrive", "show"):
        shell.wait_for(name)
    shell.write("\x15")
    shell.write("cartbus why --config c.conf b\t\t")
    shell.wait_for("books")
