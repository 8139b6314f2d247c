"""The console in a real browser, beside real processes: what a person sees and presses."""

import json
import time

import pytest

from browser import Browser
from cartbus_system import wait_until
from console_system import Console
from two_hosts import leave_cart
from visitor import PASSWORD

pytestmark = pytest.mark.xdist_group("console-browser")  # one running system for all of it


@pytest.fixture(scope="module")
def shop():
    with Console() as console:
        console.demo = console.add_shop("demo", title="Blumen Huber")
        console.start("broker", "mirror", "gateway", "intake", "timer", "waiter", "sender", "unsub", "console")
        console.cartbus("shop", "mode", "demo", "live")
        console.add_admin()
        leave_cart(console, console.demo, "first", "ann@mail.example")
        wait_until(lambda: "demo" in console.people["ada"].get("/").text, "the console knows the shop")
        yield console


@pytest.fixture
def link(shop, request):
    """A one-time link of somebody new, an owner of the shop."""
    name = f"anna-{abs(hash(request.node.name)) % 10**6}"
    made = shop.cartbus("user", "add", name, "--role", "owner:demo", json_output=True)
    wait_until(lambda: shop.knows(name), "the console knows the person")
    return name, made["link"]


@pytest.fixture
def browser(shop):
    with Browser(f"http://127.0.0.1:{shop.console_port}") as browser:
        yield browser
        assert browser.complaints() == []


def come_in(browser, link):
    browser.driver.get(link[1])
    browser.wait(lambda: browser.find("#token").get_attribute("value"), "the script takes the token out of the address")
    assert "#" not in browser.path  # it is in no history then
    browser.type("#password", PASSWORD)
    browser.press("form[action='/enter'] button")


def test_an_owner_comes_in_by_a_link_and_sees_the_shop(browser, link):
    come_in(browser, link)
    browser.press("a[href='/s/demo/']")
    assert "Blumen Huber" in browser.text
    assert browser.find("h1").text == "Today"
    assert "a***@mail.example" in browser.text


def audits(shop, action):
    return [entry["message"] for entry in shop.log(topic="audit") if entry["message"].action == action]


def test_stop_is_one_press_and_is_on_record_with_the_persons_name(browser, shop, link):
    come_in(browser, link)
    browser.open("/s/demo/")
    browser.press("form[action='/s/demo/stop'] button")
    last = wait_until(lambda: [entry["message"] for entry in shop.log(topic="shop.status") if entry["message"].mode == 3], "the stop in the log")[-1]
    assert (last.who, last.priority) == (link[0], 100)
    assert audits(shop, "shop_mode")[-1].who == link[0]
    browser.wait(lambda: browser.all("form[action='/s/demo/resume']"), "the page offers to resume")
    browser.find("form[action='/s/demo/resume'] button").click()
    browser.press("[data-ask-yes]")
    wait_until(lambda: json.loads(shop.people["ada"].get("/s/demo/.json").text)["mode"]["mode"] == "live", "it is live again")
    browser.open("/s/demo/")
    assert browser.all("form[action='/s/demo/stop']")


def test_a_page_that_is_open_shows_what_happens_within_a_second(browser, shop, link):
    come_in(browser, link)
    browser.open("/s/demo/carts")
    place = browser.find("[data-live]")
    browser.driver.execute_script("document.getElementById('search') && document.getElementById('search').focus()")
    key = place.get_attribute("data-live")
    assert key
    focused = browser.driver.switch_to.active_element.get_attribute("id")
    browser.open("/s/demo/")
    shown = "[data-live='figures.left.now']"
    before = browser.find(shown).text
    browser.driver.execute_script("document.getElementById('search').focus()")
    began = time.monotonic()
    leave_cart(shop, shop.demo, f"live-{time.time_ns()}", "live@mail.example")
    browser.wait(lambda: browser.find(shown).text != before, "the figure changes")
    assert time.monotonic() - began < 5  # of a build with sanitizers; the bench measures
    assert browser.driver.switch_to.active_element.get_attribute("id") == "search" and focused in ("search", "")


def test_the_slash_leads_to_the_search(browser, link):
    come_in(browser, link)
    browser.open("/s/demo/")
    browser.find("body").send_keys("/")
    assert browser.driver.switch_to.active_element.get_attribute("id") == "search"


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_no_page_is_wider_than_the_screen(shop, link, width):
    with Browser(f"http://127.0.0.1:{shop.console_port}", width=width) as browser:
        come_in(browser, link)
        for path in ("/", "/s/demo/", "/s/demo/carts", "/me"):
            browser.open(path)
            wide, screen = browser.driver.execute_script("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
            assert wide <= screen, f"{path} at {width} px is {wide} px wide"
        assert browser.complaints() == []
