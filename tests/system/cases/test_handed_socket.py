"""A supervisor listens for the gateway (socket activation): a gateway that goes and comes refuses nobody."""

import contextlib
import socket
import threading

from cartbus_system import System, wait_until

RESTARTS = 3
STOREFRONTS = 4
AS_HANDED = 'exec 3<&"$1"; shift; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'  # as systemd does it: the first descriptor is 3


class Supervised(System):
    """Listens for its gateway, and for a gateway alone."""

    def __init__(self):
        super().__init__()
        self.socket = socket.create_server(("127.0.0.1", self.port), backlog=128)

    def handed(self, name):
        return (self.socket.fileno(),) if name == "gateway" else ()

    def where(self, name):
        return ["/bin/bash", "-c", AS_HANDED, "bash", str(self.socket.fileno())] if name == "gateway" else []


class Storefront(threading.Thread):
    """Posts one cart after the other, and notes what did not end with 200."""

    def __init__(self, system, shop, number, over):
        super().__init__()
        self.system, self.shop, self.number, self.over = system, shop, number, over
        self.accepted, self.failed = 0, []

    def run(self):
        while not self.over.is_set():
            cart = f"{self.number}-{self.accepted}"
            webhook = self.shop.cart({"event": "changed", "cart": cart, "email": f"{cart}@example.com", "currency": "EUR",
                                      "total": "12.50", "items": []})
            try:
                answer = self.system.post(webhook, timeout_s=30)
            except OSError as error:
                self.failed.append(repr(error))
                continue
            if answer.status == 200:
                self.accepted += 1
            else:
                self.failed.append(f"{answer.status} {answer.text}")


def test_a_restart_of_the_gateway_under_load_refuses_nobody():
    with Supervised() as system:
        over = threading.Event()
        shop = system.add_shop("demo")
        system.start("broker", "gateway")
        storefronts = [Storefront(system, shop, number, over) for number in range(STOREFRONTS)]
        with contextlib.ExitStack() as at_the_end:
            at_the_end.callback(over.set)
            for storefront in storefronts:
                storefront.start()
            for _ in range(RESTARTS):
                before = sum(storefront.accepted for storefront in storefronts)
                wait_until(lambda: sum(s.accepted for s in storefronts) > before + STOREFRONTS, "carts are taken in")
                system.stop("gateway")
                assert system.processes["gateway"].popen.returncode == 0
                system.start("gateway", wait=False)
        for storefront in storefronts:
            storefront.join()
        assert [failure for storefront in storefronts for failure in storefront.failed] == []
        wait_until(system.drained, "the gateway says all to the broker")
        said = {entry["message"].webhook_id for entry in system.log("cart.changed")}
        assert len(said) == sum(storefront.accepted for storefront in storefronts)


def answered(connection):
    heard = b""
    while part := connection.recv(4096):
        heard += part
    return heard.decode()


def test_a_gateway_that_leaves_answers_who_is_in_and_keeps_nobody():
    with Supervised() as system, contextlib.ExitStack() as at_the_end:
        system.start("broker", "gateway")
        begun, idle = (at_the_end.enter_context(socket.create_connection(("127.0.0.1", system.port), timeout=20)) for _ in range(2))
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in idle.recv(4096)
        begun.sendall(b"GET /healthz HTTP/1.1\r\nHo")
        wait_until(lambda: system.request("GET", "/healthz"), "one that came after it is answered, so it is in")
        gateway = system.processes["gateway"].popen
        gateway.terminate()
        assert answered(idle) == ""  # at its end, not after the time that it may be idle for
        assert gateway.poll() is None
        begun.sendall(b"st: x\r\n\r\n")
        answer = answered(begun)
        assert answer.startswith("HTTP/1.1 200 OK") and "connection: close" in answer.lower()
        assert gateway.wait(20) == 0
        with socket.create_connection(("127.0.0.1", system.port), timeout=20) as newcomer:
            newcomer.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            system.start("gateway", wait=False)
            assert answered(newcomer).startswith("HTTP/1.1 200 OK")


def test_a_socket_that_does_not_listen_is_told_and_not_served():
    with Supervised() as system:
        system.add_shop("demo")
        system.socket.close()
        system.socket = socket.socket()
        system.start("broker")
        gateway = system.start("gateway", wait=False)
        wait_until(lambda: not gateway.running, "the gateway gives up")
        assert gateway.popen.returncode == 1
        assert "cartbus-gateway.socket hands over does not listen" in gateway.tail()
