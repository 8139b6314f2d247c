"""A real mail server for tests: Postfix from Debian, private: its programs, configuration, queue and mailboxes lie where the test says.

Debian's package cannot be installed beside OpenSMTPD's, so tests/run unpacks it (tests/packages.unpacked). Needs root, as Postfix does: it
drops its privileges by itself. What is sent to a known user of mail.example or shop.example lies in a maildir; who is not known is accepted and
bounces, as behind a server that relays; full@ is put off, closed@ is refused, late@ is put off after the last byte. With `lmtp`, the port of
an LMTP server, what is for lmtp.example is delivered there, and tried again each second. With `login`, a name and a password, mail is taken from
nobody who has not logged in so, over TLS.
"""

import email
import email.policy
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

from cartbus_system import BUILD, end_with_parent, free_port, wait_until
from smtp_server import MAIL_USER, listens, user_of_ours

UNPACKED = pathlib.Path(os.environ.get("CARTBUS_UNPACKED", BUILD / "unpacked")) / "postfix"
SERVICES = """127.0.0.1:{port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
lmtp unix - - n - - lmtp
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""
SETTINGS = """compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
command_directory = {unpacked}/usr/sbin
daemon_directory = {unpacked}/usr/lib/postfix/sbin
shlib_directory = {unpacked}/usr/lib/postfix
meta_directory = {folder}/etc
import_environment = LD_LIBRARY_PATH={unpacked}/usr/lib/postfix MAIL_CONFIG={folder}/etc
mail_owner = {owner}
setgid_group = {group}
maillog_file = {folder}/log
maillog_file_prefixes = {folder}
myhostname = mx.mail.example
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
virtual_mailbox_domains = mail.example, demo.example, shop.example
virtual_mailbox_base = {folder}/mail
virtual_mailbox_maps = regexp:{folder}/etc/users
virtual_uid_maps = static:{uid}
virtual_gid_maps = static:{gid}
virtual_minimum_uid = 1
recipient_delimiter = +
smtpd_reject_unlisted_recipient = no
smtpd_recipient_restrictions = check_recipient_access regexp:{folder}/etc/recipients, {permit}, reject
smtpd_end_of_data_restrictions = check_recipient_access regexp:{folder}/etc/late
smtpd_peername_lookup = no
smtpd_client_connection_rate_limit = 0
{tls}
"""


class PostfixServer:
    def __init__(self, certificate=None, key=None, lmtp=None, login=None):
        if os.geteuid() != 0:
            raise RuntimeError("Postfix has to be started as root: run the tests as root")
        if not (UNPACKED / "usr/lib/postfix/sbin/master").exists():
            raise RuntimeError(f"{UNPACKED} is missing: `tests/run system` unpacks it there")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cartbus-postfix-"))
        self.folder.chmod(0o755)
        self.port = free_port()
        self.process = None
        self._make_folders()
        self._configure(certificate, key, lmtp, login)
        self.start()

    def _make_folders(self):
        owner, mail = user_of_ours("cartbus-postfix"), user_of_ours(MAIL_USER)
        drop = user_of_ours("cartbus-postdrop")
        for name in ("etc", "queue", "queue/pid"):
            (self.folder / name).mkdir(mode=0o755)
        for name in ("data", "queue/active", "queue/bounce", "queue/corrupt", "queue/defer", "queue/deferred", "queue/flush",
                     "queue/hold", "queue/incoming", "queue/private", "queue/saved", "queue/trace"):
            (self.folder / name).mkdir(mode=0o700)
            os.chown(self.folder / name, owner.pw_uid, owner.pw_gid)
        for name, mode in (("queue/maildrop", 0o730), ("queue/public", 0o710)):
            (self.folder / name).mkdir()
            os.chown(self.folder / name, owner.pw_uid, drop.pw_gid)
            (self.folder / name).chmod(mode)
        (self.folder / "mail").mkdir(mode=0o755)
        os.chown(self.folder / "mail", mail.pw_uid, mail.pw_gid)

    def _configure(self, certificate, key, lmtp, login):
        mail, etc = user_of_ours(MAIL_USER), self.folder / "etc"
        tls = "smtpd_tls_security_level = none"
        if certificate:
            tls = f"smtpd_tls_security_level = encrypt\nsmtpd_tls_cert_file = {certificate}\nsmtpd_tls_key_file = {key}"
        if login:
            tls += self._make_login(login)
        if lmtp:
            tls += f"\nrelay_domains = lmtp.example\ntransport_maps = inline:{{{{ lmtp.example = lmtp:inet:127.0.0.1:{lmtp} }}}}"
            tls += "\nqueue_run_delay = 1s\nminimal_backoff_time = 1s\nmaximal_backoff_time = 1s\nfast_flush_domains ="
        (etc / "main.cf").write_text(SETTINGS.format(folder=self.folder, unpacked=UNPACKED.resolve(), owner="cartbus-postfix",
                                                     group="cartbus-postdrop", uid=mail.pw_uid, gid=mail.pw_gid, tls=tls,
                                                     permit="permit_sasl_authenticated" if login else "permit_mynetworks"))
        (etc / "master.cf").write_text(SERVICES.format(port=self.port))
        (etc / "users").write_text("if !/^(gone|bounces)/\n/@/ box/\nendif\n/^bounces(\\+.*)?@/ bounces/\n")
        (etc / "recipients").write_text("/^full@/ 452 4.2.2 mailbox full\n/^closed@/ 550 5.2.1 closed\n")
        (etc / "late").write_text("/^late@/ 451 4.3.0 not now\n")

    def _make_login(self, login):
        """Cyrus SASL with a database of its own."""
        folder = self.folder / "etc" / "sasl"
        folder.mkdir()
        (folder / "smtpd.conf").write_text(f"pwcheck_method: auxprop\nauxprop_plugin: sasldb\nsasldb_path: {folder}/db\nmech_list: PLAIN\n")
        subprocess.run(["saslpasswd2", "-f", folder / "db", "-u", "mail.example", "-c", "-p", login[0]], input=login[1].encode(), check=True)
        os.chown(folder / "db", user_of_ours("cartbus-postfix").pw_uid, -1)
        return (f"\nsmtpd_sasl_auth_enable = yes\nsmtpd_sasl_type = cyrus\ncyrus_sasl_config_path = {folder}\nsmtpd_tls_auth_only = yes"
                "\nsmtpd_sasl_local_domain = mail.example")

    def start(self):
        log = open(self.folder / "out", "ab")
        self.process = subprocess.Popen(
            [UNPACKED / "usr/lib/postfix/sbin/master", "-c", self.folder / "etc", "-d"], stdout=log, stderr=log, start_new_session=True,
            preexec_fn=end_with_parent, env={"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(UNPACKED / "usr/lib/postfix")})
        wait_until(lambda: listens(self.port) or self.process.poll() is not None, "Postfix listening")
        if self.process.poll() is not None:
            raise RuntimeError("Postfix did not start: " + self.words())

    def flush(self):
        """As `postqueue -f`: what was put off is tried now."""
        with socket.socket(socket.AF_UNIX) as trigger:
            trigger.connect(str(self.folder / "queue" / "public" / "qmgr"))
            trigger.sendall(b"FADI")

    def words(self):
        return "".join(path.read_text()[-1500:] for path in (self.folder / "out", self.folder / "log") if path.exists())

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    def mails(self, box="box"):
        """Everything delivered so far, parsed, oldest first."""
        found = []
        for path in (self.folder / "mail" / box / "new").glob("*"):
            mail = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
            mail.delivered_to, mail.arrived = mail["Delivered-To"], path.stat().st_mtime
            found.append(mail)
        return sorted(found, key=lambda mail: mail.arrived)

    def count(self):
        return len(self.mails())
