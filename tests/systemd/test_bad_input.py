"""What goes wrong on a real machine: each gives one clear line in the journal and in `cartbus doctor`, which says what helps; then it
is green again, and nothing is lost or doubled.
"""

import collections
import contextlib
import json
import os
import shlex
import socket
import subprocess
import sys
import time

import pytest

from installed import ALL, BACK_WITHIN_S, Cartbus, unit
from machine import SOURCES, free_port, wait_until

sys.path.insert(0, str(SOURCES / "tests" / "system"))

from mail_peer import Keep, Peer  # noqa: E402  (found through the path above)
from name_server import NameServer  # noqa: E402

DISK_MIB, HEADROOM_MIB = 512, 128
NEVER_BELONGED = 12345  # a uid
LOG = "/var/lib/cartbus/broker"
SIGNED = ("TXT", "v=DKIM1; k=rsa; p=" + subprocess.run(
    "openssl genrsa 2048 2>/dev/null | openssl rsa -pubout 2>/dev/null | grep -v -- -- | tr -d '\\n'", shell=True, check=True,
    capture_output=True, text=True).stdout)
ZONES = {"shop.example": {"@": [("TXT", "v=spf1 ip4:192.0.2.1 -all"), ("MX", "10 ns")], "m1._domainkey": [SIGNED],
                          "_dmarc": [("TXT", "v=DMARC1; p=quarantine")]}}


class Place(Cartbus):
    """An installation that its doctor finds nothing wrong with, on a small disk."""

    def __init__(self, machine):
        super().__init__(machine, rate=20)  # ten minutes are half a one, and a signature may be 15 s old
        self.names = NameServer(ZONES)
        self.left = []

    def set_up(self):
        shell = self.machine.shell
        self.configure()
        self.conf("10-place", f"[gateway]\npublic-url = http://127.0.0.1:{self.machine.port}\n"
                              f"[broker]\nheadroom = {HEADROOM_MIB}\nheadroom-percent = 0\n")
        shell(f"mkdir -p /var/lib/cartbus; mount -t tmpfs -o size={DISK_MIB}M,mode=755 tmpfs /var/lib/cartbus")
        shell("systemd-sysusers; systemd-tmpfiles --create; systemctl daemon-reload; cartbus secrets make")
        shell("systemctl enable --now cartbus.target")
        self.wait_ready()
        self.add_shop()
        shell("sed -i 's/^from = .*/&\\ndkim-selector = m1/' /etc/cartbus/shops/demo/shop.conf")
        wait_until(self.is_green, "it is green", BACK_WITHIN_S)

    def conf(self, name, text):
        self.machine.run("tee", f"/etc/cartbus/cartbus.conf.d/{name}.conf", stdin=text)

    def leave(self, cart):
        assert self.post(cart) == 200
        self.left.append(cart)

    def restart(self, *names):
        self.machine.run("systemctl", "restart", "--no-block", *map(unit, names))

    def words(self):
        return self.machine.run("journalctl", "--no-pager", "-n", "40", "-o", "short-monotonic").stdout

    def status(self):
        done = self.machine.run("cartbus", "status", check=False)
        return done.returncode, done.stdout + done.stderr

    def is_green(self):
        return self.status()[0] == 0

    def doctor(self):
        done = self.machine.run("cartbus", "doctor", "--json", "--resolver", self.names.address, check=False)
        findings = json.loads(done.stdout)["findings"]
        assert all(one["remedy"] for one in findings if one["finding"] != "fine"), findings
        return done.returncode, [(one["finding"], one["text"]) for one in findings]

    def wrong(self):
        return [text for finding, text in self.doctor()[1] if finding == "wrong"]

    def wait_told(self, words):
        """Until the doctor has a finding with these words, and says so with its exit."""
        def is_told():
            code, findings = self.doctor()
            return code in (1, 3) and any(finding == "wrong" and words in text for finding, text in findings)
        wait_until(is_told, f"the doctor says \"{words}\": {self.wrong()}", BACK_WITHIN_S)

    def wait_well(self):
        def is_well():
            return self.is_green() and self.ready() and self.doctor()[0] == 0
        wait_until(is_well, f"all is well again: {self.status()[1][:800]} {self.wrong()}", BACK_WITHIN_S)

    def mark(self):
        return self.machine.run("date", "+@%s.%6N").stdout.strip()

    def lines(self, mark, of, words):
        """What `of` said since then: a process, or what is said of a unit."""
        is_unit = "." in of
        which = [] if is_unit else ["-t", f"cartbus-{of}"]
        said = self.machine.run("journalctl", "--no-pager", "-o", "cat", f"--since={mark}", *which).stdout
        return [line for line in said.splitlines() if words in line and (not is_unit or f"{of}: " in line)]

    def wait_line(self, mark, of, words):
        try:
            wait_until(lambda: self.lines(mark, of, words), f"{of} says \"{words}\"", BACK_WITHIN_S)
        except AssertionError as error:
            raise AssertionError(f"{error}; the last words are:\n{self.words()}")

    def restarts(self, name):
        return int(self.machine.show(unit(name), "NRestarts")["NRestarts"])


