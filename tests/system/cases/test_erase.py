"""Erasing a person: a search that decodes everything on the disk finds him before, and nothing after it."""

import base64
import json
import shutil
import signal
import subprocess
import threading

import pytest

from cartbus_system import BUILD, wait_until
from persons import Person, dead_letters, leave_traces, search, shop_system

pytestmark = pytest.mark.xdist_group("erase")


SHEET = "1ZyxWvuTsrQponMlkJihgFedCba9876543210abcdef"


@pytest.fixture
def system(tmp_path):
    """Its first night is near; it has a spreadsheet that nobody can append to, and a folder for bounces."""
    for name in ("new", "cur", "tmp"):
        (tmp_path / "bounces" / name).mkdir(parents=True)
    running = shop_system(hour=14, extra=f"[export]\nsheet = {SHEET}\n", mailin={"folder": tmp_path / "bounces"})
    running.bounces = tmp_path / "bounces"
    yield running
    running.close()


def of_others(system, person):
    """What the log shows to anybody of a person, byte by byte."""
    return [(entry["seq"], entry["topic"], entry["key"], entry["payload"]) for entry in system.log(shop="demo")
            if any(name in entry["key"] or name.encode() in base64.b64decode(entry["payload"]) for name in person.names())
            and entry["topic"] != "audit"]


def verified(system):
    system.stop(*reversed([name for name, process in system.processes.items() if process.running]))
    told = system.cartbus("verify", json_output=True)
    assert told["sound"], told["problems"]
    return told


