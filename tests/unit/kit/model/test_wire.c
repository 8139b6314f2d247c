/* What each provider is asked, and what is taken from its answer. */
#include "bus/base/text.h"
#include "services/kit/model/model.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <jansson.h>

static struct model_settings settings(enum model_provider provider)
{
	struct model_settings settings = { .provider = provider, .deadline_us = US_PER_S };

	TEXT_COPY(settings.url, "https://model.example");
	TEXT_COPY(settings.model, "a.b-v1:0");
	TEXT_COPY(settings.secret, "model.key");
	TEXT_COPY(settings.region, "eu-central-1");
	return settings;
}

static struct http_request asked(enum model_provider provider)
{
	struct model_settings with = settings(provider);
	struct model_request request = {
		.task = (char *)"task", .data = (char *)"{\"x\":\"\\u00e4\"}", .most_tokens = 99
	};
	struct http_request http = { 0 };

	model_wire_request(&with, &request, &http);
	return http;
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

static const struct {
	enum model_provider provider;
	const char *good, *cut_off, *empty;
} answers[] = {
	{ MODEL_BEDROCK,
		"{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":[{\"text\":\" Hi \\n\"}]}},"
		"\"stopReason\":\"end_turn\",\"usage\":{\"inputTokens\":7,\"outputTokens\":3,\"totalTokens\":10}}",
		"{\"output\":{\"message\":{\"content\":[{\"text\":\"Hi\"}]}},\"stopReason\":\"max_tokens\"}",
		"{\"output\":{\"message\":{\"content\":[]}},\"stopReason\":\"end_turn\"}" },
	{ MODEL_ANTHROPIC,
		"{\"type\":\"message\",\"content\":[{\"type\":\"thinking\"},{\"type\":\"text\",\"text\":\"Hi\"}],"
		"\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":7,\"output_tokens\":3}}",
		"{\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}],\"stop_reason\":\"max_tokens\"}",
		"{\"content\":[{\"type\":\"text\",\"text\":\" \"}],\"stop_reason\":\"end_turn\"}" },
	{ MODEL_OPENAI,
		"{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"finish_reason\":"
		"\"stop\"}],"
		"\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}",
		"{\"choices\":[{\"message\":{\"content\":\"Hi\"},\"finish_reason\":\"length\"}]}",
		"{\"choices\":[{\"message\":{\"content\":null},\"finish_reason\":\"stop\"}]}" },
};

static void a_complete_answer_is_taken_with_what_it_cost(void **state)
{
	struct model_answer answer;

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		assert_int_equal(model_wire_answer(answers[i].provider, bytes_of(answers[i].good), &answer), 0);
		assert_string_equal(answer.text, "Hi");
		assert_int_equal(answer.tokens_in, 7);
		assert_int_equal(answer.tokens_out, 3);
	}
}

static void anything_else_is_no_answer(void **state)
{
	static const char *const wrong[] = { "", "x", "[]", "null", "{}", "\"Hi\"", "{\"error\":{\"message\":\"no\"}}",
		"{\"choices\":{},\"content\":7,\"output\":[]}", "{\"choices\":[7]}", "{\"content\":[{\"text\":7}]}" };
	struct model_answer answer;

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		assert_int_equal(
			model_wire_answer(answers[i].provider, bytes_of(answers[i].cut_off), &answer), -EBADMSG);
		assert_int_equal(model_wire_answer(answers[i].provider, bytes_of(answers[i].empty), &answer), -EBADMSG);
		for (size_t j = 0; j < sizeof(wrong) / sizeof(wrong[0]); j++) {
			assert_int_equal(model_wire_answer(answers[i].provider, bytes_of(wrong[j]), &answer), -EBADMSG);
			assert_string_not_equal(answer.words, "");
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bedrock_is_asked_in_its_own_words),
		cmocka_unit_test(anthropic_is_asked_in_its_own_words),
		cmocka_unit_test(any_other_server_is_asked_for_a_chat_completion),
		cmocka_unit_test(a_complete_answer_is_taken_with_what_it_cost),
		cmocka_unit_test(anything_else_is_no_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
