"""The handbook's pages as a machine reads them: where a page begins, what is typed, and what is printed then.

deploy/handbook/README.md tells its readers the same rules. In a fenced block whose first word is `console`

    # command           is typed by root; lines that begin with "> " go on with it
    anything else       is printed, errors too; `...` stands for whatever is there, on a line of its own for any lines
                        (a command with nothing below it prints nothing and ends well)

and "console until" is typed again until it prints that; "console on NAME" is typed on another host of that name, as the text before it
says, and such a page is typed by tests/hosts. A comment of HTML that begins with `stage` is not for readers: a script
that does to the machine what the page speaks of.
"""

import dataclasses
import pathlib
import re

from markdown_it import MarkdownIt

HANDBOOK = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "handbook"
BEGINS = re.compile(r"^Begins: (?:on a fresh Debian 12|where \[[^]]+\]\((?P<page>[\w-]+\.md)\) ends)\b", re.M)
STAGE = re.compile(r"<!-- stage\n(.*?)-->", re.S)
# What differs from one machine and one day to the next; both sides are read so before they are compared.
VARIES = [
    (r"[ \t]+", " "),
    (r"\b\d{4}-?\d\d-?\d\dT\d{6}Z", "MOMENT"),
    (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?", "DATE"),
    (r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b", "DAY"),
    (r"\b\d\d:\d\d(?::\d\d)?\b", "TIME"),
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b", "HASH"),
    (r"\b\d+(?:\.\d+)? (s|ms|h|days?|KiB|MiB|GiB|%)(?!\w)", r"SOME \1"),
    (r"\b(messages?|up to) \d+", r"\1 NUMBER"),
    (r"\b\d+ (messages?|files)\b", r"NUMBER \1"),
]


@dataclasses.dataclass
class Step:
    line: int
    script: str
    prints: str = ""
    until: bool = False
    staged: bool = False
    host: str = ""


def usual(text):
    """The text with what varies replaced by what it is."""
    for pattern, name in VARIES:
        text = re.sub(pattern, name, text)
    return "\n".join(line.strip() for line in text.strip("\n").split("\n"))


def pattern_of(shown):
    lines = []
    for line in usual(shown).split("\n"):
        if line == "...":
            lines.append(r"(?:[^\n]*\n)*?")
        else:
            lines.append("[^\n]*".join(re.escape(part) for part in line.split("...")) + "\n")
    return "".join(lines)


def matches(shown, printed):
    """Is what a command printed what its page shows?"""
    if not shown.strip():
        return not printed.strip()
    return re.fullmatch(pattern_of(shown), usual(printed) + "\n") is not None


def typed(content, line, **how):
    """The commands of a block, each with what is shown below it."""
    step = None
    for number, text in enumerate(content.rstrip("\n").split("\n"), line):
        if text.startswith("# "):
            if step:
                yield step
            step = Step(number, text[2:], **how)
        elif step and not step.prints and text.startswith(("> ", ">")):
            step.script += "\n" + text[2:]
        elif step:
            step.prints += text + "\n"
        else:
            assert not text.strip(), f"line {number}: a block of console begins with a command: {text}"
    if step:
        yield step


class Page:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.text = self.path.read_text()
        self.steps = []
        for token in MarkdownIt().parse(self.text):
            words = token.info.split()
            if token.type == "fence" and words[:1] == ["console"]:
                host = words[words.index("on") + 1] if "on" in words else ""
                self.steps += typed(token.content, token.map[0] + 2, until="until" in words, host=host)
            elif token.type == "html_block":
                self.steps += [Step(token.map[0] + 1, script, staged=True) for script in STAGE.findall(token.content)]
        begins = BEGINS.search(self.text)
        assert begins or not self.steps, f"{self.path.name}: where it begins is not said"
        self.after = begins["page"] if begins else None  # the page whose commands make the machine that this one begins on


def all_pages(folder=HANDBOOK):
    """Those with commands for one host, by name."""
    pages = [Page(path) for path in sorted(folder.glob("*.md"))]
    return {page.path.stem: page for page in pages if page.steps and not any(step.host for step in page.steps)}
