"""A backup while everything runs, and a service that folds its state anew."""

import json
import shutil
import subprocess

import pytest
from cartbus_system import BUILD, System, fixture, wait_until
from test_gateway_away import Storefronts

CARTBUS = BUILD / "bin" / "cartbus"


@pytest.fixture
def system():
    with System() as system:
        system.add_shop("demo")
        system.start("broker", "gateway", "intake", "waiter")
        wait_until(system.connected, "the gateway's connection")
        yield system


def test_a_backup_under_load_holds_all_that_was_answered_before_it(system):
    folder = system.folder / "backup"
    with Storefronts(system, system.shops["demo"]) as storefronts:
        wait_until(lambda: storefronts.total() >= 100, "a hundred answers")
        before = storefronts.total()
        told = system.cartbus("backup", str(folder), json_output=True)
        wait_until(lambda: storefronts.total() >= 200, "answers after the backup")
    assert not storefronts.others, storefronts.others[:3]
    assert told["head"] >= before > 0 and told["files"] > 3
    assert not list((system.folder / "state").rglob("snapshot-*"))

    done = system.cartbus("backup", "--verify", str(folder))
    assert f"up to message {told['head']}" in done.stdout
    alone = subprocess.run([CARTBUS, "backup", "--verify", str(folder), "--home", "/nowhere"], capture_output=True, text=True, check=False)
    assert (alone.returncode, alone.stdout, alone.stderr) == (0, done.stdout, ""), "another machine has no configuration of this one"
    again = system.cartbus("backup", str(folder), check=False)
    assert again.returncode == 1 and "not empty" in again.stderr

    original = system.log()[: told["head"]]
    system.stop("waiter", "intake", "gateway", "broker")
    shutil.rmtree(system.folder / "state" / "broker")
    shutil.rmtree(system.folder / "state" / "sidelog")  # which would not let a log without its end be served
    shutil.copytree(folder / "broker", system.folder / "state" / "broker")
    system.start("broker")
    assert system.ask("status")["head"] == told["head"]
    assert system.log() == original


def test_without_a_broker_no_folder_and_no_row_is_left(system):
    folder = system.folder / "backup"
    system.stop("broker")
    done = system.cartbus("backup", str(folder), check=False)
    assert done.returncode == 3 and not folder.exists()
    assert not (system.folder / "state" / "backups.json").exists()


def test_a_backup_that_was_touched_is_told(system):
    folder = system.folder / "backup"
    system.cartbus("backup", str(folder))
    note = json.loads((folder / "backup.json").read_text())
    name = max(note["files"], key=lambda file: file["bytes"])["name"]
    whole = (folder / "broker" / name).read_bytes()
    for damaged in (whole[:-1], whole[:10] + bytes([whole[10] ^ 1]) + whole[11:]):
        (folder / "broker" / name).write_bytes(damaged)
        done = system.cartbus("backup", "--verify", str(folder), check=False)
        assert done.returncode == 1 and name in done.stderr and "not what was backed up" in done.stderr
    (folder / "backup.json").unlink()
    done = system.cartbus("backup", "--verify", str(folder), check=False)
    assert done.returncode == 1 and "no finished backup" in done.stderr


def verify(system, folder):
    done = system.cartbus("verify", str(folder), check=False)
    return done.returncode, done.stdout + done.stderr


def test_verify_takes_a_backup_as_it_was_made(system):
    folder = system.folder / "backup"
    assert system.post(system.shops["demo"].cart(fixture("cart-changed"))).status == 200
    system.cartbus("backup", str(folder))
    code, words = verify(system, folder)
    assert code == 0 and "SOUND" in words and "every file is what was backed up" in words, words
    code, words = verify(system, folder / "broker")
    assert code == 0 and "SOUND" in words, words
    report = system.cartbus("verify", str(folder), json_output=True)
    assert report["sound"] and report["messages"] > 0

    part = max((folder / "broker").glob("*.[ls][os][gt]"), key=lambda path: path.stat().st_size)  # a backup in a quiet moment has no log of writes
    whole = part.read_bytes()
    part.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    code, words = verify(system, folder)
    assert code == 1 and str(part) in words and "not what was backed up" in words, words
    part.write_bytes(whole)
    (folder / "backup.json").unlink()
    code, words = verify(system, folder)
    assert code == 1 and "did not come to its end" in words and f"cartbus verify {folder}/broker" in words, words


def session(system, service):
    return next(one for one in system.ask("status")["sessions"] if one["service"] == service)


def test_a_service_folds_its_state_anew_and_decides_on(system):
    shop = system.shops["demo"]
    for number in range(30):
        assert system.post(shop.cart(fixture("cart-changed", id=f"e-{number}", cart=f"c-{number}"))).status == 200
    wait_until(lambda: len(system.log("cart.state")) >= 30, "thirty carts")
    epoch = session(system, "intake")["epoch"]

    done = system.cartbus("rebuild", "intake")
    assert "intake has folded the log anew" in done.stdout
    assert session(system, "intake")["epoch"] != epoch
    assert system.processes["intake"].running
    assert system.post(shop.cart(fixture("cart-checked-out", id="bought", cart="c-7"))).status == 200
    wait_until(lambda: any(one["message"].status == 1 and one["key"] == "c-7" for one in system.log("cart.state")),
               "the purchase of a cart that is known from before")

    done = system.cartbus("rebuild", "nobody", check=False)
    assert done.returncode == 1 and "nobody" in done.stderr
    done = system.cartbus("rebuild", "sender", check=False)
    assert done.returncode == 1 and "no sender is running" in done.stderr
