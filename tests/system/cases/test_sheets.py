"""Each night's rows in the owner's spreadsheet, once, whatever Google and the exporter do meanwhile.

The server stands in for Google and is not it (google_peer.py).
"""

import datetime
import threading

import pytest

from cartbus_system import System, wait_until
from google_peer import SHEET, Google
from http_peer import BAD, reply
from test_days import BERLIN, RULES, event, fast_clock

EVENING = datetime.datetime(2026, 11, 20, 19, 0, tzinfo=BERLIN)  # the start costs hours, so which day a cart is of is not told before
PATIENCE_S = 60


@pytest.fixture
def google(tmp_path):
    peer = Google(tmp_path / "ca")
    yield peer
    peer.close()


@pytest.fixture
def shop(google):
    system = System({"clock": fast_clock(EVENING), "google": google.settings()})
    system.add_shop("demo", rules=RULES.format(second=600), extra=f"[export]\nsheet = {SHEET}\ntab = Anna's carts")
    system.shop = system.shops["demo"]
    system.write_secret("google.json", google.key_file())
    system.start()
    yield system
    system.close()


def ends(system):
    return [entry["message"] for entry in system.log("sheet.done")]


def alarms(system):
    return [entry["message"] for entry in system.log("alarm") if entry["message"].kind == "sheet-not-appended"]


def appended(system, count=1):
    def found():
        return [end for end in ends(system) if end.end == system.proto().SHEET_APPENDED and end.reason != "nothing happened that day"]
    return wait_until(lambda: len(found()) >= count and found(), "rows in the sheet", PATIENCE_S)


def test_each_nights_rows_are_appended_once_though_google_fails_in_every_way(shop, google):
    def write_and_fail(request):
        google.write(request)
        reply(request, 500, b"{}")

    google.misbehaves["token"] = [lambda request: reply(request, 503, b"{}")]
    google.misbehaves["GET"] = [lambda request: reply(request, 401, b"{}"), BAD["garbage"], BAD["gigabyte"], BAD["redirect"]]
    google.misbehaves["POST"] = [lambda request: reply(request, 429, b"{}", Retry_After="7"), lambda request: reply(request, 403, b"{}"),
                                 lambda request: reply(request, 404, b"{}"), write_and_fail]
    shop.write_secret("google.json", google.key_file(type="authorized_user"))
    event(shop, "=1+1", email="anna@mail.example")
    wait_until(lambda: alarms(shop), "the alarm", PATIENCE_S)
    shop.write_secret("google.json", google.key_file())  # counts without a restart
    appended(shop)
    assert not google.wrong and not any(google.misbehaves.values())
    header, row = google.rows
    assert header[:4] == ["shop", "day", "cart", "status"] and row[0] == "demo" and row[3] == "open"
    assert row[header.index("total")] == 89.7 and len(row) == len(header) and len(google.tokens) == 2  # the 401 cost one
    assert "anna" not in str(google.rows)
    text = (shop.folder / "state" / "export" / "demo" / f"{row[1]}.csv").read_text()
    assert all(str(cell) in text for cell in row[2:])  # what the file holds
    raised, ended = alarms(shop)
    assert raised.raised and not ended.raised and "google.json" in raised.text and "service_account" in raised.text and "share" in raised.remedy
    words = [end.reason for end in ends(shop)]
    assert words[-1] == "its rows are there" and "HTTP 302" in words and "HTTP 403" in words and "HTTP 429" in words and any("no token" in word for word in words)
    log = (shop.folder / "logs" / "exporter.log").read_text()
    assert "ya29" not in log and "PRIVATE" not in log


@pytest.mark.parametrize("arrived", [True, False], ids=["it-had-been-written", "it-was-lost"])
def test_an_exporter_killed_between_append_and_answer_appends_no_row_twice(shop, google, arrived):
    came, over = threading.Event(), threading.Event()

    def hang(request):
        if arrived:
            google.write(request)
        came.set()
        google.lock.release()
        over.wait(PATIENCE_S)
        google.lock.acquire()

    google.misbehaves["POST"] = [hang]
    event(shop, "c1")
    assert came.wait(PATIENCE_S)
    shop.kill("exporter")
    over.set()
    shop.start("exporter")
    end = appended(shop)[0]
    assert not google.wrong and len(google.rows) == 2 and len(google.appends) == 1  # the header, the cart
    assert end.reason == ("its rows are there" if arrived else "1 rows appended")
    assert len(shop.log("sheet.claim")) == (1 if arrived else 2)
