"""Lists that lead an operator on: a shop's carts, whose ids the other subcommands take, and the log."""

import datetime
import json
import select
import signal
import subprocess
import time
import zoneinfo

import pytest

from cartbus_system import BUILD, System, wait_until

CARTBUS = str(BUILD / "bin" / "cartbus")


def cart_of(shop, number, **more):
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60 * (10 - number)))
    return shop.cart({"event": "changed", "cart": f"c-{number}", "email": f"person{number}@mail.example", "at": at, "currency": "EUR",
                      "total": f"{number}0.00", "recovery_url": f"https://demo.example/r/{number}",
                      "items": [{"title": "Vase", "quantity": 1, "price": f"{number}0.00"}], **more})


def catches(process, signal_number):
    (mask,) = [line.split()[1] for line in open(f"/proc/{process.pid}/status", encoding="utf-8") if line.startswith("SigCgt:")]
    return int(mask, 16) >> (signal_number - 1) & 1 and process.poll() is None


@pytest.fixture(scope="module")
def running():
    """A live shop with three carts: the second was bought, the third has no address."""
    with System({"gateway": {"public-url": "https://carts.example"}}) as system:
        shop = system.add_shop("demo")
        system.add_shop("other")
        system.start()
        system.cartbus("shop", "mode", "demo", "live")
        for number, more in ((1, {}), (2, {}), (3, {"email": None})):
            assert system.post(cart_of(shop, number, **more)).status == 200
        assert system.post(shop.cart({"event": "checked_out", "cart": "c-2", "order_id": "o-2", "currency": "EUR", "total": "20.00",
                                      "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})).status == 200
        wait_until(lambda: sorted(one["status"] for one in listed(system)) == ["bought", "open", "open"], "three carts, one of them bought")
        wait_until(lambda: len(listed(system, "--waiting")) == 1, "the first one's timer")
        yield system


def listed(system, *options):
    return system.cartbus("carts", "demo", *options, json_output=True)["carts"]


def test_a_listed_cart_is_what_the_other_subcommands_take(running):
    waiting = listed(running, "--waiting")
    why = running.cartbus("why", "demo", waiting[0]["cart"], json_output=True)
    assert why["cart"]["ids"]["cart_id"] == waiting[0]["cart"] and why["cart"]["ids"]["email"] == waiting[0]["address"] == "p***@mail.example"
    assert (why["next"][0]["at_us"], why["next"][0]["send"]) == (waiting[0]["look_us"], waiting[0]["send"])
    assert (waiting[0]["total_minor"], waiting[0]["currency"], waiting[0]["left_us"]) == (1000, "EUR", why["cart"]["abandoned_us"])
    assert running.cartbus("preview", "demo", waiting[0]["cart"]).stdout.startswith("Subject: ")
    line, below = [text for text in running.cartbus("carts", "demo", "--waiting").stdout.splitlines() if text][:2]
    assert waiting[0]["cart"] in line and "10.00 EUR" in line and "p***@mail.example" in line and line.endswith("open")
    assert "first reminder (its wait is over then)" in below
    assert running.cartbus("cart", "suppress", "other", waiting[0]["cart"], check=False).returncode == 1, "a cart of another shop"


def test_carts_are_chosen_by_what_became_of_them_the_newest_first(running):
    totals = [one["total_minor"] for one in listed(running)]
    assert totals == [3000, 2000, 1000]
    assert [one["total_minor"] for one in listed(running, "--bought")] == [2000]
    assert [one["total_minor"] for one in listed(running, "--open")] == [3000, 1000]
    assert [one["total_minor"] for one in listed(running, "--open", "--bought")] == totals
    assert listed(running, "--closed") == [] and running.cartbus("carts", "demo", "--closed").stdout == "no cart of this kind\n"
    nobody = next(one for one in listed(running) if one["total_minor"] == 3000)
    assert nobody["address"] == "" and nobody["send"]["step"] == 0, "nobody can be mailed, and the list says why"
    looks = {one["total_minor"]: one for one in listed(running, "--looks")}
    assert looks[1000]["look_us"] == listed(running, "--waiting")[0]["look_us"] and "send" not in looks[1000]


def test_a_list_of_carts_is_bounded_and_says_what_it_left_out(running):
    whole = running.cartbus("carts", "demo", "--limit", "2", json_output=True)
    assert (len(whole["carts"]), whole["more"], whole["shop"]) == (2, 1, "demo")
    assert "and 1 more: --limit 3 shows them all\n" in running.cartbus("carts", "demo", "--limit", "2").stdout
    between = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(whole["carts"][1]["left_us"] / 1e6 + 30))
    assert [one["total_minor"] for one in listed(running, "--since", between)] == [3000]
    assert running.cartbus("carts", "other", json_output=True)["carts"] == []
    assert running.cartbus("carts", "other").stdout == "no cart has come yet\n"
    assert 'there is no shop "demmo"' in running.cartbus("carts", "demmo", check=False).stderr
    for wrong in (("--since", "soon"), ("--since", "47"), ("--limit", "0"), ("--limit", "many"), ("extra",)):
        assert running.cartbus("carts", "demo", *wrong, check=False).returncode == 2, wrong


def logged(system, *options):
    return [json.loads(line) for line in system.cartbus("log", "--json", *options).stdout.splitlines()]


def test_the_log_is_read_in_its_order_masked_and_only_what_was_asked_for(running):
    said = logged(running, "--shop", "demo", "--since", "1d")
    assert [one["seq"] for one in said] == sorted({one["seq"] for one in said}) and {one["shop"] for one in said} == {"demo"}
    assert {"cart.changed", "cart.checkout", "cart.state", "timer.set"} <= {one["topic"] for one in said}
    assert "person1@mail.example" not in json.dumps(said) and "p***@mail.example" in json.dumps(said)
    assert {one["topic"] for one in logged(running, "--topic", "cart.*")} == {"cart.changed", "cart.checkout", "cart.state"}
    third = logged(running, "--topic", "cart.state")[2:]
    assert logged(running, "--topic", "cart.state", "--since", str(third[0]["seq"])) == third
    line = running.cartbus("log", "--topic", "cart.checkout").stdout
    assert "demo" in line and "gateway" in line and "order o-2" in line
    quiet = running.cartbus("log", "--since", "1s", "--topic", "cart.checkout")
    assert quiet.stdout == "" and "looks further back" in quiet.stderr


def test_a_topic_that_is_mistyped_is_named(running):
    done = running.cartbus("log", "--topic", "cart.chagned", check=False)
    assert done.returncode == 2 and 'did you mean "cart.changed"?' in done.stderr
    assert running.cartbus("log", "--since", "yesterday", check=False).returncode == 2


def test_a_log_that_is_followed_goes_on_with_what_comes_and_ends_on_ctrl_c(running):
    words = [CARTBUS, "log", "--follow", "--json", "--shop", "other", "--topic", "shop.status", "--config", str(running.config_path)]
    log = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        seen = []
        for mode in ("observe", "live", "paused"):
            running.cartbus("shop", "mode", "other", mode)
            wait_until(lambda: seen[-1:] == [mode] or (select.select([log.stdout], [], [], 0.2)[0]
                                                       and seen.append(json.loads(log.stdout.readline())["payload"]["mode"])), f"the word of {mode}")
        assert seen[-3:] == ["observe", "live", "paused"] and seen.count("paused") == 1
    finally:
        log.send_signal(signal.SIGINT)
        assert log.wait(10) == 0


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_log_that_is_followed_ends_on_ctrl_c_while_no_broker_answers(running, how):
    words = [CARTBUS, "log", "--follow", "--json", "--topic", "shop.status", "--since", "1d", "--config", str(running.config_path)]
    running.cartbus("shop", "mode", "other", "observe")
    broker = running.processes["broker"].popen
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as log:
        assert json.loads(log.stdout.readline())["topic"] == "shop.status"
        broker.send_signal(how)
        try:
            log.send_signal(signal.SIGINT)
            told = log.communicate(timeout=120)[1]
        finally:
            broker.send_signal(signal.SIGCONT)
    if how == signal.SIGKILL:
        running.kill("broker")
        running.start("broker")
    assert (log.returncode, told) == (0, "")


def test_a_tap_ends_on_ctrl_c_while_it_waits_for_its_first_answer(running):
    broker = running.processes["broker"].popen
    broker.send_signal(signal.SIGSTOP)
    try:
        with subprocess.Popen([CARTBUS, "tap", "--shop", "demo", "--config", str(running.config_path)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as tap:
            wait_until(lambda: catches(tap, signal.SIGINT), "a tap that hears Ctrl-C")
            tap.send_signal(signal.SIGINT)
            told = tap.communicate(timeout=120)
    finally:
        broker.send_signal(signal.SIGCONT)
    assert (tap.returncode, *told) == (0, "", "")


@pytest.mark.parametrize("words", [("suppressions", "list", "demoo"), ("suppressions", "list", "demoo", "--json"), ("privacy", "list", "demoo", "--json"),
                                   ("privacy", "done", "demoo", "9f", "--reason", "x"), ("log", "--shop", "demoo"), ("export", "demoo", "a@b.example"),
                                   ("why", "demoo", "ada"), ("trace", "demoo", "ada"), ("tap", "--shop", "demoo"), ("timers", "--shop", "demoo"),
                                   ("carts", "demoo"), ("report", "demoo"), ("stop", "demoo", "--reason", "x")])
def test_a_shop_that_is_mistyped_is_an_error_and_is_named(running, words):
    done = running.cartbus(*words, check=False)
    assert (done.returncode, done.stdout) == (1, ""), done
    assert 'there is no shop "demoo" (' in done.stderr and 'did you mean "demo"?' in done.stderr and len(done.stderr.splitlines()) == 1, done


def test_a_shop_whose_folder_was_removed_stays_readable(running):
    """The log holds its history; the words of a name that nobody ever used do not change."""
    folder = running.folder / "shops" / "demo"
    folder.rename(running.folder / "demo.away")
    try:
        for words in (("suppressions", "list", "demo"), ("privacy", "list", "demo"), ("timers", "--shop", "demo", "--looks")):
            done = running.cartbus(*words, check=False)
            assert done.returncode == 0 and done.stderr == "", (words, done)
        assert {one["shop"] for one in logged(running, "--shop", "demo", "--since", "1d")} == {"demo"}
        cart = running.cartbus("carts", "demo", "--looks", json_output=True)["carts"][0]["cart"]
        assert running.cartbus("trace", "demo", cart).returncode == 0
    finally:
        (running.folder / "demo.away").rename(folder)


def test_a_mode_is_told_as_the_operator_types_it(running):
    running.cartbus("shop", "mode", "demo", "mail-me")
    try:
        said = running.cartbus("log", "--shop", "demo", "--topic", "shop.status", "--since", "1d").stdout
        assert "the shop is now in mail-me" in said and "mail_me" not in said
    finally:
        running.cartbus("shop", "mode", "demo", "live")


def test_a_report_counts_the_carts_of_the_time_that_have_no_address(running):
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    left_us = [one["left_us"] for one in listed(running)]
    days = [str(datetime.datetime.fromtimestamp(us / 1e6, berlin).date()) for us in (min(left_us), max(left_us))]  # a month may have begun between
    now = running.cartbus("report", "demo", "--from", days[0], "--to", days[1], json_output=True)["now"]["counts"]
    assert (now["seen"], now["no_address"]) == (3, 1)
