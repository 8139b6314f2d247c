"""markup_words.py: the texts for people of a folder of pages: their translations (words/LANGUAGE.txt), and the patterns that they are

A pattern is of ICU's MessageFormat: {0}, {0,plural,=0{none} one{# cart} other{# carts}}, {0,select,word{...} other{...}}; two apostrophes are
one, and an apostrophe before a brace quotes up to the next apostrophe. It is parsed here, once, into a list of nodes.
"""

import re
from typing import NamedTuple

from markup_html import At, Fault

ENGLISH = "en"
REQUIRED = ["de"]  # every text has to be in these
CATEGORIES = {"zero", "one", "two", "few", "many", "other"}


class Text(NamedTuple):
    text: str


class Argument(NamedTuple):
    number: int


class Choice(NamedTuple):
    kind: str  # "plural" or "select"
    number: int
    cases: dict  # {key: nodes}


class Translation(NamedTuple):
    nodes: list
    at: At


def normal(text):
    """Line breaks and runs of spaces in a page are one space, as a browser has it."""
    return re.sub(r"\s+", " ", text).strip()


class PatternReader:
    def __init__(self, text, at):
        self.text, self.at, self.position = text, at, 0

    def fault(self, what):
        return Fault(self.at, f'in [[{self.text}]], character {self.position + 1}: {what}')

    def nodes(self, plural, nested):
        """Up to the closing brace, or to the end. `plural` is the argument whose number # stands for."""
        nodes, text = [], ""
        while self.position < len(self.text) and self.text[self.position] != "}":
            c = self.text[self.position]
            if c in "{#" and (c == "{" or plural is not None):
                nodes += [Text(text)] if text else []
                text = ""
                self.position += 1
                nodes.append(self.argument(plural) if c == "{" else Argument(plural))
            elif c == "'":
                text += self.quoted(plural)
            else:
                text += c
                self.position += 1
        if (self.position < len(self.text)) != nested:
            raise self.fault(f"a {'{ has no }' if nested else '} has no {'}; write it, or quote the sign: '{{' or '}}'")
        return nodes + ([Text(text)] if text else [])

    def quoted(self, plural):
        if self.text.startswith("''", self.position):
            self.position += 2
            return "'"
        follows = self.text[self.position + 1 : self.position + 2]
        self.position += 1
        if follows not in ("{", "}") and not (follows == "#" and plural is not None):
            return "'"
        end = self.text.find("'", self.position)
        end = len(self.text) if end < 0 else end
        quoted, self.position = self.text[self.position : end], end + 1
        return quoted

    def take(self, pattern, expected):
        found = re.compile(pattern).match(self.text, self.position)
        if not found:
            raise self.fault(f"expected {expected}; write that, or quote a brace that is meant as a sign: '{{'")
        self.position = found.end()
        return found.group(1)

    def argument(self, plural):
        number = int(self.take(r"\s*(\d{1,2})\s*", "the number of an argument, counted from 0"))
        if self.take(r"([,}])", '"," or "}"') == "}":
            return Argument(number)
        kind = self.take(r"\s*(plural|select)\s*,", '"plural," or "select,"; other forms are filters after the |')
        cases = {}
        while not re.compile(r"\s*\}").match(self.text, self.position):
            key = self.take(r"\s*(=\d+|\w+)\s*\{", "a case such as other{...}")
            if kind == "plural" and key[0] != "=" and key not in CATEGORIES:
                raise self.fault(f"{key} is no plural; write one of {', '.join(sorted(CATEGORIES))}, or =0")
            if key in cases:
                raise self.fault(f"the case {key} is there twice; take one out")
            cases[key] = self.nodes(number if kind == "plural" else plural, True)
            self.position += 1
        self.take(r"\s*(\})", '"}"')
        if "other" not in cases:
            raise self.fault("there is no case other{...}; add it")
        return Choice(kind, number, cases)


def parse(text, at):
    return PatternReader(text, at).nodes(None, False)


def numbers(nodes):
    """The arguments that a pattern uses."""
    used = set()
    for node in nodes:
        if isinstance(node, Argument):
            used.add(node.number)
        if isinstance(node, Choice):
            used.add(node.number)
            used = used.union(*(numbers(case) for case in node.cases.values()))
    return used


def read_translations(path):
    """{English text: Translation} of one file: an English line, the line in the file's language after a tab, an empty line."""
    texts, english, english_at = {}, None, None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        at = At(str(path), number)
        if not line.strip():
            if english is not None:
                raise Fault(english_at, "this text has no translation; write it below, after a tab")
        elif not line.startswith("\t"):
            if english is not None:
                raise Fault(at, "the line above has no translation; write it below that line, after a tab")
            if line != normal(line):
                raise Fault(at, "this text begins or ends with a space or has two in a row; a page has single ones")
            if line in texts:
                raise Fault(at, f"this text is in line {texts[line].at.line} already; take one out")
            english, english_at = line, at
        else:
            if english is None:
                raise Fault(at, "there is no English text above this translation; write it there")
            texts[english] = Translation(parse(line.strip(), at), english_at)
            english = None
    if english is not None:
        raise Fault(english_at, "this text has no translation; write it below, after a tab")
    return texts


class Words:
    """All texts of a folder, and which of them its pages used."""

    def __init__(self, folder):
        self.folder = folder / "words"
        self.files = {path.stem: read_translations(path) for path in sorted(self.folder.glob("*.txt"))}
        self.languages = [ENGLISH, *sorted({*REQUIRED, *self.files})]
        self.used = set()

    def of(self, text, arguments, at):
        """{language: nodes} of one text of a page that gives this many arguments."""
        english = parse(text, at)
        wanted = numbers(english)
        if wanted != set(range(arguments)):
            raise Fault(at, f"[[{text}]] uses the arguments {sorted(wanted)}, and {arguments} follow it; name each once, in order")
        self.used.add(text)
        return {language: english if language == ENGLISH else self.translated(text, language, wanted, at) for language in self.languages}

    def translated(self, text, language, wanted, at):
        found = self.files.get(language, {}).get(text)
        if not found:
            raise Fault(at, f"{self.folder.name}/{language}.txt has no translation of [[{text}]]; add it there")
        if numbers(found.nodes) != wanted:
            raise Fault(At(found.at.path, found.at.line + 1), f"this translation uses the arguments {sorted(numbers(found.nodes))}, the English text {sorted(wanted)}; use the same")
        return found.nodes

    def unused(self):
        for texts in self.files.values():
            for text, translation in texts.items():
                if text not in self.used:
                    yield Fault(translation.at, "no page has this text; take it out, or write it as the page does")
