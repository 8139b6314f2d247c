"""reached.py: a plug-in of pytest: each test's processes tell what they reach in a file of the test's own

In the folder CARTBUS_REACHED_FOLDER, where_told names the file. See planted.h.
"""

import hashlib
import os
import pathlib
import re
import urllib.parse

import pytest

NAME_MOST = 200  # a file system takes 255 bytes


def without_group(test):
    """The name that a test is asked by: run side by side, one of a group (xdist_group) has "@GROUP" behind it."""
    return re.sub(r"@[^\]@]*$", "", test)


def where_told(folder, test):
    """The file of the test with this name; what is told of a test with parameters may have a name longer than a file may have."""
    name = urllib.parse.quote(test, safe="")
    if len(name) > NAME_MOST:
        name = f"{name[:NAME_MOST - 64]}{hashlib.sha256(test.encode()).hexdigest()}"
    return pathlib.Path(folder) / name


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    path = where_told(os.environ["CARTBUS_REACHED_FOLDER"], without_group(item.nodeid))
    path.touch()
    path.chmod(0o666)  # processes of other users write, too
    os.environ["CARTBUS_REACHED"] = str(path)
