"""A restored log has forgotten who said no after the backup: every stop is learnt from what survives, before anything is mailed.

One installation is backed up while its carts wait. After that each shopper stops the mails in a way of their own, and the log is lost:
with it the states, the side log, or both. The clock is put ahead, so that all mails are due at once when they are released.
"""

import contextlib
import datetime
import json
import shutil
import subprocess
import time

import pytest
from cartbus_system import BUILD, System, every_program, fixture, wait_until
from mail_peer import Keep, Peer
from test_feedback import GONE, report

pytestmark = pytest.mark.xdist_group("restore-stops")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
AHEAD_S, LONG_AGO_S = 8 * 3600, 2 * 3600
RULES = """Small carts (under 40 EUR): remind after 1 hour, then after 6. Medium carts: 1 hour, then 6.
Big carts (over 150 EUR): 1 hour, then 6. At most one mail per shopper every 2 hours.
"""
IN_DEMO = ("page", "click", "owner", "import", "privacy", "order", "buyer", "cart", "emptied", "refused", "erased", "bounce", "complaint")


def at(name):
    """An address that a person reads, as far as its words tell."""
    return f"{name}.lee@x.example"


FORBIDDEN = [at(name) for name in (*IN_DEMO, "stopped", "paused")]


class World:
    def __init__(self):
        self.keep = Keep()
        self.peer = Peer(self.keep)
        self.bounces = None
        self.system = System()
        self.bounces = self.system.folder / "bounces"
        for name in ("new", "cur", "tmp"):
            (self.bounces / name).mkdir(parents=True)
        self.set_clock(0)
        for name in ("demo", "second", "third"):
            self.system.add_shop(name, rules=RULES)
            conf = self.system.folder / "shops" / name / "shop.conf"
            conf.write_text(conf.read_text().replace("bounce = bounce@", "bounce = bounces+*@"))
        self.state, self.saved, self.away = (self.system.folder / name for name in ("state", "saved", "away"))

    def set_clock(self, ahead_s):
        now_us = int(time.time() * 1e6)
        clock = {"rate": 2, "origin-real-us": now_us, "origin-wall-us": now_us + ahead_s * 1000000}
        mail = {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": self.peer.port, "smtp-tls": "none"}
        self.system.configure({"clock": clock, "mail": mail, "mailin": {"folder": self.bounces}})

    def close(self):
        self.system.close()
        self.peer.close()

    # -- what shoppers and the owner do --

    def leave(self, name, shop="demo", ago_s=0, **more):
        when = datetime.datetime.fromtimestamp(self.system.now_s() - ago_s, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        body = {"event": "changed", "cart": f"{shop}-{name}", "email": at(name), "at": when, "currency": "EUR", "total": "50.00",
                "recovery_url": f"https://{shop}.example/r/{name}", "items": [{"title": "Rose", "quantity": 1, "price": "50.00"}], **more}
        assert self.system.post(self.system.shops[shop].cart(body)).status == 200

    def buy(self, name, by_address_only=False):
        when = datetime.datetime.fromtimestamp(self.system.now_s() + 5, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        cart = "another" if by_address_only else f"demo-{name}"
        body = fixture("cart-checked-out", id=f"bought-{name}", cart=cart, email=at(name), at=when, currency="EUR",
                       order_id=f"o-{name}")
        assert self.system.post(self.system.shops["demo"].cart(body)).status == 200

    def mails(self, name):
        return [mail for mail in self.keep.mails if mail.rcpt_tos == [at(name)]]

    def come_back(self, name, fields, kind="delivery-status"):
        back = self.mails(name)[0].mail_from
        path = self.bounces / "tmp" / name
        path.write_bytes(report(back, fields, kind).as_bytes())
        path.rename(self.bounces / "new" / name)

    def listed(self, name):
        address = self.system.shops["demo"].address_hash(at(name))
        rows = [entry["message"] for entry in self.system.log(topic="suppression") if entry["key"] == address]
        return rows and not rows[-1].lifted

    def stop_everybody(self):
        system, demo = self.system, self.system.shops["demo"]
        assert system.request("POST", demo.unsubscribe_path(at("page")), b"unsubscribe=yes", FORM).status == 200
        assert system.request("POST", demo.unsubscribe_path(at("click")), b"List-Unsubscribe=One-Click", FORM).status == 200
        system.cartbus("unsubscribe", "demo", at("owner"), "--reason", "rang us up")
        done = subprocess.run([str(BUILD / "bin" / "cartbus"), "suppressions", "import", "demo", "--config", str(system.config_path)],
                              input=at("import") + "\n", capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        redact = fixture("shopify-customers-redact", customer={"id": 7, "email": at("privacy")})
        assert system.post(demo.shopify("customers/redact", redact)).status == 200
        self.buy("order")
        self.buy("buyer", by_address_only=True)
        system.cartbus("cart", "suppress", "demo", "demo-cart", "--reason", "a friend of the house")
        self.leave("emptied", items=[], total="0.00")
        self.leave("refused", consent=False)
        self.come_back("bounce", GONE)
        self.come_back("complaint", "Feedback-Type: abuse\nVersion: 1\n", "feedback-report")
        system.cartbus("stop", "second", "--reason", "wrong prices")
        system.cartbus("shop", "mode", "third", "paused", "--reason", "on holiday")
        for name in ("page", "click", "owner", "import", "privacy", "bounce", "complaint"):
            wait_until(lambda: self.listed(name), f"{name} on the list", within_s=60)
        system.cartbus("erase", "demo", at("erased"), "--yes")
        wait_until(lambda: system.ask("status")["sessions"] and self.settled(), "every service folding")

    def settled(self):
        return all(queue["ready"] == queue["leased"] == 0 for queue in self.system.ask("queues")["queues"])

    # -- the loss --

    def live(self):
        system = self.system
        system.start()
        for shop in ("demo", "second", "third"):
            system.cartbus("shop", "mode", shop, "live")
        for name in ("bounce", "complaint"):
            self.leave(name, ago_s=LONG_AGO_S)
        for name in (*(one for one in IN_DEMO if one not in ("bounce", "complaint")), "nobody"):
            self.leave(name)
        self.leave("stopped", shop="second")
        self.leave("paused", shop="third")
        wait_until(lambda: self.mails("bounce") and self.mails("complaint"), "the first mails", within_s=60)
        names = [f"demo-{name}" for name in (*IN_DEMO, "nobody")] + ["second-stopped", "third-paused"]
        timers = {f"cart/{name}" for name in names}
        wait_until(lambda: timers <= {entry["key"] for entry in system.log(topic="timer.set")}, "all timers", within_s=60)
        wait_until(lambda: len(system.log(topic="reminder.sent")) == 2, "the outcomes")
        system.cartbus("backup", str(system.folder / "backup"))
        (system.folder / "backup").rename(self.away)  # or the erasure would reach it
        self.stop_everybody()
        assert len(self.keep.mails) == 2
        self.come_to_rest()
        self.stop()
        shutil.copytree(self.state, self.saved, symlinks=True, ignore=shutil.ignore_patterns("mail", "export"))

    def come_to_rest(self):
        """Who says something by the clock is stopped first: then the states of those that keep account end where the log does."""
        self.system.stop("monitor", "gateway")

        def has_heard_all():
            status = self.system.ask("status")
            heard = {one["service"]: one["cursor"] for one in status["sessions"] if one["service"] in ("sender", "waiter")}
            return self.settled() and heard == {"sender": status["head"], "waiter": status["head"]}
        wait_until(has_heard_all, "the sender and the waiter having heard all", within_s=60)

    def stop(self):
        self.system.stop(*reversed([name for name, process in self.system.processes.items() if process.running]))

    def lose(self, states=False, sidelog=False):
        """As it was when the log was lost, and these with it."""
        shutil.rmtree(self.state)
        shutil.copytree(self.saved, self.state, symlinks=True)
        if states:
            for name in every_program():
                if name != "broker":
                    shutil.rmtree(self.state / name, ignore_errors=True)
        if sidelog:
            shutil.rmtree(self.state / "sidelog")
        shutil.rmtree(self.state / "broker")
        shutil.copytree(self.away, self.system.folder / "backup", dirs_exist_ok=False)
        del self.keep.mails[:]
        self.set_clock(0)

    def restore(self, *arguments, check=True):
        done = self.system.cartbus("restore", str(self.system.folder / "backup"), "--json", *arguments, check=check)
        return json.loads(done.stdout), done.stderr

    def come_up_later(self):
        self.set_clock(AHEAD_S)
        self.system.start()

    def wait_for_who_may_be_mailed(self):
        """And for everybody whose mail was due before: one more cart, mailed after all of them."""
        wait_until(lambda: self.mails("nobody"), "the mail of who said nothing", within_s=90)
        self.leave("last", ago_s=LONG_AGO_S)
        wait_until(lambda: self.mails("last"), "the mail of who came last", within_s=90)
        wait_until(self.settled, "every queue being done")

    def mailed(self):
        return sorted({mail.rcpt_tos[0] for mail in self.keep.mails} & set(FORBIDDEN))


@pytest.fixture(scope="module")
def lived():
    world = World()
    with contextlib.closing(world), world.system:
        world.live()
        yield world


@pytest.fixture
def world(lived):
    shutil.rmtree(lived.system.folder / "backup", ignore_errors=True)
    yield lived
    lived.stop()


@pytest.mark.parametrize("lost, sure", [({}, ""), ({"states": True}, "--unlearnt"), ({"sidelog": True}, "")],
                         ids=["log", "log-and-states", "log-and-sidelog"])
def test_nobody_who_said_no_after_the_backup_is_mailed(world, lost, sure):
    world.lose(**lost)
    told, _ = world.restore()
    assert told["covered"]
    stops = told["stops"]
    assert stops["opt_outs"] >= 7 and stops["orders"] >= 2 and stops["actions"] >= 1 and stops["modes"] >= 2, stops
    world.come_up_later()
    assert world.system.cartbus("status", check=False).returncode == 1
    if sure:  # what forbids a mail is known, and what was mailed is not
        refused = world.system.cartbus("restore", "--release", check=False)
        assert refused.returncode == 1 and "what was mailed" in refused.stderr and "forbids" not in refused.stderr
    world.system.cartbus("restore", "--release", *([sure] if sure else []))
    world.wait_for_who_may_be_mailed()
    may_not = set(FORBIDDEN) - ({at("emptied"), at("refused")} if "states" in lost else set())
    assert not may_not & set(world.mailed()), (world.mailed(), told)
    check_what_is_told(world)


def check_what_is_told(world):
    system = world.system
    for name in ("page", "click", "owner", "import", "privacy", "bounce", "complaint"):
        assert world.listed(name), name
    shops = {row["shop"]: row for row in system.cartbus("shop", "list", json_output=True)["shops"]}
    assert shops["second"]["mode"] == shops["third"]["mode"] == "paused", shops
    assert "bought" in system.cartbus("why", "demo", "demo-order").stdout
    record = [entry["message"].grounds for entry in system.log(topic="audit") if entry["message"].action == "restored"]
    assert len(record) == 1 and "opt-outs" in record[0]
    assert "restore --release" not in system.cartbus("status", check=False).stdout


def test_where_nothing_survived_it_is_told_with_numbers_and_released_by_a_word_alone(world):
    world.lose(states=True, sidelog=True)
    told, _ = world.restore()
    assert not told["covered"] and told["stops"]["opt_outs"] == 0 and told["known_to"] == told["head"] > 0
    world.come_up_later()
    refused = world.system.cartbus("restore", "--release", check=False)
    assert refused.returncode == 1 and f"the backup ends at message {told['head']}" in refused.stderr, refused.stderr
    assert "--unlearnt" in refused.stderr and "0 opt-outs" in refused.stderr
    world.leave("late", ago_s=LONG_AGO_S)
    wait_until(lambda: world.system.ask("status")["parked_claims"] > 0, "the claim that waits", within_s=60)
    assert not world.keep.mails
    world.system.cartbus("restore", "--release", "--unlearnt")
    wait_until(lambda: world.mails("late"), "the mail", within_s=90)


def test_a_copy_of_the_side_log_on_another_machine_is_learnt_from_as_far_as_it_goes(world):
    world.lose(states=True, sidelog=True)
    copy = world.system.folder / "copied.stops"
    shutil.copy(world.saved / "sidelog" / "stops", copy)
    told, _ = world.restore("--sidelog", str(copy))
    assert not told["covered"] and told["stops"]["opt_outs"] >= 7 and told["known_to"] > told["head"], told
    world.come_up_later()
    refused = world.system.cartbus("restore", "--release", check=False)
    assert refused.returncode == 1 and f"up to message {told['known_to']}" in refused.stderr, refused.stderr
    world.system.cartbus("restore", "--release", "--unlearnt")
    world.wait_for_who_may_be_mailed()
    assert set(world.mailed()) <= {at("emptied"), at("refused")}


def test_a_restore_of_a_restore_forgets_nothing_either(world):
    world.lose()
    world.restore()
    world.come_up_later()
    world.system.cartbus("restore", "--release")
    world.stop()
    told, _ = world.restore()  # the same backup again: what it learnt lies in the log that this one puts aside
    assert told["covered"] and told["stops"]["opt_outs"] >= 7 and told["stops"]["orders"] >= 2, told
    world.system.start()
    world.system.cartbus("restore", "--release")
    world.wait_for_who_may_be_mailed()
    assert not world.mailed()


def test_what_was_spooled_is_taken_in_before_anything_is_released(world):
    world.lose()
    world.system.start("gateway", wait=True)
    path = world.system.shops["demo"].unsubscribe_path(at("nobody"))
    wait_until(lambda: world.system.request("POST", path, b"List-Unsubscribe=One-Click", FORM).status == 200, "the spool", within_s=30)
    assert list(world.state.glob("*/spool/*.spool")), "it was answered 200, and lies in the spool"
    world.stop()
    world.restore()
    world.set_clock(AHEAD_S)
    world.system.start(*(name for name in every_program() if name != "gateway"))
    refused = world.system.cartbus("restore", "--release", check=False)
    assert refused.returncode == 1 and "answered 200" in refused.stderr, refused.stderr
    world.system.start("gateway")
    world.system.cartbus("restore", "--release")
    world.leave("last", ago_s=LONG_AGO_S)
    wait_until(lambda: world.mails("last"), "the mail of who came last", within_s=90)
    assert not world.mails("nobody") and not world.mailed()


# ---- a side log that is not what it should be ----


def flip(path, at):
    whole = bytearray(path.read_bytes())
    whole[at % len(whole)] ^= 1
    path.write_bytes(bytes(whole))


def test_a_damaged_side_log_gives_what_is_whole_and_is_not_believed_to_be_all(world):
    world.lose(states=True)
    stops = world.state / "sidelog" / "stops"
    whole = len(stops.read_bytes())
    flip(stops, whole // 2)
    told, words = world.restore()
    assert "damaged in 1 places" in words and not told["covered"] and told["stops"]["opt_outs"] > 0
    shutil.rmtree(world.system.folder / "backup")
    world.lose(states=True)
    flip(stops, 0)
    told, words = world.restore()
    assert "damaged from its first byte on" in words and not told["covered"]


def test_a_torn_end_is_no_damage(world):
    world.lose(states=True)
    stops = world.state / "sidelog" / "stops"
    stops.write_bytes(stops.read_bytes()[:-5])
    told, words = world.restore()
    assert not words and told["covered"]


def test_another_installations_side_log_is_not_learnt_from(world):
    world.lose(states=True, sidelog=True)
    with System() as other:
        other.add_shop("demo")
        other.start("broker")
        other.cartbus("stop", "demo", "--reason", "theirs")
        other.stop("broker")
        (world.state / "sidelog").mkdir()
        shutil.copy(other.folder / "state" / "sidelog" / "stops", world.state / "sidelog" / "stops")
    told, words = world.restore()
    assert "of another installation" in words and not told["covered"] and told["stops"]["modes"] == 0
    world.system.start("broker")
    assert world.system.ask("status")["head"] >= told["head"] > 0
    assert list(world.state.glob("before-restore-*/sidelog/stops")), "it was put aside"


def test_a_log_that_lacks_what_the_side_log_holds_is_not_served(world):
    world.lose()
    shutil.copytree(world.system.folder / "backup" / "broker", world.state / "broker")
    refused = world.system.program("broker")
    assert refused.returncode == 1 and "side log" in refused.stderr and "cartbus restore" in refused.stderr, refused.stderr


@pytest.mark.parametrize("how", ["missing", "damaged", "older"])
def test_a_side_log_is_written_anew_from_the_log(world, how):
    world.lose()
    shutil.copytree(world.saved / "broker", world.state / "broker")
    stops = world.state / "sidelog" / "stops"
    before = stops.read_bytes()
    if how == "missing":
        shutil.rmtree(stops.parent)
    elif how == "damaged":
        flip(stops, len(before) // 3)
    else:
        stops.write_bytes(before[: len(before) // 3])
    world.system.start("broker")
    world.system.stop("broker")
    assert stops.stat().st_mode & 0o777 == 0o600
    written, saved = records(stops), records(world.saved / "sidelog" / "stops")
    assert written == sorted(set(written)) and set(saved) <= set(written)  # `saved` was compacted when somebody was erased


def records(path):
    """The numbers in a side log, read without the product."""
    whole, at, found = path.read_bytes(), 0, []
    while at + 12 <= len(whole):
        length = int.from_bytes(whole[at + 4:at + 8], "little")
        if whole[at + 12] == 2:
            found.append(int.from_bytes(whole[at + 13:at + 21], "big"))
        at += 12 + length
    return found
