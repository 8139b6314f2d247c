"""refused_pages.py SOURCE: each fault of a page is refused with its file, its line and what to do; and each that the compiler knows is tried here."""

import inspect
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True
COMPILER = pathlib.Path(sys.argv[1]) / "services/kit/console"
sys.path.insert(0, str(COMPILER))

import markup_html
import markup_to_c

DATA = "{{data\na text\nn number\nf flag\nt time\nl list\nl.b text\no object\no.c text\nc chart\ns list of text\n}}\n"  # 12 lines: a page begins in line 13
RAISES = re.compile(r"(raise|yield|return|\.append\()\s*(self\.)?[Ff]ault\(")
reached = set()

# A page behind DATA; its line counted from 1 after DATA; what is said.
PAGES = [
    # names and types
    ("{{x}}", 1, "x is not declared"),
    ("\n{{aa}}", 2, "did you mean a?"),
    ("{{o.d}}", 1, "o.d is not declared; did you mean o.c?"),
    ("{{l.b}}", 1, "go through it with {{#each}}"),
    ("{{a.b}}", 1, "declare it as object"),
    ("{{b}}", 1, "b is not declared"),
    ("{{#each l}}{{/each}}{{b}}", 1, "b is not declared"),
    ("{{#each l}}{{#none}}{{b}}{{/each}}", 1, "b is not declared"),
    ("{{t}}", 1, "say how it is shown"),
    ("{{f}}", 1, "use {{#if}}"),
    ("{{l}}", 1, "{{#each}}"),
    ("{{c}}", 1, "{{bars}}"),
    ("{{.}}", 1, "the row of a list of text"),
    ("{{#each l}}{{.}}{{/each}}", 1, "the row of a list of text"),
    ("{{#each a}}{{/each}}", 1, "goes through a list"),
    ("{{#each l key=o}}{{/each}}", 1, "a key names its row"),
    ('{{#if n is "x"}}{{/if}}', 1, 'a value that is "a word" is a text'),
    ("{{bars l}}", 1, "bars draws a chart"),
    ("{{bars s}}", 1, "bars draws a chart"),
    ("{{spark s}}", 1, "spark draws a chart"),
    ("{{data\nx text\n}}", 1, "not at the head"),
    # filters
    ("{{a|shout}}", 1, "no filter shout; one of time"),
    ("{{a|time}}", 1, "time shows another type; declare it as time"),
    ("{{t|money a}}", 1, "money shows another type"),
    ("{{n|money}}", 1, "money takes the path of its currency"),
    ("{{n|money n}}", 1, "a currency is a text"),
    ("{{n|plain a}}", 1, "plain takes no argument"),
    ('<a href="/{{t|time}}">x</a>', 1, "time is for people"),
    ("{{a | b | c}}", 1, "is not understood"),
    ("{{{a}}}", 1, "is not understood"),
    ("{{a\n", 1, "{{ has no partner"),
    ("\n\na }} b", 3, "}} has no partner"),
    ("[[a", 1, "[[ has no partner"),
    # live
    ("{{#each l}}{{live b}}{{/each}}", 1, "rows have no name"),
    ("{{#each l}}{{#each l key=b}}{{live a}}{{/each}}{{#each s key=.}}{{live .}}{{/each}}{{live b}}{{/each}}", 1, "rows have no name"),
    ("{{#each s key=a}}{{/each}}", 1, "the same for all rows"),
    ('<p title="{{live a}}"></p>', 1, "live where no tag may stand"),
    ("<title>{{live a}}</title>", 1, "live where no tag may stand"),
    # sections
    ("{{#if a}}", 1, "{{#if}} is not closed"),
    ("\n{{#each l}}", 2, "{{#each}} is not closed"),
    ("{{/if}}", 1, "closes nothing here; take it out"),
    ("{{#each l}}{{/if}}", 1, "{{#each}} of line 13 is open"),
    ("{{#else}}", 1, "{{#else}} belongs into a {{#if}}"),
    ("{{#each l}}{{#else}}{{/each}}", 1, "{{#else}} belongs into a {{#if}}"),
    ("{{#if a}}{{#none}}{{/if}}", 1, "{{#none}} belongs into a {{#each}}"),
    ("{{#if a}}{{#else}}{{#else}}{{/if}}", 1, "once; move it there"),
    ("{{#if a}}<b>{{/if}}</b>", 1, "different states"),
    ("{{#if a}}<b>{{#else}}<i>{{/if}}</b>", 1, "inside <b>; inside <i>"),
    ("{{#each l}}<b>{{/each}}", 1, "different states"),
    ("{{#each l}}<b>{{#none}}<b>{{/each}}", 1, "different states"),
    ('<p {{#if a}}title="{{/if}}">', 1, "different states"),
    ('<a href="{{#if a}}/x{{/if}}">x</a>', 1, "different states"),
    ("{{#each l}}" * 7 + "{{/each}}" * 7, 1, "there are 6 lists around"),
    # places
    ("<p {{a}}></p>", 1, "between the attributes of <p>"),
    ("<p title={{a}}></p>", 1, "title= has no quotes"),
    ("<p\ntitle=x></p>", 2, "title= has no quotes"),
    ("<{{a}}>", 1, "begins no tag"),
    ("a < b", 1, "write &lt;"),
    ("<p {x}></p>", 1, "is no attribute of <p>"),
    ("<!-- {{a}} -->", 1, "a comment holds a placeholder"),
    ("<!-- a", 1, "or is not closed"),
    ('<script src="{{asset x.js}}">{{a}}</script>', 1, "put it into a data- attribute"),
    ("<table>{{a}}</table>", 1, "stands directly in <table>"),
    ("<ul>text</ul>", 1, "text stands directly in <ul>"),
    ('<img alt="" srcset="{{a}}">', 1, "use src="),
    ("{{asset x.js}}", 1, "{{asset}} is a whole address"),
    ('<a href="/{{asset x}}">x</a>', 1, "{{asset}} is a whole address"),
    ("{{content}}", 1, "{{content}} is for layouts"),
    ("<title>{{bars c}}</title>", 1, "a chart stands where tags may be"),
    ("<p>{{bars c}}</p>", 1, "bars not in <p>"),
    ('<a href="[[x]]">x</a>', 1, "a text for people stands in an address"),
    # addresses
    ('<a href="javascript:alert(1)">x</a>', 1, "is no address"),
    ('<a\nhref="//evil.example/{{a}}">x</a>', 2, "is no address"),
    ('<a href="/\\evil">x</a>', 1, "is no address"),
    ('<a href="page.html">x</a>', 1, "is no address"),
    ('<form method="post" action="ftp://x"></form>', 1, "is no address"),
    ('<script src="{{a}}"></script>', 1, "loads our assets alone"),
    ('<script src="https://cdn.example/x.js"></script>', 1, "loads our assets alone"),
    ('<link rel="stylesheet" href="{{a}}">', 1, "<link> loads our assets alone"),
    ('<form method="post" action="{{a}}"></form>', 1, "could send the form and its token"),
    ('<button formaction="https://evil.example/">x</button>', 1, "would send the form and its token"),
    ('<a href="&#106;avascript:x">x</a>', 1, "is no address"),
    # what the browser refuses, and what is unsafe
    ('<p style="color: red"></p>', 1, "style= is refused"),
    ('<p onclick="x()"></p>', 1, "onclick= is refused"),
    ("<style>p {}</style>", 1, "<style> may not be in a page"),
    ("<object></object>", 1, "<object> may not be in a page"),
    ("<script>x()</script>", 1, "a script stands in the page"),
    ('<script src="{{asset x.js}}">x()</script>', 1, "a script stands in the page"),
    ('<iframe title="x" srcdoc="x"></iframe>', 1, "srcdoc= holds HTML"),
    ('<meta http-equiv="refresh" content="{{n}}">', 1, "<meta http-equiv> holds a value"),
    ('<button formmethod="post">x</button>', 1, "formmethod="),
    ("<form></form>", 1, "<form> does not say how it is sent"),
    ('<form method="{{a}}"></form>', 1, "<form> does not say how it is sent"),
    ('<form {{#if a}}method="post"{{/if}}></form>', 1, "<form> does not say how it is sent"),
    ('<form method="post"><input type="hidden" name="once" value="{{a}}"></form>', 1, "give this one another name"),
    # for those who do not see it
    ('<img src="/x">', 1, "<img> has no alt="),
    ("<iframe></iframe>", 1, "<iframe> has no title="),
    ("<table><tr><th>x</th></tr></table>", 1, "<th> has no scope="),
    ('\n<input name="x">', 2, "<input> has no label"),
    ('<select id="x"></select><label for="y">y</label>', 1, "<select> has no label"),
    ("<textarea></textarea>", 1, "<textarea> has no label"),
    ('<p id="x"></p>\n<p id="x"></p>', 2, 'id="x" is in line 13 already'),
    ('<p id="x"></p>{{#if a}}<p id="x"></p>{{/if}}', 1, 'id="x" is in line 13 already'),
    ('{{#each l}}<p id="x"></p>{{/each}}', 1, "would repeat with each row"),
    # nesting
    ("<p>\n<b></p>", 2, "</p> comes while <b> of line 14 is open"),
    ("</p>", 1, "</p> closes nothing"),
    ("<br></br>", 1, "</br> closes nothing"),
    ("<p>", 1, "<p> is not closed"),
    ("<p", 1, "<p> is not closed"),
    ('<p title="x', 1, "<p> is not closed"),
    ("<div/>", 1, "does not close itself"),
    ("<p><div></div></p>", 1, "ends the paragraph around it"),
    ("<a><b><a></a></b></a>", 1, "<a> stands in another <a>"),
    ("<table><div></div></table>", 1, "<div> stands directly in <table>"),
    ("<p><li>x</li></p>", 1, "<li> stands in <p>"),
    ("<td>x</td>", 1, "<td> stands in"),
    ("<title><b></b></title>", 1, "holds text alone"),
    ('<p title="a" title="b"></p>', 1, "title= twice"),
    ("<p><!doctype html></p>", 1, "is the first line of a page"),
    # parts
    ("{{>gone}}", 1, "there is no _gone.html"),
]

