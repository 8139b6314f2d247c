"""Senders beside each other, with the settings that are shipped and a mail server that takes 100 ms for each mail."""

import pathlib
import subprocess
import sys
import threading
import time

from mailing import Mailing
from place import BUILD, cpu_s, free_port, report

MAIL_TAKES_MS = 100
SECONDS, EXPECTED_OF_ONE, SENDERS = 8, 75, 4
STEADY = (0.2, 0.9)  # of a batch's mails: all senders have work
WITHIN_S = 120


class Slow(Mailing):
    def __init__(self):
        self.smtp_port, self.taken_s = free_port(), []
        super().__init__(f"[mail]\ntransport = smtp\nsmtp-host = 127.0.0.1\nsmtp-port = {self.smtp_port}\nsmtp-tls = none\n")

    def serve(self):
        server = self.spawn(sys.executable, pathlib.Path(__file__).with_name("slow_smtp.py"), self.smtp_port, MAIL_TAKES_MS,
                            stdout=subprocess.PIPE)
        threading.Thread(target=lambda: self.taken_s.extend(float(line) for line in server.stdout), daemon=True).start()
        return server

    def add_sender(self, number):
        return self.spawn(BUILD / "bin" / "cartbus-sender", "--config", self.config, "--instance", f"sender-{number}", stderr=self.log)

    def rate(self, carts, prefix):
        """Mails a second in the middle of so many."""
        before, deadline = len(self.taken_s), time.monotonic() + WITHIN_S
        self.post(carts, 32, prefix)
        while len(self.taken_s) < before + carts:
            if time.monotonic() > deadline:
                sys.exit(f"only {len(self.taken_s) - before} of {carts} carts were mailed within {WITHIN_S} s")
            time.sleep(0.05)  # between two looks
        first, last = (before + int(carts * part) for part in STEADY)
        return (last - first) / (self.taken_s[last] - self.taken_s[first])


def run(long):
    with Slow() as place:
        server = place.serve()
        place.start()
        one = place.rate(SECONDS * EXPECTED_OF_ONE, "one")
        report("senders.one_rate", f"{one:.0f}", "mails/s")
        for number in range(2, SENDERS + 1):
            place.add_sender(number)
        before, began = cpu_s([server.pid]), time.monotonic()
        four = place.rate(SECONDS * EXPECTED_OF_ONE * SENDERS, "four")
        report("senders.four_rate", f"{four:.0f}", "mails/s")
        report("senders.four.ratio", f"{four / one:.2f}", "")
        report("senders.mail_server_cpu", f"{(cpu_s([server.pid]) - before) / (time.monotonic() - began) * 100:.0f}", "%")