@pytest.fixture(scope="module")
def place(machine):
    place = Place(machine)
    place.set_up()
    yield place
    place.names.close()


def test_a_healthy_installation_has_nothing_wrong(place):
    code, findings = place.doctor()
    assert (code, [text for finding, text in findings if finding == "wrong"]) == (0, []), findings
    assert any("users may read and reach what it needs" in text for _, text in findings), findings
    assert any("systemd has nothing to say against" in text for _, text in findings), findings


# ---- owners and modes ----


def entries(place, *folders):
    """Everything below them: (path, is it a folder?)"""
    found = place.machine.shell(f"find {' '.join(folders)} -printf '%y %p\\n'").splitlines()
    return [(line[2:], line[0] == "d") for line in found if "/lane-" not in line]  # a lane is one session's, and made anew with it


def damage(place, paths, how):
    """What the doctor says of these while `how` was done to them."""
    place.machine.shell(f"cd /; stat -c '%a %u %g %n' {' '.join(paths)} >/root/before")
    try:
        place.machine.shell("\n".join(f"{how} {path}" for path in paths))
        return place.wrong()
    finally:
        place.machine.shell("while read -r mode user group path; do chown $user:$group $path; chmod $mode $path; done </root/before")


@pytest.mark.parametrize("how", ["chmod o+rw", f"chown {NEVER_BELONGED}", "chmod 0"])
def test_every_file_of_the_configuration_has_its_owner_and_mode(place, how):
    """The rest of /etc/cartbus is read by root alone, before a unit starts; what is open there is told all the same."""
    files = [path for path, is_folder in entries(place, "/etc/cartbus") if not is_folder]
    if how == "chmod 0":  # to root, who reads the secrets and keys, nothing is closed
        files = [path for path in files if "/secrets/" not in path and "/keys/" not in path]
    wrong = damage(place, files, how)
    assert [path for path in files if not any(path in text for text in wrong)] == []
    assert len(files) > 5
    place.wait_well()


@pytest.mark.parametrize("how", ["chmod o+rwx", f"chown {NEVER_BELONGED}", "chmod 0"])
def test_every_folder_of_the_configuration_has_its_owner_and_mode(place, how):
    folders = [path for path, is_folder in entries(place, "/etc/cartbus") if is_folder]
    if how == "chmod 0":
        folders = [path for path in folders if "/secrets" not in path and "/keys" not in path]
    for folder in folders:  # one closes the way to what is below it
        assert any(folder in text for text in damage(place, [folder], how)), folder
    place.wait_well()


def test_every_socket_can_be_used_by_every_service(place):
    sockets = ["/run/cartbus/control", "/run/cartbus/ingress", "/run/cartbus/tap"]
    for how in ("chmod 0", "chmod 600", "chown root:root"):
        wrong = damage(place, sockets, how)
        assert [path for path in sockets if not any(path in text for text in wrong)] == [], how
    assert any("/run/cartbus" in text for text in damage(place, ["/run/cartbus"], "chmod 700"))
    place.wait_well()


