#!/usr/bin/python3
"""markup_to_c.py: a folder of pages becomes tables in C (README.md tells their syntax)

usage: markup_to_c.py FOLDER OUT

Each FOLDER/NAME.html becomes `const struct markup NAME_markup` of services/kit/console/markup.h; a file that begins with _ is a part of others.
Everything that can be wrong with a page is told here, as "FILE:LINE: what is wrong; what to do", so that the runtime only walks the tables.
Read next: markup_data.py (the names of a page), markup_html.py (its HTML), markup_words.py (its texts), markup_code.py (what is written)
"""

import html
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # the sources' folder stays as it is

import markup_code
import markup_words
from markup_code import Op
from markup_data import Data, Value
from markup_html import At, Fault, Judge

TOKEN = re.compile(r"\[\[(?P<words>.*?)\]\]|\{\{(?P<name>(?:\[\[.*?\]\]|(?!\}\}).)*)\}\}", re.S)
STRAY = re.compile(r"\{\{|\}\}|\[\[|\]\]")
NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
PLACEHOLDER = re.compile(rf"(?P<live>live\s+)?(?P<path>{NAME}|\.)(?:\s*\|\s*(?P<filter>\w+)(?:\s+(?P<argument>{NAME}))?)?")
EACH = re.compile(rf"#each\s+(?P<path>{NAME})(?:\s+key\s*=\s*(?P<key>{NAME}|\.))?")
IF = re.compile(rf'#if\s+(?P<negated>not\s+)?(?P<path>{NAME}|\.)(?:\s+is\s+"(?P<word>[^"]*)")?')
CHART = re.compile(rf"(?P<kind>bars|spark)\s+(?P<path>{NAME})(?P<words>(?:\s*\[\[.*?\]\])*)", re.S)
ASSET = re.compile(r"asset\s+(?P<name>[\w./-]+)")
PART = re.compile(r">\s*(?P<name>[a-z]\w*)")
PAGE_NAME = re.compile(r"[a-z][a-z0-9_]*")
PARTS_DEEP = 10
LISTS_DEEP = 6  # MARKUP_LISTS_MAX of markup.h
IN_PLACE = {"text": "MARKUP_IN_TEXT", "plain": "MARKUP_IN_PLAIN", "attribute": "MARKUP_IN_ATTRIBUTE", "machine": "MARKUP_IN_MACHINE", "url": "MARKUP_IN_URL", "component": "MARKUP_IN_COMPONENT", "raw": "MARKUP_RAW"}


def tokens(path, text, first_line):
    """("literal", text, at), ("words", pattern, at), ("name", placeholder, at), in order."""
    position = 0
    for found in [*TOKEN.finditer(text), None]:
        start = found.start() if found else len(text)
        at = At(path, first_line + text.count("\n", 0, position))
        literal = text[position:start]
        stray = STRAY.search(literal)
        if stray:
            line = at.line + literal.count("\n", 0, stray.start())
            raise Fault(At(path, line), f"{stray.group()} has no partner; close it, or write &#123; and &#91; for the signs themselves")
        if literal:
            yield "literal", literal, at
        if found:
            kind = "words" if found.group("words") is not None else "name"
            yield kind, found.group(kind), At(path, first_line + text.count("\n", 0, start))
            position = found.end()


class Section:
    """An open {{#each}} or {{#if}}."""

    def __init__(self, kind, op, at, state, number, branch):
        self.kind, self.op, self.at, self.state, self.number, self.branch = kind, op, at, state, number, branch
        self.first_end = None  # the state at {{#else}} or {{#none}}


