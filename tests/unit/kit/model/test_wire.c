/* What each provider is asked, and what is taken from its answer. */
#include "bus/base/text.h"
#include "services/kit/model/model.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct model_settings settings(enum model_provider provider)
{
	struct model_settings settings = { .provider = provider, .deadline_us = US_PER_S };

	TEXT_COPY(settings.url, "https://model.example");
	TEXT_COPY(settings.model, "a.b-v1:0");
	TEXT_COPY(settings.secret, "model.key");
	TEXT_COPY(settings.region, "eu-central-1");
	return settings;
}

static struct model_request question(void)
{
	return (struct model_request){ .task = (char *)"task",
		.data = (char *)"{\"x\":\"\\u00e4\"}",
		.most_tokens = 99,
		.most_bytes = 1999,
		.temperature = 0.6 };
}

static struct http_request asked_with(enum model_provider provider, const struct model_request *request)
{
	struct model_settings with = settings(provider);
	struct http_request http = { 0 };
	char why[MODEL_WORDS_MAX];

	if (model_wire_request(&with, request, &http, why) < 0)
		fail_msg("%s", why);
	return http;
}

static struct http_request asked(enum model_provider provider)
{
	struct model_request request = question();

	return asked_with(provider, &request);
}

static void has_body(const struct http_request *request, const char *expected)
{
	json_auto_t *is = json_loadb((const char *)request->body.data, request->body.len, 0, NULL);
	json_auto_t *shall = json_loads(expected, 0, NULL);

	assert_non_null(shall);
	if (!json_equal(is, shall))
		fail_msg("%.*s", (int)request->body.len, (const char *)request->body.data);
}

