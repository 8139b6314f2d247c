/*
 * wire.c: the formats of requests and answers: Bedrock Converse, Anthropic messages, chat completions
 *
 * Sources:   docs.aws.amazon.com/bedrock (Converse), docs.anthropic.com/en/api/messages (version 2023-06-01),
 *            and the /v1/chat/completions that local servers copy.
 *            For JSON of a schema, OpenAI has response_format json_schema. The other two get a single tool,
 *            which the model must use: the tool's input is the answer.
 * Promises:  the data is in the user's turn and the task in the system's, so a stranger's text is never the
 *            task. The tool does nothing. An answer is complete and of the form that was asked for; otherwise
 *            there is none.
 * Fails by:  -EBADMSG and the reason, without a word of the answer.
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/model/model.h"
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

enum {
	ENVELOPE_MAX = 64 * 1024,
	ESCAPED_MAX = 6
}; /* around an answer; bytes of JSON for one byte of a text ("\u0001") */

static const char tool_name[] = "answer", tool_description[] = "Gives the answer.";

static const char *path_of(enum model_provider provider)
{
	return provider == MODEL_ANTHROPIC ? "/v1/messages" : "/v1/chat/completions";
}

/* The model's name is part of the path, and its colons have to be encoded. */
static void bedrock_url(const struct model_settings *settings, struct http_request *ret)
{
	char name[3 * sizeof(settings->model)], *to = name;

	for (const char *at = settings->model; *at; at++)
		if (isalnum((unsigned char)*at) || strchr("-._~", *at))
			*to++ = *at;
		else
			to += sprintf(to, "%%%02X", (unsigned char)*at);
	*to = '\0';
	http_request_init(ret, "POST", "%s/model/%s/converse", settings->url, name);
}

static void set_auth(const struct model_settings *settings, struct http_auth *ret)
{
	if (!settings->secret[0])
		return;
	TEXT_COPY(ret->secret, settings->secret);
	switch (settings->provider) {
	case MODEL_BEDROCK:
		ret->kind = HTTP_AUTH_SIGV4;
		TEXT_COPY(ret->region, settings->region);
		TEXT_COPY(ret->service, "bedrock");
		break;
	case MODEL_ANTHROPIC:
		ret->kind = HTTP_AUTH_HEADER;
		TEXT_COPY(ret->name, "x-api-key");
		break;
	case MODEL_OPENAI:
		ret->kind = HTTP_AUTH_BEARER;
		break;
	case MODEL_NONE:
		break;
	}
}

/* "O" takes a reference of its own to the schema. */
static json_t *bedrock_body(const struct model_request *asked, json_t *schema)
{
	json_t *body = json_pack("{s:[{s:s,s:[{s:s}]}],s:[{s:s}],s:{s:i,s:f}}", "messages", "role", "user", "content",
		"text", asked->data, "system", "text", asked->task, "inferenceConfig", "maxTokens", asked->most_tokens,
		"temperature", asked->temperature);

	if (body && schema)
		json_object_set_new(body, "toolConfig",
			json_pack("{s:[{s:{s:s,s:s,s:{s:O}}}],s:{s:{s:s}}}", "tools", "toolSpec", "name", tool_name,
				"description", tool_description, "inputSchema", "json", schema, "toolChoice", "tool",
				"name", tool_name));
	return body;
}

static json_t *anthropic_body(const char *model, const struct model_request *asked, json_t *schema)
{
	json_t *body = json_pack("{s:s,s:i,s:f,s:s,s:[{s:s,s:s}]}", "model", model, "max_tokens", asked->most_tokens,
		"temperature", asked->temperature, "system", asked->task, "messages", "role", "user", "content",
		asked->data);

	if (body && schema) {
		json_object_set_new(body, "tools",
			json_pack("[{s:s,s:s,s:O}]", "name", tool_name, "description", tool_description, "input_schema",
				schema));
		json_object_set_new(body, "tool_choice",
			json_pack("{s:s,s:s,s:b}", "type", "tool", "name", tool_name, "disable_parallel_tool_use", 1));
	}
	return body;
}

static json_t *openai_body(const char *model, const struct model_request *asked, json_t *schema)
{
	json_t *body = json_pack("{s:s,s:i,s:f,s:[{s:s,s:s},{s:s,s:s}]}", "model", model, "max_tokens",
		asked->most_tokens, "temperature", asked->temperature, "messages", "role", "system", "content",
		asked->task, "role", "user", "content", asked->data);

	if (body && schema)
		json_object_set_new(body, "response_format",
			json_pack("{s:s,s:{s:s,s:b,s:O}}", "type", "json_schema", "json_schema", "name", tool_name,
				"strict", model_schema_is_strict(schema), "schema", schema));
	return body;
}

static json_t *body_of(const struct model_settings *settings, const struct model_request *asked, json_t *schema)
{
	switch (settings->provider) {
	case MODEL_BEDROCK:
		return bedrock_body(asked, schema);
	case MODEL_ANTHROPIC:
		return anthropic_body(settings->model, asked, schema);
	case MODEL_OPENAI:
		return openai_body(settings->model, asked, schema);
	case MODEL_NONE:
		break;
	}
	return NULL;
}

