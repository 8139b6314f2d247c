"""A webhook whose consent is neither a yes nor a no: the cart is taken, held, counted, and its story says why."""

import pytest

from cartbus_system import System, wait_until

WORDS = "neither a yes nor a no"


@pytest.fixture(scope="module")
def system():
    with System() as system:
        system.shop = system.add_shop("demo")
        system.start("broker", "mirror", "gateway", "intake", "timer", "waiter", "monitor")
        system.cartbus("shop", "mode", "demo", "live")
        yield system


def tell(system, cart, **more):
    answer = system.post(system.shop.cart({"event": "changed", "cart": cart, "email": f"{cart}@mail.example", "currency": "EUR", "total": "20.00",
                                           "recovery_url": f"https://demo.example/r/{cart}",
                                           "items": [{"title": "Roses", "quantity": 1, "price": "20.00"}], **more}))
    assert answer.status == 200
    return answer.json


def why(system, cart):
    return system.cartbus("why", "demo", cart).stdout


def test_an_answer_that_may_have_been_a_no_holds_the_cart_until_one_comes_that_can_be_read(system):
    assert "warning" not in tell(system, "a", consent=True)
    wait_until(lambda: "first reminder" in why(system, "a"), "the next mail")
    answer = tell(system, "a", consent="withdrawn")
    assert answer["accepted"] and "consent is neither true nor false" in answer["warning"]
    story = wait_until(lambda: WORDS in why(system, "a") and why(system, "a"), "that the cart is held")
    assert "with a consent that cannot be read" in story and "first reminder" not in story
    wait_until(lambda: system.counted("gateway", "consents_unreadable") == 1, "the count")
    tell(system, "a", consent=None)  # nobody asked: no answer
    assert WORDS in why(system, "a")
    tell(system, "a", consent=True)
    wait_until(lambda: "first reminder" in why(system, "a") and WORDS not in why(system, "a"), "that it is free again")
