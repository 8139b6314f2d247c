"""`cartbus secrets make`: a key that is missing is made, and one that the log depends on is not made twice."""

import pytest

from cartbus_system import System

KEYS = ("address.key", "link.key", "bounce.key", "admin.key")


@pytest.fixture
def system():
    with System() as system:
        yield system


def empty(system, name):
    (system.folder / "secrets" / name).write_bytes(b"")


def test_a_key_that_a_full_disk_left_empty_is_made_as_if_it_were_missing(system):
    kept = system.secret("admin.key")
    for name in ("address.key", "link.key", "bounce.key"):
        empty(system, name)
    assert "missing or empty" in system.cartbus("config", "check", check=False).stderr
    system.cartbus("secrets", "make")
    assert all(len(system.secret(name)) >= 64 for name in KEYS)
    assert system.secret("admin.key") == kept
    assert "missing or empty" not in system.cartbus("config", "check", check=False).stderr


@pytest.mark.parametrize("lost", [empty, lambda system, name: (system.folder / "secrets" / name).unlink()], ids=["empty", "missing"])
def test_where_there_is_a_log_no_new_key_of_addresses_is_made(system, lost):
    """With another key the list of who must not be mailed means nobody: all who opted out would be mailed."""
    system.start("broker")
    system.stop("broker")
    lost(system, "address.key")
    lost(system, "link.key")
    checked = system.cartbus("config", "check", check=False).stderr
    assert "address.key is missing or empty: put its copy back" in checked and "means nobody" in checked
    for words in (("secrets", "make"), ("up",)):
        done = system.cartbus(*words, check=False)
        assert done.returncode == 1 and f"{system.folder}/secrets/address.key" in done.stderr and "put its copy back" in done.stderr, done
    path = system.folder / "secrets" / "address.key"
    assert not path.exists() or not path.read_bytes()
    assert len(system.secret("link.key")) >= 64  # the others are made all the same
