"""A System whose gateway takes files (file_endpoint.c): POST /files/SHOP/NAME becomes a blob and a message that names it."""

import base64
import contextlib
import hashlib
import http.client
import socket
import subprocess

from cartbus_system import BUILD, System, wait_until
from shop_webhooks import Answer

PROGRAM = "test-hatch"


def name_of(content):
    return hashlib.sha256(content).hexdigest()


class Hatch(System):
    def __init__(self, settings=None):
        """`settings`: of its section [blobs]."""
        super().__init__()
        known, ours = (subprocess.run([BUILD / "bin" / f"cartbus-{name}", "--manifest"], capture_output=True, text=True, check=True).stdout
                       for name in ("gateway", PROGRAM))
        topology = (BUILD / "share" / "cartbus" / "topology.conf").read_text()
        assert known in topology
        (self.folder / "topology.conf").write_text(topology.replace(known, ours) + "[peer desk]\nhears = test.file\n")
        self.configure({"broker": {"topology": self.folder / "topology.conf"}, "blobs": {"shop-mib": 8, "kept-free-mib": 1, **(settings or {})}})
        self.shop = self.add_shop("demo")

    def command(self):
        return BUILD / "bin" / "cartbus-test-hatch-command"

    def open(self):
        self.start(PROGRAM)
        wait_until(self.connected, "the gateway meets the broker")

    # -- what comes --

    def begin(self, name, length, sender="", secret=None):
        """A connection on which the head of a request was sent."""
        peer = socket.create_connection((self.door, self.port), 60)
        peer.sendall(f"POST /files/{self.shop.name}/{name} HTTP/1.1\r\nHost: x\r\nX-File-Secret: {secret or self.shop.secret}\r\n"
                     f"X-File-From: {sender}\r\nContent-Length: {length}\r\n\r\n".encode())
        return peer

    @staticmethod
    def answer(peer):
        response = http.client.HTTPResponse(peer, method="POST")
        response.begin()
        return Answer(response.status, dict(response.getheaders()), response.read())

    def put(self, name, content, **head):
        """The answer, which may come before the whole body was sent."""
        with self.begin(name, len(content), **head) as peer:
            with contextlib.suppress(ConnectionError):
                peer.sendall(content)
            return self.answer(peer)

    # -- what is there --

    def said(self):
        """{name of the file: its message}, of the shop"""
        entries = self.log(topic="test.file", shop=self.shop.name)
        said = {entry["key"]: self.proto().Document.FromString(base64.b64decode(entry["payload"])) for entry in entries}
        assert len(said) == len(entries), "a file has one message"
        return said

    def store(self):
        return self.folder / "state" / "blobs" / "gateway" / "files" / self.shop.name

    def blob(self, name):
        return self.store() / "blobs" / name[:2] / name

    def blobs(self):
        return sorted(path.name for path in self.store().glob("blobs/*/*"))

    def references(self):
        return list(self.store().glob("refs/*/*/*"))

    def writing(self):
        return list(self.store().glob("writing/*"))

    def verify(self):
        """What the command says of the blobs: whether all is sound, and each that is not."""
        done = self.cartbus("blobs", "--verify", check=False)
        return done.returncode == 0, done.stderr.splitlines()
