/* test_google.c: what Google's token server answers: which token is used, for how long, and what is said of a refusal */
#include "bus/base/clock.h"
#include "services/kit/google/google.h"
#include "tests/unit/cmocka_all.h"
#include <stdlib.h>

static void a_token_is_used_for_as_long_as_it_says_and_for_an_hour_at_most(void **state)
{
	static const struct {
		const char *body, *token; /* NULL: the body is none */
		int64_t lasts_s;
	} cases[] = {
		{ "{\"access_token\":\"ya29.a\",\"expires_in\":3599,\"token_type\":\"Bearer\"}", "ya29.a", 3599 },
		{ "{\"access_token\":\"a\",\"expires_in\":3600}", "a", 3600 },
		{ "{\"access_token\":\"a\",\"expires_in\":3601}", "a", 3600 },
		{ "{\"access_token\":\"a\",\"expires_in\":1}", "a", 1 },
		{ "{\"access_token\":\"a\",\"expires_in\":0}", "a", 0 },
		{ "{\"access_token\":\"a\",\"expires_in\":-1}", "a", 3600 },
		{ "{\"access_token\":\"a\"}", "a", 0 }, /* asked for again the next time */
		{ "{\"access_token\":\"\",\"expires_in\":60}", NULL, 0 },
		{ "{\"access_token\":\"a\\r\\nX: y\",\"expires_in\":60}", NULL, 0 },
		{ "{\"access_token\":7,\"expires_in\":60}", NULL, 0 },
		{ "{\"access_token\":null}", NULL, 0 },
		{ "{\"expires_in\":60}", NULL, 0 },
		{ "[\"access_token\"]", NULL, 0 },
		{ "ya29.a", NULL, 0 },
		{ "", NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *token = NULL;
		int64_t lasts_us = -1;
		bool is_token = google_token_read(bytes_of(cases[i].body), &token, &lasts_us);

		if (is_token != (cases[i].token != NULL))
			fail_msg("%s is %s token", cases[i].body, is_token ? "a" : "no");
		if (is_token && (strcmp(token, cases[i].token) != 0 || lasts_us != cases[i].lasts_s * US_PER_S))
			fail_msg("%s: %s for %lld us", cases[i].body, token, (long long)lasts_us);
		free(token);
	}
	assert_false(google_token_read(BYTES(NULL, 0), &(char *){ NULL }, &(int64_t){ 0 }));
}

/* What stands in the body may name a person or a key. */
static void of_a_refusal_one_word_is_repeated_and_nothing_else(void **state)
{
	static const struct {
		const char *body, *words;
	} cases[] = {
		{ "{\"error\":\"invalid_grant\",\"error_description\":\"Invalid grant: a@b.example\"}",
			"no token for the service account: HTTP 400 invalid_grant" },
		{ "{\"error\":\"a@b.example is unknown\"}", "no token for the service account: HTTP 400" },
		{ "{\"error\":\"Invalid\"}", "no token for the service account: HTTP 400" },
		{ "{\"error\":{\"code\":400}}", "no token for the service account: HTTP 400" },
		{ "{\"error\":null}", "no token for the service account: HTTP 400" },
		{ "{}", "no token for the service account: HTTP 400" },
		{ "<html>", "no token for the service account: HTTP 400" },
		{ "", "no token for the service account: HTTP 400" },
		{ "{\"error\":\"abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz\"}",
			"no token for the service account: HTTP 400 abcdefghijklmnopqrstuvwxyz_abcdefghijklm" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct http_answer answer = {
			.end = HTTP_ANSWERED, .status = 400, .words = "HTTP 400", .body = bytes_of(cases[i].body)
		};
		char words[256];

		google_refusal_words(&answer, words);
		assert_string_equal(words, cases[i].words);
	}
}

static void a_segment_of_a_path_is_encoded_or_does_not_fit(void **state)
{
	char ret[20];

	(void)state;
	assert_true(google_encode("a b/c?d", ret, sizeof(ret)));
	assert_string_equal(ret, "a%20b%2Fc%3Fd");
	assert_true(google_encode("ä", ret, 7));
	assert_string_equal(ret, "%C3%A4");
	assert_false(google_encode("ä", ret, 6));
}

static void ignore(void *context, const struct http_answer *answer)
{
	(void)context, (void)answer;
}

/* There is no key file, so no request goes out. */
static void there_may_be_more_scopes_than_tokens(void **state)
{
	static const char *const scopes[] = { "a", "b", "c", "d", "e", "f", "a", "f" };
	static const struct http_caller caller = { .done = ignore };
	const struct clock clock = clock_system();
	const struct google_settings settings = { .http.clock = &clock, .key_path = "/nonexistent/google.json" };
	struct google *google = google_new(&settings);

	(void)state;
	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		const struct google_request request = { .scope = scopes[i] };

		google_call_stop(google_call_new(google, &request, &caller, NULL));
	}
	google_free(google);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_token_is_used_for_as_long_as_it_says_and_for_an_hour_at_most),
		cmocka_unit_test(of_a_refusal_one_word_is_repeated_and_nothing_else),
		cmocka_unit_test(there_may_be_more_scopes_than_tokens),
		cmocka_unit_test(a_segment_of_a_path_is_encoded_or_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
