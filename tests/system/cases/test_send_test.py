"""`cartbus send-test`: one real mail, which is no reminder to anybody."""

import email
import email.policy

import pytest

from cartbus_system import System, free_port, operator, wait_until
from mail_peer import Keep, Peer

pytestmark = pytest.mark.xdist_group("send-test")
ME = "me@shop.example"


@pytest.fixture(scope="module")
def keep():
    return Keep()


@pytest.fixture(scope="module")
def system(keep):
    peer = Peer(keep)
    mail = {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": peer.port, "smtp-tls": "none"}
    with System({"mail": mail}) as running:
        running.add_shop("demo")
        running.start("broker", "gateway", "unsub")
        yield running
    peer.close()


def test_it_arrives_says_what_it_is_and_leaves_a_record_alone(system, keep):
    told = system.cartbus("send-test", "demo", ME, "--locale", "fr", "--step", "2", json_output=True)
    assert told["end"] == "sent" and told["transport"] == "smtp"
    (envelope,) = keep.mails
    assert envelope.rcpt_tos == [ME]
    mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
    assert mail["Subject"].startswith("[Test] Une dernière fois") and mail["To"] == ME
    assert mail["Message-ID"] == f"<{told['message_id']}>" and told["message_id"].startswith("test.")
    assert not [name for name in mail.keys() if name.startswith("List-")]
    for kind in ("plain", "html"):
        words = mail.get_body((kind,)).get_content()
        assert "This is a test of demo" in words and "/u/" not in words
    (audit,) = [entry for entry in system.log(topic="audit") if entry["message"].action == "send_test"]
    assert audit["message"].who == operator() and told["message_id"] in audit["message"].grounds
    assert audit["message"].address_hash and ME not in str(audit["message"])
    assert not [entry for entry in system.log() if entry["topic"].startswith(("reminder.", "send.", "suppression"))]


def test_an_unpublished_voice_is_tried_as_it_is(system, keep, tmp_path):
    draft = tmp_path / "draft.txt"
    draft.write_text("First reminder\nSubject: Entwurf\nBody:\n{return link}\nSecond reminder\nSubject: s\nBody:\n{return link}\n")
    system.cartbus("send-test", "demo", ME, "--voice", str(draft))
    assert email.message_from_bytes(keep.mails[-1].content, policy=email.policy.default)["Subject"] == "[Test] Entwurf"
    draft.write_text("First reminder\nSubject: {nam}\n")
    done = system.cartbus("send-test", "demo", ME, "--voice", str(draft), check=False)
    assert done.returncode == 1 and "line 2, column 10: unknown {nam}" in done.stderr


def test_what_the_server_says_is_told_with_what_to_look_at(system, keep):
    before = len(keep.mails)
    for answer, words in (("550 5.7.1 not your address", "[mail] from of shop.conf"), ("451 4.7.1 later", "try again later")):
        keep.rcpt = answer
        done = system.cartbus("send-test", "demo", ME, check=False)
        assert done.returncode == 1 and answer[:3] in done.stderr and words in done.stderr
    keep.rcpt = None
    assert len(keep.mails) == before


def test_a_server_that_is_not_there_is_told(keep):
    mail = {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": free_port(), "smtp-tls": "none"}
    with System({"mail": mail}) as system:
        system.add_shop("demo")
        assert system.cartbus("send-test", "demo", ME, check=False).returncode == 3, "what cannot be put on record is not sent"
        system.start("broker")
        done = system.cartbus("send-test", "demo", ME, check=False)
        assert done.returncode == 1 and "smtp-host" in done.stderr
        assert [entry for entry in system.log(topic="audit") if entry["message"].action == "send_test"], "it was tried"


def test_who_said_no_gets_no_test_either(system, keep):
    before = len(keep.mails)
    folder = system.folder / "shops" / "demo"
    (folder / "shop.conf").write_text((folder / "shop.conf").read_text() + "never = @rival.example\n")
    assert "never" in system.cartbus("send-test", "demo", "eve@rival.example", check=False).stderr
    answer = system.request("POST", system.shops["demo"].unsubscribe_path("ada@shop.example"), body="List-Unsubscribe=One-Click",
                            headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert answer.status == 200
    wait_until(lambda: system.log(topic="suppression"), "the suppression")
    done = system.cartbus("send-test", "demo", "ada@shop.example", check=False)
    assert done.returncode == 1 and "unsubscribed from the shop" in done.stderr
    assert system.cartbus("send-test", "demo", "nobody", check=False).returncode == 2
    assert system.cartbus("send-test", "nosuch", ME, check=False).returncode == 1
    assert system.cartbus("send-test", "demo", ME, "--cart", "nosuch", check=False).returncode == 1
    assert len(keep.mails) == before
