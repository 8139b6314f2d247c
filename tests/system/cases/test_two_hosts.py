"""A sender on another host, cut off while it holds a mail: what it claimed is never mailed again, what it did not is mailed here.

Two network namespaces and two wires: the one to the broker is cut, so that neither end is told; the one to the mail server holds.
The mail server is aiosmtpd, which answers when the test wants it to.
"""

import asyncio
import contextlib
import threading
import time

import pytest
from aiosmtpd.smtp import SMTP

from cartbus_system import wait_until
from two_hosts import TwoHosts, leave_cart

RATE = 3600  # an hour of the shop is a second of ours
RULES = "Small carts (under 40 EUR): remind after 1 hour, then after 30 days. Medium carts: 1 hour, then 30 days.\nBig carts (over 150 EUR): 1 hour, then 30 days.\n"
GIVEN_UP_AFTER_S = 15  # a claim of a sender that fell silent (services/carts/sender/sender.c)


class Holding:
    """Takes mails; those of the far sender wait in `hold` ("RCPT" or "DATA") until they may go on."""

    def __init__(self):
        self.far_address = self.hold = None
        self.reached, self.go_on = threading.Event(), asyncio.Event()
        self.mails = []
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def listen(self, sockets):
        async def begin():
            return [await self.loop.create_server(lambda: SMTP(self, timeout=60), sock=one) for one in sockets]

        self.servers = asyncio.run_coroutine_threadsafe(begin(), self.loop).result()

    async def wait_here(self, verb, session):
        if self.hold == verb and session.peer[0] == self.far_address:
            self.reached.set()
            await self.go_on.wait()

    async def handle_RCPT(self, server, session, envelope, address, options):
        await self.wait_here("RCPT", session)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        self.mails.append((session.peer[0], envelope.rcpt_tos[0]))
        await self.wait_here("DATA", session)
        return "250 kept"

    def let_go(self):
        self.loop.call_soon_threadsafe(self.go_on.set)

    def close(self):
        self.let_go()

        async def end():
            for server in self.servers:
                server.close()

        asyncio.run_coroutine_threadsafe(end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)


@pytest.fixture
def place():
    """Two hosts with a live shop; the far sender alone works, and the mail server holds up what it brings."""
    now_us = int(time.time() * 1e6)
    with contextlib.closing(Holding()) as server, TwoHosts() as hosts:
        server.far_address = hosts.mail.address[hosts.there]
        sockets = [hosts.here.listener(hosts.mail_addresses[0], 0)]
        port = sockets[0].getsockname()[1]
        sockets.append(hosts.here.listener(hosts.mail_addresses[1], port))
        server.listen(sockets)
        hosts.begin({"clock": {"rate": RATE, "origin-real-us": now_us, "origin-wall-us": now_us}}, port)
        hosts.server, hosts.shop = server, hosts.near.add_shop("demo", rules=RULES)
        hosts.near.start("broker")
        hosts.near.start("gateway", "intake", "timer", "waiter", "mirror", wait=False)
        hosts.far.start("sender=far")
        for process in hosts.near.processes.values():
            process.wait_ready()
        hosts.near.cartbus("shop", "mode", "demo", "live")
        yield hosts


def hold_and_cut(place, verb):
    place.server.hold = verb
    leave_cart(place.near, place.shop, "c-1")
    assert place.server.reached.wait(20), "no mail came to the far sender's mail server"
    place.bus.cut()
    cut_s = time.monotonic()
    place.near.start("sender=near")
    return cut_s


def outcomes(near):
    return [entry["topic"].split(".")[1] for entry in near.log() if entry["topic"].startswith("reminder.")
            and entry["topic"] != "reminder.due"]


def test_what_a_cut_off_sender_had_not_claimed_is_mailed_by_another(place):
    cut_s = hold_and_cut(place, "RCPT")
    wait_until(lambda: outcomes(place.near) == ["sent"], "the mail of the other sender", 20)
    print(f"mailed by another {time.monotonic() - cut_s:.1f} s after the cut")
    place.server.let_go()
    place.bus.mend()
    wait_until(lambda: len(place.near.sessions("sender")) == 2, "the far sender being back")
    leave_cart(place.near, place.shop, "c-2", "berta@mail.example")
    wait_until(lambda: outcomes(place.near) == ["sent", "sent"], "a mail afterwards", 20)
    assert [to for _, to in place.server.mails] == ["anna@mail.example", "berta@mail.example"]


def test_what_a_cut_off_sender_had_claimed_waits_for_it(place):
    hold_and_cut(place, "DATA")
    wait_until(lambda: [one["instance"] for one in place.near.sessions("sender")] == ["near"], "the far session's end")
    place.server.let_go()
    wait_until(lambda: place.near.queue_of("sender")["delayed"] == 1, "the other sender waiting for the outcome")
    assert outcomes(place.near) == []
    place.bus.mend()
    wait_until(lambda: outcomes(place.near) == ["sent"], "the outcome")
    assert len(place.server.mails) == 1


def test_a_claim_whose_owner_stays_away_is_ambiguous_and_corrected_when_it_comes_back(place):
    cut_s = hold_and_cut(place, "DATA")
    wait_until(lambda: outcomes(place.near) == ["ambiguous"], "giving the claim up", GIVEN_UP_AFTER_S + 20)
    assert time.monotonic() - cut_s > GIVEN_UP_AFTER_S - 1
    place.server.let_go()
    place.bus.mend()
    wait_until(lambda: outcomes(place.near) == ["ambiguous", "sent"], "the correction")
    assert len(place.server.mails) == 1
