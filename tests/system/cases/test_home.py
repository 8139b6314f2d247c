"""Which configuration is used: --config, --home, CARTBUS_CONFIG, CARTBUS_HOME; and an installation that is one folder."""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile

import pytest

from cartbus_system import BUILD, every_program, free_port
from mounts import where_systemd_runs, with_etc

NOBODY, STRANGER = 65534, 1
CARTBUS = str(BUILD / "bin" / "cartbus")
SHOP = ["--time-zone", "Europe/Berlin", "--currency", "EUR", "--locale", "de-DE", "--title", "Demo", "--url", "https://shop.example",
        "--from", "Demo <shop@shop.example>", "--owner", "owner@shop.example"]


def cartbus(*words, user=None, where=(), **environment):
    """With nothing of the caller's CARTBUS_*; as another user if named; `where` is of mounts.py."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARTBUS_")}
    return subprocess.run([*where, CARTBUS, *words], env={**kept, **environment}, user=user, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def test_a_home_is_made_on_first_use_and_is_for_its_user_alone(home):
    made = cartbus("shop", "add", "demo", *SHOP, "--home", str(home))
    assert made.returncode == 0, made.stderr
    assert (home / "shops" / "demo" / "shop.conf").exists() and (home / "secrets" / "webhook" / "demo").exists()
    assert stat.S_IMODE(home.stat().st_mode) == 0o700 and stat.S_IMODE((home / "cartbus.conf").stat().st_mode) == 0o600
    text = (home / "cartbus.conf").read_text()
    assert f"state = {home}/state" in text and f"maildir = {home}/mail" in text and f"folder = {home}/export" in text


def test_what_is_in_a_home_is_not_written_over(home):
    home.mkdir(mode=0o700)
    (home / "cartbus.conf").write_text(f"[paths]\nshops = {home}/mine\n")
    (home / "mine").mkdir()
    assert cartbus("shop", "list", "--home", str(home)).returncode in (0, 3)
    assert (home / "cartbus.conf").read_text() == f"[paths]\nshops = {home}/mine\n"


@pytest.mark.parametrize("words", [("shop", "list"), ("status",), ("carts", "demo"), ("doctor",), ("config", "check"), ("config", "check", "--dump"),
                                   ("verify",), ("keys", "list"), ("stop", "--all", "--reason", "x")])
def test_a_home_that_is_mistyped_is_told_and_not_made(tmp_path, words):
    for told in (cartbus(*words, "--home", str(tmp_path / "x" / "y")), cartbus(*words, CARTBUS_HOME=str(tmp_path / "x" / "y"))):
        assert told.returncode == 1 and told.stdout == "", told
        assert f"there is no home in {tmp_path}/x/y" in told.stderr and f"cartbus shop add NAME ... --home {tmp_path}/x/y" in told.stderr
    assert not list(tmp_path.iterdir())


def test_what_needs_no_installation_works_without_a_home(tmp_path):
    assert cartbus("voice", "show", "de", "--home", str(tmp_path / "x")).returncode == 0
    assert not list(tmp_path.iterdir())


def test_keys_make_a_home_too(home):
    assert cartbus("secrets", "make", "--home", str(home)).returncode == 0
    assert (home / "secrets" / "link.key").exists() and (home / "cartbus.conf").exists()


def test_the_next_steps_of_a_new_shop_lead_to_its_home(home):
    told = cartbus("shop", "add", "demo", *SHOP, "--home", str(home)).stdout
    for step in ("webhook send demo", "tap --shop demo", "shop mode demo mail-me", "shop secret demo --set"):
        assert f"cartbus {step} --home {home}" in told, told
    assert "--home" not in cartbus("shop", "add", "other", *SHOP, CARTBUS_HOME=str(home)).stdout


def test_a_home_is_not_told_of_systemd(home):
    assert cartbus("shop", "add", "demo", *SHOP, "--home", str(home)).returncode == 0
    told = cartbus("doctor", "--home", str(home), "--resolver", "127.0.0.1@9", where=where_systemd_runs())
    assert "cartbus up, with the same --home" in told.stdout and "systemctl" not in told.stdout + told.stderr, told
    assert cartbus("secrets", "make", "--home", str(home)).returncode == 0
    told = cartbus("shop", "secret", "demo", "--rotate", "--home", str(home), where=where_systemd_runs())
    assert told.returncode == 0 and "systemctl" not in told.stdout, told
    told = cartbus("secrets", "rotate", "link", "--home", str(home), where=where_systemd_runs())
    assert "stop `cartbus up` and start it again" in told.stdout and "systemctl" not in told.stdout, told


def test_an_installation_of_units_is_told_to_restart_them_where_systemd_runs(home, tmp_path):
    assert cartbus("shop", "add", "demo", *SHOP, "--home", str(home)).returncode == 0
    assert cartbus("secrets", "make", "--home", str(home)).returncode == 0
    (tmp_path / "etc" / "cartbus").mkdir(parents=True)
    (home / "cartbus.conf").rename(tmp_path / "etc" / "cartbus" / "cartbus.conf")
    for words, restarts in [(("shop", "secret", "demo", "--rotate"), "cartbus-gateway"),
                            (("secrets", "rotate", "link"), "cartbus-gateway 'cartbus-sender@*'")]:
        told = cartbus(*words, where=[*with_etc(tmp_path / "etc"), *where_systemd_runs()])
        assert told.returncode == 0 and f"systemctl restart {restarts}\n" in told.stdout, told


def test_the_configuration_in_effect_is_shown_to_a_program(home):
    assert cartbus("secrets", "make", "--home", str(home)).returncode == 0
    shown = json.loads(cartbus("config", "check", "--dump", "--json", "--home", str(home)).stdout)
    assert shown["paths"]["state"] == f"{home}/state" and shown["log"]["level"] == "info"


def test_the_first_that_is_given_counts(tmp_path):
    """config check --dump says which file was read, by a mark in each."""
    def file(name):
        path = tmp_path / name
        path.mkdir()
        (path / "cartbus.conf").write_text(f"[paths]\nstate = {path}\n")
        return str(path / "cartbus.conf"), str(path)

    (a, a_home), (b, b_home), (c, _), (_, d_home) = file("a"), file("b"), file("c"), file("d")
    for words, environment, counts in [
        (["config", "check", "--dump", "--config", a, "--home", b_home], {"CARTBUS_CONFIG": c}, a_home),
        (["--config", a, "config", "check", "--dump"], {}, a_home),
        ([f"--config={a}", "config", "check", "--dump"], {}, a_home),
        (["--config", b, "config", "check", "--dump", "--config", a], {}, a_home),
        (["config", "check", "--dump", "--home", b_home], {"CARTBUS_CONFIG": c, "CARTBUS_HOME": d_home}, b_home),
        (["--home", b_home, "config", "check", "--dump"], {}, b_home),
        (["config", "check", "--dump"], {"CARTBUS_CONFIG": a, "CARTBUS_HOME": d_home}, a_home),
        (["config", "check", "--dump"], {"CARTBUS_HOME": d_home}, d_home),
        (["config", "check", "--dump"], {"CARTBUS_CONFIG": "", "CARTBUS_HOME": d_home}, d_home),
    ]:
        told = cartbus(*words, **environment)
        assert told.returncode == 0 and f"state = {counts}\n" in told.stdout, (words, environment, told)


def test_a_process_takes_its_configuration_from_the_environment_too(tmp_path):
    wrong = tmp_path / "cartbus.conf"
    wrong.write_text("[log]\nlevel = loud\n")
    for name in ("broker", "waiter"):
        program = [str(BUILD / "bin" / f"cartbus-{name}"), "--check"]
        told = subprocess.run(program, env={**os.environ, "CARTBUS_CONFIG": str(wrong)}, capture_output=True, text=True, timeout=60, check=False)
        assert told.returncode == 1 and f"{wrong}:2: [log] level: expected" in told.stderr, told.stderr


def test_an_option_before_the_command_that_lacks_its_value_is_told():
    for words in (["--config"], ["--home"], ["--json"], ["--config", "x"]):
        told = cartbus(*words)
        assert told.returncode == 2 and "see cartbus --help" in told.stderr


def test_a_home_that_cannot_be_one_is_told(tmp_path):
    long = cartbus("secrets", "make", "--home", str(tmp_path / ("x" * 90)))
    assert long.returncode == 1 and "[paths] run: expected a path that begins with /, of at most 85 bytes" in long.stderr
    file = tmp_path / "file"
    file.write_text("")
    assert "cannot make the folder" in cartbus("secrets", "make", "--home", str(file)).stderr
    assert "without ; and #" in cartbus("secrets", "make", "--home", str(tmp_path / "a;b")).stderr


# ---- a home that another user could change ----


@pytest.fixture
def street(tmp_path):
    """As /tmp is: everybody may make something in it. tmp_path is root's alone."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cartbus-street-"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder)


