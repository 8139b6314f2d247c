"""What is on the disk is its own process's: another user, of the same group too, reads no shopper's name or address from it."""

import os
import pathlib
import stat
import subprocess
import sys

import pytest
from cartbus_system import System, wait_until
from two_hosts import leave_cart

STRANGER = 65534
ADDRESS = "klara.unmistakable@mail.example"
NAME = "Anna"
SEARCH = """
import os, sys
top, *words = sys.argv[1:]
for folder, _, names in os.walk(top):
    for name in names:
        path = os.path.join(folder, name)
        try:
            content = open(path, "rb").read() if os.path.isfile(path) else b""
        except OSError:
            continue
        for word in words:
            if word.encode() in content:
                print(path, word)
"""


def read_by(uid, top):
    """Where another user, whose group is that of all these files, finds the shopper."""
    as_user = {"user": uid, "group": os.getgid(), "extra_groups": []} if uid else {}
    done = subprocess.run([sys.executable, "-B", "-c", SEARCH, top, ADDRESS, NAME], text=True, capture_output=True, timeout=60, check=True, **as_user)
    return sorted(done.stdout.splitlines())


def open_files(top):
    """Whatever below is not its owner's alone."""
    return [path for path in pathlib.Path(top).rglob("*") if not path.is_symlink() and stat.S_IMODE(path.lstat().st_mode) & 0o077]


@pytest.fixture
def system():
    with System() as system:
        system.folder.chmod(0o755)
        (system.folder / "state").chmod(0o755)  # as systemd has it: what is closed are the folders of each
        system.shop = system.add_shop("demo", rules="Small carts (under 40 EUR): remind after 1 hour, then after 6. Medium carts: 1 hour, then 6.\n"
                                                    "Big carts (over 150 EUR): 1 hour, then 6.\n")
        yield system


def play(system):
    """A cart that is in the log and folded, another in the gateway's spool, a mail, an export."""
    system.start("broker", "gateway", "intake", "timer", "waiter", "sender", "unsub", "mirror", "exporter")
    leave_cart(system, system.shop, "c-1", address=ADDRESS)
    wait_until(lambda: system.log("cart.state"), "the cart", 20)
    system.cartbus("send-test", "demo", ADDRESS)
    system.stop("broker")
    leave_cart(system, system.shop, "c-2", address=ADDRESS)


def test_no_other_user_reads_a_shopper_from_the_state(system):
    play(system)
    state = system.folder / "state"
    assert {pathlib.Path(line.split()[0]).relative_to(state).parts[0] for line in read_by(None, state)} >= {"broker", "gateway"}
    assert read_by(STRANGER, state) == []
    assert open_files(state) == []


def test_the_group_that_an_owner_gave_the_folders_reads_exports_and_mails(system):
    """... and the services' own group does not: a folder that hands its group on says for whom it is."""
    owners = 4242
    folders = [system.folder / "exports", system.folder / "mails"]
    for folder in folders:
        folder.mkdir()
        os.chown(folder, -1, owners)
        folder.chmod(0o2770)
    system.configure({"export": {"folder": folders[0]}, "mail": {"transport": "maildir", "maildir": folders[1]}})
    system.start("broker", "gateway", "intake", "timer", "waiter", "sender", "unsub", "mirror", "exporter")
    system.cartbus("send-test", "demo", ADDRESS)
    (mail,) = wait_until(lambda: list((folders[1] / "new").iterdir()), "the mail", 20)
    assert mail.stat().st_gid == owners and stat.S_IMODE(mail.stat().st_mode) == 0o640
    assert read_by(STRANGER, system.folder) == []


def test_what_an_earlier_release_left_open_is_closed_at_the_start(system):
    play(system)
    for process in list(system.processes.values()):
        if process.running:
            process.end()
    state = system.folder / "state"
    for path in state.rglob("*"):
        path.chmod(0o750 if path.is_dir() else 0o640)
    assert read_by(STRANGER, state) != []
    assert any("chmod -R u=rwX,go=" in line for line in system.cartbus("doctor", check=False).stdout.splitlines())
    system.start("broker", "gateway", "intake", "timer", "waiter", "sender", "unsub", "mirror", "exporter")
    wait_until(system.drained, "the spool being told", 20)
    assert read_by(STRANGER, state) == []
    assert [path for path in open_files(state) if path.relative_to(state).parts not in (("mail",), ("export",))] == []
    assert "chmod -R" not in system.cartbus("doctor", check=False).stdout
