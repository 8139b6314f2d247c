"""A system that is not there: a guestbook (tests/system/fifth) in an installation of its own, with everything that the others have.

It brings one endpoint, one kind of documents, one service with a timer and an effect, one subcommand and one mail route; it touches no
file of the others, and runs with them for real.
"""

import json
import pathlib
import shutil
import subprocess
import time

import pytest
from cartbus_system import BUILD, SOURCES, System, free_port, wait_until
from lmtp_world import come_back_over_lmtp, over_lmtp

FIFTH, LINES_MOST = SOURCES / "tests" / "system" / "fifth", 299
MAIL = b"From: anna@mail.example\r\nSubject: hello\r\n\r\nIt was lovely.\r\n"


class Guests(System):
    def __init__(self):
        super().__init__()
        self.lmtp = free_port()
        self.configure({"mailin": {"lmtp": f"127.0.0.1:{self.lmtp}"}, "blobs": {"kept-free-mib": 1},
                        "broker": {"topology": BUILD / "fifth" / "share" / "cartbus" / "topology.conf"}})
        self.shop = self.add_shop("demo")
        come_back_over_lmtp(self, "demo")

    def built(self, instance):
        return BUILD / "fifth"

    def command(self):
        return BUILD / "fifth" / "bin" / "cartbus"

    def write_text(self, text):
        """guestbook.txt, as an owner saves it."""
        path = self.folder / "shops" / "demo" / "guestbook.txt"
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").rename(path)

    def start_all(self, text="show after 0 seconds\n"):
        if text:
            self.write_text(text)
        self.start("broker", "mirror", "timer", "guestbook", "mailin", "gateway")
        wait_until(lambda: {"shop", *(["guestbook"] if text else [])} <= {entry["key"] for entry in self.log(topic="document")}, "the texts being read")

    def leave(self, words, id="one", secret=None):
        headers = {"X-Guest-Secret": secret or self.secret("webhook/demo").decode(), "Content-Type": "application/json"}
        return self.request("POST", "/guestbook/demo", json.dumps({"id": id, "words": words}), headers)

    def shown(self):
        return {path.stem: path.read_text() for path in (self.folder / "state" / "guests" / "demo").glob("*.txt")}

    def told(self):
        """What the system's own subcommand prints."""
        return self.cartbus("guests", "demo").stdout.splitlines()


@pytest.fixture
def guests():
    with Guests() as system:
        yield system


def test_words_that_come_by_http_wait_for_their_timer_and_become_a_file(guests):
    guests.start_all("show after 3 seconds\n")
    began = time.monotonic()
    assert guests.leave("It was lovely.").status == 200
    assert guests.leave("It was lovely.").json["duplicate_of"], "the same id once more"
    wait_until(lambda: guests.told() == ["one: It was lovely."], "the words being shown")
    assert time.monotonic() - began >= 3
    assert guests.shown() == {"one": "It was lovely.\n"}
    [fired] = guests.log(topic="timer.fired", shop="demo")
    assert fired["key"] == "guest.one"


def test_a_mail_to_the_guestbook_becomes_a_blob_and_an_entry(guests):
    guests.start_all()
    wait_until(lambda: over_lmtp(guests.lmtp, MAIL, b"guestbook@lmtp.example").startswith("250"), "the mail being taken")
    assert over_lmtp(guests.lmtp, MAIL, b"guestbook@lmtp.example").startswith("250"), "once more: its answer may have been lost"
    [line] = wait_until(guests.told, "the mail being shown")
    assert line.endswith(f": a mail of {len(MAIL)} bytes")
    [listed] = guests.cartbus("blobs", json_output=True)["blobs"]
    guests.cartbus("blobs", "--verify")  # also what this system's messages name
    assert (listed["shop"], listed["use"], listed["blobs"]) == ("demo", "guestbook", 1)
    over_lmtp(guests.lmtp, MAIL, b"bounces@lmtp.example")
    assert guests.told() == [line], "what comes back is no entry"


def test_who_is_erased_leaves_the_backups_too_where_only_words_name_him(guests):
    """A backup is searched by hashes alone, also when it comes from elsewhere: each address in its words is hashed."""
    guests.start_all()
    guests.start("unsub")
    for number, words in enumerate(("Write to Ada@mail.example.", "?email=ada@mail.example&x", "nada@mail.example", "It was lovely.")):
        assert guests.leave(words, id=f"e-{number}").status == 200
    wait_until(lambda: len(guests.told()) == 4, "all being shown")
    beside, away = guests.folder / "beside", guests.folder / "away"
    guests.cartbus("backup", str(away))
    away = away.rename(guests.folder.parent / f"{guests.folder.name}-away")
    guests.cartbus("backup", str(beside))
    try:
        told = guests.cartbus("erase", "demo", "ada@mail.example", "--yes", json_output=True)
        [backup] = told["backups"]
        assert backup["path"] == str(beside) and backup["messages"] == told["messages"] > 2
        guests.stop("gateway", "mailin", "guestbook", "timer", "unsub", "mirror", "broker")
        guests.cartbus("restore", str(away))
        guests.start("broker")
        wrote = [json.loads(line)["payload"]["words"] for line in guests.cartbus("log", "--topic", "guest.*", "--json").stdout.splitlines()]
        assert set(wrote) == {"nada@mail.example", "It was lovely."}
    finally:
        shutil.rmtree(away, ignore_errors=True)


