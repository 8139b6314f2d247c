"""reached.py: a plug-in of pytest: each test's processes tell what they reach in a file of the test's own

In the folder CARTBUS_REACHED_FOLDER, beside tests.json: nothing; the file's name is the test's, quoted. See planted.h.
"""

import os
import pathlib
import urllib.parse

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    path = pathlib.Path(os.environ["CARTBUS_REACHED_FOLDER"]) / urllib.parse.quote(item.nodeid, safe="")
    path.touch()
    path.chmod(0o666)  # processes of other users write, too
    os.environ["CARTBUS_REACHED"] = str(path)