def test_every_file_of_every_state_has_its_owner_and_mode(place):
    states = [f"/var/lib/cartbus/{name.replace('@', '-')}" for name in ALL]
    files = collections.defaultdict(list)
    for path, _ in entries(place, *states):
        files["/".join(path.split("/")[:5])].append(path)
    assert set(files) == set(states)
    most = max(len(paths) for paths in files.values())
    for how, rounds in (("chmod o+r", most), (f"chown {NEVER_BELONGED}", 3), ("chmod u-rw", 3)):  # what runs has them open
        for i in range(rounds):  # one of each state at a time: of each the first is told
            broken = {state: paths[i % len(paths)] for state, paths in files.items()}
            wrong = damage(place, broken.values(), how)
            assert [path for path in broken.values() if not any(path in text for text in wrong)] == [], how
    place.wait_well()


# ---- what does not start ----

Case = collections.namedtuple("Case", "id breaks restarts who says doctor status remedy")
CASES = [
    Case("a configuration that services may not read", "chmod 600 /etc/cartbus/cartbus.conf", ["intake"],
         "intake", "/etc/cartbus/cartbus.conf: Permission denied; every process has to read it: chmod 644",
         "cartbus-intake.service: /etc/cartbus/cartbus.conf: Permission denied", "no intake is running", "chmod 644 /etc/cartbus/cartbus.conf"),
    Case("a configuration with a word too many", "echo '[broker]\nlissen = 1' >/etc/cartbus/cartbus.conf.d/90-wrong.conf", ["broker"],
         "broker", '90-wrong.conf:2: unknown key "lissen" in [broker]', '90-wrong.conf:2: unknown key "lissen" in [broker]',
         'unknown key "lissen"', "rm /etc/cartbus/cartbus.conf.d/90-wrong.conf"),
    Case("a missing credential", "mv /etc/cartbus/secrets/link.key /root/", ["sender@1", "gateway"],
         "sender", "the secret link.key of [paths] secrets is missing or empty: put its copy back",
         "the secret /etc/cartbus/secrets/link.key is missing or empty", "no sender is running",
         "mv /root/link.key /etc/cartbus/secrets/"),
    Case("a log that the broker may not read", f"systemctl stop cartbus-broker; chmod 0 {LOG}/MANIFEST-*", ["broker"],
         "broker", f"cannot open the log in {LOG}", f"cartbus-broker.service: cannot open the log in {LOG}", "nobody answers",
         f"chmod 640 {LOG}/MANIFEST-*"),
    Case("a state that belongs to somebody else", "systemctl stop cartbus-waiter; chown root:root /var/lib/cartbus/waiter/*", ["waiter"],
         "waiter", "the state in /var/lib/cartbus/waiter cannot be opened", "cartbus-waiter.service: the state in /var/lib/cartbus/waiter",
         "no waiter is running", "chown -R cartbus-waiter:cartbus /var/lib/cartbus/waiter"),
    Case("a socket that a service may not use", "chmod 0 /run/cartbus/control", ["intake"],
         "intake", "away from the broker: this user may not use /run/cartbus/control: restart cartbus-broker",
         "/run/cartbus/control: the user", "no intake is running", "systemctl restart cartbus-broker"),
    Case("a program that may not be executed", "chmod 644 /usr/sbin/cartbus-intake", ["intake"],
         unit("intake"), "Failed at step EXEC", "cartbus-intake.service does not start: its program is not there", "no intake is running",
         "chmod 755 /usr/sbin/cartbus-intake"),
    Case("a user that is gone", "sed -i.before '/^cartbus-intake:/d' /etc/passwd", ["intake"],
         unit("intake"), "Failed at step USER", "cartbus-intake.service does not start: its user is not there", None,
         "mv /etc/passwd.before /etc/passwd"),
]


