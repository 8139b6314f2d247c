"""`cartbus top`, driven as a person does it: in a terminal, with keys, while brokers come and go."""

import json
import os
import re
import signal
import subprocess

import pytest

from cartbus_system import BUILD, wait_until
from terminal import Terminal
from worker_system import WorkerSystem

CARTBUS = BUILD / "bin" / "cartbus"
pytestmark = pytest.mark.xdist_group("top")


@pytest.fixture(scope="module")
def system():
    """A broker, and a worker with two dead letters. Other services are not there, so it is red."""
    with WorkerSystem(rate=200) as system:
        system.start("broker", "test-worker")
        system.say("r1=refuse", "r2=refuse", "good=work", shop="two")
        wait_until(lambda: len(system.dead()) == 2, "two deaths")
        yield system


@pytest.fixture
def open_top(system):
    opened = []

    def start(*words, columns=80, lines=24, **environment):
        opened.append(Terminal([CARTBUS, "top", "--interval", "0.2", "--config", system.config_path, *words], columns, lines, **environment))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


def rows_of(terminal, title):
    """A table as it stands on the screen: {first word of a row: {column: value}}."""
    lines = terminal.lines()
    first = next(number for number, line in enumerate(lines) if line.startswith(f" {title} "))
    columns = lines[first].split()[1:]
    rows = {}
    for line in lines[first + 1:]:
        if not line:
            break
        name, *values = line.split()
        rows[name] = dict(zip(reversed(columns), reversed(values)))
    return rows


def test_what_it_shows_is_what_status_says(system, open_top):
    top = open_top(columns=120, lines=50)
    top.shows("RED", "! no gateway is running", "PROCESS")
    status = system.cartbus("status", json_output=True, check=False)
    worker = next(queue for queue in status["queues"] if queue["name"] == "worker")
    shown = rows_of(top, "QUEUE")
    assert set(shown) == {queue["name"] for queue in status["queues"]}
    assert (int(shown["worker"]["DEAD"]), int(shown["worker"]["FAILED"])) == (worker["dead"], worker["failures"]) and worker["dead"] == 2
    processes = rows_of(top, "PROCESS")
    assert set(processes) == {"worker"} and os.uname().nodename.startswith(processes["worker"]["HOST"])
    assert re.search(rf"log +{status['head']}\b", top.text())
    assert len(status["red"]) > 3 and "more: cartbus status" in top.text()


def test_one_picture_is_plain_text_and_its_numbers_are_those_of_status(system):
    words = [CARTBUS, "top", "--interval", "0.2", "--config", system.config_path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 1 and "\033" not in done.stdout and " RED" in done.stdout and "! worker has 2 dead letters" in done.stdout
    told = json.loads(subprocess.run([*words, "--once", "--json"], capture_output=True, text=True, timeout=60).stdout)
    status = system.cartbus("status", json_output=True, check=False)
    assert (told["broker"], told["why"], told["dead_letters"]) == ("up", status["red"], 2)
    for queue in told["queues"]:
        other = next(one for one in status["queues"] if one["name"] == queue["name"])
        assert [queue[name] for name in ("ready", "leased", "dead", "failures")] == [other[name] for name in ("ready", "leased", "dead", "failures")]
    worker = next(one for one in told["processes"] if one["instance"] == "worker")
    assert worker["host"] == os.uname().nodename and worker["memory_bytes"] > 1 << 20


def test_each_look_is_an_object_of_json_until_it_is_told_to_stop(system):
    top = subprocess.Popen([CARTBUS, "top", "--json", "--interval", "0.2", "--config", system.config_path], stdout=subprocess.PIPE, text=True)
    looks = [json.loads(top.stdout.readline()) for _ in range(3)]
    assert looks[0]["messages_per_s"] is None and looks[2]["messages_per_s"] >= 0 and looks[2]["at_us"] > looks[0]["at_us"]
    top.send_signal(signal.SIGINT)
    assert top.wait(20) == 0


def test_a_terminal_that_changes_its_size_is_filled_anew(open_top):
    top = open_top()
    top.shows("THROTTLES", "q quit   s by turns")
    top.resize(40, 24)
    wait_until(lambda: "THROTTLES" not in top.text() and "q quit  d dead" in top.text(), "a narrow picture")
    assert all(len(line) <= 40 for line in top.lines()) and "TURNS/S" in top.text()
    top.resize(160, 50)
    top.shows("UNREAD", "EFFECTS/S", "TIMEOUTS")
    assert top.lines()[-1].startswith(" q quit")


def test_keys_sort_freeze_and_show_dead_letters_and_help(open_top):
    top = open_top()
    top.shows("s by turns", "every 0.2s")
    top.type("s", "+")
    top.shows("s by name", "every 0.5s")
    top.type(" ")
    top.shows("frozen", "space go on")
    top.type(" ", "d")
    top.shows("REASON", "worker", "two", "told to refuse")
    top.type("down", "enter")
    top.shows("queue     worker", "key r2", "history", "cartbus dlq redrive worker")
    for key, letter in ("page up", "r1"), ("page down", "r2"):
        top.type("escape")
        top.shows("REASON")
        top.type(key, "enter")
        top.shows(f"key {letter}", "history")
    top.type("escape")
    top.shows("REASON")
    top.type("d", "?")
    top.shows("any key goes back")
    top.type("x")
    top.shows("PROCESS")
    top.type("q")
    assert top.ends() == 0 and top.is_as_before()


@pytest.mark.parametrize("how", ["^C", signal.SIGTERM, signal.SIGHUP])
def test_however_it_is_ended_the_terminal_is_as_it_was(open_top, how):
    top = open_top()
    top.shows("PROCESS")
    if how == "^C":
        top.type(how)
    else:
        os.kill(top.pid, how)
    assert top.ends() == 0 and top.is_as_before()


def colours(terminal):
    codes = {int(code) for sequence in re.findall(rb"\033\[([\d;]+)m", terminal.written) for code in sequence.split(b";")}
    return codes & {*range(30, 39), *range(40, 49)}


def test_colours_are_for_who_wants_them(open_top):
    coloured, plain = open_top(), open_top(NO_COLOR="1")
    coloured.shows("RED")
    plain.shows("RED")
    assert colours(coloured) and not colours(plain)


def test_a_terminal_that_nobody_knows_is_said(open_top):
    top = open_top(TERM="nosuchterminal")
    assert top.ends() == 1
    top.shows("nosuchterminal", "--once")


def test_a_broker_that_goes_is_said_and_the_picture_stays_until_it_is_back(system, open_top):
    """And one that hangs: keys are heard all the same."""
    top = open_top()
    top.shows("PROCESS", "s by turns")
    system.processes["broker"].popen.send_signal(signal.SIGSTOP)
    top.shows("BROKER AWAY", "has not answered for", "PROCESS", "q quit")
    top.type("?")
    top.shows("any key goes back")
    top.type("x")
    system.processes["broker"].popen.send_signal(signal.SIGCONT)
    wait_until(lambda: "BROKER AWAY" not in top.text(), "the broker to be seen again")
    system.kill("broker")
    top.shows("BROKER AWAY", "PROCESS")
    system.start("broker")
    wait_until(lambda: "BROKER AWAY" not in top.text(), "the broker to be seen again")
    top.shows("! no gateway is running")
    system.kill("broker")
    late = open_top()
    late.shows("BROKER AWAY", "nobody answers")
    system.start("broker")
    late.shows("! no gateway is running", "PROCESS")
