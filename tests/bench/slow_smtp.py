"""A mail server that takes its time: slow_smtp.py PORT MILLISECONDS. Prints the moment at which it has taken each mail.

Speaks as much SMTP (RFC 5321) as a sender says: EHLO, MAIL, RCPT, DATA, RSET, NOOP, QUIT. Every mail is answered for after so
many milliseconds, however many are under way, and then forgotten.
"""

import asyncio
import sys
import time

ANSWERS = {b"EHLO": b"250 slow\r\n", b"HELO": b"250 slow\r\n", b"MAIL": b"250 OK\r\n", b"RCPT": b"250 OK\r\n", b"RSET": b"250 OK\r\n",
           b"NOOP": b"250 OK\r\n", b"DATA": b"354 go on\r\n"}
END = b"\r\n.\r\n"


class Conversation(asyncio.Protocol):
    def __init__(self, delay_s):
        self.delay_s, self.heard, self.in_data = delay_s, b"", False

    def connection_made(self, transport):
        self.transport = transport
        transport.write(b"220 slow ESMTP\r\n")

    def data_received(self, data):
        self.heard += data
        while self.take_mail() if self.in_data else self.take_line():
            pass

    def take_line(self):
        line, end, rest = self.heard.partition(b"\r\n")
        if not end:
            return False
        self.heard, verb = rest, line[:4].upper()
        self.in_data = verb == b"DATA"
        self.transport.write(ANSWERS.get(verb, b"221 bye\r\n" if verb == b"QUIT" else b"502 what?\r\n"))
        if verb == b"QUIT":
            self.transport.close()
        return True

    def take_mail(self):
        mail, end, rest = self.heard.partition(END)
        if not end:
            return False
        self.heard, self.in_data = rest, False
        asyncio.get_running_loop().call_later(self.delay_s, self.answer)
        return True

    def answer(self):
        if not self.transport.is_closing():
            print(time.monotonic(), flush=True)
            self.transport.write(b"250 taken\r\n")


async def main(port, milliseconds):
    server = await asyncio.get_running_loop().create_server(lambda: Conversation(int(milliseconds) / 1000), "127.0.0.1", int(port))
    await server.serve_forever()


asyncio.run(main(*sys.argv[1:]))
