"""Hosts that are plugged into one network, and what may happen between any two of them (wires.py)."""

import fcntl
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys

from cartbus_system import end_with_parent

WIRES = pathlib.Path(__file__).with_name("wires.py")
NET = "10.79.0."
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
DEVICE = "lan0"
CLEAR = {"loss": 0, "delay_s": 0, "bytes_s": 0}
GONE = {**CLEAR, "loss": 1}
SLOW = {"loss": 0.02, "delay_s": 0.08, "bytes_s": 60_000}  # as over a mobile phone: 2 % lost, 160 ms there and back, half a megabit


class Here:
    """Where the test itself runs, as a host."""

    def call(self, function):
        return function()

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True)


def device():
    """The other end of a device that is made where this is called."""
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    return end


class Lan:
    def __enter__(self):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.wires = subprocess.Popen([sys.executable, WIRES, str(theirs.fileno())], pass_fds=[theirs.fileno()],
                                      preexec_fn=end_with_parent)
        theirs.close()
        self.addresses = []
        self.here = Here()
        self.plug(self.here)
        return self

    def __exit__(self, *_):
        self.control.close()
        self.wires.wait()

    def _tell(self, descriptors=(), **told):
        socket.send_fds(self.control, [json.dumps(told).encode()], descriptors)
        if self.control.recv(16) != b"done":
            raise RuntimeError("what lies between the hosts has ended")

    def plug(self, host, address=None):
        """Its address from now on."""
        address = address or f"{NET}{len(self.addresses) + 1}"
        end = host.call(device)
        host.ip("address", "add", f"{address}/24", "dev", DEVICE)
        host.ip("link", "set", DEVICE, "up")
        self._tell([end], plug=address)
        os.close(end)
        self.addresses.append(address)
        return address

    def one_way(self, sender, receiver, **how):
        """How what `sender` sends to `receiver` fares: addresses."""
        self._tell(**{**CLEAR, **how, "from": sender, "to": receiver})

    def both_ways(self, one, other, **how):
        self.one_way(one, other, **how)
        self.one_way(other, one, **how)

    def unplug(self, address):
        """From everybody; neither end is told."""
        for other in self.addresses:
            self.both_ways(address, other, **GONE)

    def plug_in(self, address):
        for other in self.addresses:
            self.both_ways(address, other)
