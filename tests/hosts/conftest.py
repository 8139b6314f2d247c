"""The tests run in a network namespace of their own, from which hosts are reached as a storefront or a mailbox reaches them.

It and all hosts end with the test run, however that ends.
"""

import ctypes
import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "crash"))

from lan import Lan  # noqa: E402  (found beside this, and what it needs through the paths above)
from smtp_server import SmtpServer  # noqa: E402

from hosts import CLONE_NEWNET, Host, call_in  # noqa: E402

MACHINES_NETWORK = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)  # which the tests leave


def pytest_configure(config):
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        pytest.exit(f"no network namespace can be made here (root with CAP_SYS_ADMIN is needed): {os.strerror(ctypes.get_errno())}", 2)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


@pytest.fixture
def outside():
    """Calls something in the network of the machine that this runs on, from where packages can be fetched."""
    return lambda function: call_in(f"/proc/self/fd/{MACHINES_NETWORK}", function)


@pytest.fixture
def lan():
    with Lan() as lan:
        yield lan


@pytest.fixture
def mail_server(lan):
    """OpenSMTPD on a host of its own; `address` is where the others reach it."""
    host = Host("mail")
    address = lan.plug(host)
    server = SmtpServer(host, ("127.0.0.1", address))
    server.address = address
    yield server
    server.close()
    host.close()
