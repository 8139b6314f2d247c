"""Dead letters and replays as an operator handles them: the real command, broker and services."""

import base64
import json
import signal
import socket
import subprocess

import pytest

from cartbus_system import BUILD, System, operator, wait_until
from test_days import RULES, event, fast_clock, mails_to, outcomes, row
from worker_system import WorkerSystem


@pytest.fixture
def bad():
    """A worker with twelve dead letters: six of shop one that failed, six of shop two that were refused."""
    with WorkerSystem(rate=200) as system:
        system.start("broker", "test-worker")
        system.say(*(word for number in range(6) for word in (f"r{number}=refuse", "good=work")), shop="two")
        system.say(*(word for number in range(6) for word in (f"f{number}=fail", "good=work")), shop="one")
        wait_until(lambda: len(system.dead()) == 12, "twelve deaths")
        yield system


def numbers(letters):
    return [letter["seq"] for letter in letters]


def test_a_list_says_that_there_are_none_only_when_there_are_none(bad):
    bad.add_shop("three")
    listed = bad.cartbus("dlq", "list", check=False)
    assert listed.returncode == 1 and listed.stdout.count("worker") >= 12 and "no dead letters" not in listed.stdout
    assert bad.cartbus("dlq", "list", "--json", check=False).returncode == 1
    assert len(bad.dead("--queue", "worker")) == 12 and not bad.dead("--queue", "sender")
    none = bad.cartbus("dlq", "list", "--shop", "three")
    assert none.returncode == 0 and none.stdout == "no dead letters\n"
    assert json.loads(bad.cartbus("dlq", "list", "--shop", "three", "--json").stdout)["dead"] == []


def test_letters_are_filtered_counted_redriven_at_a_rate_cancelled_and_resumed(bad):
    assert len(bad.dead("--shop", "two")) == len(bad.dead("--reason-has", "TOLD TO REFUSE")) == 6
    assert len(bad.dead("--topic", "test.work")) == 12 and not bad.dead("--topic", "cart.wake")
    assert not bad.dead("--older-than", "5d") and len(bad.dead("--younger-than", "5d")) == 12
    assert all(letter["history"] for letter in bad.dead())
    bad.stop("test-worker")
    dry = bad.cartbus("dlq", "redrive", "worker", "--shop", "two", "--dry-run")
    assert dry.stdout.endswith("would redrive: 6\n") and len(bad.dead()) == 12
    words = [BUILD / "bin" / "cartbus", "dlq", "redrive", "worker", "--all", "--rate", "1/s", "--config", bad.config_path]
    watching = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert "Ctrl-C" in watching.stderr.readline()
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=10)
    left = len(bad.dead())
    wait_until(lambda: len(bad.dead()) < left, "that it goes on without its watcher")
    bad.kill("broker")
    bad.start("broker")
    left = len(bad.dead())
    wait_until(lambda: len(bad.dead()) < left, "that it goes on after the broker's restart")
    cancelled = bad.cartbus("dlq", "redrive", "worker", "--cancel")
    left = numbers(bad.dead())
    assert left and "cancelled" in cancelled.stdout
    assert bad.ask("feed", queue="worker")["fed"] == 12 - len(left)
    done = bad.cartbus("dlq", "redrive", "worker", "--resume")  # watches it to its end
    assert done.stdout == "redrive finished: 12\n" and not bad.dead()


def test_what_is_no_number_no_rate_and_no_choice_is_refused_and_many_are_dropped_with_a_reason(bad):
    for words in (("show", "worker", "7x"), ("redrive", "worker", "-1"), ("redrive", "worker", "0x10"), ("redrive", "worker", "7", "--all"),
                  ("redrive", "worker", ""), ("redrive", "worker"), ("redrive", "worker", "--all", "--rate", "fast"),
                  ("redrive", "worker", "7", "--dry-run"), ("redrive", "worker", "--older-than", "old"),
                  ("drop", "worker", "99999999999999999999", "--reason", "x"), ("drop", "worker", "--all")):
        assert bad.cartbus("dlq", *words, check=False).returncode == 2, words
    assert len(bad.dead()) == 12
    bad.cartbus("dlq", "drop", "worker", "--shop", "two", "--reason", "a test order")
    assert {letter["shop"] for letter in bad.dead()} == {"one"}
    told = [entry for entry in bad.log(topic="dead.letter") if b"a test order" in base64.b64decode(entry["payload"])]
    assert len(told) == 6
    record = [entry["message"] for entry in bad.log(topic="audit") if entry["message"].action == "dead.drop"]
    assert len(record) == 1 and record[0].who == operator()
    assert "queue worker" in record[0].grounds and "shop two" in record[0].grounds and "why a test order" in record[0].grounds


# ---- with the real services ----


