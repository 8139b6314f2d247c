"""The console is killed, its broker is away, its state is gone: what was asked for is done once or not at all, and a page tells what is known."""

import contextlib
import http.client
import json
import random
import shutil
import threading
import time

import pytest

from cartbus_system import wait_until
from console_system import Console
from two_hosts import leave_cart

pytestmark = pytest.mark.xdist_group("console-survives")  # one running system for all of it

KILLS = 12
AWAY = "This page shows what was known at"


@pytest.fixture(scope="module")
def shop():
    with Console() as console:
        console.demo = console.add_shop("demo")
        console.start("broker", "mirror", "gateway", "intake", "timer", "waiter", "sender", "unsub", "console")
        console.add_admin()
        console.add("owner", "owner:demo")
        for number in range(KILLS + 3):
            leave_cart(console, console.demo, f"cart-{number}", f"shopper{number}@mail.example")
        wait_until(lambda: len(listed(console)) == KILLS + 3, "the carts are listed")
        yield console


def listed(console):
    return json.loads(console.people["owner"].get("/s/demo/carts.json").text)["items"]


def answers(console):
    with contextlib.suppress(OSError):
        return console.people["owner"].get("/me").status == 200
    return False


def said_about(console, cart):
    return [entry["message"] for entry in console.log(topic="admin.action") if entry["message"].cart_id == cart]


def test_killed_at_any_moment_an_act_is_done_once_and_sent_again_says_so(shop):
    """The same form is sent again after the kill, as a browser does it that got no answer."""
    owner = shop.people["owner"]
    chance = random.Random(14)
    for cart in [cart["cart"] for cart in listed(shop)[:KILLS]]:
        form = owner.get(f"/s/demo/carts/{cart}").form(f"/s/demo/carts/{cart}/write-off")

        def send():
            with contextlib.suppress(OSError, http.client.HTTPException):
                owner.request("POST", f"/s/demo/carts/{cart}/write-off", form)

        sending = threading.Thread(target=send)
        sending.start()
        time.sleep(chance.random() * 0.03)  # the moment of the kill
        shop.kill("console")
        sending.join()
        shop.start("console")
        wait_until(lambda: answers(shop), "the console answers, and the session is the same")
        before = len(said_about(shop, cart))
        again = owner.request("POST", f"/s/demo/carts/{cart}/write-off", form)
        assert before <= 1 and again.status == 303
        assert ("before=" if before else "done=") in again.location
        assert len(said_about(shop, cart)) == 1


def test_while_the_broker_is_away_pages_say_so_and_an_act_waits(shop):
    owner = shop.people["owner"]
    cart = listed(shop)[KILLS]["cart"]
    page = owner.get(f"/s/demo/carts/{cart}")
    shop.kill("broker")
    wait_until(lambda: AWAY in owner.get("/s/demo/carts").text, "the page says that the broker is away")
    assert len(listed(shop)) == KILLS + 3  # what was known last
    refused = owner.press(page, f"/s/demo/carts/{cart}/write-off", reason="out of stock")
    assert refused.status == 503 and "out of stock" in refused.text
    shop.start("broker")
    wait_until(lambda: AWAY not in owner.get("/s/demo/carts").text, "the broker is back")
    again = owner.request("POST", f"/s/demo/carts/{cart}/write-off", owner_form(refused))
    assert again.status == 303
    wait_until(lambda: said_about(shop, cart), "the act is in the log")
    assert [action.reason for action in said_about(shop, cart)] == ["out of stock"]


def test_a_session_that_ended_keeps_what_was_typed_and_does_nothing(shop):
    cart = listed(shop)[KILLS + 1]["cart"]
    place = f"/s/demo/carts/{cart}/write-off"
    visitor = shop.visitor()
    visitor.sign_in("owner")
    page = visitor.get(f"/s/demo/carts/{cart}")
    visitor.press(visitor.get("/me"), "/sign-out")
    ended = visitor.press(page, place, reason="a long thought")
    assert ended.status == 401 and "a long thought" in ended.text and not said_about(shop, cart)
    visitor.sign_in("owner")
    other = visitor.request("POST", place, owner_form(ended))  # the form is of the session before: it asks once more
    assert other.status == 403 and "a long thought" in other.text and not said_about(shop, cart)
    assert visitor.request("POST", place, owner_form(other)).status == 303
    assert [action.reason for action in said_about(shop, cart)] == ["a long thought"]


def owner_form(page):
    """The one form of a page that keeps what was typed; it leads to where it came from."""
    forms = [form for form in page.forms() if "reason" in form["fields"]]
    assert len(forms) == 1
    return forms[0]["fields"]


def test_its_state_may_be_deleted_and_is_folded_anew(shop):
    owner = shop.people["owner"]
    before = {path: shown(owner, path) for path in ("/s/demo/carts.json", "/s/demo/.json")}
    cart = listed(shop)[0]["cart"]
    story = json.loads(owner.get(f"/s/demo/carts/{cart}.json").text)["story"]
    shop.stop("console")
    for path in (shop.folder / "state" / "console").iterdir():
        if path.name not in ("sessions", "throttle"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shop.start("console")
    wait_until(lambda: answers(shop), "the console answers")
    wait_until(lambda: {path: shown(owner, path) for path in before} == before, "every figure is what it was")
    assert json.loads(owner.get(f"/s/demo/carts/{cart}.json").text)["story"] == story


def shown(owner, path):
    """Without what follows from the moment of asking."""
    data = json.loads(owner.get(path).text)
    return {name: value for name, value in data.items() if name not in ("since_us",)}