class Compiler:
    """Turns one page into ops. `words` are those of its folder."""

    def __init__(self, path, words):
        self.path, self.words, self.is_layout = path, words, path.stem.endswith("layout")
        self.ops, self.sections, self.sections_ever, self.fresh = [], [], 0, True
        self.contents = 0
        self.judge = Judge(self.emit, lambda: self.add("PREFIX"), lambda: self.add("FORM"))
        self.data = None

    # --- ops ---

    def add(self, code, **fields):
        op = Op(code, **fields)
        self.ops.append(op)
        self.fresh = True
        return op

    def emit(self, text):
        if not self.fresh and self.ops and self.ops[-1].code == "TEXT":
            self.ops[-1].text += text
            return
        if text:
            self.add("TEXT", text=text)
            self.fresh = False

    def here(self):
        self.fresh = True
        return len(self.ops)

    # --- a page and its parts ---

    def compile(self):
        text = self.path.read_text(encoding="utf-8")
        self.data, rest = Data.at_head_of(str(self.path), text)
        first = text.count("\n", 0, len(text) - len(rest)) + 1
        self.run(str(self.path), rest.rstrip(), first, ())
        end = At(str(self.path), text.count("\n") + 1)
        if self.sections:
            raise Fault(self.sections[-1].at, f"{{{{#{self.sections[-1].kind}}}}} is not closed; write {{{{/{self.sections[-1].kind}}}}}")
        self.judge.end(end)
        if self.is_layout and not self.contents:
            raise Fault(At(str(self.path), 1), "this layout has no place for the page; write {{content}} there")

    def run(self, path, text, first_line, around):
        for kind, content, at in tokens(path, text, first_line):
            if kind == "literal":
                self.judge.literal(content, at)
            elif kind == "words":
                self.add_words(content, at)
            else:
                self.placeholder(content, at, around)

    def part(self, name, at, around):
        path = self.path.parent / f"_{name}.html"
        if not path.is_file():
            raise Fault(at, f"there is no {path.name} in this folder; make it, or mend the name")
        if str(path) in around or len(around) >= PARTS_DEEP:
            raise Fault(at, f"{path.name} contains itself; take this out")
        text = path.read_text(encoding="utf-8")
        if text.lstrip().startswith("{{data"):
            raise Fault(At(str(path), 1), "a part has the names of the page around it; declare them there")
        self.run(str(path), text.strip(), 1 + text[: len(text) - len(text.lstrip())].count("\n"), (*around, str(path)))

    def placeholder(self, content, at, around):
        content = content.strip()
        rows = [
            (PART, lambda found: self.part(found.group("name"), at, around)),
            (EACH, lambda found: self.each(found, at)),
            (IF, lambda found: self.condition(found, at)),
            (re.compile(r"#(?P<kind>else|none)"), lambda found: self.other_part(found.group("kind"), at)),
            (re.compile(r"/(?P<kind>if|each)"), lambda found: self.close(found.group("kind"), at)),
            (ASSET, lambda found: self.asset(found.group("name"), at)),
            (CHART, lambda found: self.chart(found, at)),
            (re.compile("content"), lambda found: self.content(at)),
            (PLACEHOLDER, lambda found: self.value(found, content, at)),
        ]
        for pattern, compile_it in rows:
            found = pattern.fullmatch(content)
            if found:
                return compile_it(found)
        if content.startswith("data"):
            raise Fault(at, "{{data is not at the head of the page; move it there")
        raise Fault(at, f"{{{{{content}}}}} is not understood; README.md of services/kit/console has what there is")

    # --- sections ---

    def begin(self, kind, op, at):
        self.sections_ever += 1
        self.judge.has_values = True  # of an attribute that is being read: what it says depends on data
        self.sections.append(Section(kind, op, at, self.judge.state(), self.sections_ever, self.judge.branch))
        self.judge.branch = (*self.judge.branch, (self.sections_ever, "each" if kind == "each" else "then"))
        self.fresh = True

    def each(self, found, at):
        value = self.data.find(found.group("path"), at)
        value.must_be({"list"}, at, "{{#each}} goes through a list")
        if self.data.depth() >= LISTS_DEEP:
            raise Fault(at, f"there are {LISTS_DEEP} lists around this one; give the inner ones a page of their own")
        self.data.enter(value, found.group("key") is not None)
        key = None
        if found.group("key"):
            key = self.data.find(found.group("key"), at)
            key.must_be({"text", "number"}, at, "a key names its row")
            if key.level != self.data.depth():
                raise Fault(at, f"{key.name} is the same for all rows; name a member of the row")
        self.begin("each", self.add("EACH", value=value, argument=key, text=found.group("path")), at)

    def condition(self, found, at):
        value, word = self.data.find(found.group("path"), at), found.group("word")
        if word is not None:
            value.must_be({"text"}, at, 'a value that is "a word" is a text')
        self.begin("if", self.add("IF", value=value, text=word, negated=bool(found.group("negated"))), at)

    def other_part(self, kind, at):
        section, belongs = self.sections[-1] if self.sections else None, "if" if kind == "else" else "each"
        if not section or section.kind != belongs or section.first_end:
            raise Fault(at, f"{{{{#{kind}}}}} belongs into a {{{{#{belongs}}}}}, once; move it there")
        if kind == "none":
            self.data.leave()
        section.first_end = self.judge.state()
        section.op.middle = self.here()
        self.judge.restore(section.state)
        self.judge.branch = (*section.branch, (section.number, kind))

    def close(self, kind, at):
        section = self.sections.pop() if self.sections else None
        if not section or section.kind != kind:
            raise Fault(at, f"{{{{/{kind}}}}} closes nothing here; " + (f"{{{{#{section.kind}}}}} of line {section.at.line} is open" if section else "take it out"))
        if kind == "each" and not section.first_end:
            self.data.leave()
        ended = self.judge.state()
        self.judge.same(section.first_end or section.state, ended, at)
        if kind == "each":
            self.judge.same(section.state, ended, at)
        section.op.end = self.here()
        section.op.middle = section.op.middle or section.op.end
        self.judge.branch = section.branch

    # --- values ---

    def value(self, found, content, at):
        value = Value.of(self.data, found, at)
        place = self.judge.place(at, f"{{{{{content}}}}}")
        if found.group("live"):
            if place != "text":
                raise Fault(at, f"{{{{{content}}}}} is live where no tag may stand; take live out")
            if not self.data.rows_have_keys(value):
                raise Fault(at, f"{{{{{content}}}}} is live in a list whose rows have no name; write {{{{#each LIST key=FIELD}}}}")
        if place in ("url", "component") and value.filter not in (None, "plain"):
            raise Fault(at, f"{value.filter} is for people, and this is an address; take it out, or use plain")
        code, key = ("LIVE", value.path_text) if found.group("live") else ("VALUE", None)
        self.add(code, value=value, filter=value.filter, argument=value.argument, place=IN_PLACE[place], text=key)
        self.judge.wrote(f"{{{{{content}}}}}")

    def asset(self, name, at):
        if self.judge.place(at, "asset") != "url":
            raise Fault(at, "{{asset}} is a whole address; write it alone into href= or src=")
        self.add("ASSET", text=name)
        self.judge.wrote(f"{{{{asset {name}}}}}")

    def content(self, at):
        if not self.is_layout:
            raise Fault(at, "{{content}} is for layouts, whose files' names end in layout.html; take it out")
        if self.judge.place(at, "{{content}}") != "text" or self.contents or any(section.kind == "each" for section in self.sections):
            raise Fault(at, "{{content}} stands once, where text may be; take this out")
        self.contents += 1
        self.add("CONTENT")

    def chart(self, found, at):
        value = self.data.find(found.group("path"), at)
        kind, around = found.group("kind"), [element.name for element in self.judge.stack]
        value.must_be({"chart"} if kind == "bars" else {"chart", "list of number"}, at, f"{kind} draws a chart")
        if self.judge.place(at, "a chart") != "text" or (kind == "bars" and "p" in around):
            raise Fault(at, "a chart stands where tags may be, and bars not in <p>; move it there")
        op = self.add(kind.upper(), value=value)
        for pattern in re.findall(r"\[\[(.*?)\]\]", found.group("words"), re.S):
            self.words_in("raw", pattern, at)
        op.end = op.middle = self.here()

    # --- texts for people ---

    def add_words(self, content, at):
        place = self.judge.place(at, f"[[{markup_words.normal(content)}]]")
        if place in ("url", "component"):
            raise Fault(at, "a text for people stands in an address; write the address itself")
        self.words_in(place, content, at)
        self.judge.wrote(f"[[{content}]]")

    def words_in(self, place, content, at):
        pattern, bar, names = content.partition("|")
        values = [self.argument(name.strip(), at) for name in names.split(",")] if bar else []
        op = self.add("WORDS")
        for language, nodes in self.words.of(markup_words.normal(pattern), len(values), at).items():
            self.case(language, nodes, values, place, at)
        op.end = op.middle = self.here()

    def argument(self, name, at):
        found = PLACEHOLDER.fullmatch(name)
        if not found or found.group("live"):
            raise Fault(at, f'"{name}" is no argument of a text; write PATH or PATH|FILTER')
        return Value.of(self.data, found, at, in_words=True)

    def case(self, key, nodes, values, place, at):
        op = self.add("CASE", text=key)
        for node in nodes:
            if isinstance(node, markup_words.Text):
                self.emit(node.text if place == "raw" else html.escape(node.text))
            elif isinstance(node, markup_words.Argument):
                value = values[node.number]
                value.must_be_shown(at)
                self.add("VALUE", value=value, filter=value.filter, argument=value.argument, place=IN_PLACE[place])
            else:
                self.choice(node, values, place, at)
        op.end = op.middle = self.here()

    def choice(self, node, values, place, at):
        value = values[node.number]
        value.must_be({"number"} if node.kind == "plural" else {"text"}, at, f"{node.kind} chooses by it")
        op = self.add(node.kind.upper(), value=value)
        for key, nodes in node.cases.items():
            self.case(key, nodes, values, place, at)
        op.end = op.middle = self.here()


def compile_folder(folder, out):
    """All pages; the faults of each, if there are any."""
    faults, pages = [], []
    try:
        words = markup_words.Words(folder)
    except Fault as fault:
        return [fault]
    for path in sorted(folder.glob("*.html")):
        if path.name.startswith("_"):
            continue
        try:
            if not PAGE_NAME.fullmatch(path.stem):
                raise Fault(At(str(path), 1), "a page's name is a name in C; write it in small letters, digits and _")
            page = Compiler(path, words)
            page.compile()
            pages.append(markup_code.Page(path.stem, page.ops, page.data.schema()))
        except Fault as fault:
            faults.append(fault)
        except UnicodeDecodeError as error:
            faults.append(Fault(At(str(path), path.read_bytes()[: error.start].count(b"\n") + 1), "this is no UTF-8; save the file as UTF-8"))
    if not pages and not faults:
        faults.append(Fault(At(str(folder), 1), "there is no page in this folder; make NAME.html"))
    faults += [] if faults else words.unused()
    if not faults:
        out.write_text(markup_code.write(pages), encoding="utf-8")
    return faults


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    faults = compile_folder(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    sys.exit("\n".join(str(fault) for fault in faults) if faults else 0)


if __name__ == "__main__":
    main()
