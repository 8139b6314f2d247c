/*
 * wire.c: Bedrock Converse, Anthropic messages, chat completions
 *
 * Sources:   docs.aws.amazon.com/bedrock (Converse), docs.anthropic.com/en/api/messages (version 2023-06-01), and the
 *            /v1/chat/completions that local servers copy.
 * Promises:  the data stands in the user's turn, the task in the system's: what strangers wrote is never the task. No tools.
 * Fails by:  -EBADMSG and why, without a word of the answer.
 */
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/text.h"
#include "services/kit/model/model.h"
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#define TEMPERATURE 0.6

static const char *path_of(enum model_provider provider)
{
	return provider == MODEL_ANTHROPIC ? "/v1/messages" : "/v1/chat/completions";
}

/* The model's name stands in the path, and has colons. */
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

static json_t *bedrock_body(const char *task, const char *data, int most_tokens)
{
	return json_pack("{s:[{s:s,s:[{s:s}]}],s:[{s:s}],s:{s:i,s:f}}", "messages", "role", "user", "content", "text",
		data, "system", "text", task, "inferenceConfig", "maxTokens", most_tokens, "temperature", TEMPERATURE);
}

static json_t *anthropic_body(const char *model, const char *task, const char *data, int most_tokens)
{
	return json_pack("{s:s,s:i,s:f,s:s,s:[{s:s,s:s}]}", "model", model, "max_tokens", most_tokens, "temperature",
		TEMPERATURE, "system", task, "messages", "role", "user", "content", data);
}

static json_t *openai_body(const char *model, const char *task, const char *data, int most_tokens)
{
	return json_pack("{s:s,s:i,s:f,s:[{s:s,s:s},{s:s,s:s}]}", "model", model, "max_tokens", most_tokens,
		"temperature", TEMPERATURE, "messages", "role", "system", "content", task, "role", "user", "content",
		data);
}

static json_t *body_of(const struct model_settings *settings, const struct model_request *asked)
{
	const char *task = asked->task, *data = asked->data;

	switch (settings->provider) {
	case MODEL_BEDROCK:
		return bedrock_body(task, data, asked->most_tokens);
	case MODEL_ANTHROPIC:
		return anthropic_body(settings->model, task, data, asked->most_tokens);
	case MODEL_OPENAI:
		return openai_body(settings->model, task, data, asked->most_tokens);
	case MODEL_NONE:
		break;
	}
	return NULL;
}

void model_wire_request(
	const struct model_settings *settings, const struct model_request *asked, struct http_request *ret)
{
	json_auto_t *body = body_of(settings, asked);
	_cleanup_free_ char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;

	if (settings->provider == MODEL_BEDROCK)
		bedrock_url(settings, ret);
	else
		http_request_init(ret, "POST", "%s%s", settings->url, path_of(settings->provider));
	set_auth(settings, &ret->auth);
	http_request_header(ret, "Content-Type", "application/json");
	http_request_header(ret, "Accept", "application/json");
	if (settings->provider == MODEL_ANTHROPIC)
		http_request_header(ret, "anthropic-version", "2023-06-01");
	buffer_add_text(
		&ret->body, text ? text : "{}"); /* not UTF-8: the server refuses it, and the template's line goes */
	TEXT_COPY(ret->ca, settings->ca);
	ret->deadline_us = settings->deadline_us;
	ret->most_bytes = 64 * 1024;
	ret->reach = HTTP_REACH_ADMIN;
}

/* ---- the answer ---- */

static int refuse(struct model_answer *ret, const char *words)
{
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

static int take_text(const char *text, const char *ended, const char *complete, struct model_answer *ret)
{
	size_t len;

	if (!text)
		return refuse(ret, "the model's answer is not of the shape that was asked for");
	if (!ended || strcmp(ended, complete) != 0)
		return refuse(ret, "the model did not come to its end");
	text += strspn(text, " \t\r\n");
	for (len = strlen(text); len && strchr(" \t\r\n", text[len - 1]); len--)
		;
	if (len == 0)
		return refuse(ret, "the model's answer is empty");
	if (!text_copy_bytes(ret->text, sizeof(ret->text), BYTES(text, len)))
		return refuse(ret, "the model's answer is too long");
	return 0;
}

static int read_bedrock(const json_t *body, struct model_answer *ret)
{
	const json_t *message = json_object_get(json_object_get(body, "output"), "message");

	ret->tokens_in = tokens(body, "inputTokens");
	ret->tokens_out = tokens(body, "outputTokens");
	return take_text(text_part(json_object_get(message, "content")),
		json_string_value(json_object_get(body, "stopReason")), "end_turn", ret);
}

static int read_anthropic(const json_t *body, struct model_answer *ret)
{
	ret->tokens_in = tokens(body, "input_tokens");
	ret->tokens_out = tokens(body, "output_tokens");
	return take_text(text_part(json_object_get(body, "content")),
		json_string_value(json_object_get(body, "stop_reason")), "end_turn", ret);
}

static int read_openai(const json_t *body, struct model_answer *ret)
{
	const json_t *choice = json_array_get(json_object_get(body, "choices"), 0);

	ret->tokens_in = tokens(body, "prompt_tokens");
	ret->tokens_out = tokens(body, "completion_tokens");
	return take_text(json_string_value(json_object_get(json_object_get(choice, "message"), "content")),
		json_string_value(json_object_get(choice, "finish_reason")), "stop", ret);
}

int model_wire_answer(enum model_provider provider, struct bytes text, struct model_answer *ret)
{
	json_auto_t *body = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);

	*ret = (struct model_answer){ 0 };
	if (!body)
		return refuse(ret, "the model's answer is no JSON");
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
	return refuse(ret, "no model is configured");
}
