"""Files that come to a gateway with a system that takes them (file_endpoint.c): each is a blob on the disk, and a message names it."""

import contextlib
import os
import shutil
import signal
import subprocess

import pytest
from cartbus_system import wait_until
from hatch_system import PROGRAM, Hatch, name_of

LARGE, MOST = 3 << 20, 4 << 20
ADA, BOB = "ada@mail.example", "bob@mail.example"


def content_of(size, letter="a"):
    return (letter * 63 + "\n").encode() * (size // 64) + b"x" * (size % 64)


def content_named(begin):
    """A small content whose blob has a name that begins so."""
    return next(content for number in range(1 << 16) if name_of(content := f"file {number}".encode()).startswith(begin))


@pytest.fixture
def hatch():
    with Hatch() as system:
        system.start("broker")
        system.open()
        yield system


@contextlib.contextmanager
def small_disk(hatch, mib):
    """All blobs lie on a disk of that size while the gateway runs."""
    hatch.stop(PROGRAM)
    disk = hatch.folder / "state" / "blobs"
    disk.mkdir(mode=0o700)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m,mode=700", "tmpfs", str(disk)], check=True)
    try:
        hatch.open()
        yield disk
    finally:
        hatch.stop(PROGRAM)
        subprocess.run(["umount", str(disk)], check=True)


# ---- a file comes ----


def test_a_large_file_is_on_the_disk_before_its_message_names_it(hatch):
    content = content_of(LARGE + 5)
    assert hatch.put("one", content, sender=ADA).json["accepted"]
    [message] = hatch.said().values()
    assert (message.digest, message.version, message.source) == (name_of(content), len(content), ADA)
    assert hatch.blobs() == [message.digest] and hatch.blob(message.digest).read_bytes() == content
    assert all(path.stat().st_mode & 0o7777 == (0o700 if path.is_dir() else 0o600) for path in (hatch.store(), *hatch.store().rglob("*")))
    assert hatch.writing() == [] and hatch.verify() == (True, [])
    [listed] = hatch.cartbus("blobs", json_output=True)["blobs"]
    assert (listed["shop"], listed["process"], listed["use"], listed["blobs"], listed["bytes"]) == ("demo", "gateway", "files", 1, len(content))


def test_the_same_request_again_is_one_message_and_one_blob(hatch):
    content = content_of(LARGE)
    with hatch.begin("one", len(content)) as peer:
        peer.sendall(content)
        wait_until(hatch.said, "the message of which nobody heard the answer")
    assert [hatch.put("one", content).json.keys() for _ in range(2)] == [{"duplicate_of"}] * 2
    assert hatch.said().keys() == {"one"} and len(hatch.blobs()) == len(hatch.references()) == 1
    assert hatch.put("two", content).json["accepted"]
    assert hatch.said().keys() == {"one", "two"} and (len(hatch.blobs()), len(hatch.references())) == (1, 2)


def test_what_is_refused_leaves_nothing(hatch):
    assert hatch.put("one", content_of(LARGE), secret="f" * 32).status == 401
    assert hatch.put("one", content_of(MOST + 1)).status == 413
    assert hatch.put("one", b"").status == 422
    assert hatch.put("one", content_of(LARGE), sender="a" * 256).status == 422
    assert hatch.said() == {} and hatch.blobs() == hatch.references() == hatch.writing() == []


def test_a_client_that_goes_away_in_the_middle_leaves_nothing(hatch):
    content = content_of(LARGE)
    with hatch.begin("one", len(content)) as peer:
        peer.sendall(content[:LARGE // 2])
        wait_until(hatch.writing, "the file that is being written")
    wait_until(lambda: not hatch.writing(), "its end")
    assert hatch.put("one", content).json["accepted"]
    assert hatch.blobs() == [name_of(content)] and hatch.said().keys() == {"one"}


# ---- no room ----


def test_a_shop_whose_room_is_used_up_is_told_so_until_there_is_some(hatch):
    answers = [hatch.put(letter, content_of(LARGE, letter)) for letter in "abc"]
    assert [answer.status for answer in answers] == [200, 200, 507]
    assert answers[2].json["error"] == "there is no room for this body now"
    assert hatch.said().keys() == {"a", "b"} and len(hatch.blobs()) == len(hatch.references()) == 2 and hatch.writing() == []
    assert hatch.put("d", content_of(1 << 20, "d")).status == 200, "what fits is taken"


@pytest.mark.skipif(os.geteuid() != 0, reason="a disk is mounted")
@pytest.mark.parametrize("kept_free", [1, 0])  # by its own measure, or by the error of a write
def test_a_full_disk_is_told_and_leaves_nothing(kept_free):
    with Hatch({"kept-free-mib": kept_free, "shop-mib": 1000}) as hatch:
        hatch.start("broker")
        hatch.open()
        with small_disk(hatch, 6) as disk:
            ballast = disk / "ballast"
            ballast.write_bytes(bytes(4 << 20))
            with hatch.begin("one", LARGE) as peer:
                with contextlib.suppress(ConnectionError):
                    peer.sendall(content_of(LARGE))
                refused = hatch.answer(peer)
                assert (refused.status, refused.json["error"]) == (507, "there is no room for this body now")
                assert hatch.writing() == [], "its room is free before its client goes"
            assert hatch.said() == {} and hatch.blobs() == hatch.references() == []
            assert "there is no room on the disk for its body" in hatch.processes[PROGRAM].tail()
            ballast.unlink()
            assert hatch.put("two", content_of(1000)).status == hatch.put("one", content_of(LARGE)).status == 200
            assert hatch.said().keys() == {"one", "two"} and len(hatch.blobs()) == 2 and hatch.verify() == (True, [])


# ---- processes end ----


def test_a_gateway_that_is_killed_in_the_middle_leaves_nothing_behind_and_the_file_comes_again(hatch):
    content = content_of(LARGE)
    assert hatch.put("before", content_of(100)).status == 200
    with hatch.begin("one", len(content)) as peer:
        peer.sendall(content[:LARGE // 2])
        wait_until(hatch.writing, "the file that is being written")
        os.kill(hatch.processes[PROGRAM].popen.pid, signal.SIGKILL)
        hatch.processes[PROGRAM].popen.wait()
    assert hatch.writing()
    hatch.open()
    assert hatch.writing() == [] and hatch.said().keys() == {"before"} and hatch.verify() == (True, [])
    assert hatch.put("one", content).json["accepted"]
    assert hatch.blob(hatch.said()["one"].digest).read_bytes() == content


def test_a_file_that_came_while_the_broker_was_away_is_named_when_it_is_back(hatch):
    content = content_of(LARGE)
    hatch.kill("broker")
    wait_until(lambda: hatch.put("one", content).json.get("spooled"), "an answer from the spool")
    hatch.kill(PROGRAM)
    assert hatch.blobs() == [name_of(content)]
    hatch.start("broker")
    hatch.open()
    wait_until(hatch.drained, "the spool being told")
    assert hatch.said()["one"].digest == name_of(content) and hatch.verify() == (True, [])
    assert hatch.put("one", content).json["duplicate_of"]
    assert len(hatch.references()) == 1


def test_a_blob_that_no_message_came_to_name_is_surplus_for_a_day_and_goes(hatch):
    """As after a kill between the blob's name and its reference. A gateway looks at once at the blobs whose names begin with 00."""
    content = content_named("00")
    name = name_of(content)
    assert hatch.put("one", content).status == hatch.put("two", content_named("01")).status == 200
    hatch.stop(PROGRAM)
    shutil.rmtree(hatch.store() / "refs" / "00" / name)
    sound, [told] = hatch.verify()
    assert sound and name in told and "no message is known to name it" in told
    hatch.open()
    assert hatch.put("three", b"more").status == 200 and hatch.blob(name).exists(), "it is of today"
    hatch.stop(PROGRAM)
    os.utime(hatch.blob(name), (1e9, 1e9))
    hatch.open()
    wait_until(lambda: not hatch.blob(name).exists(), "it being removed")
    assert len(hatch.blobs()) == 2


# ---- the owner's commands ----


def test_a_restore_brings_the_files_back(hatch):
    content = content_of(LARGE)
    assert hatch.put("one", content).status == 200
    name, backup = name_of(content), hatch.folder / "backup"
    hatch.cartbus("backup", str(backup))
    hatch.blob(name).write_bytes(b"damaged since")
    sound, told = hatch.verify()
    assert not sound and any(name in line and "it is damaged" in line for line in told)
    hatch.stop(PROGRAM, "broker")
    assert hatch.cartbus("restore", str(backup), json_output=True)["blobs"] == 1
    assert hatch.blob(name).read_bytes() == content
    hatch.start("broker")
    hatch.open()
    assert hatch.cartbus("blobs", "--verify", json_output=True) == {"sound": True, "blobs": 1, "bytes": len(content)}
    assert hatch.put("one", content).json["duplicate_of"]


def test_a_message_whose_blob_is_not_there_is_found(hatch):
    content = content_of(1000)
    assert hatch.put("one", content).status == 200
    for path in (hatch.blob(name_of(content)), *hatch.references()):
        path.unlink()
    sound, told = hatch.verify()
    assert not sound and any("(test.file, shop demo) names the blob" in line and "it is not there" in line for line in told)


def erase(hatch, address, *more):
    return hatch.cartbus("erase", "demo", address, "--yes", *more, json_output=True)


def kept_in(backup):
    return sorted(path.name for path in backup.glob("blobs/*/*/*/blobs/*/*")), len(list(backup.glob("blobs/*/*/*/refs/*/*/*")))


def test_a_file_of_two_people_stays_until_both_are_erased(hatch):
    content, backup = content_of(LARGE), hatch.folder / "backup"
    name = name_of(content)
    hatch.start("unsub")
    assert hatch.put("of-ada", content, sender=ADA).status == hatch.put("of-bob", content, sender=BOB).status == 200
    assert hatch.put("of-nobody", content_of(1000)).status == 200
    hatch.cartbus("backup", str(backup))
    assert kept_in(backup) == (sorted([name, name_of(content_of(1000))]), 3)

    assert erase(hatch, ADA, "--dry-run")["blobs"] == 1
    told = erase(hatch, ADA)
    assert (told["blobs"], told["blobs_kept"], told["backups"][0]["done"]) == (0, 1, True)
    assert hatch.said().keys() == {"of-bob", "of-nobody"}
    assert hatch.blob(name).read_bytes() == content and len(hatch.references()) == 2
    assert kept_in(backup) == (sorted([name, name_of(content_of(1000))]), 2)

    told = erase(hatch, BOB)
    assert (told["blobs"], told["blobs_kept"], told["backups"][0]["done"]) == (1, 0, True)
    assert hatch.said().keys() == {"of-nobody"}
    assert hatch.blobs() == [name_of(content_of(1000))] and len(hatch.references()) == 1
    assert kept_in(backup) == ([name_of(content_of(1000))], 1)
    assert hatch.verify() == (True, [])
    hatch.cartbus("backup", "--verify", str(backup))
