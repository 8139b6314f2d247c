"""From the last release to this tree and back on a booted machine: under load, cut short, and against an admin's own choices."""

import pytest

from installed import ALL, BACK_WITHIN_S, Cartbus, unit
from machine import SOURCES, wait_until
from packaged import apt, field, log_format

RATE = 20  # of the clock: ten minutes are 30 s, and the five that a signature may be old leave 15 s to wait at a busy door
SETTINGS = "/etc/cartbus/cartbus.conf"
USERS = "/etc/cartbus/cartbus.conf.d/10-users.conf"


@pytest.fixture(scope="module")
def cartbus(machine, old):
    apt(machine, "install", f"/{old[0].name}")
    cartbus = Cartbus(machine, RATE)
    cartbus.configure()
    machine.run("systemctl", "enable", "--now", "cartbus.target")
    cartbus.wait_ready()
    cartbus.add_shop()
    machine.run("systemctl", "enable", "--now", "cartbus-sender@2.service")
    return cartbus


def status(machine):
    """(how dpkg sees it, its version)"""
    return tuple(machine.run("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", "cartbus").stdout.split())


def is_installed(machine, package):
    return status(machine) == ("installed", field(package, "Version"))


def install(machine, package, *options):
    apt(machine, "install", "--allow-downgrades", *options, f"/{package.name}")
    assert is_installed(machine, package)


def change_under_load(machine, cartbus, name, package):
    """Each webhook meanwhile is answered 200 and mailed once; everything runs as a new process."""
    before = {service: cartbus.pid(service) for service in [*ALL, "sender@2"]}
    with cartbus.storefront(name) as answers:
        wait_until(lambda: len(answers) > 10, "carts are left", BACK_WITHIN_S)
        install(machine, package)
        cartbus.wait_ready()
    refused = [answer for answer, _ in answers if answer != 200]
    print(f"{name}: {len(answers)} webhooks, {len(refused)} refused, the longest waited {max(s for _, s in answers):.2f} s")
    assert refused == []
    assert [service for service in before if cartbus.pid(service) == before[service]] == []
    cartbus.wait_mailed(*[f"{name}-{i}" for i in range(len(answers))], within_s=2 * BACK_WITHIN_S)


def boot_again(machine, cartbus):
    machine.power_off()
    machine.power_on()
    cartbus.wait_ready()


def test_an_upgrade_under_load_refuses_and_loses_nothing_and_keeps_what_was_edited(machine, cartbus, package):
    change_under_load(machine, cartbus, "upgrade", package)
    wanted = machine.show("cartbus.target", "Wants")["Wants"].split()
    assert [name for name in wanted if machine.show(name, "ActiveState")["ActiveState"] != "active"] == []
    assert f"rate = {RATE}" in machine.run("cat", SETTINGS).stdout


def test_so_does_the_way_back(machine, cartbus, old):
    if log_format(old[1]) != log_format(SOURCES):
        pytest.skip("the log's format is another: the way back is the backup")
    change_under_load(machine, cartbus, "rollback", old[0])


def told_of_upgrades(machine):
    return machine.run("journalctl", "--no-pager", "-o", "cat", "-t", "cartbus").stdout.splitlines()


def test_half_an_upgrade_and_a_wrong_configuration_leave_what_runs_alone(machine, cartbus, package):
    before = cartbus.pid("broker")
    machine.run("dpkg", "--unpack", f"/{package.name}")
    assert "begins; until a line says that it ended: dpkg --configure -a" in told_of_upgrades(machine)[-1]
    doctor = machine.run("cartbus", "doctor", check=False)
    assert doctor.returncode == 1 and "an upgrade was cut short: dpkg says that cartbus is unpacked" in doctor.stdout
    assert cartbus.pid("broker") == before and cartbus.ready() and cartbus.post("beside-half-of-it") == 200
    machine.run("tee", "/etc/cartbus/cartbus.conf.d/90-wrong.conf", stdin="[broker]\nlissen = 10.0.0.7:7400\n")
    done = machine.run("dpkg", "--configure", "cartbus")
    assert "cartbus config check" in done.stderr and "lissen" in done.stderr
    machine.run("rm", "/etc/cartbus/cartbus.conf.d/90-wrong.conf")
    assert cartbus.pid("broker") == before and cartbus.ready() and cartbus.post("beside-it") == 200


def test_a_power_cut_between_unpacking_and_configuring_is_mended_by_dpkg(machine, cartbus, old, package):
    install(machine, old[0])
    machine.run("dpkg", "--unpack", f"/{package.name}")
    assert cartbus.post("before-the-cut") == 200
    boot_again(machine, cartbus)
    assert status(machine)[0] == "unpacked" and cartbus.post("between-the-halves") == 200
    machine.run("dpkg", "--configure", "-a", limit_s=300)
    cartbus.wait_ready()
    assert is_installed(machine, package) and "ended" in told_of_upgrades(machine)[-1]
    assert "an upgrade was cut short" not in machine.run("cartbus", "doctor", check=False).stdout
    assert cartbus.post("after-the-cut") == 200
    cartbus.wait_mailed("beside-half-of-it", "beside-it", "before-the-cut", "between-the-halves", "after-the-cut")