def test_what_is_not_right_is_refused_in_words(guests):
    guests.start_all(text=None)
    assert guests.leave("x", secret="f" * 32).status == 401
    assert guests.request("POST", "/guestbook/nobody", "{}").status == 404
    assert guests.leave("x" * 200).status == 400 and b"up to 199 bytes" in guests.leave("x", id="A B").body
    assert guests.leave("too early").status == 200
    [letter] = wait_until(lambda: guests.log(topic="dead.letter"), "a shop without a text: its entry being given up")
    assert "no guestbook.txt" in guests.cartbus("dlq", "list", check=False).stdout, letter
    guests.write_text("show it soon\n")
    wrong = guests.cartbus("config", "check", check=False)
    assert wrong.returncode == 1 and 'guestbook.txt: line 1: expected "show after N seconds"' in wrong.stdout + wrong.stderr
    wait_until(lambda: "show after N seconds" in guests.processes["mirror"].tail(), "the refused text being told")
    guests.write_text("show after 0 seconds\n")
    wait_until(lambda: any(entry["key"] == "guestbook" for entry in guests.log(topic="document")), "the mended text")
    guests.cartbus("dlq", "redrive", "guestbook", "--all")
    wait_until(lambda: guests.told() == ["one: too early"], "what was given up, once its text is right")


def test_nothing_is_lost_or_shown_twice_where_everything_dies(guests):
    guests.start_all("show after 2 seconds\n")
    for number in range(20):
        assert guests.leave(f"words {number}", id=f"e-{number}").status == 200
    guests.kill("guestbook", "timer", "broker")
    guests.start("broker", "timer", "guestbook")
    wait_until(lambda: len(guests.told()) == 20, "all being shown")
    assert guests.leave("words 20", id="e-20").status == 200
    wait_until(lambda: "e-20: words 20" in guests.told(), "one that came after them")
    assert sorted(guests.told()) == sorted(f"e-{n}: words {n}" for n in range(21)) and len(guests.shown()) == 21


def test_the_commands_know_it(guests):
    guests.start_all()
    guests.leave("It was lovely.")
    wait_until(guests.told, "the words being shown")
    assert "guests SHOP" in subprocess.run([guests.command(), "--help"], capture_output=True, text=True, check=True).stdout
    [seen] = [line for line in guests.cartbus("log", "--topic", "guest.shown").stdout.splitlines() if "guest.shown" in line]
    assert "one" in seen
    [entry] = [json.loads(line) for line in guests.cartbus("log", "--topic", "guest.shown", "--json").stdout.splitlines()]
    assert entry["payload"] == {"id": "one", "words": "It was lovely."}, "the fields have their names"
    assert "guestbook" in guests.cartbus("status", check=False).stdout
    assert guests.request("GET", "/nowhere").status == 404 and b"/guestbook/SHOP" in guests.request("GET", "/nowhere").body


def test_what_a_guest_wrote_moves_nobodys_cursor(guests):
    guests.start_all()
    guests.leave("a\x1b[2J\u009b2J\u202e\nforged: b")
    assert wait_until(guests.told, "the words being shown") == ["one: a [2J  2J    forged: b"]


def test_up_starts_it_with_the_others(guests):
    with subprocess.Popen([guests.command(), "up", "--config", guests.config_path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as up:
        try:
            wait_until(lambda: "guestbook" in {session["instance"] for session in guests.ask("status")["sessions"]}
                       if (guests.folder / "run").exists() and list((guests.folder / "run").iterdir()) else False, "the guestbook being up", 60)
        finally:
            up.terminate()
            up.wait(60)


def test_it_is_small_and_touches_no_file_of_the_others():
    lines = sum(len(path.read_text().splitlines()) for path in FIFTH.iterdir())
    assert lines <= LINES_MOST, lines
    named = subprocess.run(["grep", "-rliE", r"guestbook|guest_", *(SOURCES / folder for folder in ("bus", "proto", "services", "deploy", "systemd"))],
                           capture_output=True, text=True)
    assert [pathlib.Path(path).relative_to(SOURCES) for path in named.stdout.split()] == []
