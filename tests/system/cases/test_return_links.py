"""Carts whose links back lead to a host that is not the shop's: the admin is told once, with the number and the setting that mends it."""

import json

from test_alarms import standing, told  # noqa: F401 (a fixture)
from cartbus_system import wait_until

URL = "https://checkout.elsewhere.example/r/{}"


def leave(all_, name, url):
    body = {"event": "changed", "cart": name, "email": f"{name}@mail.example", "currency": "EUR", "total": "20.00", "recovery_url": url,
            "items": [{"title": "Roses", "quantity": 1, "price": "20.00"}]}
    assert all_.system.post(all_.shop.cart(body)).status == 200


def test_the_admin_is_told_once_of_carts_that_cannot_be_mailed_and_all_commands_say_the_same(told):  # noqa: F811
    all_ = told()
    system = all_.system
    system.start()
    system.cartbus("shop", "mode", "demo", "live")

    leave(all_, "good", "https://demo.example/r/1")
    leave(all_, "bad1", URL.format(1))
    one = wait_until(lambda: standing(system).get(("return-links", "demo")), "the alarm", within_s=60)
    assert one["text"].startswith("1 open cart is not mailed") and "checkout.elsewhere.example" in one["text"]
    assert "host = HOST" in one["remedy"]
    red = system.cartbus("status", check=False)
    assert red.returncode == 1 and "return-links of shop demo: 1 open cart is not mailed" in red.stdout and "host = HOST" in red.stdout
    wait_until(lambda: all_.mails("return-links"), "the mail to the admin", within_s=60)

    system.cartbus("alarm", "ack", "return-links", "--shop", "demo")
    leave(all_, "bad2", URL.format(2))
    wait_until(lambda: "2 open carts are not mailed" in standing(system)["return-links", "demo"]["text"], "the number of now", within_s=60)
    assert standing(system)["return-links", "demo"]["acknowledged_by"]

    words = "leads to a host that is not the shop's: if it is, name it as host in [shop] of shop.conf"
    carts = {row["cart"]: row for row in json.loads(system.cartbus("carts", "demo", "--json").stdout)["carts"]}
    assert words in carts["bad1"]["send"]["why"] and carts["bad1"]["send"]["step"] == 0 and carts["good"]["send"]["step"] == 1
    assert words in system.cartbus("why", "demo", "bad1").stdout
    preview = system.cartbus("preview", "demo", "bad1", check=False)
    assert preview.returncode == 1 and words in preview.stderr
    assert words.split(":")[0] not in system.cartbus("why", "demo", "good").stdout

    conf = system.folder / "shops" / "demo" / "shop.conf"
    conf.write_text(conf.read_text().replace("[shop]\n", "[shop]\nhost = checkout.elsewhere.example\n"))
    wait_until(lambda: ("return-links", "demo") not in standing(system), "its end", within_s=60)
    assert len([mail for mail in all_.mails("return-links")]) <= 2
    wait_until(lambda: len(all_.mails("return-links")) == 2, "the word that it is over", within_s=60)