static void bedrock_is_asked_in_its_own_words(void **state)
{
	struct http_request request = asked(MODEL_BEDROCK);

	(void)state;
	assert_string_equal(request.url, "https://model.example/model/a.b-v1%3A0/converse");
	assert_int_equal(request.auth.kind, HTTP_AUTH_SIGV4);
	assert_string_equal(request.auth.service, "bedrock");
	has_body(&request,
		"{\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"{\\\"x\\\":\\\"\\\\u00e4\\\"}\"}]}],"
		"\"system\":[{\"text\":\"task\"}],\"inferenceConfig\":{\"maxTokens\":99,\"temperature\":0.6}}");
	http_request_clear(&request);
}

static void anthropic_is_asked_in_its_own_words(void **state)
{
	struct http_request request = asked(MODEL_ANTHROPIC);

	(void)state;
	assert_string_equal(request.url, "https://model.example/v1/messages");
	assert_string_equal(request.auth.name, "x-api-key");
	assert_non_null(memmem(request.headers.data, request.headers.len, "anthropic-version: 2023-06-01", 29));
	has_body(&request,
		"{\"model\":\"a.b-v1:0\",\"max_tokens\":99,\"temperature\":0.6,\"system\":\"task\","
		"\"messages\":[{\"role\":\"user\",\"content\":\"{\\\"x\\\":\\\"\\\\u00e4\\\"}\"}]}");
	http_request_clear(&request);
}

static void any_other_server_is_asked_for_a_chat_completion(void **state)
{
	struct http_request request = asked(MODEL_OPENAI);

	(void)state;
	assert_string_equal(request.url, "https://model.example/v1/chat/completions");
	assert_int_equal(request.auth.kind, HTTP_AUTH_BEARER);
	has_body(&request,
		"{\"model\":\"a.b-v1:0\",\"max_tokens\":99,\"temperature\":0.6,\"messages\":["
		"{\"role\":\"system\",\"content\":\"task\"},{\"role\":\"user\",\"content\":\"{\\\"x\\\":"
		"\\\"\\\\u00e4\\\"}\"}]}");
	http_request_clear(&request);
}

/* ---- JSON is asked for ---- */

#define STRICT                                                                                                         \
	"{\"type\":\"object\",\"properties\":{\"outcome\":{\"enum\":[\"in\",\"out\"]}},\"required\":[\"outcome\"],"    \
	"\"additionalProperties\":false}"
#define LOOSE "{\"type\":\"object\",\"properties\":{\"outcome\":{\"enum\":[\"in\",\"out\"]}}}"
#define TOOL "\"name\":\"answer\",\"description\":\"Gives the answer.\""

static struct http_request asked_for_json(enum model_provider provider, const char *schema)
{
	struct model_request request = question();

	request.schema = (char *)schema;
	request.temperature = 0;
	return asked_with(provider, &request);
}

/* Of a request with a schema this stands in the body, beside what a text is asked for with. */
static void has_part(struct http_request request, const char *name, const char *expected)
{
	json_auto_t *is = json_loadb((const char *)request.body.data, request.body.len, 0, NULL);
	json_auto_t *shall = json_loads(expected, JSON_DECODE_ANY, NULL);

	assert_non_null(shall);
	if (!json_equal(json_object_get(is, name), shall))
		fail_msg("%.*s", (int)request.body.len, (const char *)request.body.data);
	http_request_clear(&request);
}

static void json_is_asked_for_as_each_api_documents_it(void **state)
{
	(void)state;
	has_part(asked_for_json(MODEL_BEDROCK, STRICT), "toolConfig",
		"{\"tools\":[{\"toolSpec\":{" TOOL ",\"inputSchema\":{\"json\":" STRICT "}}}],"
		"\"toolChoice\":{\"tool\":{\"name\":\"answer\"}}}");
	has_part(asked_for_json(MODEL_BEDROCK, STRICT), "inferenceConfig", "{\"maxTokens\":99,\"temperature\":0.0}");
	has_part(asked_for_json(MODEL_ANTHROPIC, STRICT), "tools", "[{" TOOL ",\"input_schema\":" STRICT "}]");
	has_part(asked_for_json(MODEL_ANTHROPIC, STRICT), "tool_choice",
		"{\"type\":\"tool\",\"name\":\"answer\",\"disable_parallel_tool_use\":true}");
	has_part(asked_for_json(MODEL_OPENAI, STRICT), "response_format",
		"{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"answer\",\"strict\":true,\"schema\":" STRICT
		"}}");
	has_part(asked_for_json(MODEL_OPENAI, LOOSE), "response_format",
		"{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"answer\",\"strict\":false,\"schema\":" LOOSE
		"}}");
	has_part(asked_for_json(MODEL_OPENAI, LOOSE), "temperature", "0.0");
}

static void a_question_that_makes_no_sense_is_not_asked(void **state)
{
	static const struct {
		struct model_request request;
		const char *why;
	} wrong[] = {
		{ { .most_tokens = 0, .most_bytes = 10 },
			"the question allows a number of tokens that is out of range" },
		{ { .most_tokens = MODEL_TOKENS_MAX + 1, .most_bytes = 10 },
			"the question allows a number of tokens that is out of range" },
		{ { .most_tokens = 1, .most_bytes = 0 },
			"the question allows an answer of a size that is out of range" },
		{ { .most_tokens = 1, .most_bytes = MODEL_ANSWER_MAX + 1 },
			"the question allows an answer of a size that is out of range" },
		{ { .most_tokens = 1, .most_bytes = 1, .temperature = 1.01 },
			"the question has a temperature that is out of range" },
		{ { .most_tokens = 1, .most_bytes = 1, .temperature = -0.01 },
			"the question has a temperature that is out of range" },
		{ { .most_tokens = 1, .most_bytes = 1, .temperature = (double)NAN },
			"the question has a temperature that is out of range" },
		{ { .most_tokens = 1, .most_bytes = 1, .schema = (char *)"{\"type\":\"string\"}" },
			"the schema cannot be used: its own type is not object" },
		{ { .most_tokens = 1, .most_bytes = 1, .data = (char *)"\xff" }, "the question is not UTF-8" },
	};
	char why[MODEL_WORDS_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct model_settings with = settings(MODEL_OPENAI);
		struct model_request request = wrong[i].request;
		struct http_request http = { 0 };

		request.task = (char *)"task";
		request.data = request.data ? request.data : (char *)"{}";
		assert_int_equal(model_wire_request(&with, &request, &http, why), -EINVAL);
		assert_string_equal(why, wrong[i].why);
		assert_int_equal(http.body.len, 0);
	}
	struct model_settings none = { .provider = MODEL_NONE };
	struct model_request request = question();
	struct http_request http = { 0 };
	assert_int_equal(model_wire_request(&none, &request, &http, why), -EINVAL);
	assert_string_equal(why, "no model is configured for this question");
}

/* ---- what comes back ---- */

static struct model_answer answer;

static int answered(enum model_provider provider, const char *schema, size_t most_bytes, const char *body)
{
	struct model_request request = question();

	request.schema = (char *)schema;
	request.most_bytes = most_bytes;
	model_answer_clear(&answer);
	return model_wire_answer(provider, &request, bytes_of(body), &answer);
}

static const struct {
	enum model_provider provider;
	const char *good, *cut_off, *empty, *refused, *json;
} answers[] = {
	{ MODEL_BEDROCK,
		"{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":[{\"text\":\" Hi \\n\"}]}},"
		"\"stopReason\":\"end_turn\",\"usage\":{\"inputTokens\":7,\"outputTokens\":3,\"totalTokens\":10}}",
		"{\"output\":{\"message\":{\"content\":[{\"toolUse\":{\"input\":{\"outcome\":\"in\"}}},{\"text\":\"Hi\"}]}},"
		"\"stopReason\":\"max_tokens\"}",
		"{\"output\":{\"message\":{\"content\":[]}},\"stopReason\":\"end_turn\"}",
		"{\"output\":{\"message\":{\"content\":[{\"text\":\"I cannot\"}]}},\"stopReason\":\"guardrail_intervened\"}",
		"{\"output\":{\"message\":{\"content\":[{\"text\":\"Let me see.\"},{\"toolUse\":{\"toolUseId\":\"t1\","
		"\"name\":\"answer\",\"input\":%s}}]}},\"stopReason\":\"tool_use\","
		"\"usage\":{\"inputTokens\":7,\"outputTokens\":3}}" },
	{ MODEL_ANTHROPIC,
		"{\"type\":\"message\",\"content\":[{\"type\":\"thinking\"},{\"type\":\"text\",\"text\":\"Hi\"}],"
		"\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":7,\"output_tokens\":3}}",
		"{\"content\":[{\"type\":\"tool_use\",\"input\":{\"outcome\":\"in\"}},{\"type\":\"text\",\"text\":\"Hi\"}],"
		"\"stop_reason\":\"max_tokens\"}",
		"{\"content\":[{\"type\":\"text\",\"text\":\" \"}],\"stop_reason\":\"end_turn\"}",
		"{\"content\":[],\"stop_reason\":\"refusal\"}",
		"{\"content\":[{\"type\":\"text\",\"text\":\"Let me see.\"},{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"answer\","
		"\"input\":%s}],\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":7,\"output_tokens\":3}}" },
	{ MODEL_OPENAI,
		"{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"finish_reason\":"
		"\"stop\"}],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}",
		"{\"choices\":[{\"message\":{\"content\":\"{\\\"outcome\\\":\\\"in\\\"}\"},\"finish_reason\":\"length\"}]}",
		"{\"choices\":[{\"message\":{\"content\":\" \"},\"finish_reason\":\"stop\"}]}",
		"{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"I cannot\"},\"finish_reason\":\"stop\"}]}",
		NULL },
};
enum { ANSWERS = sizeof(answers) / sizeof(answers[0]) };

/* An answer of that API whose JSON is `json`, and what was taken from it. */
static int answered_json(size_t i, const char *json, size_t most_bytes)
{
	char body[4000];
	json_auto_t *chat = NULL;
	char *text;
	int r;

	if (answers[i].json) {
		const char *hole = strstr(answers[i].json, "%s");
		snprintf(
			body, sizeof(body), "%.*s%s%s", (int)(hole - answers[i].json), answers[i].json, json, hole + 2);
		return answered(answers[i].provider, STRICT, most_bytes, body);
	}
	chat = json_pack("{s:[{s:{s:s},s:s}],s:{s:i,s:i}}", "choices", "message", "content", json, "finish_reason",
		"stop", "usage", "prompt_tokens", 7, "completion_tokens", 3);
	text = json_dumps(chat, 0);
	r = answered(answers[i].provider, STRICT, most_bytes, text);
	free(text);
	return r;
}

static void a_complete_answer_is_taken_with_what_it_cost(void **state)
{
	(void)state;
	for (size_t i = 0; i < ANSWERS; i++) {
		assert_int_equal(answered(answers[i].provider, NULL, 2, answers[i].good), 0);
		assert_true(answer.answered);
		assert_string_equal(answer.text, "Hi");
		assert_null(answer.json);
		assert_int_equal(answer.tokens_in, 7);
		assert_int_equal(answer.tokens_out, 3);
	}
	model_answer_clear(&answer);
}

static void json_that_fits_is_handed_on_as_json(void **state)
{
	(void)state;
	for (size_t i = 0; i < ANSWERS; i++) {
		assert_int_equal(answered_json(i, "{ \"outcome\" : \"out\" }", 17), 0);
		assert_true(answer.answered);
		assert_null(answer.text);
		assert_string_equal(json_string_value(json_object_get(answer.json, "outcome")), "out");
		assert_int_equal(answer.tokens_in, 7);
	}
	model_answer_clear(&answer);
}

static void has_failed(int r, ModelEnd end, const char *words)
{
	assert_int_equal(r, -EBADMSG);
	assert_int_equal(answer.end, end);
	assert_string_equal(answer.words, words);
	assert_false(answer.answered);
	assert_null(answer.text); /* never a half */
	assert_null(answer.json);
}

static void each_failure_has_its_own_end_and_words(void **state)
{
	static const char *const schemas[] = { NULL, STRICT };

	(void)state;
	for (size_t i = 0; i < ANSWERS; i++) {
		enum model_provider provider = answers[i].provider;

		for (size_t j = 0; j < 2; j++) {
			has_failed(answered(provider, schemas[j], 100, answers[i].cut_off), MODEL_CUT_OFF,
				"the model's answer was cut off at its limit of tokens");
			has_failed(answered(provider, schemas[j], 100, answers[i].refused), MODEL_REFUSED,
				"the model refused to answer");
		}
		has_failed(answered(provider, NULL, 1, answers[i].good), MODEL_TOO_LARGE,
			"the model's answer is larger than was asked for");
		has_failed(answered_json(i, "{\"outcome\":\"out\"}", 16), MODEL_TOO_LARGE,
			"the model's answer is larger than was asked for");
		has_failed(answered(provider, STRICT, 100, answers[i].good), MODEL_NO_JSON,
			"the model's answer is not the JSON that was asked for");
		has_failed(answered_json(i, "{\"outcome\":\"SECRET\"}", 100), MODEL_OTHER_FORM,
			"the model's answer does not fit the schema: outcome: it is none of the values that it may be");
		has_failed(answered_json(i, "{\"outcome\":\"in\",\"SECRET\":1}", 100), MODEL_OTHER_FORM,
			"the model's answer does not fit the schema: it has a property that it may not have");
		has_failed(answered_json(i, "[]", 100), MODEL_OTHER_FORM,
			"the model's answer does not fit the schema: it is not of type object");
		assert_int_equal(answered(provider, NULL, 100, answers[i].empty), -EBADMSG);
		assert_int_equal(answer.end, MODEL_UNREADABLE);
	}
	has_failed(answered_json(2, "```json\n{\"outcome\":\"in\"}\n```", 100), MODEL_NO_JSON,
		"the model's answer is not the JSON that was asked for");
	has_failed(answered_json(2, "{\"outcome\":\"in\"", 100), MODEL_NO_JSON,
		"the model's answer is not the JSON that was asked for");
	has_failed(answered_json(2, "{\"outcome\":\"in\",\"outcome\":\"out\"}", 100), MODEL_NO_JSON,
		"the model's answer is not the JSON that was asked for");
}

static void an_answer_of_64_kib_is_taken_and_one_byte_more_is_not(void **state)
{
	for (size_t more = 0; more < 2; more++) {
		char *text = malloc(MODEL_ANSWER_MAX + 2), *body = NULL;

		memset(text, 'x', MODEL_ANSWER_MAX + more);
		text[MODEL_ANSWER_MAX + more] = '\0';
		assert_true(
			asprintf(&body, "{\"content\":[{\"text\":\"%s\"}],\"stop_reason\":\"end_turn\"}", text) > 0);
		assert_int_equal(answered(MODEL_ANTHROPIC, NULL, MODEL_ANSWER_MAX, body), more ? -EBADMSG : 0);
		if (!more)
			assert_string_equal(answer.text, text);
		free(text);
		free(body);
	}
	(void)state;
	assert_int_equal(answer.end, MODEL_TOO_LARGE);
	model_answer_clear(&answer);
}

static void anything_else_is_no_answer(void **state)
{
	static const char *const wrong[] = { "", "x", "[]", "null", "{}", "\"Hi\"", "{\"error\":{\"message\":\"no\"}}",
		"{\"choices\":{},\"content\":7,\"output\":[]}", "{\"choices\":[7]}", "{\"content\":[{\"text\":7}]}",
		"{\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}",
		"{\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}],\"stop_reason\":\"pause_turn\"}",
		"{\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}],\"stop_reason\":\"end\"}" };

	(void)state;
	for (size_t i = 0; i < ANSWERS; i++)
		for (size_t j = 0; j < sizeof(wrong) / sizeof(wrong[0]); j++) {
			assert_int_equal(answered(answers[i].provider, j % 2 ? STRICT : NULL, 100, wrong[j]), -EBADMSG);
			assert_string_not_equal(answer.words, "");
			assert_int_equal(answer.end, MODEL_UNREADABLE);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bedrock_is_asked_in_its_own_words),
		cmocka_unit_test(anthropic_is_asked_in_its_own_words),
		cmocka_unit_test(any_other_server_is_asked_for_a_chat_completion),
		cmocka_unit_test(json_is_asked_for_as_each_api_documents_it),
		cmocka_unit_test(a_question_that_makes_no_sense_is_not_asked),
		cmocka_unit_test(a_complete_answer_is_taken_with_what_it_cost),
		cmocka_unit_test(json_that_fits_is_handed_on_as_json),
		cmocka_unit_test(each_failure_has_its_own_end_and_words),
		cmocka_unit_test(an_answer_of_64_kib_is_taken_and_one_byte_more_is_not),
		cmocka_unit_test(anything_else_is_no_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