def tree(folder):
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


def test_a_check_changes_nothing(home):
    assert cartbus("shop", "add", "demo", *SHOP, "--home", str(home)).returncode == 0
    assert cartbus("secrets", "make", "--home", str(home)).returncode == 0
    export = home / "export"
    export.mkdir(mode=0o755)  # as an earlier release left it, which a start closes
    before = tree(home)
    for name in every_program():
        told = subprocess.run([str(BUILD / "bin" / f"cartbus-{name}"), "--check", "--config", str(home / "cartbus.conf")],
                              capture_output=True, text=True, timeout=60, check=False)
        assert told.returncode == 0, told
    assert cartbus("config", "check", "--home", str(home)).returncode == 0
    assert tree(home) == before and stat.S_IMODE(export.stat().st_mode) == 0o755


def test_a_home_that_another_user_made_is_refused(street):
    home = street / "home"
    assert cartbus("shop", "add", "demo", *SHOP, "--home", str(home), user=STRANGER).returncode == 0
    home.chmod(0o755)
    (home / "cartbus.conf").chmod(0o644)
    before = tree(street)
    for words in [("up",), ("shop", "add", "other", *SHOP), ("secrets", "make"), ("status",), ("doctor",), ("config", "check", "--dump"), ("shop", "list"),
                  ("voice", "show", "de")]:
        for user in (NOBODY, 0):
            for told in (cartbus(*words, "--home", str(home), user=user), cartbus(*words, CARTBUS_HOME=str(home), user=user)):
                assert told.returncode == 1 and told.stdout == "", told
                assert f"{home} belongs to uid {STRANGER}" in told.stderr and "a folder of your own, or run this as that user" in told.stderr
    assert tree(street) == before


