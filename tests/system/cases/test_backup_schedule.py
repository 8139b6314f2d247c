"""Backups that are made by themselves: so many stay, what fails leaves nothing and is told, and what was erased leaves them."""

import json
import pathlib
import time

import pytest
from cartbus_system import System, fixture, wait_until

pytestmark = pytest.mark.xdist_group("backup-schedule")


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    shelf = tmp_path_factory.mktemp("shelf") / "copies"
    with System({"backup": {"folder": str(shelf), "keep": "2"}}) as system:
        system.shelf = shelf
        shop = system.add_shop("demo")
        system.start("broker", "gateway", "intake", "unsub", "monitor")
        wait_until(system.connected, "the gateway's connection")
        assert system.post(shop.cart(fixture("cart-changed", id="e-1", cart="c-1", email="ada@example.com"))).status == 200
        yield system


def copies(system):
    return sorted(path.name for path in system.shelf.iterdir())


def wait_for_a_name(system):
    """They are named after the second."""
    before = copies(system)[-1:] if system.shelf.exists() else []
    wait_until(lambda: [time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime(system.now_s()))] > before, "another second")


def backup(system):
    wait_for_a_name(system)
    return system.cartbus("backup")


def alarm(system):
    return next((one for one in json.loads(system.cartbus("alarm", "list", "--json", check=False).stdout)["alarms"] if one["kind"] == "backup"), None)


def record(system):
    return [said["message"].action for said in system.log("audit") if said["message"].action.startswith("back")]


def note(path):
    return json.loads((path / "backup.json").read_text())


def test_so_many_stay_and_the_one_that_was_verified(system):
    for made in range(5):
        backup(system)
        if made == 1:
            proved = copies(system)[-1]
            assert "is sound" in system.cartbus("backup", "--verify").stdout
            assert note(system.shelf / proved)["proved_us"] > 0
    assert len(copies(system)) == 3 and copies(system)[0] == proved
    assert record(system) == ["backed_up"] * 2 + ["backup_verified"] + ["backed_up"] * 3
    known = json.loads((system.folder / "state" / "backups.json").read_text())
    assert sorted(pathlib.Path(one["folder"]).name for one in known) == copies(system)


def test_what_a_cut_left_goes_and_what_is_somebody_elses_stays(system):
    cut, others = system.shelf / "2001-01-01T000000Z", [system.shelf / "2001-01-01", system.shelf / "2001-01-01T000000Z.old"]
    for path in (cut, *others):
        (path / "broker").mkdir(parents=True)
        (path / "broker" / "000001.sst").write_text("half of")
    backup(system)
    assert not cut.exists() and all(path.exists() for path in others)
    for path in others:
        (path / "broker" / "000001.sst").unlink()
        (path / "broker").rmdir()
        path.rmdir()


def test_one_that_fails_leaves_the_old_ones_alone_and_is_told_until_one_works(system):
    before = copies(system)
    path = system.config_for("cartbus")
    text = path.read_text()
    path.write_text(text + f"\n[broker]\nheadroom = {1 << 20}\nheadroom-percent = 50\n")  # a TiB: no disk of tests has that
    wait_for_a_name(system)
    try:
        done = system.cartbus("backup", check=False)
    finally:
        path.write_text(text)
    assert done.returncode == 1 and "are needed" in done.stderr
    assert copies(system) == before
    wait_until(lambda: alarm(system), "the alarm")
    assert "are needed" in alarm(system)["text"] and "cartbus-backup" in alarm(system)["remedy"]
    backup(system)


def test_a_newest_one_that_is_not_sound_is_told(system):
    newest = system.shelf / copies(system)[-1]
    name = max(note(newest)["files"], key=lambda file: file["bytes"])["name"]
    whole = (newest / "broker" / name).read_bytes()
    (newest / "broker" / name).write_bytes(whole[:-1])
    done = system.cartbus("backup", "--verify", check=False)
    assert done.returncode == 1 and name in done.stderr
    assert record(system)[-1] == "backup_damaged"
    (newest / "broker" / name).write_bytes(whole)
    system.cartbus("backup", "--verify")
    wait_until(lambda: not alarm(system), "the alarm's end")


def test_who_is_erased_leaves_them_and_they_have_to_be_verified_again(system):
    assert "proved_us" in note(system.shelf / copies(system)[-1])
    told = system.cartbus("erase", "demo", "ada@example.com", "--yes")
    for name in copies(system):
        assert str(system.shelf / name) in told.stdout
        whole = note(system.shelf / name)
        assert "proved_us" not in whole and len(whole["erased"]) == 1
        for file in (system.shelf / name).rglob("*"):
            assert not file.is_file() or b"ada@example.com" not in file.read_bytes(), file
    system.cartbus("backup", "--verify")


def test_none_are_made_where_none_are_wanted(system):
    path = system.config_for("cartbus")
    text = path.read_text()
    path.write_text(text.replace("keep = 2", "keep = 0"))
    before = copies(system)
    try:
        assert "Nothing to do" in system.cartbus("backup").stdout
        assert "keep is 0" in next(one["text"] for one in json.loads(system.cartbus("doctor", "--json", check=False).stdout)["findings"]
                                   if one["area"] == "backup")
    finally:
        path.write_text(text)
    assert copies(system) == before
