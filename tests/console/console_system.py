"""A system with its console, and people who have signed in."""

import json
import subprocess

from cartbus_system import BUILD, System, free_port, wait_until
from visitor import Visitor

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
