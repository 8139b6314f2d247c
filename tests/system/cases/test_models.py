"""Several models by name, JSON of a schema, and answers that are none: the driver alone, and servers of the three formats that check what is
asked and misbehave.

The servers stand in for Bedrock, Anthropic and whatever speaks chat completions; none of them is the real one.
"""

import json

import pytest

from http_peer import Certificates, Peer, Probe, reply

SCHEMA = {"type": "object", "properties": {"outcome": {"type": "string", "enum": ["in", "out"]}, "quotes": {"type": "array", "items": {"type": "string"}}},
          "required": ["outcome", "quotes"], "additionalProperties": False}
GOOD = {"outcome": "in", "quotes": ["within 30 days", "ä"]}
ANSWERED, NOT_ASKED, FAILED, REFUSED, CUT_OFF, TOO_LARGE, NO_JSON, OTHER_FORM, UNREADABLE = 0, 2, 3, 4, 5, 6, 7, 8, 9  # enum ModelEnd
OPENAI = "provider = openai\nurl = {}\nmodel = {}\n"


class Models(Probe):
    """The driver, as tests/system/programs/model_probe.c offers it."""

    def __init__(self, folder, configuration):
        (folder / "secrets").mkdir(exist_ok=True)
        secret = folder / "secrets" / "model.key"
        secret.write_text("AKIDEXAMPLE:secret/key\n")
        secret.chmod(0o600)
        (folder / "cartbus.conf").write_text(f"[paths]\nsecrets = {folder}/secrets\n{configuration}")
        super().__init__("model_probe", folder / "cartbus.conf")

    def ask(self, name=None, schema=SCHEMA, **more):
        question = {"task": "Decide.", "data": "{}", "most_tokens": 100, "most_bytes": 1000, "temperature": 0, **more}
        self.say(id="a", name=name, schema=schema if isinstance(schema, (str, type(None))) else json.dumps(schema), **question)
        return self.hear()


@pytest.fixture
def make():
    things = []

    def start(thing):
        things.append(thing)
        return thing
    yield start
    for thing in reversed(things):
        thing.close()


def chat(content, ended="stop", **message):
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": ended}],
            "usage": {"prompt_tokens": 200, "completion_tokens": 20}}


def test_each_name_has_its_own_model_and_circuit_and_other_names_go_to_the_default(make, tmp_path):
    usual = make(Peer(lambda request: reply(request, 200, chat("the default's"))))
    judge = make(Peer(lambda request: reply(request, 503, b"{}")))
    models = make(Models(tmp_path, f"[model]\n{OPENAI.format(usual.url, 'small')}[model judge]\n{OPENAI.format(judge.url, 'large')}"
                                   "[model silent]\nprovider = none\n"))
    for name in (None, "drafter"):
        assert models.ask(name, schema=None, temperature=0.25)["text"] == "the default's"
    assert usual.requests[0].json()["temperature"] == 0.25 and usual.requests[0].json()["model"] == "small"
    for _ in range(5):
        assert models.ask("judge", schema=None)["end"] == FAILED
    assert judge.requests[0].json()["model"] == "large"
    spared = models.ask("judge", schema=None)
    assert spared["end"] == NOT_ASKED and "left alone" in spared["words"] and len(judge.requests) == 5
    assert models.ask(schema=None)["answered"]  # the default's circuit is its own
    silent = models.ask("silent", schema=None)
    assert (silent["end"], silent["words"]) == (NOT_ASKED, "no model is configured for this question")
    assert len(usual.requests) == 3


