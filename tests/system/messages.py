"""The modules of proto/*.proto, made from the sources by protoc, once per process."""

import functools
import importlib
import pathlib
import subprocess
import sys
import tempfile

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"


@functools.cache
def messages(name):
    """messages("cart"): the module of cart.proto."""
    with tempfile.TemporaryDirectory(prefix="cartbus-proto-") as folder:
        subprocess.run(["protoc", "-I", str(PROTO), f"--python_out={folder}", f"{name}.proto"], check=True)
        sys.path.insert(0, folder)
        try:
            return importlib.import_module(f"{name}_pb2")
        finally:
            sys.path.remove(folder)
