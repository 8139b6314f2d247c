"""Wrong values in cartbus.conf: every program refuses them in the same words, and a reload with them leaves everything running."""

import json
import os
import signal
import socket
import subprocess

import pytest

from cartbus_system import BUILD, System, every_program, fixture, wait_until

SERVICES = every_program()[1:]
# One of each kind; the broker knows the first three.
WRONG = [
    ("[log]\nlevel = loud\n", '[log] level: expected critical, error, warning, notice, info or debug, found "loud"'),
    ("[clock]\nrate = inf\n", '[clock] rate: expected a number from 0.001 to 1000000, as 0.25, found "inf"'),
    ("[retention]\nraw = 31d\n", '[retention] raw: expected a time like 250ms, 30s, 5min, 4h or 2d, from 21d to 30d, found "31d"'),
    ("[gateway]\nport = 99999\n", '[gateway] port: expected a port from 1 to 65535, found "99999"'),
    ("[gateway]\nport = abc\n", '[gateway] port: expected a port from 1 to 65535, found "abc"'),
    ("[gateway]\nlisten = 300.1.1.1\n", '[gateway] listen: expected an IP address, as 127.0.0.1, found "300.1.1.1"'),
    ("[monitor]\nport = 99999\n", '[monitor] port: expected a port from 0 to 65535, found "99999"'),
    ("[monitor]\nadmin = me\n", '[monitor] admin: expected a mail address, as admin@example.com, found "me"'),
    ("[monitor]\nwebhook = ftp://x\n", "[monitor] webhook: expected a URL of http or https"),
    ("[monitor]\nwebhook = https://me:s3cret@x.example/\n",
     "[monitor] webhook: expected a URL of http or https, of at most 511 bytes, without a name and a password before the host"),
    ("[mail]\ntransport = ses\n", "[mail] transport = ses needs ses-region, which is not given"),
    ("[mail]\nper-minute = -5\n", '[mail] per-minute: expected a whole number from 0 to 4294967295, found "-5"'),
    ("[model]\nprovider = gpt\n", '[model] provider: expected none, bedrock, anthropic or openai, found "gpt"'),
    ("[storefront]\nprivate = perhaps\n", '[storefront] private: expected yes or no, found "perhaps"'),
    ("[mailin]\nlmtp = 0.0.0.0:25\n", "[mailin] lmtp: expected the path of a socket, or 127.0.0.1:PORT"),
    ("[google]\nkey = ../x\n", "[google] key: expected the name of a file"),
]


@pytest.fixture(scope="module")
def system():
    with System() as one:
        one.add_shop("demo")
        one.start(*every_program())
        wait_until(one.connected, "the gateway's connection")
        yield one


@pytest.fixture(autouse=True)
def as_it_was(system):
    yield
    change(system, "")


def drop_in(system):
    folder = system.config_path.with_name(system.config_path.name + ".d")
    folder.mkdir(exist_ok=True)
    return folder / "wrong.conf"


def change(system, text):
    drop_in(system).write_text(text)


def said_since(system, name, offset):
    with open(system.processes[name].log_path, encoding="utf-8") as log:
        log.seek(offset)
        return log.read()


def check(system, name):
    program = [str(BUILD / "bin" / f"cartbus-{name}"), "--check", "--config", str(system.config_path)]
    return subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_whoever_judges_says_the_same_words(system, number):
    text, words = WRONG[number]
    change(system, text)
    place = f"{drop_in(system)}:2: {words}"
    asked = [SERVICES[number % len(SERVICES)], SERVICES[(number + 5) % len(SERVICES)]] + (["broker"] if number < 3 else [])
    for name in asked:
        told = check(system, name)
        assert told.returncode == 1 and place in told.stderr, (name, told)
    told = system.cartbus("config", "check", check=False)
    assert told.returncode == 1 and place in told.stderr, told
    if number in (0, 6, 10):
        found = json.loads(system.cartbus("doctor", "--json", "--resolver", "127.0.0.1@9", check=False).stdout)["findings"]
        assert any(place in one["text"] for one in found), found


@pytest.mark.parametrize("name, text", [
    ("broker", "[broker]\nlisten = 203.0.113.7:7400\n"), ("broker", "[broker]\ntopology = /nowhere/topology.conf\n"),
    ("gateway", "[gateway]\nlisten = 203.0.113.7\n"), ("sender", "[mail]\ntransport = smtp\nsmtp-user = me\n"),
    ("summarizer", "[model]\nprovider = anthropic\nsecret = nothing.key\n"), ("monitor", "[monitor]\nwebhook = https://alarms.example/\n"),
    ("mailin", "[mailin]\nfolder = /nowhere/maildir\n"), ("mailin", "[mailin]\nlmtp = /nowhere/lmtp\n"),
    ("mailin", "[mailin]\nlmtp = /tmp/lmtp\nlmtp-group = no.such.group\n"), ("exporter", "[export]\nfolder = /dev/null/export\n")])
def test_what_a_process_would_refuse_is_told_in_its_words_and_once(system, name, text):
    change(system, text)
    refused = check(system, name)
    words = refused.stderr.splitlines()[-1].partition(f"{name}: ")[2]
    told = system.cartbus("config", "check", check=False)
    assert refused.returncode == 1 and words, refused
    assert told.returncode == 1 and told.stderr.count(words) == 1, (words, told)


@pytest.mark.parametrize("key, names", [
    ("address.key", ["gateway", "storefront"]), ("admin.key", ["gateway", "exporter"]), ("link.key", ["gateway", "sender"]), ("bounce.key", ["mailin", "sender"])])