@pytest.mark.parametrize("case", CASES, ids=[case.id.replace(" ", "_") for case in CASES])
def test_what_does_not_start_says_why_once_and_starts_when_it_is_mended(place, case):
    mark = place.mark()
    place.machine.shell(case.breaks)
    place.restart(*case.restarts)
    place.wait_line(mark, case.who, case.says)
    place.wait_told(case.doctor)
    code, words = place.status()
    assert (code != 0 and case.status in words) if case.status else True, words
    assert len(place.lines(mark, case.who, case.says)) <= 1 + max(place.restarts(name) for name in case.restarts)
    place.machine.shell(case.remedy)
    if case is not CASES[0]:  # it is tried again by itself, as that one shows
        place.restart(*case.restarts)
    place.wait_well()
    place.leave(case.id.replace(" ", "-"))


def test_a_shop_whose_secret_is_gone_is_told_with_its_first_webhook(place):
    mark = place.mark()
    place.machine.shell("mv /etc/cartbus/secrets/webhook /root/; systemctl restart cartbus-gateway")
    place.wait_ready("gateway")
    assert place.post("refused") == 503
    place.wait_line(mark, "gateway", "the shop's webhook secret is missing or shorter than 8 characters; `cartbus shop secret` sets it")
    place.wait_told("the secret /etc/cartbus/secrets/webhook/demo is missing or empty")
    place.machine.shell("mv /root/webhook /etc/cartbus/secrets/; systemctl restart cartbus-gateway")
    place.wait_well()


def test_what_cannot_start_is_not_tried_every_second(place):
    mark = place.mark()
    place.machine.shell("chmod 600 /etc/cartbus/cartbus.conf")
    place.restart("intake")
    place.wait_line(mark, "intake", "Permission denied")
    first = time.monotonic()
    wait_until(lambda: len(place.lines(mark, "intake", "Permission denied")) > 1, "it is tried again", BACK_WITHIN_S)
    assert time.monotonic() - first > 8
    place.machine.shell("chmod 644 /etc/cartbus/cartbus.conf")
    place.restart("intake")
    place.wait_well()


def test_a_unit_that_is_started_alone_says_whom_it_waits_for(place):
    place.stop_all()
    mark = place.mark()
    place.machine.run("systemctl", "start", "--no-block", unit("intake"), unit("sender@1"))
    for name in ("intake", "sender"):
        place.wait_line(mark, name, "away from the broker: nobody answers at /run/cartbus/control")
    code, _ = place.doctor()
    assert code == 3 and any("nobody answers at /run/cartbus/control" in text for text in place.wrong())
    assert "away from the broker" in place.machine.show(unit("intake"), "StatusText")["StatusText"]
    assert len(place.lines(mark, "intake", "away from the broker")) == 1
    place.machine.run("systemctl", "start", "cartbus.target")
    place.wait_well()
    place.leave("after-one-alone")


def test_a_second_broker_on_the_same_log_is_sent_away(place):
    mark, first = place.mark(), place.pid("broker")
    place.machine.run("systemd-run", "--no-block", "--unit=cartbus-second", "-p", "Type=notify", "-p", "User=cartbus-broker", "-p",
                      "StateDirectory=cartbus/broker", "-p", "StateDirectoryMode=0750", "cartbus-broker")  # else as every unit
    words = f"another broker is using {LOG}: stop it first"
    place.wait_told(f"cartbus-second.service: {words}")
    assert len(place.lines(mark, "broker", words)) == 1
    assert place.pid("broker") == first
    place.leave("beside-a-second-broker")
    place.machine.shell("systemctl stop cartbus-second; systemctl reset-failed cartbus-second 2>/dev/null || true")
    place.wait_well()


# ---- ports ----


def occupied(port):
    """The port in somebody else's hands, until it is closed."""
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    wait_until(lambda: binds(taken, port), f"port {port} is free to be taken", BACK_WITHIN_S)
    taken.listen()
    return taken


def binds(taken, port):
    try:
        taken.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True


