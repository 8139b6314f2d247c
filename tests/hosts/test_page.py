"""deploy/handbook/scale-out.md is true: its commands are typed on two booted machines (tests/systemd), and print what it shows."""

import os
import pathlib
import subprocess
import sys
import time

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "systemd"), str(TESTS / "handbook")]

from hosts import call_in  # noqa: E402  (found through the paths above)
from installed import Cartbus, unit  # noqa: E402
from machine import Machine, debian, libraries, stage, wait_until  # noqa: E402
from pages import HANDBOOK, Page, matches, usual  # noqa: E402
from shell import Shell  # noqa: E402

FIRST, SECOND = "10.0.0.7", "10.0.0.8"
SHOWN_WITHIN_S = 120
PREPARED = "systemd-sysusers; systemd-tmpfiles --create; systemctl daemon-reload; touch /etc/cartbus/cartbus.conf; cartbus secrets make"


class Host(Machine):
    """On the tests' network, with a name; its files can be reached by who has its key."""

    own_network = True

    def __init__(self, lan, root, folder, name, address):
        folder.mkdir()
        super().__init__(folder, root)
        stage(self.upper)
        self.lan, self.name, self.address = lan, name, address

    def power_on(self):
        super().power_on()
        self.run("hostname", self.name)
        self.lan.plug(self, self.address)
        self.shell(PREPARED)

    def ip(self, *words):
        subprocess.run(["nsenter", f"--net=/proc/{self.init}/ns/net", "ip", *words], check=True)

    def call(self, function):
        return call_in(f"/proc/{self.init}/ns/net", function)


@pytest.fixture
def machines(lan, outside, tmp_path):
    root = outside(lambda: debian("hosts", ["ca-certificates", "tzdata", "openssh-server", *libraries()]))
    with Host(lan, root, tmp_path / "first", "host-a", FIRST) as first, Host(lan, root, tmp_path / "second", "host-b", SECOND) as second:
        key = first.shell("mkdir -p -m 700 /root/.ssh; ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519; cat /root/.ssh/*.pub")
        second.run("sh", "-ec", "mkdir -p -m 700 /root/.ssh; cat >/root/.ssh/authorized_keys; systemctl start ssh", stdin=key)
        first.shell(f"echo '{SECOND} host-b' >>/etc/hosts; echo 'StrictHostKeyChecking accept-new' >/root/.ssh/config")
        yield first, second


def take(shell, step):
    """What it printed, and whether that is well; typed again where the page says so."""
    deadline = time.monotonic() + SHOWN_WITHIN_S
    while True:
        printed, code = shell.type(step.script)
        well = matches(step.prints, printed) and (code == 0 or step.prints.strip() != "") or (step.staged and code == 0)
        if well or not step.until or time.monotonic() > deadline:
            assert well, (f"line {step.line}{' on ' * bool(step.host)}{step.host}: # {step.script}\n--- the page shows\n{step.prints}"
                          f"--- it printed\n{printed}\n--- compared as\n{usual(step.prints)}\n--- and\n{usual(printed)}")
            return
        time.sleep(0.5)


def test_the_page_on_several_hosts_prints_what_it_shows_and_a_mail_comes_from_the_other_host(machines):
    if os.geteuid() != 0:
        pytest.fail("machines are booted in namespaces, which takes root: sudo tests/run hosts")
    first, second = machines
    cartbus = Cartbus(first)
    cartbus.configure()
    clock = first.run("cat", "/etc/cartbus/cartbus.conf").stdout.split("[monitor]")[0]
    second.run("tee", "/etc/cartbus/cartbus.conf.d/99-clock.conf", stdin=clock)
    first.shell("systemctl enable -q --now cartbus.target")
    cartbus.wait_ready()
    cartbus.add_shop()
    shells = {"": Shell(first), "host-b": Shell(second)}
    try:
        for step in Page(HANDBOOK / "scale-out.md").steps:
            take(shells[step.host], step)
    except AssertionError:
        print(*(machine.run("journalctl", "--no-pager", "-n", "60", check=False).stdout for machine in machines), sep="\n")
        raise
    first.port = 8080  # its own network's
    assert first.call(lambda: cartbus.post("from-the-other-host")) == 200
    wait_until(lambda: "To: " in second.shell("grep -rhs ^To: /var/lib/cartbus/mail/new || true"), "the mail on host-b", 60)
    assert "To: " not in first.shell("grep -rhs ^To: /var/lib/cartbus/mail/new || true")
    exposure = first.run("systemd-analyze", "security", "--no-pager", unit("broker"), check=False).stdout
    print(exposure.splitlines()[-1])
    for shell in shells.values():
        shell.close()