# Whole folders: {file: text}, the file and line of the fault, what is said.
TEXTS = "Save\n\tSpeichern\n"
FOLDERS = [
    ({"p.html": "{{data\na text\na text\n}}"}, "p.html:3", "a is declared in line 2 already"),
    ({"p.html": "{{data\na string\n}}"}, "p.html:2", '"a string" declares nothing'),
    ({"p.html": "{{data\na text\na.b text\n}}"}, "p.html:3", "a is not declared as a list or an object"),
    ({"p.html": "x", "Page.html": "x"}, "Page.html:1", "a page's name is a name in C"),
    ({"_part.html": "x"}, "pages:1", "there is no page"),
    ({"p.html": b"a\n\xff"}, "p.html:2", "no UTF-8"),
    ({"layout.html": "<main></main>"}, "layout.html:1", "no place for the page"),
    ({"layout.html": "{{content}}{{content}}"}, "layout.html:1", "{{content}} stands once"),
    ({"layout.html": "<title>{{content}}</title>"}, "layout.html:1", "where text may be"),
    ({"p.html": "{{>a}}", "_a.html": "\n\n{{x}}"}, "_a.html:3", "x is not declared"),
    ({"p.html": "{{>a}}", "_a.html": "{{>b}}", "_b.html": "\n{{>a}}"}, "_b.html:2", "_a.html contains itself"),
    ({"p.html": "{{>a}}", "_a.html": "{{data\nx text\n}}"}, "_a.html:1", "a part has the names of the page"),
    # texts
    ({"p.html": "\n[[Save]]"}, "p.html:2", "words/de.txt has no translation of [[Save]]"),
    ({"p.html": "[[Save]] [[Stop]]", "words/de.txt": TEXTS}, "p.html:1", "no translation of [[Stop]]"),
    ({"p.html": "[[Save]]", "words/de.txt": TEXTS, "words/fr.txt": ""}, "p.html:1", "words/fr.txt has no translation"),
    ({"p.html": "[[Save]]", "words/de.txt": TEXTS + "\nStop\n\tHalt\n"}, "words/de.txt:4", "no page has this text"),
    ({"p.html": "x", "words/de.txt": "Save\n\nStop\n\tHalt\n"}, "words/de.txt:1", "has no translation"),
    ({"p.html": "x", "words/de.txt": "Save\nStop\n\tHalt\n"}, "words/de.txt:2", "the line above has no translation"),
    ({"p.html": "x", "words/de.txt": "Stop\n\tHalt\n\nSave\n"}, "words/de.txt:4", "has no translation"),
    ({"p.html": "x", "words/de.txt": "\n\tHalt\n"}, "words/de.txt:2", "no English text above"),
    ({"p.html": "x", "words/de.txt": TEXTS + TEXTS}, "words/de.txt:3", "is in line 1 already"),
    ({"p.html": "x", "words/de.txt": "Save  it\n\tSpeichern\n"}, "words/de.txt:1", "two in a row"),
    ({"p.html": "{{data\na text\n}}[[By {0}|a]]", "words/de.txt": "By {0}\n\tVon\n"}, "words/de.txt:2", "uses the arguments [], the English text [0]"),
    ({"p.html": "[[By {0}]]"}, "p.html:1", "and 0 follow"),
    ({"p.html": "{{data\na text\n}}[[By|a]]"}, "p.html:3", "and 1 follow"),
    ({"p.html": "{{data\na text\n}}[[By {0}|a b]]"}, "p.html:3", '"a b" is no argument'),
    ({"p.html": "{{data\na text\n}}[[By {0}|live a]]"}, "p.html:3", "is no argument of a text"),
    ({"p.html": "{{data\nt time\n}}[[By {0}|t]]", "words/de.txt": "By {0}\n\tVon {0}\n"}, "p.html:3", "say how it is shown"),
    ({"p.html": "{{data\na text\n}}[[{0,plural,other{x}}|a]]", "words/de.txt": "{0,plural,other{x}}\n\t{0,plural,other{y}}\n"}, "p.html:3", "plural chooses by it"),
    ({"p.html": "{{data\na number\n}}[[{0,select,other{x}}|a]]", "words/de.txt": "{0,select,other{x}}\n\t{0,select,other{y}}\n"}, "p.html:3", "select chooses by it"),
    ({"p.html": "[[a { b]]"}, "p.html:1", "character 4: expected the number of an argument"),
    ({"p.html": "[[a } b]]"}, "p.html:1", "a } has no {"),
    ({"p.html": "[[{0,plural,other{b]]"}, "p.html:1", "a { has no }"),
    ({"p.html": "[[{0,date}]]"}, "p.html:1", "other forms are filters"),
    ({"p.html": "[[{0,plural,one{b}}]]"}, "p.html:1", "no case other{...}"),
    ({"p.html": "[[{0,plural,single{b}other{c}}]]"}, "p.html:1", "single is no plural"),
    ({"p.html": "[[{0,plural,one{b}one{b}other{c}}]]"}, "p.html:1", "the case one is there twice"),
    ({"p.html": "x", "words/de.txt": "a\n\tb {\n"}, "words/de.txt:2", "expected the number"),
]

