"""SIGHUP: a configuration that is right is taken, one that is not leaves everything as it was, and both are said."""

import json
import os
import signal
import socket
import threading
import urllib.request

import pytest
from cartbus_system import System, fixture, free_port, wait_until

pytestmark = pytest.mark.xdist_group("reload")
SERVICES = ("gateway", "intake", "sender", "monitor")


@pytest.fixture(scope="module")
def system():
    with System() as system:
        system.add_shop("demo")
        system.start("broker", *SERVICES)
        wait_until(system.connected, "the gateway's connection")
        yield system


@pytest.fixture(autouse=True)
def as_it_was(system):
    yield
    change(system, "")


def change(system, lines):
    """What is added to the configuration."""
    folder = system.folder / "cartbus.conf.d"
    folder.mkdir(exist_ok=True)
    (folder / "90-changed.conf").write_text(lines)


def reload(system, *names):
    for name in names:
        system.processes[name].log_from = system.processes[name].log_path.stat().st_size
        system.processes[name].popen.send_signal(signal.SIGHUP)


def said(system, name):
    process = system.processes[name]
    return process.log_path.read_bytes()[process.log_from:].decode()


def wait_said(system, name, words):
    wait_until(lambda: words in said(system, name), f"{name} says {words}")


def opened(system, name):
    return os.listdir(f"/proc/{system.processes[name].popen.pid}/fd")


def behind(system):
    told = json.loads(system.cartbus("doctor", "--json", "--resolver", "127.0.0.1@9", check=False).stdout)
    return [one["text"] for one in told["findings"]
            if "was changed since these read it" in one["text"]]


def test_what_says_nothing_new_to_a_process_leaves_it_alone(system):
    change(system, "[budget]\nusd = 16\n")
    reload(system, "intake", "gateway")
    for name in ("intake", "gateway"):
        wait_said(system, name, "nothing in it is new to this process")
        assert "ready" not in said(system, name)
    change(system, "")


def test_an_address_that_this_machine_has_not_is_told_as_that(system):
    change(system, "[gateway]\nlisten = 203.0.113.9\n")
    reload(system, "gateway")
    wait_said(system, "gateway", "this machine has no such address")
    assert "another gateway" not in said(system, "gateway") and system.processes["gateway"].running


@pytest.mark.parametrize("lines, words", [
    ("[mail]\nsmtp-hots = x\n", "did you mean \"smtp-host\""),
    ("[mail]\ntransport = pigeon\n", "expected maildir, smtp, ses or null"),
    ("[log]\nlevel = loud\n", "[log] level: expected critical, error, warning, notice, info or debug, found \"loud\""),
    ("[turn]\ndeadline = 1ms\n", "from 1s to 1d, found \"1ms\""),
])
def test_what_is_not_right_is_not_taken_and_is_said_and_what_ran_goes_on(system, lines, words):
    pid = system.processes["sender"].popen.pid
    change(system, lines)
    reload(system, "sender")
    wait_said(system, "sender", words)
    assert "what ran goes on" in said(system, "sender")
    assert system.processes["sender"].popen.pid == pid and system.processes["sender"].running


def test_the_doctor_tells_who_runs_with_an_earlier_configuration(system):
    change(system, "[mail]\ntransport = pigeon\n")
    reload(system, "sender")
    wait_until(lambda: behind(system) and "sender" in behind(system)[0], "the doctor tells of it")
    change(system, "")
    reload(system, "broker", *SERVICES)
    wait_said(system, "sender", "nothing in it is new")
    wait_until(lambda: not behind(system), "the doctor is content")


def test_what_is_right_is_taken_in_the_same_process(system):
    before = {name: system.processes[name].popen.pid for name in SERVICES}
    port, opened_first = free_port(), {}
    for level in ("debug", "info", "debug"):
        change(system, f"[log]\nlevel = {level}\n[monitor]\nport = {port}\n")
        reload(system, *SERVICES)
        for name in SERVICES:
            wait_said(system, name, "ready at=")
        opened_first = opened_first or {name: len(opened(system, name)) for name in SERVICES}
    assert "begins anew with another configuration: [log] level" in said(system, "monitor")
    assert {name: system.processes[name].popen.pid for name in SERVICES} == before
    for name in SERVICES:
        with open(f"/proc/{before[name]}/comm", encoding="ascii") as named:
            assert named.read().strip() == f"cartbus-{name}"[:15], "and under its name"
    assert "cannot listen" not in system.cartbus("config", "check").stderr, "the ports are their own still"
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as page:
        assert page.status == 200, "the monitor took its new port"
    for name in SERVICES:
        assert len(opened(system, name)) <= opened_first[name] + 3, f"{name} leaves open what it had open before it began anew"
    wait_until(system.connected, "the gateway's connection")
    assert system.post(system.shops["demo"].cart(fixture("cart-changed", id="r-1", cart="r-1"))).status == 200
    change(system, "")
    reload(system, *SERVICES)
    for name in SERVICES:
        wait_said(system, name, "ready at=")


