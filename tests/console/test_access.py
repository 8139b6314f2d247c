"""Who may do what: every row of the pages, as everybody. A new page is tried without a line here."""

import concurrent.futures
import json
import re
import time

import pytest

from cartbus_system import wait_until
from console_system import ROLES, Console, rows
from visitor import PASSWORD, Visitor, totp

# The rights of roles, written down a second time: services/console/people/person.c has to agree.
VIEWER = {"see", "report"}
APPROVER = VIEWER | {"words", "rules"}
OWNER = APPROVER | {"see-address", "act-cart", "list", "lift", "mode", "privacy", "audit"}
OPERATOR = VIEWER | {"mode", "audit", "health", "queue", "dead", "log"}
RIGHTS = {"viewer": VIEWER, "approver": APPROVER, "owner": OWNER, "operator": OPERATOR, "ada": OWNER | OPERATOR | {"people"}}
OF_ALL_SHOPS = {"operator", "ada"}
NAMES = {"<cart>": "9f2c41aa", "<kind>": "no-such-alarm", "<session>": "0123456789ab", "<name>": "nobody", "<hash>": "00"}
CSP = "frame-ancestors 'none'"

pytestmark = pytest.mark.xdist_group("console-access")  # one running system for all of it


def place(row, shop):
    path = row["path"].replace("<shop>", shop)
    for name, value in NAMES.items():
        path = path.replace(name, value)
    assert "<" not in path, f"NAMES has no word for {path}"
    return path


def expected(row, who, shop):
    """What the person's rights lead to: "passes", or the status of the refusal."""
    if row["right"] == "anybody":
        return "passes"
    if who is None:
        return 401
    of_shop = "<shop>" in row["path"]
    if of_shop and shop != "demo" and who not in OF_ALL_SHOPS:
        return 404
    if row["right"] == "signed-in" or row["right"] in RIGHTS[who]:
        return "passes"
    return 403


@pytest.mark.parametrize("who", [None, "viewer", "approver", "owner", "operator", "ada"])
def test_every_page_is_shown_to_those_alone_who_have_its_right(console, who):
    visitor = console.people[who] if who else console.visitor()
    for row in rows():
        if row["method"] != "GET":
            continue
        for shop in ("demo", "other", "nowhere"):
            for ending in ("", ".json"):
                path = place(row, shop)
                if ending and path.endswith("/"):
                    continue
                page = visitor.get(path + ending)
                wanted = expected(row, who, shop)
                if shop == "nowhere" and "<shop>" in path and who:
                    wanted = 404
                if wanted == 401 and not ending:
                    assert (page.status, page.location) == (303, f"/sign-in?to={path}"), path
                elif wanted == "passes":
                    assert page.status in (200, 401, 404, 422), f"{who} {path}{ending}: {page.status}"  # 401: the page of a half sign-in
                else:
                    assert page.status == wanted, f"{who} {path}{ending}: {page.status}, not {wanted}"
                assert CSP in page.headers["Content-Security-Policy"] and page.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("who", [None, "viewer", "approver", "owner", "operator", "ada"])
def test_every_act_needs_its_right_and_a_token_of_this_session(console, who):
    """No form is right here, so nothing is done: the log stays as it is."""
    visitor = console.people[who] if who else console.visitor()
    before = console.ask("status")["head"]
    for row in rows():
        if row["method"] != "POST" or row["right"] == "anybody" or row["path"] == "/sign-out":
            continue
        for shop in ("demo", "other"):
            path = place(row, shop)
            page = visitor.request("POST", path, {"t": "0" * 64, "once": "00-1"})
            wanted = expected(row, who, shop)
            assert page.status == (403 if wanted == "passes" else wanted if who else 401), f"{who} {path}: {page.status}"
    assert console.ask("status")["head"] == before


ELSEWHERE = [
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": None, "Origin": "null"},
    {"Sec-Fetch-Site": None, "Origin": None},
    {"Sec-Fetch-Site": None, "Origin": None, "Referer": "https://evil.example/"},
]


def test_no_other_site_acts_in_anybodys_name(console):
    owner = console.people["owner"]
    token = owner.get("/").form("/sign-out")["t"]
    before = console.ask("status")["head"]
    for row in rows():
        if row["method"] == "POST":
            for headers in ELSEWHERE:
                answer = owner.request("POST", place(row, "demo"), {"t": token, "once": "00-1"}, headers=headers)
                assert answer.status == 403, f"{row['path']} {headers}: {answer.status}"
    assert console.ask("status")["head"] == before


def test_a_page_of_another_site_can_neither_read_nor_frame(console):
    owner = console.people["owner"]
    for row in rows():
        if row["method"] == "GET":
            for headers in ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
                            {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}):
                assert owner.request("GET", place(row, "demo"), headers=headers).status == 403


@pytest.mark.parametrize("host", ["evil.test", "evil.test:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.evil.test", "127.1:{port}",
                                  "0.0.0.0:{port}", "[::ffff:127.0.0.1]:{port}", "localhost.evil.test:{port}", "2130706433:{port}"])
def test_a_name_that_is_led_here_gets_nothing(console, host):
    owner = console.people["owner"]
    for path in ("/", "/sign-in", "/s/demo/", "/live?of=/", "/a/0/console.js", "/x"):
        assert owner.request("GET", path, headers={"Host": host.format(port=console.console_port)}).status == 421