@pytest.fixture
def shop():
    clock = fast_clock()
    system = System({"clock": clock})
    system.clock = clock
    system.shop = system.add_shop("demo", rules=RULES.format(second=20).replace("1 hour,", "8 hours,"))  # time to act before the first mail
    yield system
    system.close()


def nothing_waits(system):
    return all(queue["ready"] == queue["leased"] == 0 for queue in system.ask("queues")["queues"])


def test_a_redriven_reminder_of_somebody_who_bought_meanwhile_is_skipped(shop):
    with socket.create_server(("127.0.0.1", 0)) as mute:  # a mail server that takes the call and says nothing
        shop.configure({"clock": shop.clock, "mail": {"transport": "smtp", "smtp-port": mute.getsockname()[1], "smtp-tls": "none"}})
        shop.start()
        shop.cartbus("shop", "mode", "demo", "live")
        event(shop, "c1")
        deaths = 0
        while not shop.queue_of("sender")["dead"]:
            wait_until(lambda: shop.queue_of("sender")["leased"] or shop.queue_of("sender")["dead"], "a sender at work on it")
            if not shop.queue_of("sender")["dead"]:
                shop.kill("sender")
                shop.start("sender")
                deaths += 1
    assert deaths == 5
    told = [line for line in shop.processes["broker"].tail(100000).splitlines() if "a dead letter of sender: reminder.due shop=demo" in line]
    assert len(told) == 1 and told[0].endswith(" cart=c1"), told  # nobody else was left to tell whose it is
    event(shop, "c1", kind="checked_out")
    wait_until(lambda: row(shop, "c1").status != shop.proto().CART_OPEN, "the purchase")
    shop.stop("sender")
    shop.configure({"clock": shop.clock})
    shop.start("sender")
    shop.cartbus("dlq", "redrive", "sender", "--all")
    skipped = wait_until(lambda: outcomes(shop, "skipped", "c1"), "the outcome")
    assert len(skipped) == 1 and "bought" in skipped[0].reason, skipped
    wait_until(lambda: nothing_waits(shop), "rest")
    assert not mails_to(shop, "c1@mail.example") and not outcomes(shop, "sent", "c1")
    assert shop.queue_of("sender")["dead"] == 0


def test_a_replay_of_everything_mails_nothing_twice(shop):
    shop.start()
    shop.cartbus("shop", "mode", "demo", "live")
    event(shop, "bought")
    wait_until(lambda: row(shop, "bought"), "the other cart")
    event(shop, "bought", kind="checked_out")
    event(shop, "c1")
    wait_until(lambda: mails_to(shop, "c1@mail.example"), "the first mail")

    def replay_all():
        for queue in ("intake", "waiter", "sender"):
            counted = shop.cartbus("replay", "--queue", queue, "--from", "1", "--dry-run", json_output=True)["would"]
            told = shop.cartbus("replay", "--queue", queue, "--from", "2020-01-01T00:00Z", json_output=True)
            assert told["state"] == "finished" and 0 < counted <= told["fed"], (queue, counted, told)
        wait_until(lambda: nothing_waits(shop), "rest")
        # whoever folds the log sees nothing new: what is fed has its number and stays where it is
        assert len(shop.log(topic="cart.changed")) == 2 and len(shop.log(topic="cart.checkout")) == 1
    replay_all()
    wait_until(lambda: outcomes(shop, "sent", "c1")[1:], "the second mail")
    replay_all()
    assert len(mails_to(shop, "c1@mail.example")) == len(outcomes(shop, "sent", "c1")) == 2
    assert not mails_to(shop, "bought@mail.example")
    record = [entry["message"] for entry in shop.log(topic="audit") if entry["message"].action == "replay"]
    assert [words.grounds.split(",")[0] for words in record] == ["queue intake", "queue waiter", "queue sender"] * 2
    assert all(words.who and "from_us 1577836800000000" in words.grounds for words in record)
    assert all(queue["dead"] == 0 for queue in shop.ask("queues")["queues"])


def test_a_replay_needs_a_queue_a_range_and_sense(shop):
    shop.start("broker")
    for words in ((), ("--queue", "intake"), ("--from", "1"), ("--queue", "intake", "--from", "1x"), ("--queue", "intake", "--from", "0"),
                  ("--queue", "intake", "--from", "2026-13-01T00:00Z"), ("--queue", "intake", "--from", "1", "--rate", "0")):
        assert shop.cartbus("replay", *words, check=False).returncode == 2, words
    for words in (("--queue", "nobody", "--from", "1"), ("--queue", "intake", "--from", "1", "--topic", "audit")):
        assert shop.cartbus("replay", *words, check=False).returncode == 1, words
    assert "nothing to cancel" in shop.cartbus("replay", "--queue", "intake", "--cancel", check=False).stderr
