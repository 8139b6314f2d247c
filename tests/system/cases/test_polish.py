"""A model polishes the opening line: real senders, real mails, and servers of the three formats that check what is asked and misbehave.

The servers stand in for Bedrock, Anthropic and whatever speaks chat completions; none of them is the real one.
"""

import datetime
import email
import email.policy
import json
import zoneinfo

import pytest

from cartbus_system import System, wait_until
from http_peer import BAD, Certificates, Peer, reply
from mail_peer import Keep
from mail_peer import Peer as MailServer
from test_days import fast_clock
from test_http import expected_signature

RULES = """Small carts (under 40 EUR): remind after 1 hour, then after 600. Medium carts: 1 hour, then 600.
Big carts (over 150 EUR): 1 hour, then 600. At most one mail per shopper every 1 hour.
"""
VOICE = """First reminder
Subject: Your basket
Opening: Hello {first name or "there"}, your basket is still here.
Body:
{return link "Back"}

Second reminder
Subject: Your basket
Body:
{return link "Back"}

Footer:
{unsubscribe link "No more"}
"""
OWN = "Hello Anna, your basket is still here."
BETTER = "Good to see you, {first name}: your roses are waiting."
POLISHED = BETTER.replace("{first name}", "Anna")
STARTS = datetime.datetime(2026, 12, 8, 12, 0, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))  # an hour is a second: not where a month's budget begins anew


