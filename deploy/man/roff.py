"""roff.py: text as man pages want it: what roff would read as its own is escaped."""

import re

ESCAPES = {"\\": "\\e", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}


def escaped(text):
    text = "".join(ESCAPES.get(letter, letter) for letter in text)
    return "\\&" + text if text.startswith(".") else text


def literal(text):
    """What is typed: each hyphen is a minus, so that it can be copied."""
    return escaped(text).replace("-", "\\-")


def bold(text):
    return f"\\fB{literal(text)}\\fR" if text else ""


def italic(text):
    return f"\\fI{literal(text)}\\fR" if text else ""


def placed(text):
    """A usage: FILE and [SHOP] are to be replaced, all else is typed."""
    return re.sub(r"[A-Z][A-Z-]*|[^A-Z]+", lambda part: (italic if part.group(0)[0].isupper() else bold)(part.group(0)), text)


def prose(text):
    """Words to read; what stands between backticks, options and paths are typed."""
    parts = re.split(r"(`[^`]+`|(?<![\w-])--?[a-z][\w-]*)", text)
    return "".join(bold(part.strip("`")) if number % 2 else escaped(part) for number, part in enumerate(parts))


class Page:
    """Lines of one page: heads, paragraphs, terms with what they mean, and what is to be shown as it is."""

    def __init__(self, name, section, version, date, summary):
        self.file = f"{name}.{section}"
        self.lines = [
            f'.TH {literal(name.upper())} {section} {date} "cartbus {version}" "cartbus"',
            ".SH NAME",
            f"{literal(name)} \\- {prose(summary)}",
        ]

    def head(self, title):
        self.lines.append(f".SH {title}")

    def subhead(self, title):
        self.lines.append(f".SS {escaped(title)}")

    def paragraph(self, text):
        if not self.lines[-1].startswith((".SH", ".SS")):
            self.lines.append(".PP")
        self.lines.append(prose(text))

    def usage(self, program, rest=""):
        self.lines.append(" ".join(part for part in (bold(program), placed(rest)) if part))

    def term(self, markup, text):
        self.lines += [".TP", markup, prose(text) if text else "\\&"]

    def inner_terms(self, terms):
        """Terms below a term."""
        self.lines.append(".RS")
        for markup, text in terms:
            self.term(markup, text)
        self.lines.append(".RE")

    def shown(self, text):
        self.lines += [".sp", ".RS", ".nf"]
        self.lines += [literal(line.removeprefix("  ")) or "\\&" for line in text.strip("\n").split("\n")]
        self.lines += [".fi", ".RE"]

    def text(self):
        return "\n".join(self.lines) + "\n"
