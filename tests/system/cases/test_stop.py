"""Stop, and stay stopped: every way onto the list of who is not mailed, every way off it, and the kill switch."""

import datetime
import json
import re
import subprocess
import time
import urllib.parse

import pytest
from cartbus_system import BUILD, System, fixture, operator, wait_until

pytestmark = pytest.mark.xdist_group("stop")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
SUPPRESS, WRITE_OFF, UNSUBSCRIBE, LIFT = 0, 1, 2, 4
PAGE, ONE_CLICK, OWNER, COMPLAINT, BOUNCE, PRIVACY, IMPORT = range(7)
DAY = 86400


@pytest.fixture(scope="module")
def system():
    with System() as system:
        system.add_shop("demo", title="Blumen <Huber>")
        system.add_shop("other", locale="ja-JP")
        system.start("broker", "gateway", "intake", "unsub", "timer")
        wait_until(system.connected, "the gateway's connection")
        yield system


@pytest.fixture
def shop(system):
    return system.shops["demo"]


def form(**fields):
    return urllib.parse.urlencode(fields).encode()


def row(system, shop, address):
    """The list's last word about somebody; None: never there."""
    rows = [fact["message"] for fact in system.log(topic="suppression", shop=shop.name) if fact["key"] == shop.address_hash(address)]
    return rows[-1] if rows else None


def holds(system, shop, address, source=None):
    """Listed (by that source) now?"""
    last = row(system, shop, address)
    return bool(last and not last.lifted and source in (None, last.source))


def listed(system, shop, address, source=None):
    return wait_until(lambda: holds(system, shop, address, source), f"{address} being listed as {source}")


def audits(system, **wanted):
    return [entry["message"] for entry in system.log(topic="audit")
            if all(getattr(entry["message"], name) == value for name, value in wanted.items())]




# ---- the page ----


@pytest.mark.parametrize("accept, locale, words", [
    ("de-AT,de;q=0.9", "de", "Keine Erinnerungen mehr?"), ("fr", "fr", "Plus de rappels"), ("es-MX", "es", "recordatorios"),
    ("it", "it", "promemoria"), ("nl", "nl", "Geen herinneringen"), ("pt-BR", "pt", "lembretes"), ("ja", "ja", "お知らせメール"),
    ("ar-EG", "ar", "السلة"), ("hi", "hi", "रिमाइंडर"), ("en-GB", "en", "No more cart reminders?"), (None, "de", "Keine Erinnerungen"),
    ("ko", "de", "Keine Erinnerungen"), (";;q=,,<b>", "de", "Keine Erinnerungen")])
def test_the_page_is_in_the_shoppers_language_else_the_shops(system, shop, accept, locale, words):
    answer = system.request("GET", shop.unsubscribe_path("reader@x.example"), headers={"Accept-Language": accept} if accept else {})
    assert answer.status == 200 and words in answer.text and f'<html lang="{locale}"' in answer.text
    assert "Blumen &lt;Huber&gt;" in answer.text and "<Huber>" not in answer.text
    assert ('dir="rtl"' in answer.text) == (locale == "ar")


def test_what_was_said_on_the_page_is_taken_back_there(system, shop):
    address, path = "ada@x.example", shop.unsubscribe_path("ada@x.example", "c-1")
    done = system.request("POST", path, b"unsubscribe=yes", {**FORM, "Accept-Language": "de"})
    assert done.status == 200 and "Rückgängig" in done.text
    listed(system, shop, address, PAGE)
    undo = re.search(r'name="undo" value="(\d+)"', done.text).group(1)
    head = system.ask("status")["head"]
    for method in ("GET", "HEAD"):  # nothing happens by looking
        assert system.request(method, f"{path}?undo={undo}").status == 200
    assert not system.log(start=head + 1, topic="admin.action")
    back = system.request("POST", path, form(undo=undo), {**FORM, "Accept-Language": "de"})
    assert back.status == 200 and "wieder an" in back.text
    wait_until(lambda: not holds(system, shop, address), "the row being lifted")
    (audit,) = audits(system, action="suppression_lifted", address_hash=shop.address_hash(address))
    assert (audit.who, audit.grounds) == ("shopper", "the shopper took it back")
    assert audit.before.startswith("listed: page") and audit.after.startswith("lifted: page")
    # The old form again, after a new no: it does not take that back.
    system.request("POST", path, b"unsubscribe=yes", FORM)
    listed(system, shop, address, PAGE)
    system.request("POST", path, form(undo=undo), FORM)
    wait_until(lambda: audits(system, action="undo_refused", address_hash=shop.address_hash(address)), "the refusal")
    assert holds(system, shop, address, PAGE)