def erase(system, person, *more):
    words = [BUILD / "bin" / "cartbus", "erase", "demo", person.address, "--yes", *more, "--json", "--config", system.config_path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def inside(system, person):
    return search(system.folder / "state", person)


def post_privacy(system, topic, person, name):
    """What Shopify passes on: who it is about by number, and by address if it knows one."""
    customer = {"id": person.customer, "email": person.address if name == "redact" else None}
    assert system.post(system.shop.shopify(topic, {"customer": customer}, webhook_id=name)).status == 200


def requests_open(system):
    return system.cartbus("privacy", "list", "demo", check=False, json_output=True)["requests"]


def put_aside(system, person):
    """A mail that says nothing to mailin, which keeps it for a person to look at; the address stands in it encoded alone."""
    words = base64.b64encode(f"{person.address} is away, says {person.name}".encode()).decode()
    mail = f"From: postmaster@mail.example\nSubject: away\nMIME-Version: 1.0\n" \
           f"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n{words}\n"
    (system.bounces / "new" / f"1.{person.mark}").write_text(mail)


def exports_with(system, *persons):
    return [path for path in (system.folder / "state" / "export").rglob("*.csv")
            if all(person.cart in path.read_text() for person in persons)]


class Others:
    """Shoppers who go on, each with a cart of his own, while something else happens; or one, who has all these carts."""

    def __init__(self, system, address=None):
        self.system, self.address, self.answered, self.stopping = system, address, [], threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stopping.wait(0.05):
            person = Person(f"{len(self.answered):04x}c0ffee")
            person.address = self.address or person.address
            answer = self.system.post(self.system.shop.cart(person.body(self.system, person.cart)))
            if answer.status == 200:  # at this rate of the clock a moment's delay makes a webhook too old
                self.answered.append(person)

    def __enter__(self):
        self.thread.start()
        wait_until(lambda: self.answered, "a cart of somebody else")
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()

    def check_all_there(self):
        """Each of them with what is in his cart, raw and decided on."""
        def missing():
            held = {topic: {entry["message"].ids.cart_id or entry["message"].ids.cart_token: entry["message"]
                            for entry in self.system.log(topic=topic)} for topic in ("cart.changed", "cart.state")}
            return [person.cart for person in self.answered for rows in held.values()
                    if person.cart not in rows or rows[person.cart].items[0].title != person.title]
        wait_until(lambda: not missing(), f"the carts of {len(self.answered)} others", within_s=40, step_s=0.5)


def check_gone(system, person):
    found = inside(system, person)
    if found:  # a table that somebody was still reading goes a moment later
        wait_until(lambda: not inside(system, person), f"that nothing is found any more ({found})", step_s=0.5)
    assert not search(system.folder / "logs", person, but=(person.cart, person.second))  # a storefront's numbers, and nobody's name
    assert not search(system.folder / "run", person)


def check_told(system, person, told, kept):
    """It ends with what it reached, and what only the owner can do."""
    assert {file["what"] for file in told["files"]} >= {"rejected webhook", "mail in the maildir", "mail put aside", "export"}
    assert all(file["removed"] for file in told["files"])
    assert [(one["path"], one["done"]) for one in told["backups"]] == [(str(kept), True)] and told["backups"][0]["messages"] > 10
    sheet = next(one for one in told["by_hand"] if one["what"] == "spreadsheet")
    assert sheet["where"] == SHEET and {person.cart, person.second} <= set(sheet["carts"])


def check_nights(before, person):
    """Her rows are gone, and not a byte of the others."""
    for path, content in before.items():
        rows = content.splitlines(keepends=True)
        kept = [row for row in rows if person.cart.encode() not in row and person.second.encode() not in row]
        assert path.read_bytes() == b"".join(kept) and 1 < len(kept) < len(rows)


def check_record(system, person):
    """By the keyed hash alone: who is not mailed, who was erased when and why, and that the storefront's requests are settled."""
    ours = system.shop.address_hash(person.address)
    standing = [entry["message"] for entry in system.log(topic="suppression") if entry["message"].address_hash == ours]
    assert standing and not standing[-1].lifted
    record = [entry["message"] for entry in system.log(topic="audit") if entry["message"].action == "erase"]
    assert [one.address_hash for one in record] == [ours, ours] and "a letter" in record[0].grounds
    settled = [entry["message"] for entry in system.log(topic="audit") if entry["message"].action == "privacy_settled"]
    assert [(one.grounds, one.after) for one in settled] == [("erased", "settled")] * 2
    assert requests_open(system) == []
    alarms = [entry["message"] for entry in system.log(topic="alarm") if entry["message"].kind == "privacy"]
    assert alarms and not alarms[-1].raised


class Before(Person):
    """What was known of somebody who came back as another one, with nothing but the address left."""

    def names(self):
        return [name for name in super().names() if name != self.address]


def check_not_mailed_when_he_comes_back(system, person):
    again = Person("c4e5b1d7f0")
    again.address = person.address
    again.leave(system, again.cart)
    wait_until(lambda: [one for one in system.log(topic="cart.closed") if one["message"].cart_id == again.cart] or
               [one for one in system.log(topic="cart.state") if one["message"].ids.cart_id == again.cart
                and one["message"].status], "the end of his new chase", within_s=40)
    assert not [one for one in system.log(topic="send.claim") if one["message"].cart_id == again.cart]


def check_restored(system, person, other, others, away):
    """A backup that was made before, and lay elsewhere: it loses him before it becomes the log, by the list that is left."""
    assert search(away, person)
    told = system.cartbus("restore", str(away), json_output=True)
    assert told["erased"] > 10
    system.cartbus("backup", "--verify", str(away))
    assert not search(away, person)
    system.start("broker", "unsub")
    check_gone(system, person)
    assert of_others(system, other) == others
    ours = system.shop.address_hash(person.address)
    wait_until(lambda: [one for one in system.log(topic="suppression") if one["message"].address_hash == ours],
               "that he is not mailed, which the backup did not know")
    assert "copy" in [one["message"] for one in system.log(topic="audit") if one["message"].action == "erase"][-1].grounds
    verified(system)


def test_a_person_is_found_in_each_place_before_and_nowhere_after_it_while_others_go_on(system, tmp_path):
    ada, bob = Person("a7f3c9d2e1"), Person("b0e8d6c4a2")
    leave_traces(system, bob)
    leave_traces(system, ada)
    kept, away = tmp_path / "kept", tmp_path / "elsewhere" / "copy"
    system.cartbus("backup", str(kept))
    shutil.copytree(kept, away)
    at_backup = of_others(system, bob)
    put_aside(system, ada)
    post_privacy(system, "customers/redact", ada, "redact")
    post_privacy(system, "customers/data_request", ada, "data")
    wait_until(lambda: len(requests_open(system)) == 2, "the storefront's requests")
    wait_until(lambda: list((system.bounces / "aside").glob("*")), "the mail put aside")
    wait_until(lambda: exports_with(system, ada, bob), "the first night", within_s=90)
    found = search(system.folder / "state", ada)
    for place in ("broker/", "intake/", "waiter/", "sender/", "exporter/", "gateway/rejected/", "mail/", "export/demo/"):
        assert any(path.startswith(place) for path in found), (place, sorted(found))
    assert {name for names in found.values() for name in names} == set(ada.names())
    assert search(kept, ada) and search(system.bounces, ada)
    others, letters, nights = of_others(system, bob), len(dead_letters(system)), exports_with(system, ada, bob)

    dry = system.cartbus("erase", "demo", ada.address, "--dry-run", json_output=True)
    assert dry["messages"] > 10 and dry["requests"] == 2 and not dry["backups"][0]["done"]
    assert search(system.folder / "state", ada).keys() >= {path for path in found if path.startswith(("gateway", "mail", "export"))}
    assert system.cartbus("erase", "demo", ada.address, check=False).returncode == 2

    before = {path: path.read_bytes() for path in nights}
    with Others(system) as crowd:
        told = erase(system, ada, "--reason", "a letter")
    assert told["messages"] >= dry["messages"] and told["requests"] == 2 and told["came_back"] == 0
    check_told(system, ada, told, kept)
    check_gone(system, ada)
    assert not search(kept, ada) and not search(system.bounces, ada)
    system.cartbus("backup", "--verify", str(kept))
    check_nights(before, ada)
    assert len(dead_letters(system)) == letters - 1
    assert of_others(system, bob)[: len(others)] == others
    crowd.check_all_there()
    check_record(system, ada)
    assert system.cartbus("export", "demo", ada.customer, check=False).returncode == 1

    check_not_mailed_when_he_comes_back(system, ada)
    assert verified(system)["erased"] == told["messages"]
    check_restored(system, Before(ada.mark), bob, at_backup, away)


def test_a_side_log_that_was_put_aside_is_named_because_nothing_erases_from_it(system):
    folder = system.folder / "state" / "sidelog"
    aside = [folder / "stops.damaged", folder / "stops.damaged.2", folder / "stops.of-another"]
    for path in aside:
        path.write_bytes((folder / "stops").read_bytes())
    told = system.cartbus("erase", "demo", "ada@mail.example", "--dry-run", json_output=True)
    assert sorted(one["where"] for one in told["by_hand"] if one["what"] == "side log put aside") == [str(path) for path in aside]


def test_a_kill_of_the_broker_in_the_middle_is_gone_on_from_while_the_same_person_goes_on_shopping(system):
    ada = Person("a7f3c9d2e1")
    leave_traces(system, ada)
    words = [BUILD / "bin" / "cartbus", "erase", "demo", ada.address, "--yes", "--config", system.config_path]
    erasing = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert any("goes on by itself" in line for line in erasing.stderr), "it ended before it began"
    system.processes["broker"].popen.send_signal(signal.SIGKILL)
    system.processes["broker"].popen.wait()
    erasing.kill()
    erasing.communicate()
    system.start("broker")
    wait_until(lambda: not system.ask("erasure")["running"], "the end of the erasure", within_s=40)
    with Others(system, ada.address) as again:
        told = erase(system, ada)
        carts = len(again.answered)
        wait_until(lambda: len(again.answered) > carts, "another cart of hers")
    assert told["messages"] > 0
    check_gone(system, Before(ada.mark))
    erasures = json.loads((system.folder / "state" / "erasures.json").read_text())
    assert [one["done"] for one in erasures] == [True], "one erasure, begun twice and ended"
    latest = again.answered[-1].cart
    wait_until(lambda: [one for one in system.log(topic="cart.state") if one["message"].ids.cart_id == latest and
                        one["message"].status], "the end of the chase of somebody new", within_s=40)
    assert not [one for one in system.log(topic="send.claim") if "c0ffee" in one["message"].cart_id]
    verified(system)