def test_a_gateway_whose_port_is_taken(place):
    place.machine.run("systemctl", "stop", "cartbus-gateway.service", "cartbus-gateway.socket")
    mark = place.mark()
    with occupied(place.machine.port):
        place.machine.run("systemctl", "start", "cartbus-gateway.service", check=False)
        place.wait_line(mark, "cartbus-gateway.socket", "Address already in use")
        place.wait_told(f"cartbus-gateway.socket does not listen on 127.0.0.1:{place.machine.port}")
        assert "no gateway is running" in place.status()[1]
    place.machine.run("systemctl", "start", "cartbus.target")
    place.wait_well()
    place.leave("after-a-port-was-free-again")


def test_metrics_whose_port_is_taken(place):
    place.machine.run("systemctl", "stop", unit("monitor"))
    mark = place.mark()
    with occupied(place.metrics_port):
        place.machine.run("systemctl", "start", unit("monitor"))
        place.wait_line(mark, "monitor", f"no metrics: cannot listen on 127.0.0.1 port {place.metrics_port}: Address already in use")
        place.wait_told(f"http://127.0.0.1:{place.metrics_port}/metrics")
        assert len(place.lines(mark, "monitor", "no metrics")) == 1
    place.wait_well()


def test_bounces_whose_port_is_taken_or_not_allowed(place):
    port = free_port()
    mark = place.mark()
    place.conf("30-lmtp", f"[mailin]\nlmtp = 127.0.0.1:{port}\n")
    with occupied(port):
        place.restart("mailin")
        place.wait_line(mark, "mailin", f"[mailin] lmtp = 127.0.0.1:{port}: ")
        place.wait_told(f"cartbus-mailin.service: [mailin] lmtp = 127.0.0.1:{port}: ")
        assert "no mailin is running" in place.status()[1]
    (line,) = place.lines(mark, "mailin", "[mailin] lmtp")
    if "not permitted" in line:  # a kernel that heeds SocketBindDeny=
        assert "SocketBindAllow=ipv4:tcp:" in line
        place.machine.shell("mkdir -p /etc/systemd/system/cartbus-mailin.service.d")
        place.machine.run("tee", "/etc/systemd/system/cartbus-mailin.service.d/lmtp.conf",
                          stdin=f"[Service]\nSocketBindAllow=ipv4:tcp:{port}\n")
        place.machine.run("systemctl", "daemon-reload")
    place.restart("mailin")
    place.wait_well()
    greets(("127.0.0.1", port))
    place.conf("30-lmtp", "[mailin]\nlmtp = /run/cartbus-mailin/bounces\n")
    place.restart("mailin")
    place.wait_well()
    greets(f"/proc/{place.machine.init}/root/run/cartbus-mailin/bounces")
    one_user_has_half_of_a_socket_that_is_its_groups(place)


LMTP_PLACES = 128


