"""The package is made by the helpers of tests/package, which stand on those of tests/systemd."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "systemd"), str(TESTS / "package")]
