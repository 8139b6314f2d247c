"""A system with its console, and people of every role: made once for a file of tests."""

import json
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from cartbus_system import BUILD, System, free_port, wait_until  # noqa: E402  (found through tests/conftest.py)
from visitor import Visitor  # noqa: E402

ROLES = {"viewer": "viewer:demo", "approver": "approver:demo", "owner": "owner:demo", "operator": "operator"}


class Console(System):
    def __init__(self, settings=None):
        self.console_port = free_port()
        place = {"port": self.console_port, "public-url": f"http://127.0.0.1:{self.console_port}"}
        super().__init__({**(settings or {}), "console": {**place, **(settings or {}).get("console", {})}})
        self.people = {}

    def visitor(self, **how):
        return Visitor(self.console_port, **how)

    def add(self, name, role):
        """Somebody with this role who has signed in."""
        link = self.cartbus("user", "add", name, "--role", role, json_output=True)["link"]
        wait_until(lambda: self.knows(name), f"the console knows {name}", step_s=0.1)
        self.people[name] = self.visitor().enter(link)
        return self.people[name]

    def knows(self, name):
        return any(person["person"] == name for person in json.loads(self.cartbus("user", "list", "--json").stdout)["people"])

    def add_admin(self, name="ada"):
        self.people[name] = self.visitor().enter(self.cartbus("console", "link", json_output=True)["link"], name)
        self.people[name].enrol()
        return self.people[name]


def rows():
    """Every row of the console's pages, from the program itself."""
    lines = subprocess.run([str(BUILD / "bin" / "cartbus-test-page_rows")], capture_output=True, text=True, check=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


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
