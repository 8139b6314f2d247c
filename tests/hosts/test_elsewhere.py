"""Other services on another host: a gateway that goes on while the link is cut, the waiter; a broker that is named, a clock that is wrong."""

import shutil

import pytest

from cartbus_system import wait_until
from lan import GONE
from places import PORT, BrokersHost, OtherHost
from test_move import begin, clock, mail_by
from two_hosts import leave_cart
from wall_clock import Wall

HOUR_S = 3600
NAMED = 'printf "%s broker.cartbus.example\\n" "$1" >"$2" && mount --bind "$2" /etc/hosts && shift 2 && exec "$@"'


@pytest.fixture
def both(mail_server):
    return {**clock(), **mail_by(mail_server)}


def mailed_to(mail_server):
    return sorted(mail.delivered_to for mail in mail_server.mails())


def test_a_gateway_on_another_host_answers_200_while_the_link_is_cut_and_nothing_is_lost(lan, mail_server, both):
    with BrokersHost(lan, both) as first:
        first.make_key("gateway-b", "gateway")
        begin(first, "intake", "timer", "waiter", "sender", "mirror", "unsub")
        with OtherHost(lan, "second", first, {"gateway": "gateway-b"}, ["address.key", "link.key", "admin.key", "webhook/demo"], both) as second:
            shutil.copytree(first.folder / "shops", second.folder / "shops", dirs_exist_ok=True)
            second.start("gateway")
            wait_until(second.connected, "the gateway meeting its broker")
            shop = first.shops["demo"]
            leave_cart(second, shop, "c-1", "before@shopper.example")
            wait_until(lambda: first.log("cart.changed"), "the first cart")
            lan.both_ways(first.address, second.address, **GONE)
            wait_until(lambda: not second.connected(), "the gateway noticing")
            for number in range(20):
                leave_cart(second, shop, f"cut-{number}", f"cut-{number}@shopper.example")
            assert second.request("GET", "/healthz").json["spooled"] == 20
            assert len(first.log("cart.changed")) == 1
            lan.both_ways(first.address, second.address)
            wait_until(second.drained, "the spool being empty", 30)
            wait_until(lambda: len(mail_server.mails()) == 42, "two mails of each cart", 60)
            assert mailed_to(mail_server) == sorted(["before@shopper.example", *(f"cut-{number}@shopper.example" for number in range(20))] * 2)


def test_the_waiter_decides_on_another_host_whose_broker_has_a_name(lan, mail_server, both):
    class Named(OtherHost):
        def where(self, name):
            return [*super().where(name), "unshare", "--mount", "sh", "-c", NAMED, "sh", first.address, self.folder / "hosts"]

    with BrokersHost(lan, both) as first:
        first.make_key("waiter-b", "waiter")
        begin(first, "gateway", "intake", "timer", "sender", "mirror")
        with Named(lan, "second", first, {"waiter": "waiter-b"}, [], both, broker=f"broker.cartbus.example:{PORT}") as second:
            second.start("waiter")
            leave_cart(first, first.shops["demo"], "c-1")
            wait_until(lambda: len(mail_server.mails()) == 2, "both mails", 30)
            assert [one["host"] for one in first.sessions("waiter")] == ["second"]


@pytest.mark.parametrize("ahead_s", [HOUR_S, -HOUR_S])
def test_a_host_whose_clock_is_an_hour_off_mails_once_and_doctor_tells_it(lan, mail_server, ahead_s):
    class Wrong(OtherHost):
        def where(self, name):
            self.wall = getattr(self, "wall", None) or Wall(self)
            self.wall.set(ahead_s)
            return [*super().where(name), "env", *(f"{key}={value}" for key, value in self.wall.environment().items())]

    mail = mail_by(mail_server)
    with BrokersHost(lan, mail) as first:
        first.make_key("sender-b", "sender")
        first.make_key("look-b", "cartbus", "--rights", "ask")
        begin(first, "gateway", "intake", "timer", "waiter", "mirror")
        shop = first.shops["demo"]
        with Wrong(lan, "second", first, {"sender": "sender-b", "cartbus": "look-b"}, ["link.key", "bounce.key"], mail) as second:
            second.start("sender")
            leave_cart(first, shop, "c-1", left_s=first.now_s() - 1.5 * HOUR_S)
            wait_until(lambda: len(mail_server.mails()) == 1, "the mail", 60)
            leave_cart(first, shop, "c-2", "berta@mail.example", left_s=first.now_s() - 1.5 * HOUR_S)
            wait_until(lambda: len(first.log("reminder.sent")) == 2, "the second one's outcome", 60)
            wait_until(lambda: len(mail_server.mails()) == 2, "the second mail: the server answers before it puts a mail into its mailbox", 60)
            assert mailed_to(mail_server) == ["anna@mail.example", "berta@mail.example"]
            told = second.cartbus("doctor", check=False).stdout
            assert f"s {'ahead of' if ahead_s > 0 else 'behind'} the broker's" in told and "set-ntp true" in told
