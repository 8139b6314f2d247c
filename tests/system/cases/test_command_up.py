"""`cartbus up`: everything in the foreground, kept alive, stopped in order."""

import os
import pathlib
import re
import resource
import signal
import socket
import stat
import subprocess

import pytest

from cartbus_system import BUILD, SOURCES, System, every_program, wait_until

CARTBUS = BUILD / "bin" / "cartbus"


class Up:
    """`cartbus up` over a System's folder, with its lines."""

    def __init__(self, system, *options):
        self.system = system
        self.log = system.folder / "logs" / "up.log"
        self.process = subprocess.Popen([str(CARTBUS), "up", "--config", str(system.config_path), *options],
                                        stdout=subprocess.PIPE, stderr=open(self.log, "w"), text=True, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()

    def wait_ready(self):
        assert self.process.stdout.readline() == "ready\n", self.log.read_text()

    def children(self):
        """{program: pid}"""
        found = {}
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                name, rest = path.read_text().rsplit(")", 1)
                program = pathlib.Path(os.readlink(path.parent / "exe")).name
            except OSError:
                continue
            if int(rest.split()[1]) == self.process.pid:
                found[program.removeprefix("cartbus-")] = int(path.parent.name)
        return found

    def stop(self, with_signal=signal.SIGTERM):
        self.process.send_signal(with_signal)
        return self.process.wait(60)


@pytest.fixture
def system():
    with System() as one:
        one.add_shop("demo")
        yield one


def test_it_makes_what_is_missing_and_says_ready_when_all_are(system):
    for name in ("address.key", "link.key", "bounce.key", "admin.key"):
        (system.folder / "secrets" / name).unlink()
    (system.folder / "run").rmdir()
    with Up(system) as up:
        up.wait_ready()
        assert set(up.children()) == set(every_program())
        assert system.cartbus("status").stdout.startswith("GREEN")
        for name in ("address.key", "link.key", "bounce.key", "admin.key"):
            key = system.folder / "secrets" / name
            assert stat.S_IMODE(key.stat().st_mode) == 0o600 and re.fullmatch(r"[0-9a-f]{64}\n", key.read_text())
        assert up.stop() == 0


def core_limits(up):
    limits = (pathlib.Path(f"/proc/{pid}/limits").read_text() for pid in up.children().values())
    return {re.search(r"Max core file size +(\S+)", one).group(1) for one in limits}


def test_its_processes_leave_no_core_files_unless_they_are_wanted(system, monkeypatch):
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    monkeypatch.delenv("CARTBUS_DUMPS", raising=False)
    monkeypatch.setenv("ASAN_OPTIONS", "disable_coredump=0")  # which else does it by itself
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    with Up(system) as up:
        up.wait_ready()
        assert core_limits(up) == {"0"}
    monkeypatch.setenv("CARTBUS_DUMPS", "1")
    with Up(system) as up:
        up.wait_ready()
        assert core_limits(up) != {"0"}


def test_keys_that_are_there_stay_as_they_are(system):
    before = system.secret("address.key")
    with Up(system) as up:
        up.wait_ready()
    assert system.secret("address.key") == before


@pytest.mark.parametrize("with_signal", [signal.SIGTERM, signal.SIGINT])
def test_all_stop_in_the_reverse_order_and_none_is_left(system, with_signal):
    with Up(system) as up:
        up.wait_ready()
        pids = up.children()
        assert up.stop(with_signal) == 0
        assert not [pid for pid in pids.values() if pathlib.Path(f"/proc/{pid}").exists()]
        stopped = re.findall(r"^(\w+) +stopp(?:ing|ed)", up.log.read_text(), re.M)
        assert [name for name in stopped if name != "up"] == list(reversed(every_program()))


@pytest.mark.parametrize("name", ["broker", "intake", "sender"])
def test_what_is_killed_is_started_again_and_goes_on(system, name):
    with Up(system) as up:
        up.wait_ready()
        before = up.children()
        os.kill(before[name], signal.SIGKILL)
        wait_until(lambda: up.children().get(name, before[name]) != before[name], f"another {name}")
        wait_until(lambda: system.cartbus("status", check=False).returncode == 0, "green again", within_s=30)
        after = up.children()
        assert {key for key in every_program() if before[key] != after[key]} == {name}, "nothing else was touched"
        assert system.cartbus("webhook", "send", "demo").returncode == 0
        assert "was killed by signal 9" in up.log.read_text()


def test_children_do_not_outlive_a_supervisor_that_is_killed(system):
    with Up(system) as up:
        up.wait_ready()
        pids = up.children()
        up.process.kill()
        up.process.wait()
        wait_until(lambda: not [pid for pid in pids.values() if pathlib.Path(f"/proc/{pid}").exists()], "all being gone",
                   within_s=30)


def test_a_second_one_is_refused(system):
    with Up(system) as up:
        up.wait_ready()
        done = subprocess.run([str(CARTBUS), "up", "--config", str(system.config_path)], capture_output=True, text=True,
                              timeout=30)
        assert done.returncode == 1 and "another `cartbus up` is running" in done.stderr
        assert up.process.poll() is None


def test_it_gives_up_when_a_process_cannot_be_started_and_says_which(system):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        system.configure({"gateway": {"port": taken.getsockname()[1]}})
        with Up(system) as up:
            assert up.process.wait(60) == 1
            assert "gateway cannot be started" in up.log.read_text()
            assert up.process.stdout.read() == "", "it was never ready"


def test_several_senders_may_run(system):
    with Up(system, "--senders", "3") as up:
        up.wait_ready()
        sessions = system.cartbus("status", json_output=True)["sessions"]
        assert {one["instance"] for one in sessions if one["service"] == "sender"} == {"sender-1", "sender-2", "sender-3"}


def test_the_supervisors_own_supervisor_is_told(system):
    path = system.folder / "told"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(str(path))
        told.settimeout(60)
        os.environ["NOTIFY_SOCKET"] = str(path)
        try:
            with Up(system) as up:
                assert b"READY=1" in told.recv(4096)
                up.wait_ready()
        finally:
            del os.environ["NOTIFY_SOCKET"]


def test_the_table_of_processes_tells_of_every_one_what_its_table_declares():
    told = {}
    for row in re.findall(r"^\| `(\w+)` \|([^|]*)\|([^|]*)\|([^|]*)\|$", (SOURCES / "services/README.md").read_text(), re.M):
        told[row[0]] = [set(re.findall(r"`([a-z.]+)`", cell)) for cell in row[1:]]
    for name in every_program()[1:] + ("cartbus",):
        program = CARTBUS if name == "cartbus" else BUILD / "bin" / f"cartbus-{name}"
        manifest = subprocess.run([str(program), "--manifest"], capture_output=True, text=True, check=True).stdout
        declared = [set(re.findall(rf"^{word} = (\S+)", manifest, re.M)) for word in ("hears", "remembers", "says")]
        assert told[name] == declared, f"services/README.md's row of {name}"
