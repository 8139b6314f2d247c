"""Logging in to a real mail server: Postfix with TLS and Cyrus SASL (OpenSMTPD of Debian 12 cannot offer TLS: its key process does not get on with OpenSSL 3)."""

import smtplib
import ssl

import pytest

from cartbus_system import System, wait_until
from http_peer import Certificates
from postfix_server import PostfixServer
from test_mail_moments import RULES, SERVICES, claims, clock, leave_cart, outcome

LOGIN = ("shop", "correct horse")


@pytest.fixture
def server(tmp_path):
    certificates = Certificates(tmp_path / "ca")
    certificates.context()
    server = PostfixServer(certificates.folder / "server.pem", certificates.folder / "server.key", login=LOGIN)
    server.ca = certificates.ca
    yield server
    server.close()


def alarms(system):
    return [entry["message"] for entry in system.log(topic="alarm") if entry["message"].kind == "mail-server"]


def test_a_wrong_password_is_told_and_drops_nothing_and_the_right_one_lets_all_go(server):
    mail = {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": server.port, "smtp-tls": "starttls", "smtp-ca": server.ca,
            "smtp-user": LOGIN[0]}
    with System({"clock": clock(), "mail": mail}) as system:
        system.write_secret("smtp.password", "wrong")
        system.shop = system.add_shop("demo", rules=RULES)
        system.start(*SERVICES)
        system.cartbus("shop", "mode", "demo", "live")
        addresses = [f"login{i}@mail.example" for i in range(3)]
        for address in addresses:
            leave_cart(system, address)
        told = wait_until(lambda: alarms(system), "the alarm", within_s=40)[0]
        assert told.raised and "Login denied" in told.text and "535" in told.text and "smtp.password" in told.remedy
        assert not any(claims(system, address) for address in addresses) and not server.mails()
        with smtplib.SMTP("127.0.0.1", server.port) as stranger:  # it does ask for a login
            stranger.starttls(context=ssl._create_unverified_context())
            stranger.docmd("MAIL", "FROM:<a@b.example>")
            assert stranger.docmd("RCPT", "TO:<login0@mail.example>")[0] == 554

        system.write_secret("smtp.password", LOGIN[1])  # and nothing is started anew
        wait_until(lambda: all(outcome(system, address) == "sent" for address in addresses), "the mails", within_s=90)
        wait_until(lambda: len(server.mails()) >= len(addresses), "their delivery")
        assert sorted(mail["To"] for mail in server.mails()) == addresses
        wait_until(lambda: not alarms(system)[-1].raised, "the end of the alarm")
        log = "".join(path.read_text() for path in (system.folder / "logs").glob("*.log"))
        assert LOGIN[1] not in log