class Shop:
    """Everything running for one shop whose mails a model may polish."""

    def __init__(self, model, budget=None, secret=None, named=None):
        self.keep = Keep()
        self.server = MailServer(self.keep)
        self.system = System({
            "clock": fast_clock(STARTS), "model": {"deadline": "2s", **model}, **({"model opening": named} if named else {}),
            "budget": budget or {}, "mail": {"transport": "smtp", "smtp-host": "127.0.0.1", "smtp-port": self.server.port, "smtp-tls": "none"}})
        self.shop = self.system.add_shop("demo", rules=RULES, voice=VOICE, extra="polish = yes")
        if secret:
            self.system.write_secret("model", secret)
        self.system.start()
        self.system.cartbus("shop", "mode", "demo", "live")

    def leave(self, *names):
        for name in names:
            at = datetime.datetime.fromtimestamp(self.system.now_s(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            body = {"event": "changed", "cart": name, "email": f"{name}@mail.example", "at": at, "first_name": "Anna", "locale": "en-GB",
                    "currency": "EUR", "total": "20.00", "recovery_url": f"https://demo.example/r/{name}",
                    "items": [{"title": f"Roses {name}", "quantity": 1, "price": "20.00"}]}
            assert self.system.post(self.shop.cart(body)).status == 200

    def openings(self, *names):
        """The first line of each one's mail."""
        def found():
            mails = {mail.rcpt_tos[0]: email.message_from_bytes(mail.content, policy=email.policy.default) for mail in self.keep.mails}
            return all(f"{name}@mail.example" in mails for name in names) and mails
        mails = wait_until(found, "all mails", within_s=60)
        return {name: mails[f"{name}@mail.example"].get_body(("plain",)).get_content().splitlines()[0] for name in names}

    def used(self, count):
        facts = wait_until(lambda: (found := self.system.log("model.used"))[count - 1:] and found, "what it cost")
        return {fact["message"].cart_id: fact["message"] for fact in facts}

    def cart_id(self, name):
        return next(one["key"] for one in self.system.log("cart.state") if one["message"].ids.email == f"{name}@mail.example")

    def close(self):
        self.system.close()
        self.server.close()


@pytest.fixture
def make():
    things = []

    def start(thing):
        things.append(thing)
        return thing
    yield start
    for thing in reversed(things):
        thing.close()


def chat(line, ended="stop"):
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": line}, "finish_reason": ended}],
            "usage": {"prompt_tokens": 200, "completion_tokens": 20}}


MISBEHAVIOURS = {
    **BAD,
    "cut": lambda request: reply(request, 200, chat(BETTER, "length")),
    "offer": lambda request: reply(request, 200, chat("{first name}, save 20% today!")),
    "link": lambda request: reply(request, 200, chat("{first name}, see https://evil.example")),
    "nameless": lambda request: reply(request, 200, chat("Your roses are waiting.")),
    "lines": lambda request: reply(request, 200, chat("Hello {first name}.\nSecond line.")),
}
# of those that are no answer fewer than five before one that is, or the breaker would spare the rest
WAVES = (("never", "slow", "garbage", "redirect"), ("gigabyte", "announced", "head", "reset"),
         ("noise", "broken", "cut", "offer", "link", "nameless", "lines"))


def test_a_better_line_goes_and_whatever_goes_wrong_the_owners_own_does(make):
    def answer(request):
        data = json.loads(request.json()["messages"][1]["content"])
        name = data["items"][0].split()[1]
        MISBEHAVIOURS.get(name, lambda request: reply(request, 200, chat(f" {BETTER}\n")))(request)

    model = make(Peer(answer))
    shop = make(Shop({"provider": "openai", "url": model.url, "model": "local-1"}))
    shop.leave("good")
    assert shop.openings("good") == {"good": POLISHED}
    asked = model.requests[0]
    assert asked.path == "/v1/chat/completions" and asked.json()["model"] == "local-1" and "Authorization" not in asked.headers
    assert b"Anna" not in asked.body and b"mail.example" not in asked.body  # no name, no address
    for names in WAVES:
        shop.leave(*names)
        assert shop.openings(*names) == {name: OWN for name in names}
        after = "after-" + names[0]
        shop.leave(after)
        assert shop.openings(after) == {after: POLISHED}
    used = shop.used(1 + len(MISBEHAVIOURS) + len(WAVES))
    good, cut = used[shop.cart_id("good")], used[shop.cart_id("offer")]
    assert (good.outcome, good.tokens_in, good.tokens_out, good.cost_nano_usd) == ("used", 200, 20, 300_000)
    assert cut.outcome == "markup, or a sign that was not there before" and cut.tokens_out == 20  # it is paid for all the same
    assert used[shop.cart_id("slow")].outcome and not used[shop.cart_id("slow")].tokens_in
    log = (shop.system.folder / "logs" / "sender.log").read_text()
    assert "Anna" not in log and "mail.example" not in log


def test_opening_lines_may_have_a_model_of_their_own(make):
    usual = make(Peer(lambda request: reply(request, 503, b"{}")))
    model = make(Peer(lambda request: reply(request, 200, chat(BETTER))))
    shop = make(Shop({"provider": "openai", "url": usual.url, "model": "local-1"},
                     named={"provider": "openai", "url": model.url, "model": "local-2", "usd-per-million-in": 2}))
    shop.leave("good")
    assert shop.openings("good") == {"good": POLISHED}
    assert not usual.requests and model.requests[0].json()["model"] == "local-2"
    used = shop.used(1)[shop.cart_id("good")]
    assert (used.outcome, used.model, used.end, used.cost_nano_usd) == ("used", "opening", 0, 500_000)


def test_after_five_failures_the_model_is_left_alone_and_no_mail_waits_for_it(make):
    model = make(Peer(lambda request: reply(request, 503, b"{}")))
    shop = make(Shop({"provider": "openai", "url": model.url, "model": "local-1"}))
    for number in range(8):
        shop.leave(f"c{number}")
        assert shop.openings(f"c{number}") == {f"c{number}": OWN}
    assert len(model.requests) == 5
    assert "is left alone for now" in shop.used(8)[shop.cart_id("c7")].outcome


def test_anthropic_is_asked_as_it_wants_to_be_and_not_beyond_the_budget(make, tmp_path):
    certificates = Certificates(tmp_path / "ca")
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": BETTER}], "stop_reason": "end_turn",
              "usage": {"input_tokens": 200, "output_tokens": 20}}
    model = make(Peer(lambda request: reply(request, 200, answer), certificates.context()))
    shop = make(Shop({"provider": "anthropic", "url": model.url, "secret": "model", "ca": certificates.ca}, {"tokens": 300}, "sk-test-1"))
    shop.leave("first")
    assert shop.openings("first") == {"first": POLISHED}
    asked = model.requests[0]
    assert (asked.method, asked.path) == ("POST", "/v1/messages")
    assert asked.headers["x-api-key"] == "sk-test-1" and asked.headers["anthropic-version"] == "2023-06-01"
    body = asked.json()
    assert set(body) == {"model", "max_tokens", "temperature", "system", "messages"} and body["messages"][0]["role"] == "user"
    shop.leave("second")
    assert shop.openings("second") == {"second": POLISHED}  # 220 of 300
    shop.leave("third")
    assert shop.openings("third") == {"third": OWN} and len(model.requests) == 2
    assert "sk-test-1" not in (shop.system.folder / "logs" / "sender.log").read_text()


