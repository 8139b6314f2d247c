"""A backup put in the log's place: what was mailed after it is not mailed again, and nothing is before the operator says so."""

import json
import os
import shutil
import signal
import subprocess

import pytest
from cartbus_system import BUILD, System, wait_until
from mail_peer import Keep, Peer
from test_mail_reminder import clock, leave_cart
from test_private_state import open_files

HOUR_S = 6  # of ours: long enough to stop and start everything within a day of the shop
RULES = """Small carts (under 40 EUR): remind after 1 hour, then after 300. Medium carts: 1 hour, then 300.
Big carts (over 150 EUR): 1 hour, then 300. At most one mail per shopper every 2 hours.
"""


@pytest.fixture
def keep():
    return Keep()


@pytest.fixture
def system(keep):
    peer = Peer(keep)
    mail = {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": peer.port, "smtp-tls": "none"}
    with System({"clock": {**clock(), "rate": 3600 / HOUR_S}, "mail": mail}) as running:
        running.shop = running.add_shop("demo", rules=RULES)
        running.start()
        running.cartbus("shop", "mode", "demo", "live")
        yield running
    peer.close()


def mails_to(keep, address):
    return sum(mail.rcpt_tos == [address] for mail in keep.mails)


def stop_all(system):
    system.stop(*reversed([name for name, process in system.processes.items() if process.running]))


def mailed_after_the_backup(system, keep):
    """One cart is mailed that the backup holds as waiting. Everything is stopped then."""
    system.stop("sender")  # however long the backups take, nothing is mailed before them
    leave_cart(system, "c-1", "ada@mail.example")
    wait_until(lambda: system.log("timer.set"), "the cart's timer")
    system.cartbus("backup", str(system.folder / "earlier"))
    system.cartbus("backup", str(system.folder / "backup"))
    assert not system.log("send.claim")
    system.start("sender")
    wait_until(lambda: system.log("reminder.sent"), "the mail")
    stop_all(system)
    assert mails_to(keep, "ada@mail.example") == 1


def restored(system):
    told = system.cartbus("restore", str(system.folder / "backup"), json_output=True)
    assert [path for made in (system.folder / "state").glob("b*") for path in open_files(made)] == []
    refused = system.cartbus("restore", str(system.folder / "earlier"), check=False)
    assert refused.returncode == 1 and "between the two backups" in refused.stderr
    system.start()
    assert not system.log("reminder.sent") and not system.log("send.claim"), "the log has not forgotten the mail"
    return told


def wait_for_a_parked_claim(system):
    wait_until(lambda: system.ask("status")["parked_claims"] > 0, "the claim that waits")
    status = system.cartbus("status", check=False)
    assert status.returncode == 1 and "cartbus restore --release" in status.stdout


def test_what_the_log_forgot_is_learnt_and_not_mailed_again(system, keep):
    mailed_after_the_backup(system, keep)
    told = restored(system)
    stops = {"opt_outs": 0, "orders": 0, "actions": 0, "privacy_requests": 0, "modes": 0}
    assert told.pop("known_to") > restored_head(system)
    assert told == {"head": restored_head(system), "learnt": 1, "stores": 3, "erased": 0, "stops": stops, "let_back": 0, "side_logs": [],
                    "covered": True, "blobs": 0}
    wait_for_a_parked_claim(system)
    assert mails_to(keep, "ada@mail.example") == 1

    erased = system.cartbus("erase", "demo", "ada@mail.example", "--yes", check=False)
    assert erased.returncode == 1 and "restore --release first" in erased.stderr
    note = system.folder / "state" / "restore.json"
    learnt = note.read_bytes()
    note.write_bytes(learnt[:-9])
    damaged = system.cartbus("restore", "--release", "--unlearnt", check=False)
    assert damaged.returncode == 1 and str(note) in damaged.stderr and "no whole JSON" in damaged.stderr
    note.write_bytes(learnt)
    system.cartbus("restore", "--release")
    assert [sent["message"].cart_id for sent in system.log("reminder.sent")] == ["c-1"]
    leave_cart(system, "c-2", "emil@mail.example")
    wait_until(lambda: mails_to(keep, "emil@mail.example") == 1, "the mail of another cart", within_s=40)
    queue = next(queue for queue in system.ask("queues")["queues"] if queue["name"] == "sender")
    assert queue["ready"] == queue["leased"] == queue["dead"] == 0
    assert mails_to(keep, "ada@mail.example") == 1


def test_the_doctor_knows_what_a_restore_leaves(system):
    system.cartbus("backup", str(system.folder / "backup"))
    stop_all(system)
    system.cartbus("restore", str(system.folder / "backup"))
    aside, = (system.folder / "state").glob("before-restore-*")
    kept = next(path for path in aside.rglob("*") if path.is_file())
    os.chown(kept, 12345, 12345)  # each service has a user of its own, and whoever restores is root
    found = json.loads(system.cartbus("doctor", "--json", check=False).stdout)["findings"]
    told = [one for one in found if str(aside) in one["text"]]
    assert [one["finding"] for one in told] == ["fine"] and "not released yet" in told[0]["text"]
    assert not [one for one in found if one["area"] == "files" and one["finding"] == "wrong"]

    system.start()
    system.cartbus("restore", "--release")
    found = json.loads(system.cartbus("doctor", "--json", check=False).stdout)["findings"]
    told = [one for one in found if str(aside) in one["text"]]
    assert [one["finding"] for one in told] == ["fine"] and "remove it" in told[0]["text"]


def test_who_never_mailed_anything_is_not_asked_for_more_than_that(system):
    system.stop("sender")
    leave_cart(system, "c-1", "ada@mail.example")
    wait_until(lambda: system.log("timer.set"), "the cart's timer")
    system.cartbus("backup", str(system.folder / "backup"))
    stop_all(system)
    assert system.cartbus("restore", str(system.folder / "backup"), json_output=True)["learnt"] == 0
    system.start()
    system.cartbus("restore", "--release")


def test_with_another_key_of_addresses_nothing_is_mailed(system, keep):
    """As on a machine that was installed anew, which made a key of its own before the backup came."""
    mailed_after_the_backup(system, keep)
    key = system.folder / "secrets" / "address.key"
    ours = key.read_bytes()
    key.write_bytes(os.urandom(32).hex().encode())
    restored(system)
    leave_cart(system, "c-2", "emil@mail.example")  # named by the key that is there now: it says nothing of the log's
    wait_until(lambda: [one for one in system.log("cart.state") if one["key"] == "c-2"], "the cart that came meanwhile")
    for words in (("--release",), ("--release", "--unlearnt")):
        refused = system.cartbus("restore", *words, check=False)
        assert refused.returncode == 1 and f"{key} is not the key by which this log names people" in refused.stderr
    assert system.ask("status")["claims_held"]
    stop_all(system)
    key.write_bytes(ours)
    system.start()
    system.cartbus("restore", "--release")


def test_who_has_lost_the_key_of_addresses_may_say_so(system, keep):
    mailed_after_the_backup(system, keep)
    (system.folder / "secrets" / "address.key").write_bytes(os.urandom(32).hex().encode())
    restored(system)
    system.cartbus("restore", "--release", "--key-is-lost")
    assert not system.ask("status")["claims_held"]


def restored_head(system):
    return system.cartbus("backup", "--verify", str(system.folder / "backup"), json_output=True)["head"]


def test_without_anybody_who_knows_no_mail_goes_before_it_is_released(system, keep):
    mailed_after_the_backup(system, keep)
    for name in ("sender", "waiter", "console"):  # the console folds what the waiter does
        shutil.rmtree(system.folder / "state" / name)
    assert restored(system)["stores"] == 0
    wait_for_a_parked_claim(system)
    refused = system.cartbus("restore", "--release", check=False)
    assert refused.returncode == 1 and "--unlearnt" in refused.stderr
    assert mails_to(keep, "ada@mail.example") == 1 and system.ask("status")["parked_claims"] > 0
    system.cartbus("restore", "--release", "--unlearnt")
    wait_until(lambda: mails_to(keep, "ada@mail.example") == 2, "the mail that nobody knew of")


def test_what_a_killed_backup_left_does_not_stand_in_the_way(system):
    system.cartbus("backup", str(system.folder / "backup"))
    system.ask("snapshot")  # what a backup asks for, and removes when it is not killed
    stop_all(system)
    log = system.folder / "state" / "broker"
    assert list(log.glob("snapshot-*"))
    system.cartbus("restore", str(system.folder / "backup"))
    assert not list(log.glob("snapshot-*"))
    system.start("broker")
    assert system.ask("status")["head"] > 0


def restoring(system):
    """A restore that is held up while it erases somebody from the backup."""
    words = [str(BUILD / "bin" / "cartbus"), "restore", str(system.folder / "backup"), "--config", str(system.config_path)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "1 of 3" in line:
            process.send_signal(signal.SIGSTOP)
            return process
    raise AssertionError("nobody is erased from the backup")


def test_no_broker_starts_while_who_was_erased_leaves_the_backup(system):
    backup, away = system.folder / "backup", system.folder / "away"
    leave_cart(system, "c-1", "ada@mail.example")
    wait_until(lambda: system.log("timer.set"), "the cart's timer")
    system.cartbus("backup", str(backup))
    backup.rename(away)  # or the erasure would reach it
    system.cartbus("erase", "demo", "ada@mail.example", "--yes")
    away.rename(backup)
    stop_all(system)
    process = restoring(system)
    try:
        refused = system.program("broker")
        assert refused.returncode == 1 and "another broker is using" in refused.stderr, refused.stderr
    finally:
        process.send_signal(signal.SIGCONT)
        process.communicate(timeout=60)
    assert process.returncode == 0
    system.start("broker")
    system.stop("broker")

    log = system.folder / "state" / "broker"
    shutil.rmtree(log)
    refused = system.cartbus("restore", str(backup), "--erasures", str(system.folder / "nothing"), check=False)
    assert refused.returncode == 1 and "No such file" in refused.stderr
    assert not log.exists(), "the broker may have another user, who could not write into it"


def diaries(state):
    """RocksDB's, of each service: whoever opens a store for writing begins another."""
    return {path: path.stat().st_ino for path in state.glob("*/LOG*")}


def entries(folder):
    return [(path.name, path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.iterdir()]


def test_a_restore_touches_nothing_while_something_runs_or_the_backup_is_damaged(system):
    system.cartbus("backup", str(system.folder / "backup"))
    state = system.folder / "state"
    for stopped in (None, "waiter", "broker"):
        if stopped:
            system.stop(stopped)
        before = diaries(state), sorted(entries(state / "waiter")) if stopped else None
        refused = system.cartbus("restore", str(system.folder / "backup"), check=False)
        assert refused.returncode == 1 and "stop everything first" in refused.stderr
        assert (diaries(state), sorted(entries(state / "waiter")) if stopped else None) == before
    stop_all(system)
    (system.folder / "backup" / "broker" / "CURRENT").write_text("MANIFEST-999999\n")
    refused = system.cartbus("restore", str(system.folder / "backup"), check=False)
    assert refused.returncode == 1 and "not what was backed up" in refused.stderr
    assert not list((system.folder / "state").glob("before-restore-*"))
    system.start("broker")
    assert system.ask("status")["head"] > 0