/* The fault of the question itself; NULL: none that we can see. */
static const char *request_fault(const struct model_settings *settings, const struct model_request *asked)
{
	if (settings->provider == MODEL_NONE)
		return "no model is configured for this question";
	if (asked->most_tokens < 1 || asked->most_tokens > MODEL_TOKENS_MAX)
		return "the question allows a number of tokens that is out of range";
	if (asked->most_bytes < 1 || asked->most_bytes > MODEL_ANSWER_MAX)
		return "the question allows an answer of a size that is out of range";
	if (!(asked->temperature >= 0 && asked->temperature <= 1)) /* also true for NaN */
		return "the question has a temperature that is out of range";
	return NULL;
}

static void fill_request(const struct model_settings *settings, const struct model_request *asked, const char *body,
	struct http_request *ret)
{
	if (settings->provider == MODEL_BEDROCK)
		bedrock_url(settings, ret);
	else
		http_request_init(ret, "POST", "%s%s", settings->url, path_of(settings->provider));
	set_auth(settings, &ret->auth);
	http_request_header(ret, "Content-Type", "application/json");
	http_request_header(ret, "Accept", "application/json");
	if (settings->provider == MODEL_ANTHROPIC)
		http_request_header(ret, "anthropic-version", "2023-06-01");
	buffer_add_text(&ret->body, body);
	TEXT_COPY(ret->ca, settings->ca);
	ret->deadline_us = settings->deadline_us;
	ret->most_bytes = ENVELOPE_MAX + ESCAPED_MAX * asked->most_bytes;
	ret->reach = HTTP_REACH_ADMIN;
}

int model_wire_request(const struct model_settings *settings, const struct model_request *asked,
	struct http_request *ret, char ret_why[MODEL_WORDS_MAX])
{
	const char *fault = request_fault(settings, asked);
	json_auto_t *schema = NULL, *body = NULL;
	_cleanup_free_ char *text = NULL;

	if (!fault && asked->schema && model_schema_read(asked->schema, &schema, ret_why) < 0)
		return -EINVAL;
	if (!fault)
		body = body_of(settings, asked, schema);
	text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	if (!fault && !text)
		fault = "the question is not UTF-8";
	if (fault) {
		text_copy(ret_why, MODEL_WORDS_MAX, fault);
		return -EINVAL;
	}
	fill_request(settings, asked, text, ret);
	return 0;
}

/* ---- the answer ---- */

/* The parts of an answer, the same for all three APIs. They are borrowed from its body. */
struct reply {
	const char *text;   /* NULL: none */
	const json_t *json; /* the tool's input; NULL: none */
	const char *ended;  /* the API's word for the end of the answer; NULL: none */
	bool is_refusal;    /* another field than `ended` tells of a refusal */
};

/* For each API, the words for the end of an answer, with blanks between them. */
static const struct {
	const char *complete, *refused, *cut_off;
} endings[] = {
	[MODEL_BEDROCK] = { "end_turn tool_use", "guardrail_intervened content_filtered",
		"max_tokens model_context_window_exceeded" },
	[MODEL_ANTHROPIC] = { "end_turn tool_use", "refusal", "max_tokens model_context_window_exceeded" },
	[MODEL_OPENAI] = { "stop", "content_filter", "length" },
};

