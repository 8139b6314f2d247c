"""The demo's judge, beside a system that has one cart of the story and no mail."""

import pathlib
import subprocess
import time

import pytest

from cartbus_system import System, wait_until

JUDGE = pathlib.Path(__file__).resolve().parents[3] / "deploy" / "demo" / "judge"


@pytest.fixture
def system():
    now_us = time.time_ns() // 1000
    with System({"clock": {"rate": 1, "origin-real-us": now_us, "origin-wall-us": now_us}}) as running:
        (running.folder / "mail").mkdir()
        yield running


def test_the_judge_reads_what_the_log_says_of_a_cart(system):
    shop = system.add_shop("blumen")
    system.start("broker", "gateway", "intake")
    assert system.post(shop.cart({"event": "changed", "cart": "ada", "email": "ada@mail.example", "currency": "EUR", "total": "12.00"})).status == 200
    wait_until(lambda: system.log(topic="cart.state"), "the cart")
    done = subprocess.run([JUDGE, system.folder], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and not done.stderr, done.stderr
    said = {line.split()[1].rstrip(":"): line for line in done.stdout.splitlines() if line.startswith("NOT  blumen/")}
    assert "observed 0 mails, open" in said["blumen/ada"] and "the log does not know it" in said["blumen/ben"], done.stdout
