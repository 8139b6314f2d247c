"""All mails of the demo on one page, and as files that a mail program opens.

The shops of the demo do not exist, so nobody serves the pictures that their mails point to: here the pictures ride along, inside
the page and attached to the copies in mails/*.eml. All else is as it was sent; the mails themselves lie untouched in mail/.
"""

import base64
import email
import email.policy
import email.utils
import html
import pathlib
import re

PICTURES = pathlib.Path(__file__).resolve().parent / "pictures"
PICTURE = re.compile(r'src="(https://[^"]*/pictures/([a-z-]+)\.png)"')
WIDTHS = {"telephone": 360, "window": 700}

STYLE = """
:root { color-scheme: light dark; --line: #8885 }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 24px 16px; max-width: 1560px }
h1 { font-size: 24px; margin: 0 0 4px } h2 { font-size: 18px; margin: 0 }
header p, .facts { opacity: .75; margin: 4px 0 }
nav { columns: 320px; margin: 16px 0 32px } nav a { display: block; padding: 2px 0; break-inside: avoid; color: inherit }
section { border-top: 1px solid var(--line); padding: 24px 0 40px }
.sides { display: flex; flex-wrap: wrap; gap: 20px; align-items: flex-start; margin-top: 12px }
figure { margin: 0; max-width: 100% } figcaption { font-size: 13px; opacity: .75; margin-bottom: 4px }
iframe { border: 1px solid var(--line); border-radius: 8px; height: 640px; max-width: 100%; background: Canvas }
pre { box-sizing: border-box; width: 400px; max-width: 100%; margin: 0; padding: 16px; border: 1px solid var(--line); border-radius: 8px;
  white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.5 ui-monospace, monospace }
body:has(#dark:checked) { color-scheme: dark; background: #16181b; color: #eee }
body:has(#light:checked) { color-scheme: light; background: #fff; color: #222 }
"""

# As high as what is in them, once it is known how high that is.
SCRIPT = """
for (const frame of document.querySelectorAll("iframe")) {
  const fit = () => { frame.style.height = 0; frame.style.height = frame.contentDocument.documentElement.scrollHeight + 2 + "px" }
  frame.addEventListener("load", fit)
  if (frame.contentDocument?.readyState === "complete") fit()
}
"""


class Mail:
    def __init__(self, message, story, number):
        self.message, self.story = message, story
        self.when = email.utils.parsedate_to_datetime(message["Date"])
        self.to = email.utils.parseaddr(str(message["To"]))[1]
        self.sender = email.utils.parseaddr(str(message["From"]))
        self.shop = next(name for name, shop in story["shops"].items() if self.sender[1] in shop["from"])
        self.name = f"{number:02}-{self.shop}-{self.to.split('@')[0]}"
        self.text = message.get_body(("plain",)).get_content()
        part = message.get_body(("html",))
        self.html = part.get_content() if part else None

    def whose(self):
        for cart in self.story["carts"]:
            if cart["shop"] == self.shop and cart["who"] == self.to and cart["mails"]:
                return f"{cart['cart'].capitalize()}, who {cart['what']}"
        return "the shop's owner"

    def eml(self):
        """The mail with its pictures attached."""
        if self.html:
            part = self.message.get_body(("html",))
            used = dict.fromkeys(PICTURE.findall(self.html))
            text = PICTURE.sub(lambda found: f'src="cid:{found[2]}@demo"', self.html)
            part.set_content(text, subtype="html", cte="quoted-printable")
            for _, name in used:
                part.add_related((PICTURES / f"{name}.png").read_bytes(), "image", "png", cid=f"<{name}@demo>")
        return self.message.as_bytes(policy=email.policy.SMTP)

    def page(self):
        """The HTML part with its pictures in it."""
        def inside(found):
            return f'src="data:image/png;base64,{base64.b64encode((PICTURES / f"{found[2]}.png").read_bytes()).decode()}"'
        return PICTURE.sub(inside, self.html)


def read_mails(folder, story):
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name in ("new", "cur"):
            message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
            found.append((email.utils.parsedate_to_datetime(message["Date"]), path.name, message))
    return [Mail(message, story, number) for number, (_, _, message) in enumerate(sorted(found, key=lambda one: one[:2]), 1)]


def side_by_side(mail):
    sides = []
    if mail.html:
        page = html.escape(mail.page())
        sides = [f'<figure><figcaption>HTML, {kind}, {width} pixels</figcaption><iframe sandbox="allow-same-origin" loading="lazy" width="{width}" '
                 f'title="{html.escape(mail.name)}, {kind}" srcdoc="{page}"></iframe></figure>' for kind, width in WIDTHS.items()]
    sides.append(f'<figure><figcaption>Text</figcaption><pre dir="auto">{html.escape(mail.text)}</pre></figure>')
    return "".join(sides)


def section(mail, zone):
    return (f'<section id="{mail.name}"><h2>{html.escape(str(mail.message["Subject"]))}</h2>'
            f'<p class="facts">{mail.when.astimezone(zone):%A %H:%M} in Berlin. From {html.escape(mail.sender[0])} to {html.escape(mail.to)} '
            f'({html.escape(mail.whose())}). <a href="mails/{mail.name}.eml">{mail.name}.eml</a></p>'
            f'<div class="sides">{side_by_side(mail)}</div></section>\n')


def make(folder, story, zone):
    """Writes FOLDER/mails.html and FOLDER/mails/*.eml; answers how many mails there are."""
    mails = read_mails(folder / "mail", story)
    (folder / "mails").mkdir(exist_ok=True)
    links = "".join(f'<a href="#{mail.name}">{mail.when.astimezone(zone):%a %H:%M} {html.escape(mail.to)}: '
                    f'{html.escape(str(mail.message["Subject"]))}</a>' for mail in mails)
    sections = "".join(section(mail, zone) for mail in mails)
    (folder / "mails.html").write_text(
        f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f'<title>The mails of the demo</title>\n<style>{STYLE}</style>\n'
        f'<header><h1>The mails of the demo</h1><p>{len(mails)} mails of two days at two shops, as they were sent, but that the pictures ride along: '
        f'nobody serves those of shops that do not exist.</p>\n'
        '<p><label><input type="radio" name="look" id="light"> light</label> <label><input type="radio" name="look" id="dark"> dark</label></p></header>\n'
        f'<nav>{links}</nav>\n{sections}<script>{SCRIPT}</script>\n</html>\n')
    for mail in mails:
        (folder / "mails" / f"{mail.name}.eml").write_bytes(mail.eml())
    return len(mails)
