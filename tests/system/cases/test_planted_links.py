"""What a service's user plants in its own folder does not lead a command of root's out of it: that user has read strangers' mails and webhooks."""

import os
import signal
import subprocess
import sys

import pytest

from cartbus_system import BUILD, SOURCES, System, wait_until
from two_hosts import leave_cart

sys.path.append(str(SOURCES / "tests" / "crash"))
from disk import Disk, Fault  # noqa: E402

OWNER = 65534  # of the planted folders
ADDRESS = "klara.unmistakable@mail.example"
MENTION = f"Dear {ADDRESS}\n"


def plant(folder, **entries):
    """A folder of OWNER's; each entry is a folder of his, or where a link leads."""
    folder.mkdir(mode=0o700)
    os.chown(folder, OWNER, OWNER)
    for name, leads in entries.items():
        if leads:
            (folder / name).symlink_to(leads)
        else:
            (folder / name).mkdir(mode=0o700)
            os.lchown(folder / name, OWNER, OWNER)
    return folder


def run(system, *words, disk=None):
    return subprocess.run([BUILD / "bin" / "cartbus", *words, "--config", system.config_path], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **(disk.environment() if disk else {})})


@pytest.fixture
def system():
    with System() as system:
        (system.folder / "state").chmod(0o755)
        yield system


@pytest.fixture
def victim(tmp_path):
    """A folder of root's that is none of cartbus' business."""
    folder = tmp_path / "of-root"
    folder.mkdir()
    (folder / "letter").write_text(MENTION)
    return folder


def test_a_retry_moves_nothing_out_of_another_folder(system, victim):
    mailin = plant(system.folder / "state" / "mailin", **{"aside": victim, "aside.notes": None, "retry": None})
    done = run(system, "mailin", "retry", "--all")
    assert [path.name for path in victim.iterdir()] == ["letter"] and not any((mailin / "retry").iterdir()), done
    assert done.returncode == 1 and "aside" in done.stderr, done


def test_a_retry_moves_nothing_into_another_folder(system, victim):
    mailin = plant(system.folder / "state" / "mailin", **{"aside": None, "aside.notes": None, "retry": victim})
    (mailin / "aside" / "ld.so.preload").write_text("/tmp/mine.so\n")
    done = run(system, "mailin", "retry", "--all")
    assert [path.name for path in victim.iterdir()] == ["letter"] and (mailin / "aside" / "ld.so.preload").exists(), done
    assert done.returncode == 1 and "retry" in done.stderr, done


def test_a_note_that_is_no_file_neither_holds_the_list_up_nor_leads_elsewhere(system, victim):
    mailin = plant(system.folder / "state" / "mailin", **{"aside": None, "aside.notes": None, "retry": None})
    (victim / "letter").write_text("why: of root's\n")
    for name in ("one", "two"):
        (mailin / "aside" / name).write_text("Subject: away\n\n")
    os.mkfifo(mailin / "aside.notes" / "one")
    (mailin / "aside.notes" / "two").symlink_to(victim / "letter")
    done = run(system, "mailin", "list")
    assert done.returncode == 0 and done.stdout.count("it is not known why") == 2 and "of root's" not in done.stdout, done


def test_an_erasure_changes_nothing_outside(system, victim):
    shop = system.add_shop("demo")
    system.start("broker", "gateway", "intake", "unsub")
    leave_cart(system, shop, "c-1", address=ADDRESS)
    wait_until(lambda: system.log("cart.state"), "the cart", 20)
    plant(system.folder / "state" / "mailin", aside=victim)
    plant(system.folder / "state" / "other-gateway", rejected=victim)
    done = run(system, "erase", "demo", ADDRESS, "--yes")
    assert (victim / "letter").read_text() == MENTION, done
    assert done.returncode == 1 and "rejected" in done.stderr and "aside" in done.stderr, done


def test_a_table_that_an_erasure_writes_anew_is_never_roots(system, tmp_path):
    """... for then it was given back by its name, which its owner could make another file's meanwhile."""
    shop = system.add_shop("demo")
    system.start("broker", "gateway", "intake", "unsub")
    leave_cart(system, shop, "c-1", address=ADDRESS)
    wait_until(lambda: system.log("cart.state"), "the cart", 20)
    table = plant(system.folder / "state" / "export") / "day.csv"
    table.write_text(f"cart,address\nc-0,ada@mail.example\nc-1,{ADDRESS}\n")
    os.chown(table, OWNER, OWNER)
    disk = Disk(table.parent, tmp_path / "disk")
    disk.arm(Fault("kill after", at=1, call="rename"))
    assert run(system, "erase", "demo", ADDRESS, "--yes", disk=disk).returncode == -signal.SIGKILL
    assert table.read_text() == "cart,address\nc-0,ada@mail.example\n" and table.stat().st_uid == OWNER