# What is right, though it looks like some of the above.
RIGHT = [
    "{{#each l}}{{a}} {{b}}{{/each}}{{o.c}}{{#each s}}{{.}}{{/each}}",
    '<option-list></option-list><select aria-label="x"><option {{#if f}}selected{{/if}}>{{a}}</option></select>',
    '<p class="a {{#if f}}b{{#else}}c{{/if}}">x</p>',
    '<a href="{{a}}">1</a><a href="{{#if f}}/a{{#else}}/b{{/if}}">2</a><a href="?q={{a}}">3</a><a href="#x">4</a>',
    '{{#if f}}<p id="x"></p>{{#else}}<p id="x"></p>{{/if}}{{#each l key=b}}<p id="x-{{b}}">{{live b}}</p>{{/each}}',
    '<label for="q-{{n}}">x</label><input id="q-{{n}}"><label>y <input></label><input type="hidden" name="x" value="{{a}}"><input aria-label="z">',
    "<svg><path d='M0 0'/><title>{{a}}</title></svg><br/><img alt=''>",
    "<!-- a > b -->{{#if not a}}{{#if not a is \"b\"}}x{{/if}}{{/if}}",
    "<table><caption>x</caption><tbody>{{#each l}}<tr><td>{{b}}</td></tr>{{#none}}<tr><td>none</td></tr>{{/each}}</tbody></table>",
    "{{bars c}}<p>{{spark c}}</p>{{#each l}}{{#each l}}{{b}}{{/each}}{{/each}}",
    '<p title="{{n}} {{t|clock}}">{{n|money a}} {{n|span}}</p><pre>\n x\n</pre>',
]


