"""markup_code.py: writes compiled pages as tables in C: struct markup and struct markup_op of markup.h"""

from typing import NamedTuple


class Op:
    """One row of a page's table; `middle` and `end` are places in it (markup.h tells their meaning)."""

    def __init__(self, code, value=None, filter=None, argument=None, place=None, text=None, negated=False):
        self.code, self.value, self.filter, self.argument = code, value, filter, argument
        self.place, self.text, self.negated = place, text, negated
        self.middle, self.end = 0, 0


class Page(NamedTuple):
    name: str
    ops: list
    schema: str


ESCAPES = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\t"): "\\t", ord("?"): "\\?"}  # ?: no trigraphs


def c_string(text):
    return '"' + "".join(ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}") for byte in text.encode()) + '"'


class Paths:
    """Each path once, as an array of its names."""

    def __init__(self):
        self.names = {}

    def of(self, value):
        return self.names.setdefault(tuple(value.path), f"path_{len(self.names)}")

    def code(self):
        for path, name in self.names.items():
            yield f"static const char *const {name}[] = {{ {''.join(c_string(step) + ', ' for step in path)}NULL }};"


def op_code(op, paths):
    fields = [f".code = MARKUP_{op.code}"]
    if op.value:
        fields += [f".level = {op.value.level}", f".path = {paths.of(op.value)}"]
    if op.argument:
        fields += [f".argument_level = {op.argument.level}", f".argument = {paths.of(op.argument)}"]
    if op.filter:
        fields.append(f".filter = MARKUP_AS_{op.filter.upper()}")
    if op.place:
        fields.append(f".place = {op.place}")
    if op.text is not None:
        fields += [f".text = {c_string(op.text)}", f".size = {len(op.text.encode())}"]
    if op.negated:
        fields.append(".negated = true")
    if op.end:
        fields += [f".middle = {op.middle}", f".end = {op.end}"]
    return f"\t{{ {', '.join(fields)} }},"


def page_code(page, paths):
    yield f"static const struct markup_op {page.name}_ops[] = {{"
    yield from (op_code(op, paths) for op in page.ops)
    yield "\t{ .code = MARKUP_TEXT, .text = \"\" },\n};"  # so that an empty page is a table, too
    yield f"extern const struct markup {page.name}_markup;"
    yield f"const struct markup {page.name}_markup = {{\n\t.name = {c_string(page.name)},\n\t.ops = {page.name}_ops,"
    yield f"\t.count = {len(page.ops)},\n\t.schema = {c_string(page.schema)},\n}};"


def write(pages):
    paths = Paths()
    tables = [line for page in pages for line in page_code(page, paths)]
    return "\n".join(['#include "services/kit/console/markup.h"', "#include <stddef.h>", *paths.code(), *tables]) + "\n"