def test_a_home_of_roots_is_trusted(street):
    home = street / "home"
    assert cartbus("secrets", "make", "--home", str(home)).returncode == 0
    home.chmod(0o755)
    (home / "cartbus.conf").chmod(0o644)
    assert cartbus("config", "check", "--dump", "--home", str(home), user=NOBODY).returncode == 0


def test_a_person_who_may_not_read_the_secrets_is_warned_and_not_refused(street):
    """Whether they are right only the services' own user can tell; what else is wrong anybody is told."""
    home = street / "home"
    assert cartbus("shop", "add", "demo", *SHOP, "--home", str(home)).returncode == 0
    assert cartbus("secrets", "make", "--home", str(home)).returncode == 0
    home.chmod(0o755)
    config = home / "cartbus.conf"
    config.chmod(0o644)
    config.write_text(config.read_text().replace("[mail]\n", "[mail]\ntransport = smtp\nsmtp-user = me\n"))
    for path in (home / "shops", *home.glob("shops/**/*")):
        path.chmod(0o755)
    (home / "secrets").chmod(0)
    (home / "keys").mkdir(mode=0)
    user = NOBODY if os.geteuid() == 0 else None
    told = cartbus("config", "check", "--home", str(home), user=user)
    (home / "secrets").chmod(0o700)
    warnings = [line for line in told.stderr.splitlines() if "Permission denied" in line]
    assert told.returncode == 0 and "is right, with 1 shop" in told.stdout, told
    (home / "shops").chmod(0)
    told = cartbus("config", "check", "--home", str(home), user=user)
    (home / "shops").chmod(0o755)
    assert told.returncode == 0 and "of its shops this user may read nothing" in told.stdout, told
    assert f"{home}/shops: this user may not read the shops" in told.stderr, told
    assert all("config check: warning: " in line for line in warnings), warnings
    for name in ("address.key", "link.key", "webhook/demo", "smtp.password"):
        assert sum(f"{home}/secrets/{name}" in line for line in warnings) == 1, (name, warnings)


