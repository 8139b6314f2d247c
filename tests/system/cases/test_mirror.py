"""An owner edits files while everything runs: what is right is in use within a second, what is wrong changes nothing."""

import shutil
import time

import pytest
from cartbus_system import System, wait_until

QUIET = "Quiet hours: 21:00 to 8:00.\n"
GOOD = ("Small carts (under $40): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. "
        "Big carts (over $150): 1 hour, then 20.\n")


@pytest.fixture
def system():
    with System() as system:
        system.add_shop("demo")
        system.add_shop("other", zone="Asia/Kolkata", currency="INR")
        system.start("broker", "mirror")
        wait_until(lambda: len(documents(system)) == 4, "both shops' documents")
        yield system


def documents(system, shop=None, kind=None):
    return [entry for entry in system.log(topic="document", shop=shop) if kind in (None, entry["key"])]


def versions(system, shop="demo", kind="rules"):
    return [entry["message"].version for entry in documents(system, shop, kind)]


def alarms(system, shop="demo"):
    return [entry["message"] for entry in system.log(topic="alarm", shop=shop)]


def write(system, name, text):
    (system.folder / "shops" / name).write_text(text)


def test_an_edit_is_in_use_within_about_a_second(system):
    began_s = time.time()
    write(system, "demo/rules.txt", QUIET + GOOD)
    wait_until(lambda: versions(system) == [1, 2], "the second version")
    said = documents(system, "demo", "rules")[1]
    assert said["time_us"] / 1e6 - began_s < 2
    assert said["message"].text == QUIET + GOOD
    assert versions(system, "other") == [1]


def test_an_editor_that_renames_is_seen_too(system):
    new = system.folder / "shops/demo/rules.txt~"
    new.write_text(QUIET + GOOD)
    new.rename(system.folder / "shops/demo/rules.txt")
    wait_until(lambda: versions(system) == [1, 2], "the second version")


def test_a_bad_edit_keeps_the_old_rules_and_says_where_it_is_wrong(system):
    write(system, "demo/rules.txt", GOOD.replace("2 hours", "2 bananas"))
    alarm = wait_until(lambda: alarms(system), "the alarm")[0]
    assert alarm.raised and alarm.kind == "document.rules"
    assert 'demo/rules.txt: line 1, column 79: expected a time unit (hours, minutes, days) but found "bananas"' in alarm.text
    assert "version 1 stays in use" in alarm.remedy
    assert alarm.text in system.processes["mirror"].tail()
    write(system, "demo/rules.txt", QUIET + GOOD)
    wait_until(lambda: versions(system) == [1, 2], "the mended version")
    assert [alarm.raised for alarm in alarms(system)] == [True, False]


def test_a_shop_without_a_zone_is_refused_loudly_and_others_go_on(system):
    system.add_shop("nowhere", zone="Europe/Berln")
    alarm = wait_until(lambda: alarms(system, "nowhere"), "the alarm")[0]
    assert "expected a time zone" in alarm.text and "not started" in alarm.remedy
    write(system, "other/rules.txt", QUIET + GOOD)
    wait_until(lambda: versions(system, "other") == [1, 2], "the other shop's edit")
    assert documents(system, "nowhere") == []


def test_what_was_said_is_not_said_again_after_any_restart(system):
    before = len(system.log())
    system.kill("mirror")
    system.start("mirror")
    system.stop("mirror")
    shutil.rmtree(system.folder / "state" / "mirror")
    system.start("mirror")
    write(system, "other/rules.txt", QUIET + GOOD)  # the sign that it has looked at everything
    wait_until(lambda: versions(system, "other") == [1, 2], "an edit after the restarts")
    assert [(entry["topic"], entry["shop"]) for entry in system.log()[before:]] == [("document", "other"), ("audit", "other")]


def test_an_edit_while_the_broker_is_away_is_said_when_it_is_back(system):
    system.kill("broker")
    write(system, "demo/rules.txt", QUIET + GOOD)
    system.start("broker")
    wait_until(lambda: versions(system) == [1, 2], "the second version")


def test_an_edit_while_the_mirror_is_down_is_said_when_it_is_back(system):
    system.kill("mirror")
    write(system, "demo/rules.txt", QUIET + GOOD)
    system.start("mirror")
    wait_until(lambda: versions(system) == [1, 2], "the second version")


def test_warnings_are_logged_and_audited(system):
    write(system, "demo/rules.txt", GOOD.replace("4 hours", "20 minutes").replace("after 24", "after 24 hours"))
    wait_until(lambda: versions(system) == [1, 2], "the second version")
    audits = [entry["message"].grounds for entry in system.log(topic="audit", shop="demo")]
    assert any("20 minutes" in grounds for grounds in audits)
    assert "20 minutes" in system.processes["mirror"].tail()


# ---- long documents ----

MOST = 256 * 1024  # bytes of any document


def policy_of(length):
    """A text of so many bytes that ends as its kind wants it to (long_documents.c)."""
    return "ä" * ((length - 7) // 2) + "x" * ((length - 7) % 2) + "The end"


def test_a_document_of_256_kib_goes_whole_to_everybody_and_one_byte_more_is_refused_in_words():
    with System() as system:
        system.add_shop("demo")
        system.start("broker", "timer", "test-mirror=mirror", "waiter", "sender")
        write(system, "demo/policy.txt", policy_of(MOST))
        said = wait_until(lambda: documents(system, "demo", "policy"), "the policy")[0]["message"]
        assert said.long_text == policy_of(MOST) and not said.text

        write(system, "demo/policy.txt", policy_of(MOST + 1))
        alarm = wait_until(lambda: alarms(system), "the alarm")[0]
        assert alarm.raised and alarm.kind == "document.policy"
        assert "is longer than 256 KB: it has 262145 bytes, and 262144 is most" in alarm.text and "version 1 stays in use" in alarm.remedy
        write(system, "demo/policy.txt", policy_of(40_000))
        wait_until(lambda: versions(system, kind="policy") == [1, 2], "the mended policy")
        assert documents(system, "demo", "policy")[1]["message"].long_text == policy_of(40_000)
        write(system, "demo/policy.txt", policy_of(32_767))
        wait_until(lambda: versions(system, kind="policy") == [1, 2, 3], "a short policy")
        assert documents(system, "demo", "policy")[2]["message"].text == policy_of(32_767)

        write(system, "demo/policy.txt", policy_of(MOST))
        wait_until(lambda: versions(system, kind="policy") == [1, 2, 3, 4], "the long one again")
        system.kill("mirror", "waiter", "sender")
        system.stop("broker")
        system.start("broker", "test-mirror=mirror", "waiter", "sender", "exporter")  # from the log, and from their own state
        write(system, "demo/rules.txt", QUIET + GOOD)
        wait_until(lambda: versions(system) == [1, 2], "the rules")
        assert versions(system, kind="policy") == [1, 2, 3, 4]  # it knows what it said
        assert all(process.running for process in system.processes.values())