static bool is_one_of(const char *word, const char *words)
{
	size_t len = word ? strlen(word) : 0;

	for (const char *at = words; len && (at = strstr(at, word)); at += len)
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

static int refuse(struct model_answer *ret, ModelEnd end, const char *words)
{
	ret->end = end;
	TEXT_COPY(ret->words, words);
	return -EBADMSG;
}

static uint32_t tokens(const json_t *body, const char *name)
{
	json_int_t count = json_integer_value(json_object_get(json_object_get(body, "usage"), name));

	return count < 0 || count > 10 * 1000 * 1000 ? 0 : (uint32_t)count;
}

/* The first text among an array of parts. */
static const char *text_part(const json_t *parts)
{
	size_t i;
	json_t *part;

	json_array_foreach(parts, i, part)
	{
		const char *text = json_string_value(json_object_get(part, "text"));

		if (text)
			return text;
	}
	return NULL;
}

static struct reply read_bedrock(const json_t *body, struct model_answer *ret)
{
	const json_t *parts = json_object_get(json_object_get(json_object_get(body, "output"), "message"), "content");
	struct reply reply = { .text = text_part(parts),
		.ended = json_string_value(json_object_get(body, "stopReason")) };
	size_t i;
	json_t *part;

	json_array_foreach(parts, i, part)
	{
		if (!reply.json)
			reply.json = json_object_get(json_object_get(part, "toolUse"), "input");
	}
	ret->tokens_in = tokens(body, "inputTokens");
	ret->tokens_out = tokens(body, "outputTokens");
	return reply;
}

static struct reply read_anthropic(const json_t *body, struct model_answer *ret)
{
	const json_t *parts = json_object_get(body, "content");
	struct reply reply = { .text = text_part(parts),
		.ended = json_string_value(json_object_get(body, "stop_reason")) };
	size_t i;
	json_t *part;

	json_array_foreach(parts, i, part)
	{
		const char *type = json_string_value(json_object_get(part, "type"));

		if (!reply.json && type && strcmp(type, "tool_use") == 0)
			reply.json = json_object_get(part, "input");
	}
	ret->tokens_in = tokens(body, "input_tokens");
	ret->tokens_out = tokens(body, "output_tokens");
	return reply;
}

static struct reply read_openai(const json_t *body, struct model_answer *ret)
{
	const json_t *choice = json_array_get(json_object_get(body, "choices"), 0),
		     *message = json_object_get(choice, "message");

	ret->tokens_in = tokens(body, "prompt_tokens");
	ret->tokens_out = tokens(body, "completion_tokens");
	return (struct reply){ .text = json_string_value(json_object_get(message, "content")),
		.ended = json_string_value(json_object_get(choice, "finish_reason")),
		.is_refusal = json_string_length(json_object_get(message, "refusal")) > 0 };
}

static struct reply read_reply(enum model_provider provider, const json_t *body, struct model_answer *ret)
{
	switch (provider) {
	case MODEL_BEDROCK:
		return read_bedrock(body, ret);
	case MODEL_ANTHROPIC:
		return read_anthropic(body, ret);
	case MODEL_OPENAI:
		return read_openai(body, ret);
	case MODEL_NONE:
		break;
	}
	return (struct reply){ 0 };
}

static int check_ending(enum model_provider provider, const struct reply *reply, struct model_answer *ret)
{
	if (reply->is_refusal || is_one_of(reply->ended, endings[provider].refused))
		return refuse(ret, MODEL_REFUSED, "the model refused to answer");
	if (is_one_of(reply->ended, endings[provider].cut_off))
		return refuse(ret, MODEL_CUT_OFF, "the model's answer was cut off at its limit of tokens");
	if (!reply->text && !reply->json)
		return refuse(ret, MODEL_UNREADABLE, "the model's answer is not of the shape that its API documents");
	if (!is_one_of(reply->ended, endings[provider].complete))
		return refuse(ret, MODEL_UNREADABLE, "the model did not come to its end");
	return 0;
}

static struct bytes trimmed(const char *text)
{
	size_t len;

	text += strspn(text, " \t\r\n");
	for (len = strlen(text); len && strchr(" \t\r\n", text[len - 1]); len--)
		;
	return BYTES(text, len);
}

/* Checks the size of a text that was trimmed. */
static int check_size(struct bytes text, const struct model_request *asked, struct model_answer *ret)
{
	if (text.len == 0)
		return refuse(ret, MODEL_UNREADABLE, "the model's answer is empty");
	if (text.len > asked->most_bytes)
		return refuse(ret, MODEL_TOO_LARGE, "the model's answer is larger than was asked for");
	return 0;
}

static int take_text(const struct reply *reply, const struct model_request *asked, struct model_answer *ret)
{
	struct bytes text;
	int r;

	if (!reply->text)
		return refuse(ret, MODEL_UNREADABLE, "the model's answer holds no text");
	text = trimmed(reply->text);
	r = check_size(text, asked, ret);
	if (r == 0)
		ret->text = memory_copy(text);
	return r;
}

/* The tool's input, or else the whole text parsed as JSON. NULL: the reply has neither, or no JSON. */
static json_t *json_of(const struct reply *reply)
{
	struct bytes text;

	if (reply->json)
		return json_incref((json_t *)reply->json);
	text = trimmed(reply->text ? reply->text : "");
	return json_loadb((const char *)text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
}

static int take_json(const struct reply *reply, const struct model_request *asked, struct model_answer *ret)
{
	char why[MODEL_WORDS_MAX];
	json_auto_t *schema = NULL, *json = json_of(reply);

	if (!json)
		return refuse(ret, MODEL_NO_JSON, "the model's answer is not the JSON that was asked for");
	if (json_dumpb(json, NULL, 0, JSON_COMPACT) > asked->most_bytes)
		return refuse(ret, MODEL_TOO_LARGE, "the model's answer is larger than was asked for");
	if (model_schema_read(asked->schema, &schema, why) < 0)
		return refuse(ret, MODEL_NOT_ASKED, why);
	if (!model_schema_fits(schema, json, why)) {
		ret->end = MODEL_OTHER_FORM;
		snprintf(ret->words, sizeof(ret->words), "the model's answer does not fit the schema: %.150s", why);
		return -EBADMSG;
	}
	ret->json = json_incref(json);
	return 0;
}

int model_wire_answer(
	enum model_provider provider, const struct model_request *asked, struct bytes text, struct model_answer *ret)
{
	json_auto_t *body = json_loadb((const char *)text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
	struct reply reply;
	int r;

	*ret = (struct model_answer){ 0 };
	if (!body)
		return refuse(ret, MODEL_UNREADABLE, "what the model's server sent is no JSON");
	reply = read_reply(provider, body, ret);
	r = check_ending(provider, &reply, ret);
	if (r == 0)
		r = asked->schema ? take_json(&reply, asked, ret) : take_text(&reply, asked, ret);
	ret->answered = r == 0;
	return r;
}
