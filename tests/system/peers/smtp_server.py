"""A real mail server for tests: OpenSMTPD from Debian, with every address delivered to one maildir.

It owns its folder and its process group; `mails()` parses what was delivered. Needs root, as OpenSMTPD does: it drops
its privileges by itself and delivers as the user `cartbus-mail`, which is made when missing. OpenSMTPD's control socket and
queue have fixed places, so it gets a mount namespace with places of its own: any number may run beside each other and
beside the machine's.
"""

import email
import email.policy
import fcntl
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile

from cartbus_system import end_with_parent, free_port, wait_until

MAIL_USER = "cartbus-mail"
# Debian's package makes no /var/spool/smtpd; the daemon makes it when it first runs, which on a new machine nobody has done.
IN_ITS_OWN_PLACES = """set -e
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=755 tmpfs /var/spool
mkdir -m 711 /var/spool/smtpd
exec "$@"
"""


def user_of_ours(name):
    """It is made if it is missing. Two useradd at once both make it: the later one's number replaces the one that files were already given to."""
    with open("/etc/passwd") as users:
        fcntl.flock(users, fcntl.LOCK_EX)
        try:
            return pwd.getpwnam(name)
        except KeyError:
            subprocess.run(["useradd", "-r", "-M", "-s", "/usr/sbin/nologin", name], check=True)
            return pwd.getpwnam(name)


def listens(port):
    with socket.socket() as s:
        s.settimeout(0.5)
        return s.connect_ex(("127.0.0.1", port)) == 0


class SmtpServer:
    """On `host` (hosts.py), where it is to be reached at more addresses than the loopback's; or just here."""

    def __init__(self, host=None, addresses=("127.0.0.1",)):
        if os.geteuid() != 0:
            raise RuntimeError("OpenSMTPD has to be started as root: run the tests as root")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cartbus-smtp-"))
        self.folder.chmod(0o755)
        self.port = free_port()
        self.process = None
        self.host = host
        maildir = self.folder / "mail"
        maildir.mkdir()
        user = user_of_ours(MAIL_USER)
        os.chown(maildir, user.pw_uid, user.pw_gid)
        (self.folder / "smtpd.conf").write_text(
            f'table catchall {{ "@" = "{MAIL_USER}" }}\n'
            + "".join(f"listen on {address} port {self.port}\n" for address in addresses) +
            f'action "store" maildir "{maildir}" virtual <catchall>\n'
            'match from any for any action "store"\n'
        )
        self.start()

    def start(self):
        log = open(self.folder / "smtpd.log", "ab")
        self.process = subprocess.Popen(
            [*(self.host.inside if self.host else []), "unshare", "--mount", "sh", "-c", IN_ITS_OWN_PLACES, "smtpd", "/usr/sbin/smtpd", "-d", "-f", str(self.folder / "smtpd.conf")],
            stdout=log, stderr=log, start_new_session=True, preexec_fn=end_with_parent,
        )
        wait_until(lambda: self._listens() or self.process.poll() is not None, "OpenSMTPD listening")
        if self.process.poll() is not None:
            raise RuntimeError("OpenSMTPD did not start: " + (self.folder / "smtpd.log").read_text()[-500:])

    def _listens(self):
        return self.host.call(lambda: listens(self.port)) if self.host else listens(self.port)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(10)

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def count(self):
        return len(os.listdir(self.folder / "mail" / "new")) if (self.folder / "mail" / "new").exists() else 0

    def mails(self):
        """Everything delivered so far, parsed, oldest first. `delivered_to` and `arrived` are added to each."""
        found = []
        for path in (self.folder / "mail" / "new").glob("*"):
            try:
                content, arrived = path.read_bytes(), path.stat().st_mtime
            except FileNotFoundError:
                continue
            mail = email.message_from_bytes(content, policy=email.policy.default)
            mail.delivered_to, mail.arrived = mail["Delivered-To"], arrived
            found.append(mail)
        return sorted(found, key=lambda mail: mail.arrived)