def test_a_power_cut_while_it_unpacks_is_mended_by_installing_it_again(machine, cartbus, old, package):
    install(machine, old[0])
    half = machine.upper / "usr" / "bin" / "cartbus.dpkg-new"
    unpacking = machine.start("dpkg", "--unpack", f"/{package.name}")
    wait_until(lambda: half.exists() or unpacking.poll() is not None, "it is unpacking", BACK_WITHIN_S)
    boot_again(machine, cartbus)
    unpacking.wait()
    print(f"after the cut it is {status(machine)[0]}")
    assert cartbus.post("beside-the-pieces") == 200
    machine.run("dpkg", "--configure", "-a", check=False, limit_s=300)
    install(machine, package)
    cartbus.wait_ready()
    assert not half.exists()
    cartbus.wait_mailed("beside-the-pieces")


def test_what_the_admin_stopped_disabled_or_masked_stays_so_and_a_backup_goes_on(machine, cartbus, package, later):
    install(machine, package)
    machine.run("systemctl", "disable", "cartbus.target")
    machine.run("systemctl", "stop", unit("exporter"))
    machine.run("systemctl", "mask", "--now", unit("mailin"), unit("sender@2"))
    machine.shell("mkdir -p /run/systemd/system/cartbus-backup.service.d")
    machine.run("tee", "/run/systemd/system/cartbus-backup.service.d/long.conf", stdin="[Service]\nExecStart=\nExecStart=/bin/sleep 3600\n")
    machine.shell("systemctl daemon-reload; systemctl start --no-block cartbus-backup.service")
    wait_until(lambda: cartbus.pid("backup"), "a backup is made", BACK_WITHIN_S)
    others = [name for name in ALL if name not in ("exporter", "mailin")]
    before = {name: cartbus.pid(name) for name in [*others, "backup"]}
    install(machine, later, "-o", "Dpkg::Options::=--force-confold")
    cartbus.wait_ready(*others)
    assert [name for name in before if cartbus.pid(name) == before[name]] == ["backup"]
    for name in ("exporter", "mailin", "sender@2"):
        assert machine.show(unit(name), "ActiveState")["ActiveState"] == "inactive", name
    enabled = {name: machine.run("systemctl", "is-enabled", name, check=False).stdout.strip()
               for name in ("cartbus.target", unit("mailin"), unit("sender@2"))}
    assert enabled == {"cartbus.target": "disabled", unit("mailin"): "masked", unit("sender@2"): "masked"}
    machine.run("systemctl", "unmask", unit("mailin"), unit("sender@2"))
    machine.shell("systemctl stop cartbus-backup.service; rm -r /run/systemd/system/cartbus-backup.service.d; systemctl daemon-reload")


def test_what_a_release_brings_is_started_and_what_it_has_not_is_stopped(machine, package):
    brought = machine.show("cartbus-brought.timer", "ActiveState", "LoadState")
    assert brought == {"ActiveState": "active", "LoadState": "loaded"}
    install(machine, package, "-o", "Dpkg::Options::=--force-confold")
    gone = machine.show("cartbus-brought.timer", "ActiveState", "LoadState")
    assert gone == {"ActiveState": "inactive", "LoadState": "not-found"}


def test_where_nothing_runs_an_upgrade_starts_nothing_and_the_admin_chooses_between_configurations(machine, cartbus, package, later):
    cartbus.stop_all()
    edited = machine.run("cat", SETTINGS).stdout
    machine.run("tee", "-a", USERS, stdin="# a note of the admin's\n")
    install(machine, later, "-o", "Dpkg::Options::=--force-confold")
    assert machine.run("cat", SETTINGS).stdout == edited
    assert machine.shell(f"tail -n 1 {SETTINGS}.dpkg-dist {USERS}.dpkg-dist").count("# reworded") == 2
    machine.run("cartbus", "config", "check")
    install(machine, package, "-o", "Dpkg::Options::=--force-confnew")
    assert machine.run("cat", f"{SETTINGS}.dpkg-old").stdout == edited
    assert "rate" not in machine.run("cat", SETTINGS).stdout
    machine.run("cartbus", "config", "check")
    machine.run("mv", f"{SETTINGS}.dpkg-old", SETTINGS)
    assert not any(cartbus.ready([name]) for name in ALL)
    with pytest.raises(ConnectionRefusedError):
        cartbus.post("nobody-there")


def test_after_all_of_it_everything_starts_and_nothing_is_missing(machine, cartbus):
    machine.run("cartbus", "verify", limit_s=300)
    machine.run("systemctl", "enable", "--now", "cartbus.target", "cartbus-sender@2.service")
    cartbus.wait_ready(*ALL, "sender@2")
    assert cartbus.post("at-last") == 200
    cartbus.wait_mailed("at-last")