def give_away(path):
    os.chown(path, STRANGER, STRANGER)


def lead_to_a_file_in_a_strangers_folder(path):
    elsewhere = path.parent.parent.parent / "elsewhere"
    elsewhere.mkdir()
    path.rename(elsewhere / path.name)
    path.symlink_to(elsewhere / path.name)
    give_away(elsewhere)


def lead_there_by_a_strangers_link(path):
    path.rename(path.with_suffix(".there"))
    path.symlink_to(path.with_suffix(".there").name)
    os.lchown(path, STRANGER, STRANGER)


def open_to(mode):
    def chmod(path):
        path.chmod(mode)

    chmod.__name__ = f"{mode:o}"
    return chmod


@pytest.mark.parametrize("change, where, told_of", [
    (open_to(0o777), "above", "above"), (open_to(0o757), "above", "above"), (give_away, "above", "above"),
    (open_to(0o777), "above/home", "above/home"), (open_to(0o1777), "above/home", "above/home"), (open_to(0o770), "above/home", "above/home"),
    (open_to(0o666), "above/home/cartbus.conf", "above/home/cartbus.conf"), (open_to(0o660), "above/home/cartbus.conf", "above/home/cartbus.conf"),
    (give_away, "above/home/cartbus.conf", "above/home/cartbus.conf"), (lead_to_a_file_in_a_strangers_folder, "above/home/cartbus.conf", "elsewhere"),
    (open_to(0o777), "above/home/cartbus.conf.d", "above/home/cartbus.conf.d"), (give_away, "above/home/cartbus.conf.d", "above/home/cartbus.conf.d"),
    (open_to(0o666), "above/home/cartbus.conf.d/port.conf", "above/home/cartbus.conf.d/port.conf"),
    (give_away, "above/home/cartbus.conf.d/port.conf", "above/home/cartbus.conf.d/port.conf"),
    (lead_there_by_a_strangers_link, "above", "above"), (lead_there_by_a_strangers_link, "above/home", "above/home"),
    (lead_there_by_a_strangers_link, "above/home/cartbus.conf", "above/home/cartbus.conf"),
    (lead_there_by_a_strangers_link, "above/home/cartbus.conf.d", "above/home/cartbus.conf.d")])
def test_a_home_that_others_may_change_is_refused(street, change, where, told_of):
    home = street / "above" / "home"
    home.parent.mkdir()
    os.chown(home.parent, NOBODY, NOBODY)
    assert cartbus("secrets", "make", "--home", str(home), user=NOBODY).returncode == 0
    (home / "cartbus.conf.d").mkdir()
    (home / "cartbus.conf.d" / "port.conf").write_text("[gateway]\nport = 8081\n")
    for path in (home / "cartbus.conf.d", home / "cartbus.conf.d" / "port.conf"):
        os.chown(path, NOBODY, NOBODY)
        path.chmod(path.stat().st_mode & 0o755)
    assert cartbus("config", "check", "--dump", "--home", str(home), user=NOBODY).returncode == 0
    change(street / where)
    before = tree(street)
    for words in [("secrets", "make"), ("config", "check", "--dump")]:
        told = cartbus(*words, "--home", str(home), user=NOBODY)
        assert told.returncode == 1 and told.stdout == "", told
        faults = [f" {street}/{told_of} belongs to uid {STRANGER}", f" {street}/{told_of} is a link of uid {STRANGER}, ", f"others may write to {street}/{told_of} ("]
        assert [fault for fault in faults if fault in told.stderr], told
    assert tree(street) == before