def noted(self, at, what, real=markup_html.Fault.__init__):
    """As Fault's own, but it notes the lines of the compiler that led to it."""
    frame = inspect.currentframe()
    while frame:
        reached.add((pathlib.Path(frame.f_code.co_filename).name, frame.f_lineno))
        frame = frame.f_back
    real(self, at, what)


def compiled(files):
    """(what was said, what was made) of a folder with these files."""
    with tempfile.TemporaryDirectory() as folder:
        pages, out = pathlib.Path(folder) / "pages", pathlib.Path(folder) / "out.c"
        (pages / "words").mkdir(parents=True)
        for name, text in files.items():
            (pages / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        said = [str(fault).replace(f"{pages}/", "").replace(str(pages), "pages") for fault in markup_to_c.compile_folder(pages, out)]
        return said, out.read_text() if out.exists() else None


def refused(files, place, what):
    said, made = compiled(files)
    if made is not None or len(said) != 1 or not said[0].startswith(f"{place}: ") or what not in said[0] or "; " not in said[0]:
        yield f"{files}: expected one fault {place}: ... {what} ...; what to do, but got {said}"


def untried():
    for path in sorted(COMPILER.glob("markup*.py")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if RAISES.search(line) and (path.name, number) not in reached:
                yield f"{path.name}:{number}: no page here has this fault: {line.strip()}"


def wrong():
    markup_html.Fault.__init__ = noted
    first = DATA.count("\n")
    for page, line, what in PAGES:
        yield from refused({"p.html": DATA + page}, f"p.html:{first + line}", what)
    for files, place, what in FOLDERS:
        yield from refused(files, place, what)
    for page in RIGHT:
        said, made = compiled({"p.html": DATA + page})
        if said or not made:
            yield f"{page}: is right, but {said}"
    said, _ = compiled({"a.html": "{{x}}", "b.html": "\n{{y}}"})
    if [fault.split(": ")[0] for fault in said] != ["a.html:1", "b.html:2"]:
        yield f"two pages have a fault each, but {said}"
    yield from untried()


faults = list(wrong())
print("\n".join(faults))
sys.exit(1 if faults else 0)
