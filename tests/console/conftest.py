"""A system with its console, and people of every role: made once for a file of tests."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from cartbus_system import wait_until  # noqa: E402  (found through tests/conftest.py)
from console_system import ROLES, Console  # noqa: E402


@pytest.fixture(scope="module")
def console():
    with Console() as console:
        console.add_shop("demo")
        console.add_shop("other", title="Other shop")
        console.start("broker", "mirror", "gateway", "intake", "timer", "waiter", "console")
        console.add_admin()
        for name, role in ROLES.items():
            console.add(name, role)
        wait_until(lambda: "demo" in console.people["ada"].get("/").text, "the console knows the shop")
        yield console
