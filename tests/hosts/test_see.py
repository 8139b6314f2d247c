"""On any host: the whole system is seen, by a key that may do no more than look; and what is wrong there is told there."""

import json
import signal

import pytest

from cartbus_system import wait_until
from places import BrokersHost, OtherHost
from test_move import BY_THE_BROKER, begin, clock, mail_by

LOOK = ("--rights", "ask")
ALL_BUT_SENDER = (*BY_THE_BROKER, "unsub", "mailin", "exporter", "summarizer", "monitor", "storefront")


@pytest.fixture
def places(lan, mail_server):
    """The broker and all services on the first host, a sender and the command on the second."""
    both = {**clock(), **mail_by(mail_server)}
    with BrokersHost(lan, both) as first:
        first.make_key("sender-b", "sender", "--instance", "sender-b*")
        first.make_key("look-b", "cartbus", *LOOK)
        begin(first, *ALL_BUT_SENDER)
        with OtherHost(lan, "second", first, {"sender": "sender-b", "cartbus": "look-b"}, ["link.key", "bounce.key"], both) as second:
            second.start("sender=sender-b-1")
            yield first, second


def findings(place):
    done = place.cartbus("doctor", "--json", check=False)
    return done.returncode, [(one["finding"], one["area"], one["text"], one["remedy"]) for one in json.loads(done.stdout)["findings"]]


def test_status_on_any_host_shows_the_whole_and_who_runs_where(places):
    for place in places:
        status = place.cartbus("status", json_output=True)
        assert status["host"] == "first"
        at = {one["instance"]: one["host"] for one in status["sessions"] if one["service"] != "cartbus"}
        assert at == {**dict.fromkeys(ALL_BUT_SENDER, "first"), "sender-b-1": "second"}
        lines = [line.split() for line in place.cartbus("status").stdout.splitlines()]
        assert ["GREEN"] in lines
        assert [line[0] for line in lines if line[-1:] == ["second"]] == ["sender-b-1"]
        assert {"broker", *ALL_BUT_SENDER} == {line[0] for line in lines if line[-1:] == ["first"]}
        assert place.cartbus("queues").stdout.splitlines()[0].startswith("queue")


def test_who_may_only_look_sees_alarms_and_no_shopper_and_changes_nothing(places):
    first, second = places
    (first.folder / "shops" / "demo" / "rules.txt").write_text("Remind whenever you like.\n")
    wait_until(lambda: "of shop demo" in second.cartbus("alarm", "list", check=False).stdout, "the alarm", step_s=0.5)
    listed = second.cartbus("alarm", "list", check=False).stdout
    assert "rules.txt" in listed and "what to do: " in listed and "**" not in listed
    first.kill("timer")
    wait_until(lambda: "no timer is running" in second.cartbus("status", check=False).stdout, "its session's end")
    refused = second.cartbus("stop", "--all", "--reason", "mischief", check=False)
    assert refused.returncode == 1 and "stopped" not in refused.stdout
    assert "payloads" in second.cartbus("trace", "demo", "c-1", check=False).stderr


def test_a_host_without_a_broker_is_well_without_what_the_broker_needs(places):
    _, second = places
    _, found = findings(second)
    assert [one for one in found if one[0] == "wrong" and one[1] not in ("public-url", "mail")] == []
    assert [one for one in found if one[0] == "fine" and one[1] == "keys" and "sender" in one[2]]


def test_a_key_revoked_while_its_owner_runs_is_told_by_both_ends_and_a_new_one_heals_it(places):
    first, second = places
    first.cartbus("keys", "revoke", "sender-b")
    words = "does not know the key sender ("
    wait_until(lambda: second.told(words, "sender-b-1"), "the owner telling it")
    lines = [line for line in second.processes["sender-b-1"].tail().splitlines() if words in line]
    assert len(lines) == 1 and lines[0].startswith("<4>") and "revoked" in lines[0] and "cartbus keys make" in lines[0]
    assert first.told("the key sender-b (key:", "broker") and first.told("is good no longer: cut ", "broker")
    code, found = findings(second)
    (wrong,) = [one for one in found if one[1] == "keys" and one[0] == "wrong"]
    assert code == 1 and "sender" in wrong[2] and "cartbus keys make" in wrong[3]
    assert [one for one in found if one[1] == "keys" and one[0] == "fine" and "cartbus" in one[2]]
    assert second.processes["sender-b-1"].running
    first.make_key("sender-b", "sender", "--instance", "sender-b*")
    second.bring_key(first, "sender", "sender-b")
    second.stop("sender-b-1")
    second.start("sender=sender-b-1")
    assert [one["host"] for one in first.sessions("sender")] == ["second"]


def test_a_key_is_rotated_without_a_moment_in_which_none_is_good(places):
    first, second = places
    first.cartbus("keys", "rotate", "sender-b")
    second.bring_key(first, "sender", "sender-b")
    assert [one["instance"] for one in first.sessions("sender")] == ["sender-b-1"]  # with the old one
    second.processes["sender-b-1"].end(signal.SIGTERM)
    second.start("sender=sender-b-1")
    first.cartbus("keys", "rotate", "sender-b", "--finish")
    assert [one["instance"] for one in first.sessions("sender")] == ["sender-b-1"]
    assert not second.told("does not know", "sender-b-1")
