"""The owner's texts have a history: every version, what differs, and the way back."""

import pytest

from cartbus_system import System, operator, wait_until

RULES = "Small carts (under 40 EUR): remind after {small} hours, then after 24. Medium carts: 2 hours, then 22. Big carts (over 150 EUR): 1 hour, then 20.\n"

pytestmark = pytest.mark.xdist_group("texts")


@pytest.fixture(scope="module")
def system():
    """A shop whose rules were edited twice, three versions."""
    with System() as system:
        system.shop = system.add_shop("demo", rules=RULES.format(small=4))
        system.start("broker", "mirror")
        for number, small in ((1, 4), (2, 5), (3, 6)):
            (folder(system) / "rules.txt").write_text(RULES.format(small=small))
            wait_until(lambda: len(versions(system)) == number, f"version {number}")
        yield system


def folder(system):
    return system.folder / "shops" / "demo"


def versions(system, kind="rules"):
    return [entry["message"] for entry in system.log(topic="document") if entry["key"] == kind]


def test_every_version_is_listed_shown_and_compared(system):
    listed = system.cartbus("rules", "log", "demo", json_output=True)["versions"]
    assert [version["version"] for version in listed] == [1, 2, 3]
    assert system.cartbus("rules", "show", "demo", "2").stdout == RULES.format(small=5)
    assert system.cartbus("rules", "show", "demo").stdout == RULES.format(small=6)
    difference = system.cartbus("rules", "diff", "demo").stdout
    assert "-" + RULES.format(small=5) in difference and "+" + RULES.format(small=6) in difference
    assert system.cartbus("rules", "diff", "demo", "2", "2").stdout == "no difference\n"
    told = system.cartbus("rules", "diff", "demo", json_output=True)
    assert told["diff"] == difference and told["to"] == "rules.txt version 3" and not told["same"]
    assert system.cartbus("rules", "diff", "demo", "2", "2", json_output=True)["same"]
    assert "time-zone = Europe/Berlin" in system.cartbus("conf", "show", "demo").stdout
    for words in (("rules", "show", "demo", "9"), ("rules", "log", "nowhere"), ("voice", "log", "demo")):
        assert system.cartbus(*words, check=False).returncode == 1


def test_a_rollback_is_a_new_version_that_no_file_takes_back(system):
    (folder(system) / "rules.txt").write_text("Small carts (under 40 bananas).\n")  # wrong, and never in use
    wait_until(lambda: [entry for entry in system.log(topic="alarm") if entry["message"].raised], "the alarm")
    assert [version.version for version in versions(system)] == [1, 2, 3]
    assert "+Small carts (under 40 bananas)." in system.cartbus("rules", "diff", "demo", "--file").stdout
    done = system.cartbus("rules", "rollback", "demo", "1", "--reason", "too slow", json_output=True)
    assert (done["was"], done["to"], done["version"], done["done"]) == (3, 1, 4, True)
    assert (folder(system) / "rules.txt").read_text() == RULES.format(small=4)
    assert (folder(system) / "rules.txt.edited").read_text() == "Small carts (under 40 bananas).\n"
    last = system.cartbus("rules", "log", "demo", json_output=True)["versions"][-1]
    assert (last["version"], last["same_as"], last["rolled_back_by"]) == (4, 1, operator()) and "too slow" in last["reason"]
    system.stop("mirror")
    system.start("mirror")  # it reads all files anew
    (folder(system) / "voice.txt").write_text("")
    wait_until(lambda: versions(system, "voice"), "the mirror having looked")
    assert versions(system)[-1].version == 4 and versions(system)[-1].text == RULES.format(small=4)
    again = system.cartbus("rules", "rollback", "demo", "4", json_output=True)
    assert again["version"] == 4 and len(versions(system)) == 4


def test_what_would_not_be_accepted_now_is_not_written(system):
    conf = folder(system) / "shop.conf"
    krona = conf.read_text().replace("currency = EUR", "currency = SEK")
    conf.write_text(krona)
    wait_until(lambda: len(versions(system, "shop")) == 2, "the other currency")
    (folder(system) / "rules.txt").write_text(RULES.replace("EUR", "kr").format(small=7))  # means nothing to a shop in EUR
    wait_until(lambda: "kr" in versions(system)[-1].text, "rules in it")
    done = system.cartbus("conf", "rollback", "demo", check=False)
    assert done.returncode == 1 and "the rules in use would not be accepted" in done.stderr and "line 1, column" in done.stderr
    assert conf.read_text() == krona and len(versions(system, "shop")) == 2


def test_without_a_mirror_it_says_what_is_left_to_be_done(system):
    system.stop("mirror")
    in_use = versions(system)[-1].version
    done = system.cartbus("rules", "rollback", "demo", "2", check=False)
    assert done.returncode == 1 and "the mirror does not run" in done.stderr and f"version {in_use} stays in use" in done.stderr
    assert versions(system)[-1].version == in_use
    assert (folder(system) / "rules.txt").read_text() == RULES.format(small=5)
    system.start("mirror")
    wait_until(lambda: versions(system)[-1].text == RULES.format(small=5), "the mirror reading it")
