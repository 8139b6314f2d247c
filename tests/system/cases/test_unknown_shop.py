"""A shop's name that was mistyped is refused with the one that may be meant, by each command that narrows or changes something."""

import shutil

import pytest

from cartbus_system import System, fixture, wait_until


@pytest.fixture(scope="module")
def system():
    with System() as system:
        shop = system.add_shop("demo")
        system.gone = system.add_shop("gone")
        system.start("broker", "mirror", "gateway", "intake", "timer", "waiter")
        assert system.post(shop.cart(fixture("cart-changed", id="e-1", cart="c-1"))).status == 200
        assert system.post(system.gone.cart(fixture("cart-changed", id="e-2", cart="c-2"))).status == 200
        wait_until(lambda: len(system.log(topic="cart.state")) == 2, "the carts")
        yield system


@pytest.mark.parametrize("words", [
    ("erase", "demoo", "huber@example.com", "--dry-run"), ("erase", "demoo", "huber@example.com", "--yes"),
    ("alarm", "ack", "signatures", "--shop", "demoo"), ("dlq", "list", "--shop", "demoo"),
    ("dlq", "redrive", "waiter", "--shop", "demoo"), ("dlq", "drop", "waiter", "--shop", "demoo", "--reason", "a try"),
    ("dlq", "drop", "waiter", "--shop", "demoo", "--reason", "a try", "--dry-run"),
    ("replay", "--queue", "waiter", "--from", "1", "--shop", "demoo", "--dry-run"), ("replay", "--queue", "waiter", "--from", "1", "--shop", "demoo")])
def test_an_unknown_shop_is_refused_with_its_neighbour(system, words):
    head = system.ask("status")["head"]
    told = system.cartbus(*words, check=False)
    assert told.returncode == 1, told
    assert 'there is no shop "demoo"' in told.stderr and 'did you mean "demo"?' in told.stderr, told
    assert not system.said_since(head)


def test_a_shop_that_was_removed_can_be_erased_from_while_the_log_knows_it(system):
    shutil.rmtree(system.folder / "shops" / "gone")
    told = system.cartbus("erase", "gone", "huber@example.com", "--dry-run", check=False)
    assert "there is no shop" not in told.stderr, told
    assert system.cartbus("dlq", "list", "--shop", "gone").returncode == 0


def test_a_known_shop_is_taken(system):
    assert system.cartbus("dlq", "list", "--shop", "demo").returncode == 0
    assert system.cartbus("replay", "--queue", "waiter", "--from", "1", "--shop", "demo", "--dry-run").returncode == 0
