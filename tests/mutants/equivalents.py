"""equivalents.py: the table of changes that are known to make no difference that anybody could see

In the file `equivalent`, one after the other, behind the path of the code's file:

  bus/base/bytes.c
  - the line as it stands
  + the line as it is changed
  = why nobody can tell them apart
"""

import pathlib
import sys

import judge as judging

TABLE = pathlib.Path(__file__).resolve().parent / "equivalent"


def read():
    """{(path, line, changed line)}; what is not in the code any more, or has no reason, ends the run."""
    known, path, before, after = set(), "", "", ""
    for number, text in enumerate(TABLE.read_text().splitlines(), 1):
        if not text or text.startswith("#"):
            continue
        sign, rest = text[:2], text[2:].strip()
        if sign == "- ":
            before = rest
        elif sign == "+ ":
            after = rest
        elif sign == "= ":
            lines = [line.strip() for line in judging.read(path).splitlines()]
            if not rest or not after or before not in lines:
                sys.exit(f"{TABLE.name}:{number}: {path} has no such line, or no change or reason is given")
            known.add((path, before, after))
            before = after = ""
        else:
            path = text.strip()
    return known