@pytest.mark.parametrize("given", ["link", "link/../link/.", "chain", "chain/sub/.."])
@pytest.mark.parametrize("owner", [NOBODY, 0])
def test_links_of_ones_own_and_of_roots_lead_home(street, owner, given):
    """Also those that lead on, from a folder of anybody's; and the way out of a link is that out of the folder it leads to."""
    home = street / "home"
    assert cartbus("secrets", "make", "--home", str(home), user=NOBODY).returncode == 0
    (home / "sub").mkdir()
    for name, target in [("link", "home"), ("chain", f"{street}/link")]:
        (street / name).symlink_to(target)
        os.lchown(street / name, owner, owner)
    told = cartbus("config", "check", "--dump", "--home", f"{street}/{given}", user=NOBODY)
    assert told.returncode == 0 and f"state = {home}/state" in told.stdout, told


def test_no_home_is_made_where_a_strangers_link_leads(street):
    """Also where it leads nowhere yet: its owner may choose a moment later."""
    there = street / "there"
    there.mkdir()
    os.chown(there, NOBODY, NOBODY)
    for target in ("there", "nowhere"):
        link = street / f"to-{target}"
        link.symlink_to(target)
        os.lchown(link, STRANGER, STRANGER)
        for home in (link, link / "home", link / "not" / "there" / "yet", link / ".." / "home"):
            told = cartbus("secrets", "make", "--home", str(home), user=NOBODY)
            assert told.returncode == 1 and f" {link} is a link of uid {STRANGER}, " in told.stderr, told
    assert not list(there.iterdir())


def test_links_that_lead_in_a_circle_are_told(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    told = cartbus("status", "--home", str(tmp_path / "a"))
    assert told.returncode == 1 and "Too many levels of symbolic links" in told.stderr, told


@pytest.mark.parametrize("change", [open_to(0o777), give_away])
def test_no_home_is_made_below_a_folder_that_others_may_change(street, change):
    above = street / "above"
    above.mkdir()
    os.chown(above, NOBODY, NOBODY)
    change(above)
    above.chmod(above.stat().st_mode | 0o003)
    for home in ("home", "not/there/yet"):
        told = cartbus("secrets", "make", "--home", str(above / home), user=NOBODY)
        assert told.returncode == 1 and f"{above} " in told.stderr and "could change what is done in this home" in told.stderr, told
    assert not list(above.iterdir())


def test_everything_runs_below_a_home_without_root_and_touches_nothing_else(tmp_path):
    """As nobody, who may write to no other place."""
    outside = [pathlib.Path("/etc/cartbus"), pathlib.Path("/var/lib/cartbus"), pathlib.Path("/run/cartbus")]
    before = {path: path.exists() for path in outside}
    home = pathlib.Path(subprocess.run(["mktemp", "-d", "/tmp/home.XXXXXX"], capture_output=True, text=True, check=True).stdout.strip())
    try:
        os.chown(home, NOBODY, NOBODY)
        assert cartbus("--home", str(home), "shop", "add", "demo", *SHOP, user=NOBODY).returncode == 0
        with open(home / "cartbus.conf", "a", encoding="utf-8") as conf:
            conf.write(f"\n[gateway]\nport = {free_port()}\n[monitor]\nport = 0\n")
        log = open(tmp_path / "up.log", "w+", encoding="utf-8")  # pylint: disable=consider-using-with
        up = subprocess.Popen([CARTBUS, "up", "--home", str(home)], user=NOBODY, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert up.stdout.readline() == "ready\n", (tmp_path / "up.log").read_text()
            children = pathlib.Path(f"/proc/{up.pid}/task/{up.pid}/children").read_text().split()
            mine = [pid for pid in children if os.stat(f"/proc/{pid}/mem").st_uid != 0]  # proc(5): root's, where no dump may be made
            assert children and not mine, "another process of the same user may read what they hold"
            status = cartbus("status", "--home", str(home), user=NOBODY)
            assert status.returncode == 0 and "GREEN" in status.stdout, status
            sent = cartbus("webhook", "send", "demo", user=NOBODY, CARTBUS_HOME=str(home))
            assert sent.returncode == 0, sent.stderr
        finally:
            up.terminate()
            assert up.wait(60) == 0
        open_to_others = [path for path in home.rglob("*") if path.is_file() and path.stat().st_mode & 0o007]
        assert not open_to_others, open_to_others
        assert {path: path.exists() for path in outside} == before
    finally:
        subprocess.run(["rm", "-rf", str(home)], check=True)
