"""What the tests from the outside share: their options, where their helpers lie, and a real mail server."""

import pathlib
import sys

import pytest

SYSTEM = pathlib.Path(__file__).resolve().parent / "system"
sys.path[:0] = [str(SYSTEM), str(SYSTEM / "peers"), str(SYSTEM / "cases")]

from smtp_server import SmtpServer  # noqa: E402  (found through the path above)

OPTIONS = {
    "--seed": (None, "of the order of strikes, kills, points and faults, and of their moments; a random one is printed"),
    "--strikes": (4, "of senders on two hosts: how often one is added, killed or cut off"),
    "--kills": (110, "of the whole system: how many SIGKILLs; at least 8 of each process in any case"),
    "--carts": (120, "carts per shop"),
    "--points": (24, "of the broker alone: how many points are struck in all; 0: every one, in every way"),
    "--cycles": (6, "of the broker alone: how many kills at random moments"),
    "--jobs": (0, "of the broker alone: bouts side by side"),
    "--damages": (5, "to the broker's folder; from 21 on each kind of file in every way"),
}


def pytest_addoption(parser):
    for name, (otherwise, words) in OPTIONS.items():
        parser.addoption(name, type=int, default=otherwise, help=words)


@pytest.fixture
def mail_server():
    server = SmtpServer()
    yield server
    server.close()


def pytest_terminal_summary(terminalreporter):
    """What a test that passed printed of itself (seeds, figures) belongs to the record; what its processes told the journal does not."""
    for report in terminalreporter.getreports("passed"):
        if report.when == "call" and report.capstdout.strip():
            terminalreporter.write_line(f"{report.nodeid}:\n{report.capstdout.strip()}")
