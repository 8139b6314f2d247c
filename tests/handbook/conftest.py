"""The machines are those of tests/systemd, the package that of tests/package."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "systemd"), str(TESTS / "package")]
