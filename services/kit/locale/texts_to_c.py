#!/usr/bin/python3
"""texts_to_c.py: a folder with a text file per language becomes a table in C, one row per language

usage: texts_to_c.py FOLDER HEADER TABLE OUT

Each line of FOLDER/<language>.txt is "<field>: <text>". A field is one of struct TABLE in HEADER ("title", "lift.button",
"labels[LINE_SEEN]"). A text that begins or ends with a space stands in double quotes. English comes first. Every other language has to have
exactly the fields of English; what does not fit is an error with its file and line. The table ends with a row without a language.
"""

import pathlib
import re
import sys

LINE = re.compile(r"([a-z_]+(?:\.[a-z_]+|\[[A-Z_]+\])?): *(.*)")


def die(path, number, what):
    sys.exit(f"{path}:{number}: {what}")


def read(path):
    """{field: (line number, text)} of one language."""
    texts = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = LINE.fullmatch(line)
        if not found:
            die(path, number, 'a line has the form "field: text"')
        field, text = found.groups()
        if field in texts:
            die(path, number, f"{field} is in line {texts[field][0]} already")
        if len(text) >= 2 and text[0] == text[-1] == '"':
            text = text[1:-1]
        elif not text or text != text.strip():
            die(path, number, f'{field} has no text, or it ends with a space: put it in "double quotes" if that is meant')
        texts[field] = (number, text)
    return texts


def compare(path, texts, english, english_path):
    for field in english:
        if field not in texts:
            die(path, len(texts), f"{field} is missing; {english_path.name} has it")
    for field, (number, _) in texts.items():
        if field not in english:
            die(path, number, f"{field} is not in {english_path.name}")


def c_string(text):
    return '"' + "".join("\\" + c if c in '"\\' else c for c in text) + '"'


def table_of(folder, header, table):
    paths = sorted(pathlib.Path(folder).glob("*.txt"), key=lambda path: (path.stem != "en", path.stem))
    english = read(paths[0])
    yield f'#include "{header}"\n#include <stddef.h>\n\nconst struct {table} {table}[] = {{'
    for path in paths:
        texts = read(path)
        compare(path, texts, english, paths[0])
        yield f"\t{{ .language = {c_string(path.stem)},"
        for field, (_, text) in texts.items():
            yield f"\t\t.{field} = {c_string(text)},"
        yield "\t},"
    yield "\t{ .language = NULL },\n};"


if len(sys.argv) != 5:
    sys.exit(__doc__)
pathlib.Path(sys.argv[4]).write_text("".join(f"{line}\n" for line in table_of(*sys.argv[1:4])), encoding="utf-8")
