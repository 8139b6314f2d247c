"""wires.py SOCKET: what lies between hosts. Hands on what they send each other, as it is told to: at once, late, slowly, in part, or not at all.

Each host has a tun device whose other end is held here, so that faults are those of a network: whoever sends is told nothing. It stands
in for netem, which not every kernel has. On SOCKET comes one JSON object per message, answered with "done":

    {"plug": "10.79.0.2"}                                   and with it the descriptor of that host's device
    {"from": A, "to": B, "loss": 0..1, "delay_s": S, "bytes_s": N}   how what A sends to B fares from now on; 0: no limit
"""

import heapq
import itertools
import json
import os
import random
import selectors
import socket
import sys
import time

PACKET_MOST, CONTROL_MOST = 65536, 4096
BACKLOG_MOST_S = 0.5  # what would wait longer in front of a slow wire is dropped, as a router does
CLEAR = {"loss": 0, "delay_s": 0, "bytes_s": 0}


class Wires:
    def __init__(self, control):
        self.control = socket.socket(fileno=control)
        self.watched = selectors.DefaultSelector()
        self.watched.register(self.control, selectors.EVENT_READ)
        self.devices, self.addresses = {}, {}  # address -> descriptor, and back
        self.rules, self.free_at_s = {}, {}    # (from, to) -> how, and from when on the slow wire is free
        self.under_way, self.order = [], itertools.count()
        self.dice = random.Random(1)

    def obey(self):
        """False: there is nobody to obey any more."""
        text, descriptors, _, _ = socket.recv_fds(self.control, CONTROL_MOST, 1)
        if not text:
            return False
        told = json.loads(text)
        if "plug" in told:
            os.set_blocking(descriptors[0], False)
            self.devices[told["plug"]], self.addresses[descriptors[0]] = descriptors[0], told["plug"]
            self.watched.register(descriptors[0], selectors.EVENT_READ)
        else:
            self.rules[told["from"], told["to"]] = {**CLEAR, **told}
        self.control.send(b"done")
        return True

    def take(self, device):
        while True:
            try:
                packet = os.read(device, PACKET_MOST)
            except OSError:
                return
            if packet[0] >> 4 == 4:
                self.forward(self.addresses[device], socket.inet_ntoa(packet[16:20]), packet)

    def forward(self, sender, receiver, packet):
        rule = self.rules.get((sender, receiver), CLEAR)
        if receiver not in self.devices or self.dice.random() < rule["loss"]:
            return
        at_s = now_s = time.monotonic()
        if rule["bytes_s"]:
            at_s = max(now_s, self.free_at_s.get((sender, receiver), 0)) + len(packet) / rule["bytes_s"]
            if at_s - now_s > BACKLOG_MOST_S:
                return
            self.free_at_s[sender, receiver] = at_s
        at_s += rule["delay_s"]
        if at_s > now_s:
            heapq.heappush(self.under_way, (at_s, next(self.order), receiver, packet))
        else:
            self.hand_over(receiver, packet)

    def hand_over(self, receiver, packet):
        try:
            os.write(self.devices[receiver], packet)
        except OSError:
            pass  # its device is down, or gone with its host

    def run(self):
        while True:
            wait_s = max(0, self.under_way[0][0] - time.monotonic()) if self.under_way else None
            for key, _ in self.watched.select(wait_s):
                if key.fileobj is not self.control:
                    self.take(key.fd)
                elif not self.obey():
                    return
            while self.under_way and self.under_way[0][0] <= time.monotonic():
                _, _, receiver, packet = heapq.heappop(self.under_way)
                self.hand_over(receiver, packet)


Wires(int(sys.argv[1])).run()
