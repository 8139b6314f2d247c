"""The broker's process alone: how it starts, refuses and ends."""

import os
import signal
import socket
import stat
import subprocess
import tempfile
import pathlib

import pytest

from cartbus_system import BUILD, wait_until

BROKER = BUILD / "bin" / "cartbus-broker"
TOPOLOGY = "[topic work]\nretention = fact\n[peer worker]\nhears = work\nsays = work\n"


class Place:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.config = self.folder / "cartbus.conf"
        self.topology = self.folder / "topology.conf"
        self.topology.write_text(TOPOLOGY)
        self.running = []
        self.configure()

    def configure(self, more=""):
        self.config.write_text(
            f"[paths]\nstate = {self.folder}/state\nrun = {self.folder}/run\n"
            f"[broker]\ntopology = {self.topology}\n{more}")

    def start(self, **environment):
        process = subprocess.Popen([BROKER, "--config", self.config], stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **environment})
        self.running.append(process)
        return process

    def start_ready(self):
        process = self.start()
        line = process.stderr.readline()
        assert "ready" in line, line
        return process

    def refused(self):
        """Starts it, expects that it gives up, and answers what it said."""
        process = self.start()
        _, said = process.communicate(timeout=20)
        assert process.returncode == 1, said
        return said


@pytest.fixture
def place():
    with tempfile.TemporaryDirectory(prefix="cartbus-broker-") as folder:
        place = Place(folder)
        yield place
        for process in place.running:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stderr.close()


def stop(process):
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 0


def test_sigterm_ends_it_cleanly_and_it_finds_its_log_again(place):
    first = place.start_ready()
    stop(first)
    log = first.stderr.read()
    assert "stopped head=0" in log
    second = place.start()
    assert "ready log=" in second.stderr.readline()
    stop(second)


def test_a_second_broker_on_the_same_folder_says_what_to_do(place):
    place.start_ready()
    said = place.refused()
    assert "another broker is using" in said and "[paths] state" in said


def test_after_sigkill_it_starts_again(place):
    for _ in range(5):
        process = place.start_ready()
        process.kill()
        process.wait()
    stop(place.start_ready())


def test_a_missing_topology_is_named(place):
    place.topology.unlink()
    said = place.refused()
    assert str(place.topology) in said and "[broker] topology" in said


def test_a_topology_that_does_not_add_up_is_explained(place):
    place.topology.write_text("[peer worker]\nhears = nothing\n")
    assert 'topic "nothing" is not declared' in place.refused()


def test_an_unknown_key_is_an_error_with_its_line(place):
    place.configure("colour = blue\n")
    said = place.refused()
    assert "cartbus.conf:6" in said and "colour" in said


def test_a_state_folder_that_cannot_be_made_is_named(place):
    (place.folder / "state").write_text("a file")
    assert f"{place.folder}/state" in place.refused()


def test_sections_of_other_processes_are_none_of_its_business(place):
    place.configure("[gateway]\nport = 8080\n")
    stop(place.start_ready())


def test_nobody_else_can_reach_its_sockets_and_its_log(place):
    place.start_ready()
    for name in ("ingress", "control", "tap"):
        mode = (place.folder / "run" / name).stat().st_mode
        assert stat.S_ISSOCK(mode) and mode & stat.S_IRWXO == 0
    assert (place.folder / "state" / "broker").stat().st_mode & stat.S_IRWXO == 0


def test_systemd_is_told_when_it_is_ready(place):
    path = f"{place.folder}/notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asked:
        asked.bind(path)
        asked.settimeout(20)
        place.start(NOTIFY_SOCKET=path)
        assert asked.recv(256).startswith(b"READY=1")


def test_a_damaged_database_is_refused_and_left_alone(place):
    stop(place.start_ready())
    current = place.folder / "state" / "broker" / "CURRENT"
    current.write_text("nonsense\n")
    said = place.refused()
    assert "cannot open the log" in said and f"{place.folder}/state/broker" in said
    assert current.read_text() == "nonsense\n"


def test_a_record_that_a_crash_cut_short_is_told(place):
    process = place.start_ready()
    process.kill()
    process.wait()
    newest = max((place.folder / "state" / "broker").glob("0*.log"))
    with open(newest, "ab") as log:
        log.write(b"crc." + (100).to_bytes(2, "little") + b"\x01" + b"ten bytes.")  # a record of 100 bytes, begun
    second = place.start()
    said = second.stderr.readline()
    assert f"{place.folder}/state/broker" in said and "cut short" in said
    assert "ready" in second.stderr.readline()
    stop(second)


def test_stale_lanes_of_a_killed_broker_are_removed(place):
    process = place.start_ready()
    (place.folder / "run" / "lane-7").write_text("")
    process.kill()
    process.wait()
    place.start_ready()
    wait_until(lambda: not (place.folder / "run" / "lane-7").exists(), "removing the lane")
