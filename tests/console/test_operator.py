"""The operator's pages: what the broker and the log say, as the command says it."""

import json

import pytest

from cartbus_system import wait_until
from console_system import Console
from two_hosts import leave_cart

pytestmark = pytest.mark.xdist_group("console-operator")  # one running system for all of it


@pytest.fixture(scope="module")
def machine():
    with Console() as console:
        console.demo = console.add_shop("demo")
        console.start()
        console.add_admin()
        console.add("ben", "operator")
        leave_cart(console, console.demo, "cart-ann", "ann@mail.example")
        wait_until(lambda: [entry for entry in console.log(topic="cart.state")], "the cart is in the log")
        yield console


def asked(machine, path):
    return json.loads(machine.people["ben"].get(path).text)


def test_health_has_the_causes_of_the_command(machine):
    told = machine.cartbus("status", "--json", check=False)
    causes = [one["words"] for one in asked(machine, "/o/.json")["causes"]]
    alarms = [one["text"] for one in asked(machine, "/o/.json")["alarms"]]
    assert causes == [text for text in json.loads(told.stdout)["red"] if not any(alarm in text for alarm in alarms)]


def test_every_process_is_there(machine):
    instances = {one["instance"] for one in asked(machine, "/o/.json")["processes"]}
    assert instances == {process.instance for process in machine.processes.values()} - {"broker"}


def test_a_service_that_is_gone_is_red_on_the_page(machine):
    machine.stop("exporter")
    wait_until(lambda: "no exporter is running" in machine.people["ben"].get("/o/").text, "the page says so")
    machine.start("exporter")
    wait_until(lambda: "no exporter is running" not in machine.people["ben"].get("/o/").text, "it is over")


def test_the_log_is_read_in_parts_none_left_out_and_masked(machine):
    numbers, place = [], "/o/log.json?from=1"
    while True:
        page = asked(machine, place)
        numbers += [message["seq"] for message in page["messages"]]
        if page["newer"] is None:
            break
        place = f"/o/log.json?from={page['newer']}"
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= machine.ask("status")["head"] - 5
    assert "ann@mail.example" not in machine.people["ben"].get("/o/log?from=1").text


def test_the_log_is_chosen_by_topic_shop_and_key(machine):
    shown = asked(machine, "/o/log.json?from=1&topic=cart.state&shop=demo")["messages"]
    assert shown and {(message["topic"], message["shop"]) for message in shown} == {("cart.state", "demo")}
    assert asked(machine, "/o/log.json?from=1&topic=cart.state&shop=other")["messages"] == []
    assert asked(machine, f"/o/log.json?from=1&shop=demo&key={shown[0]['key']}")["messages"]


@pytest.mark.parametrize("query", ["from=-1", "from=99999999999999999999999", "topic=%00", "topic=nonsense", "key=%ff", "from=1&from=2"])
def test_what_makes_no_sense_is_answered(machine, query):
    assert machine.people["ben"].get(f"/o/log?{query}").status in (200, 400)


def test_queues_are_those_of_the_command(machine):
    told = machine.cartbus("queues", json_output=True)["queues"]
    assert {one["queue"] for one in asked(machine, "/o/queues.json")["queues"]} == {one["name"] for one in told}
