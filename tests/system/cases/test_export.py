"""What a shop knows of a person, told to that person."""

import json

import pytest

from cartbus_system import operator
from persons import Person, leave_traces, shop_system


@pytest.fixture
def system():
    running = shop_system()
    yield running
    running.close()


def test_a_person_is_told_all_that_is_known_and_nothing_of_others(system):
    ada, bob = Person("a7f3c9d2e1"), Person("b0e8d6c4a2")
    leave_traces(system, ada)
    bob.leave(system, bob.cart)
    # one whose names hold hers, of a storefront that has one address for all baskets
    neighbour = Person("c4d2b8a6f0")
    neighbour.address, neighbour.cart = f"x-{ada.address}", f"{ada.cart}-2"
    neighbour.leave(system, neighbour.cart, recovery_url=f"https://demo.example/recover/{ada.mark}")

    ada.leave(system, "c-7")  # too short to be looked for anywhere but where a cart's id stands
    exported = system.folder / "state/export/demo/2020-01-01.csv"
    exported.parent.mkdir(parents=True, exist_ok=True)
    exported.write_text('cart,status\r\n"c-77","open"\r\n"\'c-7","open"\r\n')

    told = system.cartbus("export", "demo", ada.address, json_output=True)
    text = json.dumps(told)
    for name in ada.names():
        assert name in text, name
    assert not [name for name in bob.names() + neighbour.names() if name in text]
    assert told["addresses"] == [ada.address] and told["customer_ids"] == [ada.customer]
    for section in ("carts", "purchases", "sends", "audit", "dead_letters"):
        assert told[section], section
    assert {"rejected webhook", "mail in the maildir", "export"} == {file["what"] for file in told["files"]}
    assert ada.title in text and "***" not in text

    by_customer = system.cartbus("export", "demo", ada.customer, json_output=True)
    assert {entry["seq"] for entry in told["carts"]} <= {entry["seq"] for entry in by_customer["carts"]}
    plain = system.cartbus("export", "demo", ada.address).stdout
    assert ada.title in plain and ada.name in plain and "dead letters" in plain

    record = [entry["message"] for entry in system.log(topic="audit") if entry["message"].action == "export"]
    assert len(record) == 3 and {one.address_hash for one in record} == {system.shop.address_hash(ada.address)}
    assert record[0].who == operator()
    nobody = system.cartbus("export", "demo", "nobody@mail.example", check=False)
    assert nobody.returncode == 1 and "knows nothing" in nobody.stderr
    assert system.cartbus("export", "demo", "0", check=False).returncode == 1

    with (exported.parent / "larger-than-any.csv").open("wb") as huge:
        huge.truncate(65 << 20)
    in_part = system.cartbus("export", "demo", ada.address, check=False)
    assert in_part.returncode == 1 and "larger-than-any.csv" in in_part.stderr and ada.title in in_part.stdout
    in_part = system.cartbus("erase", "demo", ada.address, "--dry-run", check=False)
    assert in_part.returncode == 1 and "larger-than-any.csv" in in_part.stderr