def one_user_has_half_of_a_socket_that_is_its_groups(place):
    """As the handbook sets it up for a mail server; a second user of the group finds places while the first holds its half."""
    shell, path = place.machine.shell, "/run/cartbus-mailin/bounces"
    shell("groupadd --system lmtp-peers; useradd --system -G lmtp-peers first; useradd --system -G lmtp-peers second")
    place.conf("30-lmtp", f"[mailin]\nlmtp = {path}\nlmtp-group = lmtp-peers\n")
    shell("mkdir -p /etc/systemd/system/cartbus-mailin.service.d")
    place.machine.run("tee", "/etc/systemd/system/cartbus-mailin.service.d/peers.conf", stdin="[Service]\nSupplementaryGroups=lmtp-peers\n")
    shell("systemctl daemon-reload")
    mark = place.mark()
    place.restart("mailin")
    place.wait_well()
    assert shell(f"stat -c '%G %a' {path}").split() == ["lmtp-peers", "660"]
    outside = f"/proc/{place.machine.init}/root{path}"
    users = {name: int(shell(f"id -u {name}")) for name in ("first", "second")}
    group = int(shell("getent group lmtp-peers | cut -d: -f3"))
    with contextlib.ExitStack() as held:
        crowd = come_as(users["first"], group, outside, LMTP_PLACES // 2, held)
        (other,) = come_as(users["second"], group, outside, 1, held)
        come_as(users["first"], group, outside, 1, held)  # takes a place of its own
        assert crowd[0].recv(200).startswith(b"421")
        other.sendall(b"NOOP\r\n")
        assert other.recv(200).startswith(b"250")
    assert place.lines(mark, "mailin", f"of uid:{users['first']} were turned away")


def come_as(user, group, path, count, held):
    """So many connections that were greeted. The kernel notes the user that connects, whoever holds the socket then."""
    peers = [held.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(count)]
    folder, name = os.path.split(path)
    with contextlib.chdir(folder):  # which this user would not find from outside
        os.setegid(group)
        os.seteuid(user)
        try:
            for peer in peers:
                peer.settimeout(BACK_WITHIN_S)
                peer.connect(name)
        finally:
            os.seteuid(0)
            os.setegid(0)
    assert all(peer.recv(100).startswith(b"220 ") for peer in peers)
    return peers


def greets(where):
    with socket.socket(socket.AF_INET if isinstance(where, tuple) else socket.AF_UNIX) as client:
        client.settimeout(BACK_WITHIN_S)
        client.connect(where)
        assert client.recv(100).startswith(b"220 ")


# ---- versions ----


def format_of_the_log(place, write=None):
    """As RocksDB's own tool reads and writes it, while nothing runs."""
    there = f"/proc/{place.machine.init}/root{LOG}"
    words = ["put", "format", write] if write else ["get", "format"]
    said = subprocess.run(["ldb", f"--db={there}", "--column_family=meta", *words], check=True, capture_output=True, text=True).stdout
    place.machine.shell(f"chown -R cartbus-broker:cartbus {LOG}; chmod -R o= {LOG}")  # what the tool wrote is its own
    return said.strip()


def test_a_log_of_a_newer_format_is_left_as_it_is(place):
    place.machine.run("systemctl", "stop", unit("broker"))
    ours = format_of_the_log(place)
    format_of_the_log(place, str(int(ours) + 1))
    mark = place.mark()
    place.restart("broker")
    words = f"the log has format {int(ours) + 1}, this program"
    place.wait_line(mark, "broker", words)
    (line,) = place.lines(mark, "broker", words)
    assert f"reads up to format {ours}. Nothing was changed: use the version of cartbus that wrote it, or a newer one" in line
    place.wait_told("cartbus-broker.service: " + line.split(": ", 1)[1])
    place.machine.run("systemctl", "stop", unit("broker"))
    assert format_of_the_log(place) == str(int(ours) + 1)
    format_of_the_log(place, ours)
    place.restart("broker")
    place.wait_well()
    place.leave("after-a-newer-format")


def test_what_runs_the_program_of_before_is_told(place):
    place.machine.shell("cp /usr/sbin/cartbus-intake /root/; mv /root/cartbus-intake /usr/sbin/")
    _, findings = place.doctor()
    assert ("doubtful", "cartbus-intake.service runs the program that was there before an upgrade") in findings
    place.restart("intake")
    place.machine.shell("echo '# changed' >>/lib/systemd/system/cartbus-timer.service")
    _, findings = place.doctor()
    assert ("doubtful", "cartbus-timer.service was changed, and systemd has not read it again") in findings
    place.machine.run("systemctl", "daemon-reload")
    place.wait_well()
    assert not any("before an upgrade" in text or "not read it again" in text for _, text in place.doctor()[1])


# ---- the machine ----


def fill_the_disk(place, but_mib):
    place.machine.shell(f"fallocate -l $(($(stat -f -c '%a * %S' /var/lib/cartbus) - ({but_mib} << 20) - 65536)) /var/lib/cartbus/filler")


def leave_some(place, name):
    """What was answered with 200 counts."""
    answers = {f"{name}-{i}": place.post(f"{name}-{i}") for i in range(5)}
    assert set(answers.values()) <= {200, 503}, answers
    place.left += [cart for cart, answer in answers.items() if answer == 200]


def test_a_disk_that_fills_up_stops_what_is_new_and_goes_on_by_itself(place):
    mark = place.mark()
    fill_the_disk(place, HEADROOM_MIB - 16)
    place.wait_line(mark, "broker", "nothing new is taken: ")
    place.wait_told(", and nothing new is taken")
    assert "the broker takes nothing new: " in place.status()[1], place.words()
    leave_some(place, "on-a-disk-that-fills-up")
    assert len(place.lines(mark, "broker", "nothing new is taken: ")) == 1
    place.machine.run("rm", "/var/lib/cartbus/filler")
    place.wait_line(mark, "broker", "there is room again")
    place.wait_well()
    place.leave("with-room-again")


def test_a_disk_without_a_byte_left_loses_nothing(place):
    fill_the_disk(place, 0)
    leave_some(place, "on-a-full-disk")
    place.wait_told(", and nothing new is taken")
    place.machine.run("rm", "/var/lib/cartbus/filler")
    place.wait_well()
    place.leave("after-a-full-disk")


def test_all_that_was_answered_is_mailed_once(place):
    place.wait_mailed(*place.left, within_s=2 * BACK_WITHIN_S)


def test_without_dns_mails_wait_for_the_mail_server(place):
    keep = Keep()
    peer = Peer(keep)
    place.machine.shell("mv /etc/resolv.conf /root/ 2>/dev/null || true; echo 'nameserver 127.0.0.1' >/etc/resolv.conf")
    place.conf("40-smtp", f"[mail]\ntransport = smtp\nsmtp-host = mail.shop.example\nsmtp-port = {peer.port}\nsmtp-tls = none\n")
    mark = place.mark()
    place.restart("sender@1")
    place.wait_ready("sender@1")
    assert place.post("without-dns") == 200
    place.wait_line(mark, "sender", f"no connection to the mail server mail.shop.example:{peer.port}: Couldn't resolve")
    place.wait_told(f"mail.shop.example:{peer.port}: Couldn't resolve host name")
    done = place.machine.run("cartbus", "doctor", check=False)  # by the name server of /etc/resolv.conf
    assert done.returncode == 1 and "wrong     dns" in done.stdout and "look at /etc/resolv.conf" in done.stdout
    words = "no connection to the mail server: "
    wait_until(lambda: words in place.status()[1], "the alarm mail-server", BACK_WITHIN_S)
    place.machine.shell("echo '127.0.0.1 mail.shop.example' >>/etc/hosts")  # there it is again
    wait_until(lambda: [mail.rcpt_tos for mail in keep.mails] == [["without-dns@example.com"]], "the mail that waited", BACK_WITHIN_S)
    assert len(place.lines(mark, "sender", "no connection to the mail server")) == 1
    place.machine.shell("rm /etc/cartbus/cartbus.conf.d/40-smtp.conf; mv /root/resolv.conf /etc/ 2>/dev/null || true")
    place.restart("sender@1")
    place.wait_well()
    peer.close()


@pytest.mark.parametrize("years, words", [(-10, "s behind the log: set it right if it is wrong now"),
                                          (10, "the clock was more than a day ahead of the log's last message")])
def test_a_clock_that_is_ten_years_off(place, years, words):
    """[clock] origin-wall-us is what the processes take for the time: the kernel's own clock is that of the machine all this runs on."""
    origin = place.morning_us + years * 365 * 86400 * 10**6
    place.stop_all()
    mark = place.mark()
    place.machine.run("sed", "-i", f"s/^origin-wall-us = .*/origin-wall-us = {origin}/", "/etc/cartbus/cartbus.conf")
    place.machine.run("systemctl", "start", unit("broker"))
    place.wait_line(mark, "broker", words)
    code, findings = place.doctor()
    assert code == 1 and any(finding != "fine" and words in text for finding, text in findings), findings
    assert words in place.status()[1]
    assert len(place.lines(mark, "broker", words)) == 1
    place.machine.run("systemctl", "stop", unit("broker"))
    place.machine.run("sed", "-i", f"s/^origin-wall-us = .*/origin-wall-us = {place.morning_us}/", "/etc/cartbus/cartbus.conf")
    place.machine.run("systemctl", "start", "cartbus.target")
    place.wait_well()