def test_no_page_takes_back_what_was_said_elsewhere(system, shop):
    address, path = "bob@x.example", shop.unsubscribe_path("bob@x.example")
    assert system.request("POST", path, b"List-Unsubscribe=One-Click", FORM).status == 200
    listed(system, shop, address, ONE_CLICK)
    wait_until(lambda: "<form" not in system.request("GET", path).text, "the gateway hearing of it")
    late = int((system.now_s() + 3600) * 1e6)
    assert system.request("POST", path, form(undo=late), {**FORM, "Accept-Language": "en"}).status == 409
    assert holds(system, shop, address, ONE_CLICK)
    for garbage in (b"undo=", b"undo=abc", b"undo=%zz", b"undo=-1", b"\xff\xfe\x00", b"&&&"):
        assert system.request("POST", path, garbage, FORM).status == 400
    assert system.request("POST", path, b"a" * 100000, FORM).status == 413


# ---- every source ----


def test_every_way_onto_the_list_says_which_it_was(system, shop):
    who = operator()
    system.request("POST", shop.unsubscribe_path("s-page@x.example"), b"unsubscribe=yes", FORM)
    system.request("POST", shop.unsubscribe_path("s-click@x.example"), b"List-Unsubscribe=One-Click", FORM)
    system.cartbus("unsubscribe", "demo", "S-Owner@X.example", "--reason", "rang us up")
    redact = fixture("shopify-customers-redact", customer={"id": 7, "email": "s-privacy@x.example"})
    assert "accepted" in system.post(shop.shopify("customers/redact", redact)).json
    lines = subprocess.run([str(BUILD / "bin" / "cartbus"), "suppressions", "import", "demo", "--config", str(system.config_path)],
                           input="s-import@x.example\n", capture_output=True, text=True, timeout=60)
    assert lines.returncode == 0, lines.stderr
    for name, source in (("page", PAGE), ("click", ONE_CLICK), ("owner", OWNER), ("privacy", PRIVACY), ("import", IMPORT)):
        listed(system, shop, f"s-{name}@x.example", source)
    rows = {one["address_hash"]: one for one in system.cartbus("suppressions", "list", "demo", json_output=True)["suppressions"]}
    names = {"page": "page", "click": "one-click", "owner": "owner", "privacy": "privacy", "import": "import"}
    for name, source in names.items():
        assert rows[shop.address_hash(f"s-{name}@x.example")]["source"] == source
    assert rows[shop.address_hash("s-owner@x.example")]["reason"] == "rang us up"
    assert audits(system, action="unsubscribed", address_hash=shop.address_hash("s-import@x.example"))[0].who == who
    # Off again, with a reason; the row stays as history.
    assert system.cartbus("resubscribe", "demo", "s-owner@x.example", check=False).returncode == 2
    system.cartbus("resubscribe", "demo", "s-owner@x.example", "--reason", "asked for it")
    wait_until(lambda: not holds(system, shop, "s-owner@x.example"), "the row being lifted")
    assert system.cartbus("suppressions", "list", "demo", "--address", "s-owner@x.example", check=False).returncode == 1
    assert system.cartbus("suppressions", "list", "demo", "--address", "s-page@x.example").returncode == 0
    assert "lifted" in system.cartbus("suppressions", "list", "demo", "--lifted").stdout
    assert "s-owner" not in json.dumps(system.cartbus("suppressions", "list", "demo", "--lifted", json_output=True)["suppressions"])


# ---- the owner's links ----


