"""What the tests from the outside share: where their helpers lie, and a real mail server."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "system"))

from smtp_server import SmtpServer  # noqa: E402  (found through the path above)


@pytest.fixture
def mail_server():
    server = SmtpServer()
    yield server
    server.close()
