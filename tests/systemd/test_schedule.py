"""What happens by itself on a booted machine: backups each night, and one that is read as a whole each week."""

import json

import pytest

from installed import Cartbus
from machine import wait_until

SHELF = "/var/backups/cartbus"


@pytest.fixture(scope="module")
def cartbus(machine):
    cartbus = Cartbus(machine)
    cartbus.configure()
    machine.shell("systemd-sysusers; systemd-tmpfiles --create; systemctl daemon-reload; cartbus secrets make")
    machine.shell("systemctl enable --now cartbus.target")
    cartbus.wait_ready()
    cartbus.add_shop()
    return cartbus


def copies(machine):
    return machine.shell(f"ls {SHELF}").split()


def findings(machine, area):
    told = json.loads(machine.run("cartbus", "doctor", "--json", "--resolver", "127.0.0.1@9", check=False).stdout)
    return {one["text"]: one["finding"] for one in told["findings"] if one["area"] == area}


def alarms(machine):
    return {one["kind"]: one["text"] for one in json.loads(machine.run("cartbus", "alarm", "list", "--json", check=False).stdout)["alarms"]}


def test_backups_are_on_without_being_asked_for(cartbus):
    machine = cartbus.machine
    for name in ("backup", "verify"):
        timer = machine.show(f"cartbus-{name}.timer", "ActiveState", "Persistent", "RandomizedDelayUSec", "NextElapseUSecRealtime")
        assert timer["ActiveState"] == "active" and timer["Persistent"] == "yes" and timer["RandomizedDelayUSec"] == "30min", timer
        assert timer["NextElapseUSecRealtime"], timer
    assert machine.shell(f"stat -c %a {SHELF}").strip() == "700"
    assert list(findings(machine, "backup").values()) == ["doubtful"]


def test_the_nights_backup_is_made_and_the_weeks_is_read_and_both_are_told(cartbus):
    machine = cartbus.machine
    machine.run("systemctl", "start", "cartbus-backup.service")
    assert len(copies(machine)) == 1
    machine.run("systemctl", "start", "cartbus-verify.service")
    assert "SOUND" in machine.run("journalctl", "--no-pager", "-o", "cat", "-u", "cartbus-verify").stdout
    told = findings(machine, "backup")
    assert list(told.values()) == ["fine", "fine"] and "was found sound 0 hours ago" in list(told)[1], told
    assert set(findings(machine, "files").values()) == {"fine"}, "owners and modes are still what they are to be"
    assert "backup" not in alarms(machine)


def test_a_disk_that_is_full_leaves_the_old_backups_and_tells_of_it(cartbus):
    """On a disk of their own, which is out of inodes half way through a copy."""
    machine = cartbus.machine
    machine.shell(f"mount -t tmpfs -o size=64m,mode=0700 tmpfs {SHELF}; systemctl start cartbus-backup")
    before = copies(machine)
    machine.shell(f"used=$(find {SHELF} | wc -l); mount -o remount,nr_inodes=$((used + 6)) {SHELF}")
    assert machine.run("systemctl", "start", "cartbus-backup.service", check=False).returncode != 0
    assert "No space left on device" in machine.run("journalctl", "--no-pager", "-o", "cat", "-u", "cartbus-backup").stdout
    assert copies(machine) == before
    machine.run("cartbus", "backup", "--verify")
    wait_until(lambda: "No space left" in alarms(machine).get("backup", ""), "the alarm", 30)
    machine.shell(f"mount -o remount,nr_inodes=9999 {SHELF}; systemctl start cartbus-backup")
    wait_until(lambda: "backup" not in alarms(machine), "the alarm's end", 30)
    machine.shell(f"umount {SHELF}")


def test_who_is_erased_leaves_the_backups_of_each_night(cartbus):
    machine = cartbus.machine
    assert cartbus.post("erased") == 200
    cartbus.wait_mailed("erased")
    machine.run("systemctl", "start", "cartbus-backup.service")
    machine.run("cartbus", "erase", "demo", "erased@example.com", "--yes")
    assert len(copies(machine)) > 1
    held = machine.run("grep", "-rlF", "erased@example.com", SHELF, check=False).stdout
    assert held == ""
    machine.run("systemctl", "start", "cartbus-verify.service")


def test_a_restart_of_everything_makes_no_backup_and_a_stop_ends_the_timers(cartbus):
    machine = cartbus.machine
    before = copies(machine)
    machine.shell("systemctl restart cartbus.target")
    cartbus.wait_ready()
    assert copies(machine) == before
    cartbus.stop_all()
    machine.shell("systemctl start cartbus.target")
    cartbus.wait_ready()
