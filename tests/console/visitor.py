"""Somebody at the console: with a name, cookies, and the forms of the page that is open. It speaks HTTP as a browser does, without a browser."""

import hashlib
import hmac
import html.parser
import http.client
import re
import struct
import time
import urllib.parse

PASSWORD = "korrekt pferd batterie"


def totp(secret, at_s):
    digest = hmac.new(secret, struct.pack(">Q", int(at_s) // 30), hashlib.sha1).digest()
    at = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[at:at + 4])[0] & 0x7FFFFFFF) % 10**6:06d}"


class Forms(html.parser.HTMLParser):
    """The forms of a page: {action, method, fields}. Fields have the value that a browser would send untouched."""

    def __init__(self, text):
        super().__init__()
        self.forms = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.forms.append({"action": attributes.get("action", ""), "method": attributes.get("method", "get"), "fields": {}})
        elif tag in ("input", "textarea") and self.forms and "name" in attributes and attributes.get("type") != "checkbox":
            self.forms[-1]["fields"][attributes["name"]] = attributes.get("value") or ""


class Page:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        self.text = body.decode(errors="replace")

    @property
    def location(self):
        return self.headers.get("Location")

    def forms(self):
        return Forms(self.text).forms

    def form(self, action):
        found = [form for form in self.forms() if form["action"] == action]
        assert found, f"no form leads to {action}; those of the page: {[form['action'] for form in self.forms()]}"
        return dict(found[0]["fields"])


class Visitor:
    def __init__(self, port, origin=None, language="en"):
        self.port, self.cookies, self.language = port, {}, language
        self.origin = origin or f"http://127.0.0.1:{port}"
        self.secret, self.recovery = None, []  # of the second factor

    def request(self, method, path, form=None, headers=None, timeout_s=15):
        sent = {"Accept-Language": self.language, "Sec-Fetch-Site": "same-origin", **(headers or {})}
        if self.cookies and "Cookie" not in sent:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        body = None
        if form is not None:
            body = form if isinstance(form, (bytes, str)) else urllib.parse.urlencode(form)
            sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
            sent.setdefault("Origin", self.origin)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)
        try:
            connection.request(method, path, body, {name: value for name, value in sent.items() if value is not None})
            response = connection.getresponse()
            page = Page(response.status, dict(response.getheaders()), response.read())
            for name, value in response.getheaders():
                if name.lower() == "set-cookie":
                    self._keep(value)
            return page
        finally:
            connection.close()

    def _keep(self, cookie):
        name, _, value = cookie.split(";")[0].partition("=")
        if value:
            self.cookies[name] = value
        else:
            self.cookies.pop(name, None)

    def get(self, path, **headers):
        return self.request("GET", path, headers=headers)

    def press(self, page, action, **fields):
        """Fills in the form of a page and sends it, as the button does."""
        return self.request("POST", action, {**page.form(action), **fields})

    # -- coming in --

    def enter(self, link, name="", password=PASSWORD):
        """By a one-time link; sets up a second factor where one is asked for."""
        answer = self.press(self.get("/enter"), "/enter", token=link.partition("#")[2], name=name, password=password)
        if answer.location == "/sign-in/factor":
            self.enrol()
        else:
            assert answer.status == 303, answer.text
        return self

    def enrol(self):
        page = self.get("/sign-in/factor")
        self.secret = bytes.fromhex(page.form("/sign-in/factor")["factor"])
        answer = self.press(page, "/sign-in/factor", code=totp(self.secret, time.time()))
        assert answer.status == 200, answer.text
        self.recovery = re.findall(r"<code>([a-z0-9-]{19})</code>", answer.text)
        assert len(self.recovery) == 10

    def sign_in(self, name, password=PASSWORD):
        return self.press(self.get("/sign-in"), "/sign-in", name=name, password=password)
