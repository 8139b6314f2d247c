"""The messages of proto/*.proto, made from the sources by protoc, once per process."""

import functools
import importlib
import pathlib
import subprocess
import sys
import tempfile
import types

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"


@functools.cache
def messages(name):
    """messages("cart"): the messages and enums of cart.proto, and of the files that it imports."""
    with tempfile.TemporaryDirectory(prefix="cartbus-proto-") as folder:
        sources = sorted(path.name for path in PROTO.glob("*.proto"))
        subprocess.run(["protoc", "-I", str(PROTO), f"--python_out={folder}", *sources], check=True)
        sys.path.insert(0, folder)
        try:
            module = importlib.import_module(f"{name}_pb2")
            imported = [importlib.import_module(f"{file.name[:-6]}_pb2") for file in module.DESCRIPTOR.dependencies]
        finally:
            sys.path.remove(folder)
    names = types.SimpleNamespace()
    for one in (*imported, module):
        vars(names).update({word: value for word, value in vars(one).items() if not word.startswith("_")})
    return names