def test_bedrock_is_asked_with_a_signature_that_an_independent_library_makes_too(make, tmp_path):
    certificates = Certificates(tmp_path / "ca")
    wrong = []

    def answer(request):
        expected, _ = expected_signature(request, model, "ap-southeast-1", "bedrock", request.path)
        if not request.headers["Authorization"].endswith(f"Signature={expected}"):
            wrong.append(request)
            return reply(request, 403, b"{}")
        return reply(request, 200, {"output": {"message": {"role": "assistant", "content": [{"text": BETTER}]}}, "stopReason": "end_turn",
                                    "usage": {"inputTokens": 200, "outputTokens": 20, "totalTokens": 220}})

    model = make(Peer(answer, certificates.context()))
    shop = make(Shop({"provider": "bedrock", "url": model.url, "secret": "model", "ca": certificates.ca}, None,
                     "AKIDEXAMPLE:secret/key:session+token"))
    shop.leave("first")
    assert shop.openings("first") == {"first": POLISHED} and not wrong
    asked = model.requests[0]
    assert asked.path == "/model/global.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse"
    assert asked.headers["X-Amz-Security-Token"] == "session+token"
    assert asked.json()["messages"][0]["content"][0]["text"].startswith("{") and asked.json()["inferenceConfig"]["maxTokens"] == 120


# ---- the paragraph of a summary ----


def quiet_month(data):
    return f"Ein ruhiger {data['period']}: {data['figures'][0]['now']} Warenkörbe, davor {data['figures'][0]['before']}."


# What a model answers to the shop of this title; fewer than five are no answer, or the breaker would spare the rest.
NARRATIONS = {
    "Good": lambda data: f"{quiet_month(data)}\n",
    "Number": lambda data: quiet_month(data) + " 12 davon gekauft.",
    "Spelled": lambda data: quiet_month(data) + " Zwölf davon gekauft.",
    "Link": lambda data: quiet_month(data) + " Mehr: https://evil.example",
    "Slow": None, "Garbage": None, "Elsewhere": None, "Cut": None,
}


def narrate(request):
    data = json.loads(request.json()["messages"][1]["content"])
    narration = NARRATIONS[data["shop"]]
    if narration:
        reply(request, 200, chat(narration(data)))
    else:
        MISBEHAVIOURS[data["shop"].lower()](request)


def test_a_model_writes_a_summarys_paragraph_and_whatever_goes_wrong_the_templates_goes_in_time(make):
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    starts = datetime.datetime(2026, 12, 6, 19, 0, tzinfo=berlin)  # the day before a first Monday; an hour of the shop is a second
    model = make(Peer(narrate))
    system = make(System({"clock": fast_clock(starts),
                          "model": {"provider": "openai", "url": model.url, "model": "local-1", "deadline": "2s"}}))
    for title in (*NARRATIONS, "Unasked"):
        system.add_shop(title.lower(), owner=f"owner@{title.lower()}.example", extra="" if title == "Unasked" else "[report]\nnarrate = yes")
    system.start("broker", "mirror", "timer", "summarizer")
    mailed = wait_until(lambda: len(found := system.log(topic="summary.mailed")) == len(NARRATIONS) + 1 and found, "all summaries", within_s=60)
    assert all(one["message"].end == 0 for one in mailed)  # sent
    used = {fact["shop"]: fact["message"] for fact in system.log(topic="model.used")}
    assert used["good"].outcome == "used", {shop: one.outcome for shop, one in used.items()}
    assert set(used) == {title.lower() for title in NARRATIONS} and {one.purpose for one in used.values()} == {"summary"}
    assert used["good"].cost_nano_usd == 300_000 and used["slow"].tokens_in == 0
    assert used["number"].outcome == "a number that is not among the data's"
    for entry in system.log(topic="summary.done"):
        done, good = entry["message"], entry["shop"] == "good"
        told = "Ein ruhiger November 2026: 0 Warenkörbe, davor 0."
        assert (told in done.text, told in done.html) == (good, good), entry["shop"]
        assert ("Kein Warenkorb wurde gesehen" in done.text) != good, entry["shop"]
        assert datetime.datetime.fromtimestamp(done.at_us / 1e6, berlin).date() == datetime.date(2026, 12, 7)
    audits = {entry["shop"]: entry["message"].grounds for entry in system.log(topic="audit") if entry["message"].action == "summarised"}
    assert "a model wrote the paragraph" in audits["good"] and "the model's was not used" in audits["spelled"]
    assert "paragraph" not in audits["unasked"]
    for asked in model.requests:
        assert asked.path == "/v1/chat/completions" and set(asked.json()) == {"model", "max_tokens", "temperature", "messages"}
        assert b"@" not in asked.body
