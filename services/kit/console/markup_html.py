"""markup_html.py: judges the HTML of a page while it is read, and tells in which place of it a value would stand

A page is literal HTML with placeholders in between. The judge reads the literal parts in order and writes them out. It knows the open tags
and the attribute that is being read, so that it can name the place of the next placeholder: markup_to_c.py chooses the escaping by it. What
would make a page unsafe, unreadable to a screen reader, or different in the browser from what the author meant is a Fault with its line.
"""

import html
import re
from typing import NamedTuple


class At(NamedTuple):
    path: str
    line: int


class Fault(Exception):
    def __init__(self, at, what):
        super().__init__(f"{at.path}:{at.line}: {what}")


TEXT, TAG, VALUE = "text", "tag", "value"  # what is being read: text, the inside of a tag, an attribute in quotes

VOID = set("area br col hr img input link meta source track wbr".split())
FORBIDDEN = {
    "style": "put the rules into a file of assets/ and name its class",
    "base": "it changes what every link means; take it out",
    "object": "use <img> or <iframe>",
    "embed": "use <img> or <iframe>",
    "applet": "take it out",
    "frame": "use <iframe>",
    "frameset": "use <iframe>",
    "plaintext": "use <pre>",
    "xmp": "use <pre>",
    "animate": "it could set an address that nobody checks; take it out",
    "set": "it could set an address that nobody checks; take it out",
}
# The children that a browser leaves where they are; it moves all others elsewhere.
CHILDREN = {
    "table": set("caption colgroup thead tbody tfoot tr".split()),
    "thead": {"tr"},
    "tbody": {"tr"},
    "tfoot": {"tr"},
    "tr": {"td", "th"},
    "colgroup": {"col"},
    "ul": {"li"},
    "ol": {"li"},
    "dl": {"dt", "dd", "div"},
    "select": {"option", "optgroup"},
    "optgroup": {"option"},
    "html": {"head", "body"},
    "head": set("title meta link script noscript".split()),
}
PARENTS = {child: {parent for parent in CHILDREN if child in CHILDREN[parent]} for child in "tr td th li dt dd option caption".split()}
PARENTS["option"].add("datalist")
PARENTS["li"].add("menu")
PARENTS["dt"].add("div")
PARENTS["dd"].add("div")
ONLY_TEXT = {"title", "textarea", "option", "desc", "text"}
KEEPS_SPACE = {"pre", "textarea"}
ENDS_PARAGRAPH = set(
    "address article aside blockquote details dialog div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul".split()
)
NOT_IN_ITSELF = {"a", "button", "form", "label", "h1", "h2", "h3", "h4", "h5", "h6"}
URLS = set("href src action formaction poster cite data ping background longdesc manifest xlink:href".split())
SENT_TO = {"action", "formaction"}
OUR_OWN = {"script", "link"}  # what they load acts on the whole page
FOR_PEOPLE = {"title", "alt", "placeholder", "label", "summary", "aria-label", "aria-description", "aria-valuetext", "aria-roledescription"}
NEED_LABEL = {"input", "select", "textarea"}
NEED_NO_LABEL = {"hidden", "submit", "button", "reset", "image"}
OF_EVERY_FORM = {"t", "once"}  # the hidden fields that the compiler writes
SAFE_URL = re.compile(r"/(?![/\\])|[#?]|https?://|mailto:", re.I)

START = re.compile(r"<([a-zA-Z][\w:-]*)")
END = re.compile(r"</([a-zA-Z][\w:-]*)\s*>")
DOCTYPE = re.compile(r"<!doctype html>", re.I)
NAME = re.compile(r"[^\s=\"'<>/{}\[\]]+")
EQUALS = re.compile(r"\s*=\s*")


class Attribute(NamedTuple):
    source: str  # as it stands in the page, placeholders included
    at: At
    has_values: bool
    branch: tuple


class Open(NamedTuple):
    name: str
    at: At


