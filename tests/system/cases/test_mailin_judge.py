"""`cartbus mailin judge` says of a mail what mailin then does with it, where nothing runs and where nothing is configured."""

import json
import subprocess

import pytest

from cartbus_system import BUILD, System, wait_until
from test_deadly_mails import DEADLY
from test_feedback import FULL, GONE, report

pytestmark = pytest.mark.xdist_group("judge")

AWAY = b"From: ada@mail.example\nSubject: Out of office\nAuto-Submitted: auto-replied\n\nI am away until Monday.\n"
NOTE = b"From: ada@mail.example\nSubject: a \x1b[2J question\n\nWhere is my order?\n"
SPF = "Final-Recipient: rfc822; ada@mail.example\nAction: failed\nStatus: 5.7.23\nDiagnostic-Code: smtp; 550 5.7.23 SPF check failed\n"
PLAIN = """From: MAILER-DAEMON@mx.example
To: {}
Subject: failure notice

Hi. This is the qmail-send program at mx.example.

<ada@mail.example>:
192.0.2.7 does not like recipient.
Remote host said: 550 5.1.1 <ada@mail.example>: no such user

--- Below this line is a copy of the message.

Message-ID: <1.0123456789abcdef0123456789abcdef@shop.example>
"""


def run(*arguments):
    done = subprocess.run([BUILD / "bin" / "cartbus", "mailin", "judge", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def system(tmp_path):
    maildir = tmp_path / "bounces"
    for part in ("new", "cur", "tmp"):
        (maildir / part).mkdir(parents=True)
    with System({"mailin": {"folder": maildir}}) as system:
        system.maildir = maildir
        system.shop = system.add_shop("demo")
        conf = system.folder / "shops" / "demo" / "shop.conf"
        conf.write_text("".join("bounce = bounces+*@shop.example\n" if line.startswith("bounce") else line
                                for line in conf.read_text().splitlines(keepends=True)))
        yield system


def mails_of(system):
    def to(name):
        return system.shop.bounce_address(f"{name}@mail.example", "shop.example")
    return {"gone": report(to("gone"), GONE).as_bytes(), "full": report(to("full"), FULL).as_bytes(),
            "spf": report(to("spf"), SPF).as_bytes(), "plain": PLAIN.format(to("plain")).encode(),
            "away": AWAY, "note": NOTE, "deadly": DEADLY["packed"]}


THEN = {"gone": "suppressed", "full": "counted", "spf": "counted", "plain": "suppressed", "away": "nothing", "note": "aside",
        "deadly": "aside"}


def test_mailin_then_does_what_was_said_while_nothing_ran(system, tmp_path):
    folder = tmp_path / "mails"
    folder.mkdir()
    for name, mail in mails_of(system).items():
        (folder / name).write_bytes(mail)
    done = system.cartbus("mailin", "judge", str(folder), check=False)
    assert done.returncode == 1 and "7 mails: 2 suppressed, 2 counted, 0 complaint, 1 nothing, 2 aside" in done.stdout
    assert "mail.example" not in done.stdout and "\x1b" not in done.stdout
    said = json.loads(run(folder, "--json", "--config", system.config_path)[1])
    judged = {mail["file"].rsplit("/", 1)[1]: mail for mail in said["mails"]}
    assert {name: mail["then"] for name, mail in judged.items()} == THEN
    assert said["counts"] == {"suppressed": 2, "counted": 2, "complaint": 0, "nothing": 1, "aside": 2}
    assert judged["gone"]["whose"] == {"by": "tag", "shop": "demo", "step": 1, "mail": "01234567", "verified": False,
                                       "shopper": system.shop.address_hash("gone@mail.example")}
    assert judged["spf"]["why"] == "policy" and judged["full"]["why"] == "mailbox full"

    system.start("broker", "mirror", "unsub", "mailin")
    wait_until(lambda: system.log(topic="document"), "the shop's document")
    for path in folder.iterdir():
        path.rename(system.maildir / "new" / path.name)
    wait_until(lambda: not list((system.maildir / "new").iterdir()), "an empty new/")
    assert {path.name for path in (system.maildir / "aside").iterdir()} == {name for name in THEN if THEN[name] == "aside"}
    told = {entry["message"].address_hash: entry["message"].kind for entry in system.log(topic="mail.feedback")}
    assert len(told) == 4
    wait_until(lambda: {entry["message"].address_hash for entry in system.log(topic="suppression")} ==
               {system.shop.address_hash(f"{name}@mail.example") for name in THEN if THEN[name] == "suppressed"}, "the suppressed")


def test_a_mail_is_judged_where_nothing_is_configured(system, tmp_path):
    path = tmp_path / "bounce.eml"
    path.write_bytes(mails_of(system)["plain"])
    code, out, _ = run(path)
    assert code == 0 and "the address is mailed no more" in out and "a shop that is not configured here" in out
    path.write_text(PLAIN.format("bounces@shop.example"))
    code, out, _ = run(path)
    assert code == 0 and "the mail 1.0123456789abcdef0123456789abcdef, by its Message-ID" in out


def test_what_cannot_be_read_is_told_and_the_rest_is_judged(system, tmp_path):
    path, large = tmp_path / "bounce.eml", tmp_path / "large.eml"
    path.write_bytes(mails_of(system)["gone"])
    large.write_bytes(b"Subject: x\n\n" + b"y" * 1024 * 1024)
    code, out, err = run(tmp_path / "none.eml", path)
    assert code == 1 and "none.eml: No such file" in err and "the address is mailed no more" in out
    code, out, _ = run(large)
    assert code == 1 and "larger than a report is" in out
    assert run(path, "--config", tmp_path / "none.conf")[0] == 1
    assert run()[0] == 2
