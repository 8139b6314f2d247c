"""Timers that wait by older rules, moved to the new waits: the real processes, a quarter of an hour of the shop in a second."""

import datetime
import subprocess
import time

import pytest

from cartbus_system import BUILD, System, operator, wait_until

RATE = 900
HOUR_US = 3_600_000_000
RULES = ("Small carts (under 40 EUR): remind after 1 hour, then after 300. Medium carts: {medium} hours, then {second}. "
         "Big carts (over 150 EUR): 200 hours, then 300.\n")

pytestmark = pytest.mark.xdist_group("rules-apply")


@pytest.fixture(scope="module")
def system():
    now_us = int(time.time() * 1e6)
    with System({"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us}}) as system:
        system.shop = system.add_shop("demo", rules=RULES.format(medium=100, second=200))
        system.start()
        wait_until(lambda: len(system.log(topic="document")) == 2, "the documents being read")
        system.cartbus("shop", "mode", "demo", "live")
        for name, total in {"ada": "89.70", "bea": "200.00", "cem": "50.00"}.items():
            at = datetime.datetime.fromtimestamp(system.now_s(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            answer = system.post(system.shop.cart({
                "event": "changed", "cart": name, "email": f"{name}@mail.example", "currency": "EUR", "total": total, "at": at,
                "recovery_url": f"https://demo.example/r/{name}", "items": [{"title": "Vase", "quantity": 1, "price": total}]}))
            assert answer.status == 200, answer.text
        wait_until(lambda: len(timers(system)) == 3, "the timers being set")
        yield system


def timers(system):
    return {timer["name"]: timer["due_us"] for timer in system.cartbus("timers", json_output=True)["timers"] if timer["name"].startswith("cart/")}


def left_us(system, cart):
    return [entry["message"].abandoned_us for entry in system.log(topic="cart.state") if entry["key"] == cart][-1]


def edit(system, version, **waits):
    (system.folder / "shops" / "demo" / "rules.txt").write_text(RULES.format(**waits))
    wait_until(lambda: [entry for entry in system.log(topic="document") if entry["message"].version == version], "the edit being read")


def test_waiting_timers_move_when_they_are_told_to_and_not_before(system):
    before = timers(system)
    edit(system, 2, medium=80, second=200)
    assert timers(system) == before
    told = system.cartbus("rules", "apply", "demo", "--pending", "--dry-run", json_output=True)
    assert (told["waiting"], told["would"], told["moved"]) == (3, 2, 0)
    assert {move["cart"]: move["next_us"] for move in told["carts"]} == {
        cart: left_us(system, cart) + 80 * HOUR_US for cart in ("ada", "cem")}
    assert timers(system) == before
    told = system.cartbus("rules", "apply", "demo", "--pending", "--reason", "sooner", json_output=True)
    assert told["moved"] == 2
    wait_until(lambda: timers(system).get("cart/ada") == left_us(system, "ada") + 80 * HOUR_US, "ada's timer being moved")
    wait_until(lambda: timers(system).get("cart/cem") == left_us(system, "cem") + 80 * HOUR_US, "cem's timer being moved")
    assert timers(system)["cart/bea"] == before["cart/bea"]
    audits = [entry["message"] for entry in system.log(topic="audit") if entry["message"].action == "retimed"]
    assert {(audit.cart_id, audit.who, audit.grounds) for audit in audits} == {("ada", operator(), "sooner"), ("cem", operator(), "sooner")}
    assert all(audit.before.startswith("looked at next 20") and audit.after.startswith("looked at 20") for audit in audits)
    assert system.cartbus("rules", "apply", "demo", "--pending", json_output=True)["would"] == 0  # twice is once
    assert not system.log(topic="reminder.sent")


def test_an_apply_that_is_killed_between_two_carts_is_gone_on_from(system):
    def asked():
        return [entry["key"] for entry in system.log(topic="admin.action") if entry["message"].reason == "cut short"]

    edit(system, 3, medium=90, second=200)
    system.stop("intake")  # so that nothing of it is decided before it is said again
    words = ["rules", "apply", "demo", "--pending", "--rate", "1/s", "--reason", "cut short"]
    killed = subprocess.Popen([BUILD / "bin" / "cartbus", *words, "--config", system.config_path], stdout=subprocess.DEVNULL)
    wait_until(asked, "the first cart")
    killed.kill()
    killed.wait()
    first = asked()
    assert len(first) == 1, "it was killed too late"
    system.cartbus(*words)
    assert sorted(asked()) == ["ada", "cem"] and asked()[0] == first[0]
    system.start("intake")
    for cart in ("ada", "cem"):
        wait_until(lambda: timers(system).get(f"cart/{cart}") == left_us(system, cart) + 90 * HOUR_US, f"{cart}'s timer being moved")
    audits = [entry["message"].cart_id for entry in system.log(topic="audit") if entry["message"].grounds == "cut short"]
    assert sorted(audits) == ["ada", "cem"] and not system.log(topic="reminder.sent")


def test_a_wait_that_is_over_by_the_new_rules_is_over_now(system):
    passed = int((system.now_s() * 1e6 - max(left_us(system, cart) for cart in ("ada", "cem"))) / HOUR_US)
    edit(system, 4, medium=passed, second=200)  # over, and not for a day, however slow this machine is: so late a mail would not go
    system.cartbus("rules", "apply", "demo", "--pending", "--rate", "100/s")
    wait_until(lambda: {entry["message"].cart_id for entry in system.log(topic="reminder.sent")} == {"ada", "cem"}, "the mails")
    assert timers(system)["cart/bea"] == left_us(system, "bea") + 200 * HOUR_US
    assert system.cartbus("rules", "apply", "demo", "--pending", json_output=True)["would"] == 0


def test_what_makes_no_sense_changes_nothing(system):
    assert system.cartbus("rules", "apply", "demo", check=False).returncode == 2
    assert system.cartbus("rules", "apply", "demo", "--pending", "--rate", "no", check=False).returncode == 2
    assert system.cartbus("rules", "apply", "nowhere", "--pending", check=False).returncode == 1
    system.cartbus("shop", "mode", "demo", "paused")
    done = system.cartbus("rules", "apply", "demo", "--pending", check=False)
    assert done.returncode == 1 and "paused" in done.stderr