# ---- signing in ----


def test_a_wrong_password_and_an_unknown_name_are_answered_alike(console):
    wrong = console.visitor().sign_in("viewer", "not the password")
    unknown = console.visitor().sign_in("nobody-at-all", "not the password")
    assert wrong.status == unknown.status == 403
    plain = [re.sub(r'value="[^"]*"', "", page.text) for page in (wrong, unknown)]
    assert plain[0] == plain[1] and "Nobody is told which" in plain[0]


def test_the_right_password_lets_in_and_leads_back(console):
    visitor = console.visitor()
    page = visitor.get("/sign-in?to=/me")
    answer = visitor.press(page, "/sign-in", name="viewer", password=PASSWORD)
    assert (answer.status, answer.location) == (303, "/me")
    assert "viewer" in visitor.get("/me").text


@pytest.mark.parametrize("to", ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"])
def test_the_way_back_leads_to_no_other_site(console, to):
    visitor = console.visitor()
    page = visitor.get("/sign-in")
    answer = visitor.request("POST", "/sign-in", {**page.form("/sign-in"), "to": to, "name": "viewer", "password": PASSWORD})
    assert (answer.status, answer.location) == (303, "/")


def test_the_cookie_is_out_of_a_scripts_reach_and_changes_at_the_sign_in(console):
    visitor = console.visitor()
    visitor.get("/sign-in")
    before = dict(visitor.cookies)
    answer = visitor.sign_in("viewer")
    assert visitor.cookies.keys() == before.keys() and visitor.cookies != before
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-cartbus-") and all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Secure", "Path=/"))


def test_signing_out_ends_the_session_and_its_copy(console):
    visitor = console.visitor()
    visitor.sign_in("viewer")
    copy = console.visitor()
    copy.cookies = dict(visitor.cookies)
    assert copy.get("/me").status == 200
    assert visitor.press(visitor.get("/me"), "/sign-out").status == 303
    assert copy.get("/me").status == 303


def test_a_session_can_be_ended_from_another_one(console):
    one, other = console.visitor(), console.visitor()
    one.sign_in("approver")
    other.sign_in("approver")
    sessions = json.loads(other.get("/me.json").text)["sessions"]
    for session in sessions:
        if not session["here"]:
            answer = other.press(other.get("/me"), f"/me/sessions/{session['id']}/end")
            assert answer.status == 303, answer.text
    assert one.get("/me").status == 303 and other.get("/me").status == 200


def test_a_role_that_is_taken_away_ends_what_it_allowed_at_once():
    with Console() as console:
        console.add_shop("demo")
        console.start("broker", "mirror", "console")
        console.add_admin()
        owner = console.add("otto", "owner:demo")
        assert owner.get("/me").status == 200
        console.cartbus("user", "role", "otto", "--remove", "owner:demo", "--add", "viewer:demo")
        wait_until(lambda: owner.get("/me").status == 303, "the session ends")


def test_a_thousand_wrong_passwords_cost_little_and_keep_nobody_out():
    with Console() as console:
        console.start("broker", "console")
        console.add_admin()
        statuses = []

        def guess(number):
            visitor = Visitor(console.console_port)
            return visitor.sign_in("ada", f"wrong guess {number}").status

        with concurrent.futures.ThreadPoolExecutor(8) as guessers:
            statuses = list(guessers.map(guess, range(1000)))
        assert set(statuses) == {403, 429} and statuses.count(403) < 40
        began = time.monotonic()
        assert console.people["ada"].get("/me").status == 200 and time.monotonic() - began < 1
        link = console.cartbus("console", "link", "--person", "ada", json_output=True)["link"]
        visitor = console.visitor()  # the link is the way in while guesses make everybody wait
        answer = visitor.press(visitor.get("/enter"), "/enter", token=link.partition("#")[2], password="another pferd batterie")
        assert answer.location == "/sign-in/code?to=/"
        assert visitor.press(visitor.get("/sign-in/code"), "/sign-in/code", code=console.people["ada"].recovery[0]).status == 303


# ---- links ----


def test_a_link_is_good_once_and_a_look_at_it_spends_nothing():
    with Console() as console:
        console.start("broker", "console")
        console.add_admin()
        link = console.cartbus("user", "add", "ben", "--role", "viewer", json_output=True)["link"]
        token = link.partition("#")[2]
        assert console.visitor().get("/enter").status == 200
        console.visitor().enter(link)
        again = console.visitor()
        answer = again.press(again.get("/enter"), "/enter", token=token, password=PASSWORD)
        assert answer.status == 403 and "not right" in answer.text
        guessed = again.press(again.get("/enter"), "/enter", token="A" * 43, password=PASSWORD)
        assert guessed.status == 403
        assert token not in "".join(path.read_text(errors="replace") for path in (console.folder / "state" / "people").iterdir() if path.name != "key")


def test_a_code_is_accepted_once(console):
    ada = console.people["ada"]
    visitor = console.visitor()
    assert visitor.sign_in("ada").location.startswith("/sign-in/code")
    code = totp(ada.secret, time.time())
    visitor.press(visitor.get("/sign-in/code"), "/sign-in/code", code=code)  # 403 if the second factor was set up with this very code
    again = console.visitor()
    again.sign_in("ada")
    assert again.press(again.get("/sign-in/code"), "/sign-in/code", code=code).status == 403
