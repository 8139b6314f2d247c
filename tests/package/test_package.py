"""The Debian package, as its admin meets it: apt install on a bare machine, the first mail, a removal, a purge, all of it in a chroot."""

import json
import re
import shutil
import subprocess
import time

import pytest

from installed import ALL, SHOP, Cartbus
from machine import SOURCES
from packaged import Chroot, apt

LEFT = "find / -xdev -name '*cartbus*' ! -path '/cartbus*.deb' ! -path '/etc/systemd/system/cartbus-*.d' ! -path '*/port.conf'"


@pytest.fixture(scope="module")
def cartbus(machine):
    return Cartbus(machine)


def test_lintian_has_nothing_to_say(package):
    changes = package.with_suffix(".changes")
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", changes], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_it_is_built_with_what_the_tree_is_built_with():
    control = (SOURCES / "deploy" / "debian" / "control").read_text()
    needs = re.search(r"^Build-Depends:(.*?)^\S", control, re.S | re.M)[1]
    named = {need.split()[0].split(":")[0] for need in needs.split(",")} - {"debhelper-compat", "dh-sequence-installsysusers"}
    every_debian_has = {"gcc", "libc6-dev"}  # to build packages with
    assert named == set((SOURCES / "deploy" / "packages.build").read_text().split()) - every_debian_has


def test_an_installation_makes_users_and_keys_and_starts_nothing(machine, cartbus, package):
    cartbus.install_began = time.monotonic()
    apt(machine, "install", f"/{package.name}")
    print(f"apt install: {time.monotonic() - cartbus.install_began:.1f} s")
    for name in ALL:
        assert "cartbus" in machine.run("id", "-G", "-n", f"cartbus-{name.split('@')[0]}").stdout.split()
    assert not any(cartbus.ready([name]) for name in ALL)
    assert machine.run("systemctl", "is-enabled", "cartbus.target", check=False).stdout == "disabled\n"
    assert machine.shell("cd /etc/cartbus; stat -c '%n %a %U' secrets secrets/*").splitlines() == [
        "secrets 700 root", "secrets/address.key 600 root", "secrets/admin.key 600 root", "secrets/api 700 root",
        "secrets/bounce.key 600 root", "secrets/link.key 600 root", "secrets/webhook 700 root"]
    assert machine.run("cartbus", "config", "check").returncode == 0


def test_every_setting_that_the_configuration_suggests_is_one(machine):
    machine.shell("sed 's/^#\\([a-z-]* =\\)/\\1/' /etc/cartbus/cartbus.conf >/root/suggested.conf")
    machine.run("cartbus", "config", "check", "--dump", "--config", "/root/suggested.conf")
    assert machine.shell("grep -c '^[a-z-]* =' /root/suggested.conf").strip() == machine.shell(
        "grep -c '^#[a-z-]* =' /etc/cartbus/cartbus.conf").strip() != "0"


def test_one_file_one_target_and_a_signed_webhook_becomes_a_mail(machine, cartbus):
    cartbus.configure()
    machine.run("systemctl", "enable", "--now", "cartbus.target")
    cartbus.wait_ready()
    cartbus.add_shop()
    posted = time.monotonic()
    assert cartbus.post("first") == 200
    cartbus.wait_mailed("first")
    mailed = time.monotonic()
    print(f"from apt install to the first mail: {mailed - cartbus.install_began:.1f} s, {mailed - posted:.1f} of them the rules'")
    machine.run("systemctl", "enable", "--now", "cartbus-sender@2.service")
    machine.run("cartbus", "unsubscribe", "demo", "gone@example.com", "--reason", "asked by telephone")


def test_what_is_removed_is_there_again_when_it_is_installed_again(machine, cartbus, package):
    apt(machine, "remove", "cartbus")
    assert not any(cartbus.ready([name]) for name in ALL)
    with pytest.raises(ConnectionRefusedError):
        cartbus.post("nobody-there")
    apt(machine, "install", f"/{package.name}")
    machine.run("systemctl", "start", "cartbus.target")
    cartbus.wait_ready()
    assert cartbus.post("gone") == 200
    assert cartbus.post("there-again") == 200
    cartbus.wait_mailed("first", "there-again")
    assert "gone@example.com" not in cartbus.mailed()


def test_a_purge_leaves_the_list_of_who_must_not_be_mailed_and_nothing_else(machine, cartbus):
    cartbus.stop_all()  # nothing has to run for it
    machine.run("cartbus", "verify")
    said = apt(machine, "purge", "cartbus")
    assert "/var/backups/cartbus" in said
    left = machine.shell(f"{LEFT}; find / -xdev -group cartbus").split()
    print(left)
    assert left.pop(0) == "/var/backups/cartbus"
    assert left == []
    kept = machine.shell("stat -c '%a %U %n' /var/backups/cartbus /var/backups/cartbus/*").splitlines()
    assert [line.split("-")[0] for line in kept][0].startswith("700 root") and all(line.startswith("600 root") for line in kept[1:])
    listed = json.loads(machine.shell("cat /var/backups/cartbus/*suppressions.json"))
    assert [row["source"] for row in listed["shops"]["demo"]] == ["owner"]
    assert "gone@" not in json.dumps(listed)


def test_the_list_that_was_left_goes_on_in_a_new_installation(machine, cartbus, package):
    apt(machine, "install", f"/{package.name}")
    machine.run("systemctl", "start", "cartbus.target")
    cartbus.wait_ready()
    machine.run("cartbus", "shop", "add", *SHOP)
    saved = machine.shell("echo /var/backups/cartbus/*suppressions.json").strip()
    refused = machine.run("cartbus", "suppressions", "import", "demo", "--saved", saved, check=False)
    assert refused.returncode == 1 and "another address.key" in refused.stderr
    machine.shell("systemctl stop cartbus.target 'cartbus-*'; cp /var/backups/cartbus/*address.key /etc/cartbus/secrets/address.key")
    machine.run("systemctl", "start", "cartbus.target")
    cartbus.wait_ready()
    machine.run("cartbus", "suppressions", "import", "demo", "--saved", saved)
    machine.run("cartbus", "suppressions", "list", "demo", "--address", "gone@example.com")


def test_it_comes_and_goes_where_no_systemd_runs(tmp_path, root, package):
    chroot = Chroot(tmp_path / "chroot", root)
    shutil.copy(package, chroot.folder / "upper")
    said = chroot.shell(f"apt-get --yes install /{package.name}; cartbus config check; ls /etc/cartbus/secrets")
    assert "address.key" in said
    chroot.shell("install -D -m 600 /etc/hostname /var/lib/cartbus/broker/LOG")  # one that nobody can be asked for the list
    chroot.shell(f"apt-get --yes remove cartbus; apt-get --yes install /{package.name}; cat /var/lib/cartbus/broker/LOG")
    said = chroot.shell("apt-get --yes purge cartbus")
    assert "who must not be mailed is kept in /var/backups/cartbus" in said
    assert chroot.shell(f"{LEFT}; find / -xdev -group cartbus").split() == ["/var/backups/cartbus"]
    assert [name.split("-")[1] for name in chroot.shell("ls /var/backups/cartbus").split()] == ["address.key", "broker"]