class Judge:
    """emit(text) takes finished HTML; prefix() is called where the installation's path prefix belongs, form() behind the tag of a form that posts."""

    def __init__(self, emit, prefix, form):
        self.emit, self.prefix, self.form = emit, prefix, form
        self.mode, self.stack = TEXT, []
        self.tag, self.attributes = None, {}  # being read
        self.name, self.quote, self.source, self.has_values, self.url_begun = None, None, "", False, False
        self.branch = ()  # ((number of a section, its part), ...) around what is being read
        self.ids, self.labels, self.unlabelled = {}, set(), []

    # --- sections: both parts have to leave the page in the same state ---

    def state(self):
        in_value = (self.name, self.quote, self.url_begun) if self.mode == VALUE else None
        return (self.mode, tuple(self.stack), self.tag if self.mode != TEXT else None, in_value)

    def restore(self, state):
        self.mode, stack, self.tag, in_value = state
        self.stack = list(stack)
        if in_value:
            self.name, self.quote, self.url_begun = in_value

    def same(self, ours, theirs, at):
        """Both parts of a section ended: ours and theirs are their states. The lines of open tags do not count."""
        if ours == theirs or self.shape(ours) == self.shape(theirs):
            return
        raise Fault(at, f"the parts of this section leave the page in different states ({self.named(ours)}; {self.named(theirs)}); open and close tags and quotes in the same part")

    @staticmethod
    def shape(state):
        return (state[0], tuple(element.name for element in state[1]), *state[2:])

    @staticmethod
    def named(state):
        mode, stack, tag, in_value = state
        inside = f" in <{tag}>" if mode == TAG else f" in {in_value[0]}= of <{tag}>" if mode == VALUE else ""
        return ("inside " + " ".join(f"<{element.name}>" for element in stack) if stack else "no open tag") + inside

    @staticmethod
    def may_meet(one, other):
        """Whether two branches can both be in one page."""
        parts = dict(one)
        return all(parts.get(number, part) == part for number, part in other)

    # --- places ---

    def inside(self):
        return self.stack[-1].name if self.stack else None

    def place(self, at, what):
        """Where a value would stand now: "text", "plain" (no tags), "attribute", "machine" (no grouping of digits), "url" (from its beginning), "component"."""
        if self.mode == TAG:
            raise Fault(at, f"{what} stands between the attributes of <{self.tag}>; put it into a quoted value")
        if self.mode == VALUE:
            return self.place_in_value(at, what)
        if self.inside() == "script":
            raise Fault(at, f"{what} stands in <script>; put it into a data- attribute that the script reads")
        if self.inside() in CHILDREN:
            raise Fault(at, f"{what} stands directly in <{self.inside()}>, from where a browser moves it away; put it into a child of it")
        return "plain" if self.inside() in ONLY_TEXT else "text"

    def place_in_value(self, at, what):
        name = self.name.lower()
        if name in ("srcset", "imagesrcset"):
            raise Fault(at, f"{what} stands in {name}=; use src=")
        if self.tag in OUR_OWN and name in URLS and what != "asset":
            raise Fault(at, f"<{self.tag}> loads our assets alone; use {{{{asset NAME}}}}")
        if name in SENT_TO and not self.url_begun:
            raise Fault(at, f"{what} could send the form and its token to another site; write the beginning of the address")
        if name in URLS:
            return "component" if self.url_begun else "url"
        return "attribute" if name in FOR_PEOPLE or (name == "value" and self.tag == "input" and self.is_button()) else "machine"

    def is_button(self):
        kind = self.attributes.get("type")
        return kind is not None and kind.source.lower() in ("submit", "button", "reset")

    def wrote(self, source):
        """A value was written: `source` is its placeholder."""
        if self.mode == VALUE:
            self.source += source
            self.has_values = self.url_begun = True

    # --- literal HTML ---

    def literal(self, text, at):
        position = 0
        while position < len(text):
            here = At(at.path, at.line + text.count("\n", 0, position))
            position = {TEXT: self.read_text, TAG: self.read_tag, VALUE: self.read_value}[self.mode](text, position, here)

    def read_text(self, text, start, at):
        end = text.find("<", start)
        end = len(text) if end < 0 else end
        if end > start:
            self.write_text(text[start:end], at)
            return end
        if text.startswith("<!--", start):
            return self.past_comment(text, start, at)
        for pattern, read in ((DOCTYPE, self.doctype), (END, self.close), (START, self.open)):
            found = pattern.match(text, start)
            if found:
                read(found, at)
                return found.end()
        raise Fault(at, 'a "<" that begins no tag; write &lt;, or close the tag before the placeholder')

    @staticmethod
    def past_comment(text, start, at):
        end = text.find("-->", start)
        if end < 0:
            raise Fault(at, "a comment holds a placeholder or is not closed; take the placeholder out, or write -->")
        return end + len("-->")

    def write_text(self, text, at):
        if self.inside() == "script" and text.strip():
            raise Fault(at, "a script stands in the page; put it into a file of assets/ and name it in src=")
        if self.inside() in CHILDREN and text.strip():
            raise Fault(at, f"text stands directly in <{self.inside()}>, from where a browser moves it away; put it into a child of it")
        if not KEEPS_SPACE & {element.name for element in self.stack}:
            text = re.sub(r"\s*\n\s*", "\n", text)
            text = re.sub(r"[ \t]+", " ", text)
        self.emit(text)

    def doctype(self, found, at):
        if self.stack:
            raise Fault(at, "<!doctype> is the first line of a page; move it there")
        self.emit(found.group())

    def close(self, found, at):
        name = found.group(1).lower()
        if not self.stack or name in VOID:
            raise Fault(at, f"</{name}> closes nothing; take it out")
        if self.stack[-1].name != name:
            last = self.stack[-1]
            raise Fault(at, f"</{name}> comes while <{last.name}> of line {last.at.line} is open; close that first")
        self.stack.pop()
        self.emit(f"</{found.group(1)}>")

    def open(self, found, at):
        name = found.group(1).lower()
        around = [element.name for element in self.stack]
        if name in FORBIDDEN:
            raise Fault(at, f"<{name}> may not be in a page; {FORBIDDEN[name]}")
        if self.inside() in ONLY_TEXT:
            raise Fault(at, f"<{name}> stands in <{self.inside()}>, which holds text alone; close that first")
        if self.inside() in CHILDREN and name not in CHILDREN[self.inside()] | {"script", "template"}:
            raise Fault(at, f"<{name}> stands directly in <{self.inside()}>; put it into one of {', '.join(sorted(CHILDREN[self.inside()]))}")
        if name in PARENTS and self.inside() not in PARENTS[name]:
            raise Fault(at, f"<{name}> stands in <{self.inside()}>; put it directly into one of {', '.join(sorted(PARENTS[name]))}")
        if name in NOT_IN_ITSELF and name in around:
            raise Fault(at, f"<{name}> stands in another <{name}>; close that first")
        if name in ENDS_PARAGRAPH and "p" in around:
            raise Fault(at, f"<{name}> ends the paragraph around it; close <p> first, or make it a <div>")
        self.emit(found.group())
        self.mode, self.tag, self.attributes, self.tag_at = TAG, name, {}, at

    # --- tags ---

    def read_tag(self, text, start, at):
        if text[start].isspace():
            return start + 1
        closed = text.startswith("/>", start)
        if closed or text[start] == ">":
            self.finish_tag(closed, at)
            return start + (2 if closed else 1)
        found = NAME.match(text, start)
        if not found:
            raise Fault(at, f'"{text[start]}" is no attribute of <{self.tag}>; write name="value"')
        return self.read_name(found, text, at)

    def read_name(self, found, text, at):
        name = found.group()
        self.judge_name(name, at)
        equals = EQUALS.match(text, found.end())
        if not equals:
            self.keep_attribute(name, Attribute("", at, False, self.branch))
            self.emit(f" {name}")
            return found.end()
        quote = text[equals.end() : equals.end() + 1]
        if quote not in ('"', "'") or not quote:
            raise Fault(at, f'the value of {name}= has no quotes; write {name}="..."')
        self.mode, self.name, self.quote = VALUE, name, quote
        self.source, self.has_values, self.url_begun, self.value_at = "", False, False, at
        self.emit(f" {name}={quote}")
        return equals.end() + 1

    def judge_name(self, name, at):
        lower = name.lower()
        if lower == "style":
            raise Fault(at, "style= is refused by the browser here; give it a class of the style sheet")
        if lower.startswith("on"):
            raise Fault(at, f"{lower}= is refused by the browser here; let a script of assets/ listen")
        if lower == "srcdoc":
            raise Fault(at, "srcdoc= holds HTML that nobody checks; give the frame an address of its own")
        if lower == "formmethod":
            raise Fault(at, "formmethod= would post without the form's token; give the form its method")

    def keep_attribute(self, name, attribute):
        lower = name.lower()
        before = self.attributes.get(lower)
        if before and self.may_meet(before.branch, attribute.branch):
            raise Fault(attribute.at, f"<{self.tag}> has {lower}= twice; take one out")
        self.attributes[lower] = attribute

    def read_value(self, text, start, at):
        end = text.find(self.quote, start)
        part = text[start : len(text) if end < 0 else end]
        if part:
            if self.name.lower() in URLS and not self.url_begun:
                self.begin_url(part, at)
            self.emit(part)
            self.source += part
        if end < 0:
            return len(text)
        self.emit(self.quote)
        self.keep_attribute(self.name, Attribute(self.source, self.value_at, self.has_values, self.branch))
        self.mode = TAG
        return end + 1

    def begin_url(self, part, at):
        self.url_begun = True
        if not SAFE_URL.match(html.unescape(part)):
            raise Fault(at, f'{self.name}="{part}" is no address; begin it with one /, http://, https://, mailto:, # or ?')
        if self.tag in OUR_OWN and not part.startswith("/"):
            raise Fault(at, f"<{self.tag}> loads our assets alone; use {{{{asset NAME}}}}")
        if self.name.lower() in SENT_TO and part[0] not in "/?#":
            raise Fault(at, f"{self.name}= would send the form and its token to another site; begin the address with /")
        if part.startswith("/"):
            self.prefix()

    def finish_tag(self, closed, at):
        in_drawing = self.tag == "svg" or "svg" in [element.name for element in self.stack]
        self.judge_tag(self.tag_at)
        self.mode = TEXT
        if closed and in_drawing:
            self.emit("/>")
            return
        if closed and self.tag not in VOID:
            raise Fault(at, f"<{self.tag}/> does not close itself in HTML; write </{self.tag}>")
        self.emit(">")
        if self.tag not in VOID:
            self.stack.append(Open(self.tag, self.tag_at))
        if self.tag == "textarea":
            self.emit("\n")  # a browser drops one: so the text may begin with another
        if self.tag == "form" and self.attributes["method"].source.lower() == "post":
            self.form()

    # --- what a tag has to have ---

    def judge_tag(self, at):
        if self.tag == "img" and "alt" not in self.attributes:
            raise Fault(at, '<img> has no alt=; say what it shows, or alt="" if it only decorates')
        if self.tag == "iframe" and "title" not in self.attributes:
            raise Fault(at, "<iframe> has no title=; say what it shows")
        if self.tag == "th" and "scope" not in self.attributes:
            raise Fault(at, '<th> has no scope=; write scope="col" or scope="row"')
        if self.tag == "script" and "src" not in self.attributes:
            raise Fault(at, "a script stands in the page; put it into a file of assets/ and name it in src=")
        if self.tag == "meta" and "http-equiv" in self.attributes and self.attributes.get("content", Attribute("", at, False, ())).has_values:
            raise Fault(at, "<meta http-equiv> holds a value; write its content out")
        if self.tag == "form":
            self.judge_form(at)
        if self.tag == "input" and self.has_reserved_name():
            raise Fault(at, "each form that posts gets its fields t and once by itself; give this one another name")
        self.judge_label(at)
        self.judge_id(at)

    def has_reserved_name(self):
        name = self.attributes.get("name")
        return name is not None and name.source in OF_EVERY_FORM

    def judge_form(self, at):
        method = self.attributes.get("method")
        if not method or method.source.lower() not in ("get", "post") or method.has_values or method.branch != self.branch:
            raise Fault(at, '<form> does not say how it is sent; write method="post" or method="get"')

    def judge_id(self, at):
        own = self.attributes.get("id")
        if not own or own.has_values:
            return
        if any(part == "each" for _, part in self.branch):
            raise Fault(at, f'id="{own.source}" would repeat with each row; put a value of the row into it')
        for branch, line in self.ids.get(own.source, []):
            if self.may_meet(branch, self.branch):
                raise Fault(at, f'id="{own.source}" is in line {line} already; choose another')
        self.ids.setdefault(own.source, []).append((self.branch, at.line))

    def judge_label(self, at):
        if self.tag == "label" and "for" in self.attributes:
            self.labels.add(self.attributes["for"].source)
        if self.tag not in NEED_LABEL or "aria-label" in self.attributes or "aria-labelledby" in self.attributes:
            return
        kind = self.attributes.get("type")
        if (kind and kind.source.lower() in NEED_NO_LABEL and self.tag == "input") or "label" in [element.name for element in self.stack]:
            return
        own = self.attributes.get("id")
        self.unlabelled.append((own.source if own else None, self.tag, at))

    def end(self, at):
        """The page is over."""
        if self.mode != TEXT:
            raise Fault(self.tag_at, f"<{self.tag}> is not closed; write > and its quotes")
        if self.stack:
            raise Fault(self.stack[-1].at, f"<{self.stack[-1].name}> is not closed; write </{self.stack[-1].name}>")
        for own, tag, where in self.unlabelled:
            if own not in self.labels or own is None:
                raise Fault(where, f'<{tag}> has no label; put it into a <label>, or give it an id that <label for="..."> names, or aria-label=')
