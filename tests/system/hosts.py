"""Hosts of a test: network namespaces, with a name each, that are joined by wires (veth) which can be cut, so that neither end is told.

Needs root with CAP_SYS_ADMIN and CAP_NET_ADMIN, as a container has them that may make namespaces. Everything ends with the
test: a namespace lives as long as the process that keeps it, and a wire as long as the two namespaces.
"""

import ctypes
import os
import socket
import subprocess
import threading

from cartbus_system import end_with_parent

CLONE_NEWNET = 0x40000000
KEEP = 'hostname "$1" && ip link set lo up && echo up && exec cat'  # until its input ends


def call_in(namespace, function):
    """What `function` answers in that network, in a thread of its own: a socket, and a process, belong to where they were made."""
    answers = []

    def enter():
        fd = os.open(namespace, os.O_RDONLY)
        try:
            if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            answers.append(function())
        finally:
            os.close(fd)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    return answers[0]


class Host:
    def __init__(self, name):
        self.name = name
        self.keeper = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c", KEEP, "sh", name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True, preexec_fn=end_with_parent)
        if self.keeper.stdout.readline() != "up\n":
            raise RuntimeError("no network namespace can be made here (root with CAP_SYS_ADMIN and CAP_NET_ADMIN is needed): "
                               + self.keeper.stderr.read())

    @property
    def inside(self):
        """What a command begins with that is to run there."""
        return ["nsenter", *(f"--{kind}=/proc/{self.keeper.pid}/ns/{kind}" for kind in ("net", "uts"))]

    def ip(self, *words):
        subprocess.run([*self.inside, "ip", *words], check=True)

    def call(self, function):
        return call_in(f"/proc/{self.keeper.pid}/ns/net", function)

    def listener(self, address, port):
        def listen():
            opened = socket.socket()
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind((address, port))
            opened.listen(128)
            return opened

        return self.call(listen)

    def close(self):
        self.keeper.stdin.close()
        self.keeper.wait()


class Wire:
    """Between two hosts; network `number` gives their addresses: 10.78.<number>.1 and .2."""

    def __init__(self, number, one, other):
        self.name, self.one, self.other = f"wire{number}", one, other
        self.address = {one: f"10.78.{number}.1", other: f"10.78.{number}.2"}
        one.ip("link", "add", self.name, "type", "veth", "peer", "name", self.name, "netns", str(other.keeper.pid))
        for host in (one, other):
            host.ip("address", "add", f"{self.address[host]}/24", "dev", self.name)
            host.ip("link", "set", self.name, "up")

    def cut(self):
        self.one.ip("link", "set", self.name, "down")

    def mend(self):
        self.one.ip("link", "set", self.name, "up")

    def swallow(self):
        """What `one` sends to `other` is lost; the other way goes on."""
        self.one.ip("route", "add", "blackhole", f"{self.address[self.other]}/32")

    def give_back(self):
        self.one.ip("route", "delete", "blackhole", f"{self.address[self.other]}/32")

    def lead_astray(self, sender):
        """What that host sends leaves it, for an interface that is not there: its kernel does not know."""
        self._neighbor("replace", sender, "lladdr", "02:00:00:00:00:01", "nud", "permanent")

    def lead_back(self, sender):
        self._neighbor("delete", sender)

    def _neighbor(self, verb, sender, *words):
        receiver = self.other if sender is self.one else self.one
        sender.ip("neighbor", verb, self.address[receiver], "dev", self.name, *words)
