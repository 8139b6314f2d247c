"""plant.py: what one change to a C file can be: a comparison flipped, a call removed, arguments swapped and so on

A file is read as tokens; changes are made inside function bodies only, never in comments, texts, assertions or what is logged.
Each change stays on its line, so that nothing but the change differs. Read next: tests/mutants/run
"""

import dataclasses
import re

TOKEN = re.compile(r"""
    (?P<comment>/\*.*?\*/|//[^\n]*)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<number>\b(?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?)[uUlL]*\b)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

FLIPPED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
SHIFTED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
KEYWORDS = {"if", "while", "for", "switch", "return", "sizeof", "do", "else", "case", "goto"}
UNTOUCHED = re.compile(r"assert|static_assert|log_\w+|LOG_\w+|die|fprintf|printf|perror")
SYNC = re.compile(r"\w*(sync|flush)\w*")


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str
    text: str
    at: int


@dataclasses.dataclass(frozen=True)
class Change:
    """source[start:end] becomes new"""
    kind: str
    start: int
    end: int
    new: str

    def made(self, source):
        return source[:self.start] + self.new + source[self.end:]


def tokens_of(source):
    found = (Token(match.lastgroup, match[0], match.start()) for match in TOKEN.finditer(source))
    return [token for token in found if token.kind not in ("comment", "directive")]


def partners(tokens):
    """Of each opening bracket the index of its closing one, and the other way round."""
    stack, pairs = [], {}
    for i, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text in "([{":
            stack.append(i)
        elif token.text in ")]}" and stack:
            opened = stack.pop()
            pairs[opened], pairs[i] = i, opened
    return pairs


def bodies(tokens, pairs):
    """(first, last) of what stands in each function: a brace at the top of the file, behind a bracket."""
    i = 0
    while i < len(tokens):
        if tokens[i].text == "{" and i in pairs:
            if i > 0 and tokens[i - 1].text == ")":
                yield i + 1, pairs[i]
            i = pairs[i]
        i += 1


class Site:
    def __init__(self, source):
        self.source, self.tokens = source, tokens_of(source)
        self.pairs = partners(self.tokens)

    def text(self, first, last):
        """of the tokens from first to last, both in it"""
        return self.source[self.tokens[first].at:self.end(last)]

    def end(self, i):
        return self.tokens[i].at + len(self.tokens[i].text)

    def is_call(self, i):
        return (self.tokens[i].kind == "word" and self.tokens[i].text not in KEYWORDS and i + 1 < len(self.tokens)
                and self.tokens[i + 1].text == "(" and i + 1 in self.pairs)

    def arguments(self, i):
        """(first, last) of each argument of the call at i"""
        opened, closed = i + 1, self.pairs[i + 1]
        found, first, at = [], opened + 1, opened + 1
        while at <= closed:
            if at == closed or self.tokens[at].text == ",":
                if at > first:
                    found.append((first, at - 1))
                first = at + 1
            if at < closed and self.tokens[at].text in "([{" and at in self.pairs:
                at = self.pairs[at]
            at += 1
        return found

    def change(self, kind, first, last, new):
        return Change(kind, self.tokens[first].at, self.end(last), new)

    # ---- each kind: what it makes of the token at i ----

    def of_sign(self, i):
        text, before = self.tokens[i].text, self.tokens[i - 1]
        compared = before.kind in ("word", "number") or before.text in (")", "]")
        if text in FLIPPED and compared:
            yield self.change("comparison", i, i, FLIPPED[text])
        if text in SHIFTED and compared:
            yield self.change("off by one", i, i, SHIFTED[text])
        if text in ("+", "-") and compared and self.tokens[i + 1].text == "1":
            yield self.change("off by one", i, i + 1, "")
        if text in ("&&", "||"):
            yield self.change("and, or", i, i, "||" if text == "&&" else "&&")
        if text == "!":
            yield self.change("not", i, i, "")

    def of_number(self, i):
        text = self.tokens[i].text
        if not re.fullmatch(r"[0-9]+", text) or self.tokens[i - 1].text in ("[", "case"):
            return
        yield self.change("constant", i, i, {"0": "1", "1": "0"}.get(text, str(int(text) + 1)))

    def of_condition(self, i):
        opened = i + 1
        if self.tokens[i].text != "if" or self.tokens[opened].text != "(" or opened not in self.pairs:
            return
        inner = self.text(opened, self.pairs[opened])
        if "\n" in inner:
            return
        yield self.change("condition", opened, self.pairs[opened], f"(true || {inner})")
        yield self.change("condition", opened, self.pairs[opened], f"(false && {inner})")

    def of_call(self, i):
        if not self.is_call(i) or UNTOUCHED.fullmatch(self.tokens[i].text):
            return
        closed = self.pairs[i + 1]
        whole = self.text(i, closed)
        alone = self.tokens[i - 1].text in (";", "{", "}", "else") and self.tokens[closed + 1].text == ";"
        behind_condition = self.tokens[i - 1].text == ")" and self.tokens[closed + 1].text == ";"
        newlines = "\n" * whole.count("\n")
        if alone or (behind_condition and self.tokens[self.pairs.get(i - 1, i) - 1].text in ("if", "while", "for")):
            yield self.change("removed call", i, closed, "(void)0" + newlines)
        elif SYNC.fullmatch(self.tokens[i].text):
            yield self.change("removed sync", i, closed, "0" + newlines)
        if alone and SYNC.fullmatch(self.tokens[i].text):
            yield self.change("removed sync", i, closed, "(void)0" + newlines)
        given = self.arguments(i)
        for one, other in zip(given, given[1:]):
            left, right = self.text(*one), self.text(*other)
            if left != right and "\n" not in left + right:
                yield Change("swapped arguments", self.tokens[one[0]].at, self.end(other[1]),
                             right + self.source[self.end(one[1]):self.tokens[other[0]].at] + left)

    def changes_at(self, i):
        kind = self.tokens[i].kind
        if kind == "sign":
            yield from self.of_sign(i)
        elif kind == "number":
            yield from self.of_number(i)
        elif kind == "word":
            if self.tokens[i].text in ("true", "false"):
                yield self.change("constant", i, i, "false" if self.tokens[i].text == "true" else "true")
            yield from self.of_condition(i)
            yield from self.of_call(i)

    def changes(self):
        for first, last in bodies(self.tokens, self.pairs):
            i = first
            while i < last:
                if self.is_call(i) and UNTOUCHED.fullmatch(self.tokens[i].text):
                    i = self.pairs[i + 1]
                else:
                    yield from self.changes_at(i)
                i += 1


def changes_of(source):
    """Every change that one may make to this C file."""
    return list(Site(source).changes())


# ---- many changes in one file, each asleep until it is woken (planted.h) ----

@dataclasses.dataclass(frozen=True)
class Body:
    """What stands between a function's braces: source[start:end]"""
    start: int
    end: int
    is_void: bool


def bodies_of(source):
    tokens = tokens_of(source)
    pairs = partners(tokens)
    for first, last in bodies(tokens, pairs):
        opened = pairs[first - 2]  # of its parameters; in front of it are its name, its type and what ends the declaration before
        front = opened - 2
        while front >= 0 and tokens[front].text not in (";", "}"):
            front -= 1
        words = [token.text for token in tokens[front + 1:opened - 1]]
        yield Body(tokens[first - 1].at + 1, tokens[last].at, "void" in words and "*" not in words)


def asleep(source, path, changes):
    """The file with these changes ({number: change}) in it; what the compiler says about one is said of the file "planted-NUMBER"."""
    made, at = [f'#include "tests/mutants/planted.h"\n#line 1 "{path}"\n'], 0
    for body in bodies_of(source):
        inside = {number: change for number, change in changes.items() if body.start <= change.start and change.end <= body.end}
        if not inside:
            continue
        line = source.count("\n", 0, body.start) + 1
        made.append(source[at:body.start])
        for number, change in inside.items():
            changed = source[body.start:change.start] + change.new + source[change.end:body.end]
            made.append(f'{{ static bool planted_seen; if (planted_is_awake({number}, &planted_seen)) {{\n#line {line} "planted-{number}"\n'
                        f'{changed}{" return;" if body.is_void else ""} }} }}\n')
        made.append(f'#line {line} "{path}"\n')
        at = body.start
    made.append(source[at:])
    return "".join(made)
