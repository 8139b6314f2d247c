"""markup_data.py: the names that a page declares at its head, their types, and what may be done with a value of each type

The declaration is the one description of a page's data: names are resolved by it here, and it becomes the JSON Schema of the page's .json.
"""

import difflib
import json
import re
from typing import NamedTuple

from markup_html import At, Fault

HEAD = re.compile(r"\s*\{\{data\b(.*?)\}\}[ \t]*\n?", re.S)
TYPES = ["list of text", "list of number", "text", "number", "flag", "time", "list", "object", "chart"]
DECLARATION = re.compile(rf"(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s+(?P<type>{'|'.join(TYPES)})\b(?P<null>\??)(?:\s+(?P<about>.*))?")
# The types that a filter takes; True: it takes a path as its argument, too.
FILTERS = {
    "time": ({"time"}, False),
    "clock": ({"time"}, False),
    "day": ({"time", "text"}, False),
    "ago": ({"time"}, False),
    "span": ({"number"}, False),
    "money": ({"number"}, True),
    "percent": ({"number"}, False),
    "bytes": ({"number"}, False),
    "plain": ({"number", "time"}, False),
}
CHART = {
    "type": "object",
    "properties": {
        "unit": {"type": ["string", "null"]},
        "series": {"type": "array", "maxItems": 3, "items": {"type": "object", "properties": {"name": {"type": "string"}, "class": {"type": "string"}}}},
        "points": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"day": {"type": "string"}, "label": {"type": "string"}, "values": {"type": "array", "items": {"type": ["number", "null"]}}},
                "required": ["values"],
            },
        },
    },
    "required": ["series", "points"],
}
SCHEMAS = {
    "text": {"type": "string"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "time": {"type": "integer", "description": "microseconds since 1970, UTC"},
    "chart": CHART,
    "list of text": {"type": "array", "items": {"type": "string"}},
    "list of number": {"type": "array", "items": {"type": "number"}},
}


class Declared(NamedTuple):
    type: str
    may_be_null: bool
    about: str
    at: At


class Scope(NamedTuple):
    prefix: str  # of the declared names of its row: "carts."
    row_type: str  # of a list of texts or numbers: of the row itself
    has_key: bool


class Value:
    """A resolved name: where it lies, and how it is shown."""

    def __init__(self, name, level, path, kind):
        self.name, self.level, self.path, self.type = name, level, path, kind
        self.path_text = ".".join(path)
        self.filter, self.argument = None, None

    @staticmethod
    def of(data, found, at, in_words=False):
        """From the groups path, filter and argument of a placeholder."""
        value = data.find(found.group("path"), at)
        value.filter = found.group("filter")
        if value.filter and value.filter not in FILTERS:
            raise Fault(at, f"there is no filter {value.filter}; one of {', '.join(FILTERS)}")
        if found.group("argument"):
            value.argument = data.find(found.group("argument"), at)
            value.argument.must_be({"text"}, at, "a currency is a text")
        if value.filter and FILTERS[value.filter][1] != bool(value.argument):
            raise Fault(at, f"{value.filter} takes " + ("the path of its currency; write it behind" if FILTERS[value.filter][1] else "no argument; take it out"))
        if not in_words:
            value.must_be_shown(at)
        return value

    def must_be(self, types, at, why):
        if self.type.split(" ")[0] not in types and self.type not in types:
            raise Fault(at, f"{self.name} is declared as {self.type}, and {why}; declare it as {' or '.join(sorted(types))}, or name another")

    def must_be_shown(self, at):
        if self.filter:
            self.must_be(FILTERS[self.filter][0], at, f"{self.filter} shows another type")
        elif self.type == "time":
            raise Fault(at, f"{self.name} is a time; say how it is shown: |time, |clock, |day or |ago")
        elif self.type not in ("text", "number"):
            raise Fault(at, f"{self.name} is a {self.type}, which is no text; use " + ("{{#if}}" if self.type == "flag" else "one of its members, {{#each}}, {{bars}} or {{spark}}"))


class Data:
    def __init__(self):
        self.declared, self.scopes = {}, [Scope("", None, True)]

    @staticmethod
    def at_head_of(path, text):
        """The declarations of a page, and the rest of its text."""
        data, found = Data(), HEAD.match(text)
        if not found:
            return data, text
        first = 1 + text.count("\n", 0, found.start(1))
        for number, line in enumerate(found.group(1).split("\n"), first):
            if line.strip():
                data.declare(line.strip(), At(path, number))
        return data, text[found.end() :]

    def declare(self, line, at):
        found = DECLARATION.fullmatch(line)
        if not found:
            raise Fault(at, f'"{line}" declares nothing; write NAME and one of {", ".join(TYPES)}, with a ? if it may be null')
        name = found.group("name")
        if name in self.declared:
            raise Fault(at, f"{name} is declared in line {self.declared[name].at.line} already; take one out")
        above = name.rpartition(".")[0]
        if above and (above not in self.declared or self.declared[above].type not in ("list", "object")):
            raise Fault(at, f"{above} is not declared as a list or an object above; write it there")
        self.declared[name] = Declared(found.group("type"), bool(found.group("null")), found.group("about") or "", at)

    # --- names ---

    def depth(self):
        return len(self.scopes) - 1

    def enter(self, value, has_key):
        of = value.type.partition(" of ")[2] or None
        self.scopes.append(Scope(value.name + ".", of, has_key and self.rows_have_keys(value)))

    def leave(self):
        self.scopes.pop()

    def rows_have_keys(self, value):
        return self.scopes[value.level].has_key

    def find(self, path, at):
        """The name in the row, then in those around it."""
        if path == ".":
            if not self.scopes[-1].row_type:
                raise Fault(at, "{{.}} is the row of a list of text or number; name a member of the row instead")
            return Value("this row", self.depth(), [], self.scopes[-1].row_type)
        first = path.split(".")[0]
        for level in reversed(range(len(self.scopes))):
            if self.scopes[level].prefix + first in self.declared:
                return self.member(level, path, at)
        raise Fault(at, f"{path} is not declared; {self.nearest(path)}")

    def member(self, level, path, at):
        name, steps = self.scopes[level].prefix, path.split(".")
        for step, more in zip(steps, [*steps[1:], None]):
            name += step
            if name not in self.declared:
                raise Fault(at, f"{path} is not declared; {self.nearest(name)}")
            kind = self.declared[name].type
            if more and kind != "object":
                raise Fault(at, f"{name} is declared as {kind}, which has no members here; " + ("go through it with {{#each}}" if kind.startswith("list") else "declare it as object"))
            name += "."
        return Value(name[:-1], level, steps, kind)

    def nearest(self, name):
        near = difflib.get_close_matches(name, self.declared, 1)
        return f"did you mean {near[0]}?" if near else f'write "{name} TYPE" into {{{{data at the head of the page'

    # --- the schema ---

    def schema(self):
        return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **self.object_schema("")}, ensure_ascii=False, separators=(",", ":"))

    def object_schema(self, prefix):
        members = {name[len(prefix) :]: declared for name, declared in self.declared.items() if name.startswith(prefix) and "." not in name[len(prefix) :]}
        properties = {name: self.value_schema(prefix + name, declared) for name, declared in members.items()}
        required = [name for name, declared in members.items() if not declared.may_be_null]
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}

    def value_schema(self, name, declared):
        if declared.type == "object":
            schema = self.object_schema(name + ".")
        elif declared.type == "list":
            schema = {"type": "array", "items": self.object_schema(name + ".")}
        else:
            schema = dict(SCHEMAS[declared.type])
        if declared.may_be_null:
            schema["type"] = [schema["type"], "null"]
        return {**schema, "description": declared.about} if declared.about else schema
