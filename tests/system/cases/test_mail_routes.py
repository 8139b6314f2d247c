"""Mails that come by LMTP to a mailin with a system that takes mails (mail_routes.c): forms@, which become blobs, and notes@, which do not."""

import base64
import hashlib
import os
import signal
import socket
import subprocess

import pytest
from cartbus_system import BUILD, System, free_port, wait_until
from lmtp_world import come_back_over_lmtp, over_lmtp

LARGE, MOST = 3 << 20, 4 << 20


def mail_of(size, letter="a"):
    """As it comes and as it is kept: at least `size` bytes, in lines."""
    line = letter * 76 + "\r\n"
    return (f"Subject: {letter}\r\n\r\n" + line * (size // len(line) + 1)).encode()


class Postbox(System):
    def __init__(self, *shops):
        super().__init__()
        self.lmtp = free_port()
        known, ours = (subprocess.run([BUILD / "bin" / f"cartbus-{name}", "--manifest"], capture_output=True, text=True, check=True).stdout
                       for name in ("mailin", "test-postbox"))
        topology = (BUILD / "share" / "cartbus" / "topology.conf").read_text()
        assert known in topology
        (self.folder / "topology.conf").write_text(topology.replace(known, ours) + "[peer desk]\nhears = test.mail\n")
        self.configure({"mailin": {"lmtp": f"127.0.0.1:{self.lmtp}"}, "broker": {"topology": self.folder / "topology.conf"},
                        "blobs": {"shop-mib": 8, "kept-free-mib": 1}})
        for shop in shops:
            self.add_shop(shop)
            come_back_over_lmtp(self, shop)
        self.start("broker", "mirror", "test-postbox")
        wait_until(lambda: len({entry["shop"] for entry in self.log(topic="document") if entry["key"] == "shop"}) == len(shops), "the shops")

    def deliver(self, mail, to="forms@lmtp.example"):
        """What is answered, once mailin knows its shops."""
        def answer():
            self.answered = over_lmtp(self.lmtp, mail, to.encode())
            return not self.answered.startswith("451")
        wait_until(answer, "an answer for good")
        return self.answered

    def mails(self):
        cart = self.proto()
        return [{**entry, "message": cart.Document.FromString(base64.b64decode(entry["payload"]))} for entry in self.log(topic="test.mail")]

    def store(self, shop="demo"):
        return self.folder / "state" / "blobs" / "mailin" / "forms" / shop

    def blobs(self, shop="demo"):
        return sorted(path.name for path in self.store(shop).glob("blobs/*/*"))

    def blob(self, name, shop="demo"):
        return self.store(shop) / "blobs" / name[:2] / name

    def doctor(self):
        return [one for one in self.cartbus("doctor", check=False, json_output=True)["findings"] if one["area"] == "blobs"]


@pytest.fixture
def postbox():
    with Postbox("demo") as system:
        yield system


def test_a_large_mail_is_a_file_that_a_message_names(postbox):
    mail = mail_of(LARGE)
    assert postbox.deliver(mail, "forms+desk@lmtp.example").startswith("250")
    name = hashlib.sha256(mail).hexdigest()
    [said] = postbox.mails()
    assert (said["shop"], said["key"], said["message"].digest, said["message"].version) == ("demo", "desk", name, len(mail))
    assert postbox.blobs() == [name] and postbox.blob(name).read_bytes() == mail
    assert postbox.blob(name).stat().st_mode & 0o7777 == 0o600 and postbox.store().stat().st_mode & 0o7777 == 0o700
    assert postbox.deliver(mail_of(100), "notes@lmtp.example").startswith("250")
    assert [entry["message"].digest for entry in postbox.mails()] == [name, ""], "a note is in the message, or nowhere"
    [listed] = postbox.cartbus("blobs", json_output=True)["blobs"]
    assert (listed["shop"], listed["process"], listed["use"], listed["blobs"], listed["bytes"]) == ("demo", "mailin", "forms", 1, len(mail))


def test_a_mail_whose_answer_was_lost_is_one_message_and_one_file(postbox):
    mail = mail_of(LARGE)
    assert postbox.deliver(mail_of(10, "w")).startswith("250")
    with socket.create_connection(("127.0.0.1", postbox.lmtp), 60) as peer:
        peer.sendall(b"LHLO x\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<forms@lmtp.example>\r\nDATA\r\n" + mail + b".\r\n")
        wait_until(lambda: len(postbox.mails()) == 2, "the message")
    assert postbox.deliver(mail).startswith("250")
    assert postbox.deliver(mail).startswith("250")
    assert [entry["message"].digest for entry in postbox.mails()][1:] == [hashlib.sha256(mail).hexdigest()]
    assert len(postbox.blobs()) == 2
    assert len(list(postbox.store().glob("refs/*/*/*"))) == 2


def test_what_no_route_takes_is_refused_and_leaves_nothing(postbox):
    assert postbox.deliver(mail_of(10, "w"), "notes@lmtp.example").startswith("250")
    assert postbox.deliver(mail_of(100), "forms@elsewhere.example").startswith("550")
    assert postbox.deliver(mail_of(2000), "notes@lmtp.example").startswith("552")
    assert postbox.deliver(mail_of(MOST)).startswith("552")
    assert postbox.deliver(mail_of(100), "forms+closed@lmtp.example").startswith("550 5.6.0 this form is closed")
    with socket.create_connection(("127.0.0.1", postbox.lmtp), 60) as peer, peer.makefile("rb") as said:
        peer.sendall(b"LHLO x\r\nMAIL FROM:<> SIZE=2000\r\nRCPT TO:<notes@lmtp.example>\r\nRCPT TO:<forms@lmtp.example>\r\nRCPT TO:<forms+b@lmtp.example>\r\n"
                     b"RCPT TO:<bounces@lmtp.example>\r\nQUIT\r\n")
        answers = [line.decode()[:9] for line in said if not line.startswith((b"250-", b"220", b"250 SIZE", b"221"))]
    assert answers == ["250 2.1.0", "552 5.3.4", "250 2.1.5", "250 2.1.5", "452 4.5.3"]
    assert len(postbox.mails()) == 1
    assert postbox.blobs() == [] and list(postbox.store().glob("writing/*")) == [] and list(postbox.store().glob("refs/*/*/*")) == []


def test_a_full_room_is_a_word_for_now(postbox):
    assert [postbox.deliver(mail_of(LARGE, letter))[:3] for letter in "abc"] == ["250", "250", "452"]
    assert len(postbox.mails()) == len(postbox.blobs()) == 2
    assert list(postbox.store().glob("writing/*")) == []
    postbox.start("monitor")
    wait_until(lambda: "blobs-refused" in {alarm["kind"] for alarm in postbox.cartbus("alarm", "list", check=False, json_output=True)["alarms"]}, "the alarm")


def test_a_killed_process_leaves_nothing_behind_and_the_mail_comes_again(postbox):
    mail = mail_of(LARGE)
    assert postbox.deliver(mail_of(10, "w")).startswith("250")
    with socket.create_connection(("127.0.0.1", postbox.lmtp), 60) as peer:
        peer.sendall(b"LHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<forms@lmtp.example>\r\nDATA\r\n" + mail)
        wait_until(lambda: list(postbox.store().glob("writing/*")), "the file that is being written")
        os.kill(postbox.processes["test-postbox"].popen.pid, signal.SIGKILL)
        postbox.processes["test-postbox"].popen.wait()
    postbox.stop("test-postbox")
    assert list(postbox.store().glob("writing/*"))
    postbox.start("test-postbox")
    assert list(postbox.store().glob("writing/*")) == [] and len(postbox.blobs()) == 1
    assert postbox.deliver(mail).startswith("250")
    assert [entry["message"].digest for entry in postbox.mails()][1:] == [hashlib.sha256(mail).hexdigest()]


def test_a_file_that_somebody_left_among_the_shops_keeps_no_mail_out(postbox):
    assert postbox.deliver(mail_of(100, "a")).startswith("250")
    postbox.stop("test-postbox")
    (postbox.store().parent / "notes.txt").write_text("somebody's")
    (postbox.store().parent / "link").symlink_to("demo")
    postbox.start("test-postbox")
    assert postbox.deliver(mail_of(100, "b")).startswith("250")
    assert len(postbox.mails()) == len(postbox.blobs()) == 2


def test_of_two_shops_at_a_domain_the_address_says_which():
    with Postbox("demo", "other") as postbox:
        assert postbox.deliver(mail_of(100), "forms+other.desk@lmtp.example").startswith("250")
        assert postbox.deliver(mail_of(100), "forms@lmtp.example").startswith("550")
        assert postbox.deliver(mail_of(100), "forms+nobody@lmtp.example").startswith("550")
        [said] = postbox.mails()
        assert (said["shop"], said["key"]) == ("other", "desk")
        assert len(postbox.blobs("other")) == 1 and not postbox.store("demo").exists()


def test_the_doctor_tells_of_damaged_missing_and_foreign_files(postbox):
    names = []
    for letter in "abc":
        mail = mail_of(1000, letter)
        assert postbox.deliver(mail).startswith("250")
        names.append(hashlib.sha256(mail).hexdigest())
    assert [one["finding"] for one in postbox.doctor()] == ["fine"]
    postbox.blob(names[0]).write_bytes(mail_of(1000, "z"))
    postbox.blob(names[1]).unlink()
    (postbox.blob(names[2]).parent / "notes.txt").write_text("somebody's\n")
    [reference] = postbox.store().glob(f"refs/*/{names[2]}/*")
    reference.unlink()
    assert [one["finding"] for one in postbox.doctor()] == ["wrong", "wrong", "doubtful"], "a surplus one of today is its writer's business"
    os.utime(postbox.blob(names[2]), (1e9, 1e9))
    assert [one["text"].split(" ", 1)[1] for one in postbox.doctor()] == [
        "damaged", "named by messages, and not there", "named by no message, and not removed", "entries that cartbus did not make"]
    verified = postbox.cartbus("blobs", "--verify", check=False)
    assert verified.returncode == 1 and "NOT ALL SOUND" in verified.stdout
    assert all(name in verified.stderr for name in (*names, "notes.txt"))


def test_a_restore_brings_the_files_back(postbox):
    mail = mail_of(LARGE)
    assert postbox.deliver(mail).startswith("250")
    name, backup = hashlib.sha256(mail).hexdigest(), postbox.folder / "backup"
    postbox.cartbus("backup", str(backup))
    postbox.blob(name).write_bytes(b"damaged since")
    postbox.stop("test-postbox", "mirror", "broker")
    assert postbox.cartbus("restore", str(backup), json_output=True)["blobs"] == 1
    assert postbox.blob(name).read_bytes() == mail
    postbox.start("broker", "mirror", "test-postbox")
    assert postbox.cartbus("blobs", "--verify", json_output=True) == {"sound": True, "blobs": 1, "bytes": len(mail)}
    assert postbox.deliver(mail).startswith("250")
    assert len(postbox.mails()) == 1


def test_many_small_mails_need_more_room_in_a_backup_than_their_bytes(postbox):
    """Each is a file, and so is its reference: the copy is not begun where they do not fit."""
    for number in range(200):
        assert postbox.deliver(mail_of(100, f"{number} ")).startswith("250")
    disk = postbox.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(disk)], check=True)
    try:
        refused = postbox.cartbus("backup", str(disk / "backup"), check=False)
        assert refused.returncode == 1 and "1 MiB are free, and 3 are needed" in refused.stderr and "could not be copied" not in refused.stderr
    finally:
        subprocess.run(["umount", str(disk)], check=True)