def open_cart(system, shop, name):
    at = datetime.datetime.fromtimestamp(system.now_s(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {"event": "changed", "cart": name, "email": f"{name}@x.example", "at": at, "currency": "EUR", "total": "50.00",
            "items": [{"title": "Rose", "quantity": 1, "price": "50.00"}]}
    assert system.post(shop.cart(body)).status == 200
    wait_until(lambda: status_of(system, name) == 0, f"the cart {name}")


def status_of(system, name):
    rows = [entry["message"] for entry in system.log(topic="cart.state") if entry["key"] == name]
    return rows[-1].status if rows else None


@pytest.mark.parametrize("verb, name, action, words", [
    (SUPPRESS, "l-suppress", "suppressed_cart", "Keine Mails zu diesem Warenkorb"), (WRITE_OFF, "l-off", "written_off", "Diesen Warenkorb abschreiben")])
def test_an_owners_link_acts_on_one_cart_once(system, shop, verb, name, action, words):
    open_cart(system, shop, name)
    path = shop.action_path(verb, cart_id=name)
    for method in ("GET", "HEAD"):
        assert system.request(method, path).status == 200
    shown = system.request("GET", path)
    assert words in shown.text and name in shown.text and "@x.example" not in shown.text and "Blumen &lt;Huber&gt;" in shown.text
    assert system.request("POST", path, b"", FORM).status == 400 and status_of(system, name) == 0
    assert system.request("POST", path, b"act=yes", FORM).status == 200
    wait_until(lambda: status_of(system, name) == 2, "the cart being closed")
    (audit,) = audits(system, action=action, cart_id=name)
    assert audit.who == "owner by link" and audit.before and audit.after
    again = system.request("POST", path, b"act=yes", FORM)
    assert again.status == 409 and "schon benutzt" in again.text
    wait_until(lambda: "schon benutzt" in system.request("GET", path).text, "the page knowing it")
    assert len([entry for entry in system.log(topic="admin.action") if entry["message"].cart_id == name]) == 1


def test_an_owners_link_unsubscribes_and_another_undoes_it_with_a_reason(system, shop):
    address = "l-ada@x.example"
    assert system.request("POST", shop.action_path(UNSUBSCRIBE, address=address), b"act=yes", FORM).status == 200
    listed(system, shop, address, OWNER)
    undo = shop.action_path(LIFT, address=address)
    assert 'name="reason"' in system.request("GET", undo).text
    for reason in ("", "  ", "ada@x.example asked", "two\nlines", "x" * 300, "\x00"):
        assert system.request("POST", undo, form(act="yes", reason=reason), FORM).status == 400
    assert holds(system, shop, address, OWNER)
    assert system.request("POST", undo, form(act="yes", reason="ärgerlich, aber gut"), FORM).status == 200
    wait_until(lambda: not holds(system, shop, address), "the row being lifted")
    (audit,) = audits(system, action="suppression_lifted", address_hash=shop.address_hash(address))
    assert (audit.who, audit.grounds) == ("owner by link", "ärgerlich, aber gut")
    assert system.request("POST", undo, form(act="yes", reason="again"), FORM).status == 409


def test_forged_old_cut_and_strange_links_do_nothing_and_say_what_they_are(system, shop):
    head = system.ask("status")["head"]
    good = shop.action_path(UNSUBSCRIBE, address="l-eve@x.example")
    for bad in (shop.action_path(UNSUBSCRIBE, address="l-eve@x.example", key=b"k" * 32),
                shop.action_path(UNSUBSCRIBE, address="l-eve@x.example", key=system.secret("link.key")),
                shop.action_path(UNSUBSCRIBE, address="l-eve@x.example", shop="nobody"), shop.action_path(3, cart_id="c"),
                shop.action_path(77, cart_id="c"), good[:-1], good[:40], good + "A", "/a/" + "A" * 299,
                "/a/" + shop.unsubscribe_path("l-eve@x.example")[3:]):
        for method, body in (("GET", None), ("POST", b"act=yes")):
            assert system.request(method, bad, body, FORM).status == 404
    old = shop.action_path(UNSUBSCRIBE, address="l-eve@x.example", lasts_s=-1)
    for method, body in (("GET", None), ("POST", b"act=yes")):
        answer = system.request(method, old, body, FORM)
        assert answer.status == 410 and "abgelaufen" in answer.text
    assert system.request("PUT", good).status == 405
    assert not [entry for entry in system.log(start=head + 1) if entry["topic"] == "admin.action"]


def test_a_used_link_stays_used_when_the_gateway_begins_anew(system, shop):
    """Past the days for which the broker knows a key, the actions themselves tell: here a gateway that has forgotten everything."""
    path = shop.action_path(UNSUBSCRIBE, address="l-once@x.example")
    assert system.request("POST", path, b"act=yes", FORM).status == 200
    system.stop("gateway")
    for old in (system.folder / "state" / "gateway").glob("*"):
        if old.name != "spool":
            subprocess.run(["rm", "-r", str(old)], check=True)
    system.start("gateway")
    wait_until(lambda: system.request("GET", path).status == 200 and "schon benutzt" in system.request("GET", path).text,
               "the gateway knowing what was used")
    assert system.request("POST", path, b"act=yes", FORM).status == 409


def test_a_key_of_the_owners_links_that_others_may_read_is_found(system):
    key = system.folder / "secrets" / "admin.key"
    key.chmod(0o644)
    checked = system.cartbus("config", "check", check=False)
    key.chmod(0o600)
    assert checked.returncode == 1 and "admin.key" in checked.stderr
    assert system.cartbus("config", "check").returncode == 0


# ---- what the storefront asks for ----


def test_privacy_requests_stand_until_they_are_settled(system):
    shop = system.shops["other"]
    assert system.cartbus("privacy", "list", "other").returncode == 0
    redact = shop.shopify("customers/redact", fixture("shopify-customers-redact"))
    asked = shop.shopify("customers/data_request", fixture("shopify-customers-data-request"))
    for webhook in (redact, asked, shop.shopify("shop/redact", fixture("shopify-shop-redact"))):
        assert "accepted" in system.post(webhook).json
    assert "duplicate_of" in system.post(redact).json
    assert system.post(shop.shopify("customers/redact", b"{}", secret="wrong-secret-of-somebody")).status == 401
    listed(system, shop, "ada@example.com", PRIVACY)

    def open_ones():
        done = system.cartbus("privacy", "list", "other", "--json", check=False)
        rows = json.loads(done.stdout)["requests"]
        assert done.returncode == (1 if rows else 0)
        return rows

    rows = wait_until(lambda: len(open_ones()) == 3 and open_ones(), "three open requests")
    assert {row["asks_to"] for row in rows} == {"erase the person", "erase the shop", "tell the person what is known"}
    assert any(row["remedy"] == "cartbus erase other 191167" for row in rows)
    assert "ada@example.com" not in json.dumps(rows)
    status = system.cartbus("status", check=False).stdout
    assert "3 requests of shop other" in status and "cartbus privacy list other" in status
    assert [audit.who for audit in audits(system, action="erasure_asked")][-1] == "storefront"
    for one in rows:
        system.cartbus("privacy", "done", "other", one["id"], "--reason", "done today")
        assert system.cartbus("privacy", "done", "other", "f" * 32, "--reason", "?", check=False).returncode == 1
    wait_until(lambda: open_ones() == [], "all being settled")
    wait_until(lambda: "of shop other" not in system.cartbus("status", check=False).stdout, "the alarm's end")
    assert holds(system, shop, "ada@example.com", PRIVACY)


# ---- the old tool's list ----


def import_list(system, content, *options, shop="demo"):
    path = system.folder / "list.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return system.cartbus("suppressions", "import", shop, str(path), *options, "--json", check=False)


def test_an_import_answers_for_every_line_and_changes_nothing_twice(system):
    shop = system.shops["other"]
    content = ("\ufeffName;E-Mail\n" + "".join(f"n{i};i{i}@x.example\n" for i in range(600))
               + "x;I0@X.example\nbad;not an address\n\nx;\nu;usér@bücher.example\nlast;b@bücher.example")
    head = system.ask("status")["head"]
    dry = json.loads(import_list(system, content, "--dry-run", shop="other").stdout)
    assert (dry["lines"], dry["listed"], dry["repeated"], dry["bad"]) == (607, 601, 1, 3)
    assert [bad["line"] for bad in dry["bad_lines"]] == [603, 605, 606]
    assert not system.said_since(head)
    done = import_list(system, content, shop="other")
    assert done.returncode == 1 and json.loads(done.stdout) == {**dry, "dry_run": False}
    listed(system, shop, "i599@x.example", IMPORT)
    listed(system, shop, "b@xn--bcher-kva.example", IMPORT)
    wait_until(lambda: len(system.cartbus("suppressions", "list", "other", "--source", "import", json_output=True)["suppressions"]) == 601, "all rows")
    again = json.loads(import_list(system, content, shop="other").stdout)
    assert (again["listed"], again["known"]) == (0, 601)
    audit = audits(system, action="suppressions_imported")[-1]
    assert audit.who == operator() and audit.grounds.startswith("602 addresses of") and audit.after.endswith("listed")
    assert not re.search(rb"i599@x\.example", b"".join(path.read_bytes() for path in (system.folder / "logs").glob("*")))


def test_an_import_that_is_killed_is_gone_on_from_and_counts_each_address_once(system):
    system.add_shop("cut")
    addresses = [f"cut{i}@{'a-long-name' * 5}.{'of-a-host' * 5}.example" for i in range(2000)]  # a pipe is read in large pieces
    command = [str(BUILD / "bin" / "cartbus"), "suppressions", "import", "cut", "--config", str(system.config_path)]

    def asked():
        return [entry["message"].address_hash for entry in system.log(topic="optout.request", shop="cut")]

    system.stop("unsub")  # so that nothing of it is on the list before it is run again
    with subprocess.Popen(command, stdin=subprocess.PIPE) as killed:
        killed.stdin.write("".join(f"{address}\n" for address in addresses[:1500]).encode())
        killed.stdin.flush()
        wait_until(lambda: len(asked()) >= 300, "a part of it")
        killed.kill()
    part = len(asked())  # and what it said last may still be on its way to the broker
    done = json.loads(import_list(system, "\n".join(addresses), shop="cut").stdout)
    before = done["known"]
    assert part <= before <= 1500 and (done["addresses"], done["listed"], done["refused"]) == (2000, 2000 - before, 0)
    assert sorted(asked()) == sorted(system.shops["cut"].address_hash(address) for address in addresses)
    audit = audits(system, action="suppressions_imported")[-1]
    assert (audit.before, audit.after) == (f"{before} listed", "2000 listed")
    system.start("unsub")
    wait_until(lambda: len(system.cartbus("suppressions", "list", "cut", json_output=True)["suppressions"]) == 2000, "all rows")
    assert len(system.log(topic="suppression", shop="cut")) == 2000
    system.cartbus("resubscribe", "cut", addresses[0], "--reason", "asked for it")
    wait_until(lambda: len(system.cartbus("suppressions", "list", "cut", json_output=True)["suppressions"]) == 1999, "the one that was taken off")
    again = json.loads(import_list(system, "\n".join(addresses), shop="cut").stdout)
    assert (again["listed"], again["lifted_before"], again["known"]) == (1, 1, 1999)


def test_what_a_person_does_to_files_is_on_record_too(system):
    system.cartbus("shop", "add", "made", "--time-zone", "Europe/Berlin", "--currency", "EUR", "--locale", "de-DE", "--title", "Made",
                   "--url", "https://made.example", "--from", "Made <shop@made.example>")
    system.cartbus("shop", "secret", "made", "--rotate")
    system.cartbus("rebuild", "unsub")
    acts = [(audit.action, audit.who) for audit in audits(system)]
    for action in ("shop_added", "shop_secret", "rebuild"):
        assert (action, operator()) in acts


@pytest.mark.parametrize("options, name", [((), "webhook"), (("--api",), "api")])
def test_a_secret_that_is_set_to_what_it_was_changes_nothing_and_is_not_on_record(system, options, name):
    words = ["shop", "secret", "demo", *options, "--set"]
    (system.folder / "secrets" / name).mkdir(exist_ok=True)
    for said in ("a-new-secret-of-demo-1", "a-new-secret-of-demo-1", "a-new-secret-of-demo-2"):
        before = len([audit for audit in audits(system) if audit.action == "shop_secret"])
        path = system.folder / "secrets" / name / "demo"
        same = path.exists() and path.read_text() == said + "\n"
        done = subprocess.run([str(system.command()), *words, "--config", str(system.config_path)], input=said + "\n", capture_output=True,
                              text=True, timeout=60, check=True)
        assert ("nothing has changed" in done.stdout) == same
        after = len([audit for audit in audits(system) if audit.action == "shop_secret"])
        assert after == before + (not same)


def test_an_import_of_no_list_says_so(system):
    for content, words in ((b"\xff\xfea\x00@\x00", "no text"), (b"\x7fELF\x02\x00\x00", "no text"), (b"one;two\n1;2\n", "no column")):
        done = import_list(system, content, *(["--column", "mail"] if words == "no column" else []))
        assert done.returncode == 1 and words in done.stderr
    assert system.cartbus("suppressions", "import", "demo", "/no/such/file", check=False).returncode == 1
    assert json.loads(import_list(system, b"").stdout)["lines"] == 0


def test_a_saved_list_brings_back_who_was_on_it_by_the_key_it_was_made_with(system):
    shop, saved = system.add_shop("kept"), system.folder / "saved.json"

    def rows():
        return {one["address_hash"] for one in system.cartbus("suppressions", "list", "kept", json_output=True)["suppressions"]}

    def bring_back():
        return system.cartbus("suppressions", "import", "kept", str(saved), "--saved", "--json", check=False)

    both = {shop.address_hash("kept-a@x.example"), shop.address_hash("kept-b@x.example")}
    import_list(system, "kept-a@x.example\nkept-b@x.example\n", shop="kept")
    wait_until(lambda: rows() == both, "both rows")
    system.cartbus("suppressions", "save", str(saved))
    assert saved.stat().st_mode & 0o777 == 0o600 and "x.example" not in saved.read_text()
    assert {row["address_hash"] for row in json.loads(saved.read_text())["shops"]["kept"]} == both
    system.cartbus("resubscribe", "kept", "kept-a@x.example", "--reason", "asked for it")
    wait_until(lambda: len(rows()) == 1, "the one that was taken off")
    key = system.secret("address.key").decode()
    system.write_secret("address.key", "0" * 64)
    refused = bring_back()
    system.write_secret("address.key", key)
    assert refused.returncode == 1 and "another address.key" in refused.stderr
    back = json.loads(bring_back().stdout)
    assert (back["lines"], back["listed"], back["lifted_before"], back["known"]) == (2, 1, 1, 1)
    wait_until(lambda: rows() == both, "both rows again")
    for nothing in ("", "{}", '{"key_mark": 1, "shops": []}', "kept-a@x.example"):
        saved.write_text(nothing)
        assert bring_back().returncode == 1 and "is no list" in bring_back().stderr


def test_a_line_of_a_gigabyte_is_one_bad_line(system):
    command = [str(BUILD / "bin" / "cartbus"), "suppressions", "import", "demo", "--json", "--config", str(system.config_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as importing:
        piece = b"x" * (1 << 20)
        for _ in range(1024):
            importing.stdin.write(piece)
        importing.stdin.write(b"\ngiga@x.example\n")
        usage = open(f"/proc/{importing.pid}/status").read()  # of who still waits for the end: afterwards there is nobody to ask
        importing.stdin.close()
        out = json.loads(importing.stdout.read())
    assert (out["lines"], out["listed"], out["bad"]) == (2, 1, 1) and importing.returncode == 1
    assert int(re.search(r"VmHWM:\s+(\d+)", usage).group(1)) < 300 * 1024  # kB, of a program under the sanitizers


# ---- the kill switch ----


def test_nothing_is_claimed_after_stop_has_answered():
    now_us = int(time.time() * 1e6)
    with System({"clock": {"rate": 3600, "origin-real-us": now_us, "origin-wall-us": now_us}}) as system:
        rules = "Small carts (under 40 EUR): remind after 1 hour, then after 40. Medium carts: 1 hour, then 40. Big carts (over 150 EUR): 1 hour, then 40.\n"
        for name in ("demo", "other"):
            system.add_shop(name, rules=rules)
        system.start()
        for name in ("demo", "other"):
            system.cartbus("shop", "mode", name, "live")

        def leave(name, count, prefix):
            for i in range(count):
                at = datetime.datetime.fromtimestamp(system.now_s(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
                body = {"event": "changed", "cart": f"{prefix}{i}", "email": f"{prefix}{i}@x.example", "at": at, "currency": "EUR",
                        "total": "50.00", "recovery_url": f"https://{name}.example/", "items": [{"title": "Rose", "quantity": 1, "price": "50.00"}]}
                assert system.post(system.shops[name].cart(body)).status == 200

        def sent(name):
            return [entry for entry in system.log(topic="reminder.sent") if entry["shop"] == name]

        assert system.cartbus("stop", check=False).returncode == 2
        assert system.cartbus("stop", "demo", check=False).returncode == 2
        assert system.cartbus("stop", "nobody", "--reason", "x", check=False).returncode == 1
        assert system.cartbus("resume", "demo", "--reason", "x", check=False).returncode == 1

        # One shop, in the midst of sending; the other goes on.
        leave("demo", 30, "a")
        wait_until(lambda: sent("demo"), "the first mail", 60)
        stopped = system.cartbus("stop", "demo", "--reason", "wrong prices", json_output=True)["seq"]
        leave("demo", 5, "b")
        leave("other", 5, "c")
        wait_until(lambda: len(sent("other")) == 5, "the other shop's mails", 60)
        assert_nothing_after(system, stopped, {"demo"})
        mode = system.cartbus("shop", "list", "--json").stdout
        assert '"paused"' in mode
        # A slip with the mode does not lift it; stopping twice is no error.
        assert system.cartbus("shop", "mode", "demo", "live", check=False).returncode == 1
        assert "stopped already" in system.cartbus("stop", "demo", "--reason", "again").stdout

        # All of them, with one that is added after it.
        everything = system.cartbus("stop", "--all", "--reason", "blocklisted", json_output=True)["seq"]
        system.add_shop("later", rules=rules)
        system.cartbus("shop", "mode", "later", "live")
        leave("later", 3, "d")
        leave("other", 3, "e")
        resumed = system.cartbus("resume", "demo", "--reason", "prices are right")
        assert "demo is in live" in resumed.stdout and "everything is stopped" in resumed.stderr
        until_us = deadline_us(system, everything)
        wait_until(lambda: system.now_s() * 1e6 > until_us, "two hours of the shops' time", 60)
        assert_nothing_after(system, everything, {"demo", "other", "later"})
        status = system.cartbus("status", check=False).stdout
        assert "stopped" in status and "blocklisted" in status

        system.cartbus("resume", "--all", "--reason", "delisted")
        wait_until(lambda: len(sent("later")) == 3 and len(sent("other")) == 8, "the mails that waited", 90)
        wait_until(lambda: len(sent("demo")) == 35, "the mails of the shop that was stopped first", 90)
        changes = [m for m in audits(system, action="shop_mode") if "paused" in m.after]
        assert {m.who for m in changes} == {operator()} and changes[0].before == "live" and changes[0].grounds == "wrong prices"


def deadline_us(system, seq):
    said = next(entry for entry in system.log(topic="shop.status") if entry["seq"] == seq)
    return said["message"].at_us + 2 * 3600 * 1000000


def assert_nothing_after(system, seq, shops):
    """No mail went by a claim that came after this number: where one was on its way, it was given back without a mail."""
    claims = {}
    for entry in system.log(start=seq + 1):
        if entry["topic"] == "send.claim" and entry["shop"] in shops:
            claims[entry["shop"], entry["key"]] = entry["seq"]
        if entry["topic"] in ("reminder.sent", "reminder.ambiguous") and (entry["shop"], entry["key"]) in claims:
            raise AssertionError(f"{entry['shop']} {entry['key']} was claimed after the stop had answered, and mailed")
