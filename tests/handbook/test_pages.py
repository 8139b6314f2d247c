"""How pages are read: what may vary between a page and a machine, and what may not."""

import pytest

from pages import HANDBOOK, Page, all_pages, matches

# What types no command on a machine, and why that is well.
UNTYPED = {
    "README": "tells how the others are to be read",
    "alarms": "tests/lint/handbook holds it against what the services say",
    "commands": "looks up what `cartbus --help` says",
    "configuration": "tests/lint/settings holds it against the table of settings",
    "contributing": "is typed in a clone, not on a machine that runs cartbus",
    "metrics": "tests/metrics holds it against the page of metrics, and a real Prometheus reads that",
    "owner": "tells an owner what to edit",
    "reports": "tells an owner what to read",
    "scale-out": "tests/hosts types it, on two machines",
    "tracing": "tests/lint/handbook holds its list against the code, and tests/systemd asks a machine's journal for a cart",
}

PAGE = """# A page

Begins: where [Install](install.md) ends.

```console
# first
printed
# second <<END
> more
> END
```

```sh
# not typed
```

<!-- stage
broken=1
-->

```console until
# third
...
well
```
"""


@pytest.fixture
def page(tmp_path):
    (tmp_path / "page.md").write_text(PAGE)
    return Page(tmp_path / "page.md")


def test_commands_and_what_happens_meanwhile_come_in_the_pages_order(page):
    assert [(step.script, step.prints, step.until, step.staged) for step in page.steps] == [
        ("first", "printed\n", False, False), ("second <<END\nmore\nEND", "", False, False),
        ("broken=1\n", "", False, True), ("third", "...\nwell\n", True, False)]
    assert page.after == "install.md"


def test_a_page_that_types_and_does_not_say_where_it_begins_is_refused(tmp_path):
    (tmp_path / "page.md").write_text(PAGE.replace("Begins:", "It begins"))
    with pytest.raises(AssertionError, match="where it begins"):
        Page(tmp_path / "page.md")


@pytest.mark.parametrize(("shown", "printed"), [
    ("at 2026-11-21 08:00:00 of 1f2e3d4c5b", "at 2031-01-02 23:59:59 of deadbeef0123"),
    ("(message   12)", "(message 3456)"),
    ("2026-11-21T033000Z 20261121T033000Z", "2026-12-01T090022Z 20261201T090022Z"),
    ("a   b", "a b"),
    ("up for 3 s", "up for 17 s"),
    ("a\n...\nb", "a\nb"),
    ("a\n...\nb", "a\nx\ny\nb"),
    ("a ... b", "a x y b"),
    ("", "\n"),
])
def test_what_varies_may_differ(shown, printed):
    assert matches(shown, printed)


@pytest.mark.parametrize(("shown", "printed"), [
    ("GREEN", "RED"),
    ("dead 1", "dead 2"),
    ("a", "a\nb"),
    ("a\nb", "a"),
    ("a ... b", "a x\ny b"),
    ("...\nb", "a"),
    ("at 2026-11-21", "at noon"),
    ("", "an error"),
])
def test_all_else_may_not(shown, printed):
    assert not matches(shown, printed)


def test_each_page_is_typed_or_it_is_said_why_not():
    assert {path.stem for path in HANDBOOK.glob("*.md")} - set(all_pages()) == set(UNTYPED)