def test_a_key_that_is_too_short_is_refused_by_whoever_takes_it(system, key, names):
    change(system, f"[mailin]\nlmtp = {system.folder}/lmtp\n")
    before = system.secret(key).decode()
    words = f"the secret {system.folder}/secrets/{key} is too short"
    assert [check(system, name).returncode for name in names] == [0] * len(names)
    system.write_secret(key, before[:31])
    try:
        told = [*(check(system, name) for name in names), system.cartbus("config", "check", check=False)]
        assert all(one.returncode == 1 and one.stderr.count(words) == 1 for one in told), told
    finally:
        system.write_secret(key, before)


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_the_files(system):
    before = system.config_path.read_text()
    shop = system.folder / "shops" / "demo" / "shop.conf"
    shop_before = shop.read_text()
    change(system, "[gateway]\nprot = 1\n[mail]\ntransport = ses\nper-minute = -5\n[nothing]\nx = 1\ny = 2\n")
    try:
        system.config_path.write_text(before + "\n[log]\nlevel = loud\n")
        told = system.cartbus("config", "check", check=False)
        places = [line.split(": ", 2)[1] for line in told.stderr.splitlines() if ".conf" in line]
        last = len((before + "\n[log]\nlevel = loud\n").splitlines())
        wrong = str(drop_in(system))
        assert told.returncode == 1
        assert places == [f"{system.config_path}:{last}", f"{wrong}:2", f"{wrong}:4", f"{wrong}:5", f"{wrong}:7"], told.stderr
        assert "transport = ses needs ses-region, which is not given" in told.stderr
        change(system, "")
        system.config_path.write_text(before)
        shop.write_text("[shop]\ncurency = EUR\n" + shop_before.replace("[shop]\n", "", 1).replace("currency = EUR", "currency = EURO"))
        told = system.cartbus("config", "check", "--json", check=False)
        assert told.returncode == 1 and json.loads(told.stdout)["wrong"] == 2, told
        assert "shop.conf:2: unknown key" in told.stderr and "[shop] currency: expected" in told.stderr
    finally:
        system.config_path.write_text(before)
        shop.write_text(shop_before)
    assert system.cartbus("config", "check").returncode == 0


@pytest.mark.parametrize("text, words", [WRONG[0], *WRONG[3:7], WRONG[10]])
def test_a_reload_with_them_leaves_everything_running(system, text, words):
    pids = {name: system.processes[name].popen.pid for name in every_program()}
    offsets = {name: os.path.getsize(system.processes[name].log_path) for name in every_program()}
    change(system, text)
    asked = [name for name in every_program() if name != "broker" or words == WRONG[0][1]]
    for name in asked:
        system.processes[name].popen.send_signal(signal.SIGHUP)
    for name in asked:
        wait_until(lambda name=name: words in said_since(system, name, offsets[name]), f"{name} says what is wrong", within_s=60)
        assert "begins anew" not in said_since(system, name, offsets[name])
    assert all(system.processes[name].running for name in every_program())
    assert {name: system.processes[name].popen.pid for name in every_program()} == pids
    number = abs(hash(text)) % 10**9
    assert system.post(system.shops["demo"].cart(fixture("cart-changed", id=f"w-{number}", cart=f"w-{number}"))).status == 200


def test_an_address_that_the_gateway_could_not_take_is_no_reason_to_leave_the_one_it_has(system):
    """Each is right as a value; only whoever tries finds out."""
    gateway = system.processes["gateway"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for text in (f"[gateway]\nport = {taken.getsockname()[1]}\n", "[gateway]\nlisten = 203.0.113.7\n"):
            pid, offset = gateway.popen.pid, os.path.getsize(gateway.log_path)
            change(system, text)
            gateway.popen.send_signal(signal.SIGHUP)
            wait_until(lambda offset=offset: "cannot listen on" in said_since(system, "gateway", offset), "the gateway says so", within_s=60)
            told = said_since(system, "gateway", offset)
            assert "what ran goes on" in told and "begins anew" not in told
            assert gateway.running and gateway.popen.pid == pid
            assert system.request("GET", "/healthz").status == 200


def test_of_a_port_that_another_process_has_what_runs_is_warned_and_not_of_its_own(system):
    assert "cannot listen" not in system.cartbus("config", "check").stderr
    with socket.create_server(("127.0.0.1", 0)) as taken:
        change(system, f"[monitor]\nport = {taken.getsockname()[1]}\n")
        told = system.cartbus("config", "check", check=False)
        assert told.returncode == 0 and f"warning: [monitor] port: cannot listen on 127.0.0.1 port {taken.getsockname()[1]}: " in told.stderr, told
        found = json.loads(system.cartbus("doctor", "--json", "--resolver", "127.0.0.1@9", check=False).stdout)["findings"]
        assert [one for one in found if one["area"] == "configuration" and one["finding"] == "doubtful" and "[monitor] port: cannot listen" in one["text"]]


def test_who_needs_none_of_it_starts_and_the_operator_is_heard(system):
    change(system, "[trace]\nsample = much\n")
    assert "warning" in system.cartbus("stop", "--all", "--reason", "a try").stderr
    assert system.cartbus("resume", "--all", "--reason", "it is over").returncode == 0
    system.stop("waiter")
    offset = os.path.getsize(system.processes["waiter"].log_path)
    system.start("waiter")
    assert "what others need of the configuration is wrong" in said_since(system, "waiter", offset if offset < os.path.getsize(system.processes["waiter"].log_path) else 0)
