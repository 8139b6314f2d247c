"""Between a sender and its mail server: passes bytes on, holds what the server says at a moment of a mail's way, and cuts."""

import contextlib
import socket
import struct
import threading


class HoldingProxy:
    """`hold`: "all" the server says; what it says "data" (to DATA) or "dot" (to the last byte) of an SMTP mail; None: nothing.
    Or one of these for each recipient."""

    def __init__(self, port):
        self.to, self.hold = port, None
        self.held, self.go = threading.Event(), threading.Event()
        self.holding = set()  # recipients whose mail is held
        self.bodies = 0  # whose every byte but the last has passed
        self.pairs = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                client.close()
                continue
            pair = {"client": client, "server": server, "said": b"", "in_body": False, "to": ""}
            self.pairs.append(pair)
            for one, other in (("client", "server"), ("server", "client")):
                threading.Thread(target=self._pump, args=(pair, one, other), daemon=True).start()

    def _pump(self, pair, one, other):
        try:
            while data := pair[one].recv(65536):
                if one == "client":
                    self._note(pair, data)
                elif self._holds(pair):
                    self.holding.add(pair["to"])
                    self.held.set()
                    self.go.wait()
                pair[other].sendall(data)
        except OSError:
            pass
        for end in (one, other):
            with contextlib.suppress(OSError):
                pair[end].shutdown(socket.SHUT_RDWR)

    def _note(self, pair, data):
        pair["said"] = (pair["said"] + data)[-6:]
        if not pair["in_body"] and data[:9].upper() == b"RCPT TO:<":
            pair["to"] = data[9:data.index(b">")].decode()
        if pair["said"].endswith(b"DATA\r\n"):
            pair["in_body"] = True
        elif pair["in_body"] and pair["said"].endswith(b"\r\n.\r\n"):
            pair["in_body"] = False
        elif pair["in_body"] and pair["said"].endswith(b"\r\n"):
            self.bodies += 1

    def _holds(self, pair):
        at = "data" if pair["said"].endswith(b"DATA\r\n") else "dot" if pair["said"].endswith(b"\r\n.\r\n") else ""
        hold = self.hold.get(pair["to"]) if isinstance(self.hold, dict) else self.hold
        return hold == "all" or (hold is not None and hold == at)

    def begin(self, hold):
        self.held.clear()
        self.holding.clear()
        self.go.clear()
        self.hold = hold

    def end(self):
        """From now on everything passes, also what was held."""
        self.hold = None
        self.go.set()

    def cut(self):
        for pair in self.pairs:
            for end in ("client", "server"):
                with contextlib.suppress(OSError):
                    pair[end].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    pair[end].shutdown(socket.SHUT_RDWR)
                    pair[end].close()
        self.pairs = []

    def close(self):
        self.end()
        self.listener.close()
        self.cut()
