"""A rotation keeps the keys of all earlier ones: links in mails that are out are signed with them, those that end all mail too."""

import pytest

from cartbus_system import System


@pytest.fixture
def system():
    with System() as system:
        system.cartbus("secrets", "rotate", "link")
        system.cartbus("secrets", "rotate", "link")
        yield system


def kept(system):
    return [line.split()[0] for line in (system.folder / "secrets" / "link.key.previous").read_text().splitlines()]


def spoil_mode(previous):
    previous.chmod(0o644)  # as a copy that was put back has it


def spoil_line(previous):
    previous.write_text(previous.read_text() + "0123456789012345678901234567890123456789 for ever\n")


def spoil_count(previous):
    line = previous.read_text().splitlines()[-1]
    previous.write_text("".join(f"{number}{line}\n" for number in range(9)))


@pytest.mark.parametrize("spoil, words", [(spoil_mode, "chmod 600"), (spoil_line, "no"), (spoil_count, "ninth")])
def test_a_rotation_that_cannot_keep_all_keys_before_changes_nothing(system, spoil, words):
    previous = system.folder / "secrets" / "link.key.previous"
    spoil(previous)
    before, key = previous.read_bytes(), system.secret("link.key")
    done = system.cartbus("secrets", "rotate", "link", check=False)
    assert done.returncode == 1 and str(previous) in done.stderr and words in done.stderr, done
    assert previous.read_bytes() == before and system.secret("link.key") == key


def test_each_rotation_keeps_the_keys_of_those_before(system):
    before, key = kept(system), system.secret("link.key").decode()
    system.cartbus("secrets", "rotate", "link")
    assert kept(system) == [*before, key] and len(before) == 2
