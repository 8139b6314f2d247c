"""Rules that live in a Google document: the real mirror, and a server that stands in for Google and is not it (google_peer.py)."""

import socket

import pytest

from cartbus_system import System, wait_until
from google_peer import RULES_ID, Google
from http_peer import BAD, reply
from test_days import fast_clock
from test_mirror import GOOD, QUIET, alarms, documents, versions, write

PATIENCE_S = 60


def broken_off(request):
    """Half of what it promised, drop by drop, and then nothing."""
    request.handler.send_response(200)
    request.handler.send_header("Content-Length", "20")
    request.handler.end_headers()
    for drop in GOOD[:10]:
        request.handler.wfile.write(drop.encode())
    request.handler.close_connection = True
    request.handler.connection.shutdown(socket.SHUT_RDWR)


AT_ONCE = [act for name, act in BAD.items() if name not in ("never", "slow", "announced")]  # those would last until a deadline
BAD_TOKENS = ({}, [], {"access_token": 7}, {"access_token": ""}, {"access_token": "a\nX-Evil: b", "expires_in": 3599}, {"access_token": None})


def saying(words):
    return lambda request: reply(request, 200, words)


@pytest.fixture
def google(tmp_path):
    peer = Google(tmp_path / "ca")
    yield peer
    peer.close()


@pytest.fixture
def system(google):
    with System({"clock": fast_clock(), "google": google.settings()}) as system:  # a quarter of an hour is a quarter of a second
        system.add_shop("demo", rules=GOOD, extra=f"[documents]\nrules = {RULES_ID}")
        system.write_secret("google.json", google.key_file())
        system.start("broker", "mirror")
        yield system


def in_use(system):
    return documents(system, "demo", "rules")[-1]["message"]


def wait_in_use(system, text, version):
    wait_until(lambda: versions(system)[-1:] == [version], f"version {version}", PATIENCE_S)
    assert in_use(system).text == text


def fetched_again(google, times=2):
    before = len(google.peer.requests)
    wait_until(lambda: len(google.peer.requests) >= before + times, "another fetch", PATIENCE_S)


def test_a_document_counts_once_it_is_right_and_whatever_fails_changes_nothing(system, google):
    alarm = wait_until(lambda: alarms(system), "that it is not shared", PATIENCE_S)[0]
    assert alarm.kind == "document.google.rules" and "HTTP 404" in alarm.text and "share it" in alarm.remedy
    wait_in_use(system, GOOD, 1)  # the file, until then
    google.documents[RULES_ID] = QUIET + GOOD
    wait_in_use(system, QUIET + GOOD, 2)  # without its byte order mark and CRLF
    assert in_use(system).source == f"Google document {RULES_ID}"
    wait_until(lambda: not alarms(system)[-1].raised, "the end of the alarm", PATIENCE_S)

    google.misbehaves["token"] = [*AT_ONCE, *(saying(words) for words in BAD_TOKENS)]
    google.misbehaves["GET"] = [lambda request: reply(request, 401, b"{}"), *AT_ONCE, broken_off,
                                lambda request: reply(request, 429, b"{}", Retry_After="5")]
    wait_until(lambda: not google.misbehaves["GET"] and not google.misbehaves["token"], "all that", PATIENCE_S)
    google.documents[RULES_ID] = GOOD.replace("2 hours", "2 bananas")
    wait_until(lambda: any("line 1" in alarm.text for alarm in alarms(system)), "the alarm of a bad edit", PATIENCE_S)
    fetched_again(google)
    assert versions(system) == [1, 2] and not google.wrong and "Google document" in alarms(system)[-1].text
    system.kill("mirror")
    system.start("mirror")
    fetched_again(google)
    assert versions(system) == [1, 2]  # the file does not come back with a restart
    google.documents[RULES_ID] = GOOD
    wait_in_use(system, GOOD, 3)
    log = (system.folder / "logs" / "mirror.log").read_text()
    assert "ya29" not in log and "PRIVATE" not in log


def test_a_rollback_holds_until_the_document_changes_again(system, google):
    google.documents[RULES_ID] = QUIET + GOOD
    wait_until(lambda: documents(system, "demo", "rules") and in_use(system).text == QUIET + GOOD, "the document", PATIENCE_S)
    version = in_use(system).version
    write(system, "demo/rules.txt", GOOD + "\n")  # what the command does: the text of an earlier version, in the file
    wait_in_use(system, GOOD + "\n", version + 1)
    fetched_again(google)
    assert in_use(system).version == version + 1
    system.kill("mirror")
    system.start("mirror")
    fetched_again(google)
    assert in_use(system).version == version + 1
    system.stop("mirror")
    refused = system.cartbus("rules", "rollback", "demo", "1", check=False)
    assert refused.returncode == 1 and "nothing was changed" in refused.stderr
    assert (system.folder / "shops" / "demo" / "rules.txt").read_text() == GOOD + "\n"
    google.documents[RULES_ID] = QUIET.replace("21", "22") + GOOD
    system.start("mirror")
    wait_in_use(system, QUIET.replace("21", "22") + GOOD, version + 2)
    assert not google.wrong