def test_chat_completions_give_json_that_fits_or_no_answer_in_words_of_its_own(make, tmp_path):
    answers = []
    model = make(Peer(lambda request: answers.pop(0)(request)))
    models = make(Models(tmp_path, f"[model]\n{OPENAI.format(model.url, 'small')}"))

    def ask(answer, **more):
        answers.append(answer if callable(answer) else lambda request: reply(request, 200, answer))
        return models.ask(**more)

    def well():
        assert ask(chat(f"\n{json.dumps(GOOD)} "))["json"] == GOOD  # and five failures in a row are none
    well()
    assert model.requests[0].json()["response_format"] == {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
    text = json.dumps(GOOD)
    bad = [(chat(text, "length"), CUT_OFF, "cut off"), (chat(None, refusal="SECRET"), REFUSED, "refused"), (chat("", "content_filter"), REFUSED, "refused"),
           (chat(text[:-1]), NO_JSON, "not the JSON"), (chat(f"Sure! {text}"), NO_JSON, "not the JSON"), (chat("SECRET"), NO_JSON, "not the JSON"),
           (chat('{"outcome": "SECRET", "quotes": []}'), OTHER_FORM, "outcome: it is none of the values"),
           (chat('{"outcome": "in"}'), OTHER_FORM, "quotes is missing"),
           (chat('{"outcome": "in", "quotes": [], "SECRET": 1}'), OTHER_FORM, "a property that it may not have"),
           (chat(json.dumps({"outcome": "in", "quotes": ["x" * 1000]})), TOO_LARGE, "larger than was asked for"),
           (lambda request: reply(request, 200, b" " * 200_000), TOO_LARGE, "longer than"),
           ({"object": "list"}, UNREADABLE, "shape"), (lambda request: reply(request, 200, b"<html>SECRET"), UNREADABLE, "no JSON"),
           (lambda request: reply(request, 429, b"SECRET"), FAILED, "429")]
    for answer, end, words in bad:
        failed = ask(answer)
        assert (failed["answered"], failed["end"]) == (False, end) and words in failed["words"] and "SECRET" not in failed["words"], failed
        assert "text" not in failed and "json" not in failed
        well()
    assert ask(chat(text, "length"))["tokens_in"] == 200  # it is paid for all the same
    large = {"outcome": "in", "quotes": ["ä" * 30_000]}
    assert ask(chat(json.dumps(large)), most_bytes=64 * 1024)["json"] == large  # its escapes take 180 kB
    asked = len(model.requests)
    for wrong in ({"schema": {"type": "object", "minProperties": 1}}, {"schema": "{"}, {"temperature": 2}, {"most_bytes": 64 * 1024 + 1},
                  {"most_tokens": 0}):
        assert models.ask(**wrong)["end"] == NOT_ASKED
    assert len(model.requests) == asked


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
def test_the_tool_that_a_model_must_use_carries_the_answer(make, tmp_path, provider):
    certificates = Certificates(tmp_path / "ca")

    def tool(given, ended="tool_use"):
        if provider == "anthropic":
            return {"content": [{"type": "text", "text": "Let me see."}, {"type": "tool_use", "id": "t", "name": "answer", "input": given}],
                    "stop_reason": ended, "usage": {"input_tokens": 200, "output_tokens": 20}}
        return {"output": {"message": {"role": "assistant", "content": [{"text": "Let me see."}, {"toolUse": {"toolUseId": "t", "name": "answer", "input": given}}]}},
                "stopReason": ended, "usage": {"inputTokens": 200, "outputTokens": 20}}

    answers = [tool(GOOD), tool(GOOD, "max_tokens"), tool({"outcome": "in"}), tool(GOOD, "refusal" if provider == "anthropic" else "content_filtered")]
    model = make(Peer(lambda request: reply(request, 200, answers.pop(0)), certificates.context()))
    models = make(Models(tmp_path, f"[model judge]\nprovider = {provider}\nurl = {model.url}\nsecret = model.key\nca = {certificates.ca}\n"))
    asked = [models.ask("judge") for _ in range(4)]
    assert (asked[0]["json"], asked[0]["tokens_in"]) == (GOOD, 200)
    assert [one["end"] for one in asked] == [ANSWERED, CUT_OFF, OTHER_FORM, REFUSED]
    assert not any("json" in one or "text" in one for one in asked[1:])
    body = model.requests[0].json()
    if provider == "anthropic":
        assert body["tools"][0]["input_schema"] == SCHEMA and body["tool_choice"] == {"type": "tool", "name": "answer", "disable_parallel_tool_use": True}
    else:
        assert body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"] == {"json": SCHEMA} and body["toolConfig"]["toolChoice"] == {"tool": {"name": "answer"}}
    assert models.ask()["end"] == NOT_ASKED  # [model] itself is none