def test_the_broker_says_what_waits_for_its_next_start_and_ends_no_session(system):
    def epochs():
        return {one["instance"]: one["epoch"] for one in system.ask("status")["sessions"] if one["service"] in SERVICES}

    before = epochs()
    change(system, "[broker]\nheadroom = 64\n")
    reload(system, "broker")
    wait_said(system, "broker", "takes effect at the next start")
    assert "[broker] headroom" in said(system, "broker") and "[broker] headroom-percent" not in said(system, "broker")
    change(system, "[broker]\nheadroom = much\n")
    reload(system, "broker")
    wait_said(system, "broker", "with it the next start will fail")
    change(system, "")
    assert epochs() == before


def test_no_webhook_is_lost_while_everything_begins_anew(system):
    """Without systemd nobody holds the port: what is refused comes again; what was answered is in the log."""
    answered, over = [], threading.Event()

    def post():
        while not over.is_set():
            name = f"w-{len(answered)}"
            try:
                if system.post(system.shops["demo"].cart(fixture("cart-changed", id=name, cart=name))).status == 200:
                    answered.append(name)
            except OSError:
                pass

    thread = threading.Thread(target=post)
    thread.start()
    try:
        change(system, "[log]\nlevel = debug\n")
        reload(system, *SERVICES)
        for name in SERVICES:
            wait_said(system, name, "ready at=")
        count = len(answered)
        wait_until(lambda: len(answered) > count + 20, "more answers")
    finally:
        over.set()
        thread.join()
    change(system, "")
    wait_until(system.drained, "the spool is empty")
    known = {one["message"].ids.cart_id for one in system.log("cart.changed")}
    assert set(answered) <= known


@pytest.mark.parametrize("name", ["exporter", "summarizer"])
def test_a_folder_where_nothing_can_be_written_is_not_taken_and_what_ran_goes_on(system, name):
    system.start(name)
    pid = system.processes[name].popen.pid
    wrong = system.folder / "no-folder"
    wrong.write_text("a file")
    for folder in (wrong, wrong / "below"):
        change(system, f"[export]\nfolder = {folder}\n")
        words = f"[export] folder = {folder}: Not a directory: expected a folder that this user may write in"
        reload(system, name)
        wait_said(system, name, words)
        assert "the configuration is not taken, and what ran goes on" in said(system, name) and "begins anew" not in said(system, name)
        checked = system.cartbus("config", "check", check=False)
        assert checked.returncode == 1 and words in checked.stderr
    assert system.processes[name].popen.pid == pid and system.processes[name].running
    change(system, f"[export]\nfolder = {system.folder / 'made' / 'later'}\n")
    reload(system, name)
    wait_said(system, name, "begins anew with another configuration")
    system.stop(name)


@pytest.fixture
def bounces(tmp_path):
    """mailin with a maildir and a port, and a port that somebody else has."""
    maildir = tmp_path / "bounces"
    for part in ("new", "cur", "tmp"):
        (maildir / part).mkdir(parents=True)
    with System({"mailin": {"folder": maildir, "lmtp": f"127.0.0.1:{free_port()}"}}) as system, socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        system.taken, system.maildir = other.getsockname()[1], maildir
        system.start("broker", "mailin")
        yield system


def with_mailin(system, **changes):
    system.configure({"mailin": {"folder": system.maildir, **changes}})
    reload(system, "mailin")


@pytest.mark.parametrize("key, value, words", [("folder", "{tmp}/gone", "expected a maildir"), ("folder", "{tmp}", "expected a maildir"),
                                               ("lmtp", "127.0.0.1:{taken}", "Address already in use: ss -ltnp shows who has it"),
                                               ("lmtp", "{tmp}/gone/socket", "No such file or directory"),
                                               ("lmtp", "203.0.113.9:24", "expected the path of a socket, or 127.0.0.1")])
def test_a_place_where_mailin_cannot_read_or_listen_is_not_taken_and_mails_come_in_where_they_did(bounces, tmp_path, key, value, words):
    with_mailin(bounces, **{key: value.format(tmp=tmp_path, taken=bounces.taken)})
    wait_said(bounces, "mailin", words)
    assert "the configuration is not taken, and what ran goes on" in said(bounces, "mailin")
    assert bounces.processes["mailin"].running and "begins anew" not in said(bounces, "mailin")
    assert not (tmp_path / "gone").exists() and not (tmp_path / "aside").exists()


def test_mailin_comes_back_to_its_own_port(bounces, tmp_path):
    port = bounces.config_path.read_text().split("lmtp = ")[1].split()[0]
    (tmp_path / "more" / "new").mkdir(parents=True)
    with_mailin(bounces, folder=tmp_path / "more", lmtp=port)
    wait_said(bounces, "mailin", "begins anew with another configuration: [mailin] folder")
    wait_said(bounces, "mailin", "ready at=")
