"""mailin with a maildir and a door for LMTP, and a shop whose mails come back to both."""

import contextlib
import os
import socket

from cartbus_system import System, free_port, wait_until

BACK = "bounces+*@lmtp.example"


def come_back_over_lmtp(system, shop):
    """What the shop's mails have as their sender from now on: a tagged address of the host that is delivered over LMTP."""
    conf = system.folder / "shops" / shop / "shop.conf"
    conf.write_text("".join(f"bounce = {BACK}\n" if line.startswith("bounce") else line for line in conf.read_text().splitlines(keepends=True)))


def over_lmtp(port, mail, to=b"bounces@lmtp.example", within_s=60):
    """One mail, and what is answered to its end, or to what was refused before."""
    with socket.create_connection(("127.0.0.1", port), within_s) as peer, peer.makefile("rb") as said:
        assert said.readline().startswith(b"220")
        peer.sendall(b"LHLO x\r\n")
        while not said.readline().startswith(b"250 "):
            pass
        for command in (b"MAIL FROM:<>\r\n", b"RCPT TO:<" + to + b">\r\n", b"DATA\r\n"):
            peer.sendall(command)
            answer = said.readline().decode()
            if answer[:1] not in ("2", "3"):
                return answer
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            peer.sendall(mail + b".\r\n")
        return said.readline().decode()


class LmtpWorld:
    def __init__(self, maildir, owner=None, lmtp=None):
        """`owner`: the user id and group id of the maildir, if another than ours."""
        self.maildir, self.lmtp = maildir, lmtp or free_port()
        for path in (maildir, *(maildir / part for part in ("new", "cur", "tmp"))):
            path.mkdir(mode=0o700)
            if owner:
                os.chown(path, *owner)
        self.system = System({"mailin": {"folder": maildir, "lmtp": f"127.0.0.1:{self.lmtp}"}})
        self.shop = self.system.add_shop("demo")
        come_back_over_lmtp(self.system, "demo")
        self.system.start("broker", "mirror", "unsub", "mailin")
        wait_until(lambda: self.system.log(topic="document"), "the shop's document")

    def close(self):
        self.system.close()

    def listed(self, address):
        return self.shop.address_hash(address) in [entry["message"].address_hash for entry in self.system.log(topic="suppression")]
