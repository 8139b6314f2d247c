/* test_transport_ses_answer.c: what an answer of SES means for the mail, before and behind its last byte */
#include "bus/base/bytes.h"
#include "bus/base/text.h"
#include "services/kit/mail/transport.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static struct http_answer answer_of(long status, const char *error, const char *body)
{
	struct http_answer answer = {
		.end = HTTP_ANSWERED, .status = status, .body = bytes_of(body), .words = "words"
	};

	if (error) {
		answer.headers[0].name = SES_ERROR_HEADER;
		TEXT_COPY(answer.headers[0].value, error);
	}
	return answer;
}

static void an_error_is_the_mails_or_ours_or_of_the_moment(void **state)
{
	static const struct {
		long status;
		const char *error, *body;
		enum mail_end end, before_last_byte;
		bool throttled;
	} cases[] = {
		{ 400, "MessageRejected", "{}", MAIL_REFUSED, MAIL_REFUSED, false },
		{ 400, "BadRequestException:http://x/", "{}", MAIL_REFUSED, MAIL_REFUSED, false },
		{ 400, NULL, "{\"__type\":\"com.amazonaws.ses#MessageRejected\"}", MAIL_REFUSED, MAIL_REFUSED, false },
		{ 400, "TooManyRequestsException", "{\"__type\":\"MessageRejected\"}", MAIL_LATER, MAIL_LATER, true },
		{ 400, "ThrottlingException", "", MAIL_LATER, MAIL_LATER, true },
		{ 400, "Throttling", "", MAIL_LATER, MAIL_LATER, true },
		{ 400, NULL, "{\"__type\":\"x#LimitExceededException:y\"}", MAIL_LATER, MAIL_LATER, true },
		{ 409, "ConcurrentModificationException", "", MAIL_LATER, MAIL_LATER, false },
		{ 500, "ServiceUnavailable", "", MAIL_LATER, MAIL_LATER, false },
		{ 429, NULL, "<html>", MAIL_LATER, MAIL_LATER, true },
		{ 428, NULL, "", MAIL_NOT_SENT, MAIL_NOT_SENT, false },
		{ 503, NULL, "", MAIL_LATER, MAIL_LATER, false },
		{ 400, "AccountSuspendedException", "", MAIL_NOT_SENT, MAIL_NOT_SENT, false },
		{ 403, NULL, "{\"__type\":7}", MAIL_NOT_SENT, MAIL_NOT_SENT, false },
		{ 499, NULL, "", MAIL_NOT_SENT, MAIL_NOT_SENT, false },
		{ 399, NULL, "", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 500, NULL, "", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 502, "Rejected", "", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 201, NULL, "{\"MessageId\":\"m\"}", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 200, NULL, "{\"MessageId\":\"m\"}", MAIL_SENT, MAIL_NOT_SENT, false },
		{ 200, NULL, "{\"MessageId\":\"\"}", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 200, NULL, "{\"MessageId\":7}", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
		{ 200, NULL, "", MAIL_UNKNOWN, MAIL_NOT_SENT, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_answer answer = answer_of(cases[i].status, cases[i].error, cases[i].body);
		assert_int_equal(ses_result_of(&answer, true).end, cases[i].end);
		assert_int_equal(ses_result_of(&answer, false).end, cases[i].before_last_byte);
		assert_int_equal(ses_is_throttled(&answer), cases[i].throttled);
		assert_string_equal(ses_result_of(&answer, true).transport, "ses");
	}
}

/* Perhaps it has all of it: only behind the last byte. */
static void without_an_answer_the_last_byte_decides(void **state)
{
	static const struct {
		enum http_end end;
		enum mail_end gone, held;
	} cases[] = { { HTTP_UNKNOWN, MAIL_UNKNOWN, MAIL_NOT_SENT }, { HTTP_NOT_SENT, MAIL_NOT_SENT, MAIL_NOT_SENT },
		{ HTTP_BARRED, MAIL_NOT_SENT, MAIL_NOT_SENT } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_answer answer = answer_of(429, NULL, "{\"MessageId\":\"m\"}");
		answer.end = cases[i].end;
		assert_int_equal(ses_result_of(&answer, true).end, cases[i].gone);
		assert_int_equal(ses_result_of(&answer, false).end, cases[i].held);
		assert_string_equal(ses_result_of(&answer, true).words, "words");
		assert_string_equal(ses_result_of(&answer, true).transport, "ses");
		assert_false(ses_is_throttled(&answer)); /* it did not say so */
	}
}

static void what_it_said_is_kept_without_addresses(void **state)
{
	struct http_answer answer = answer_of(
		400, "MessageRejected:x", "{\"message\":\"Email address is not verified: ann@buyer.example in EU\"}");

	(void)state;
	assert_string_equal(ses_result_of(&answer, true).words,
		"HTTP 400 MessageRejected Email address is not verified: (address) in EU");
	answer = answer_of(200, NULL, "{\"MessageId\":\"0102-77\"}");
	assert_string_equal(ses_result_of(&answer, true).words, "MessageId 0102-77");
	assert_string_equal(ses_result_of(&answer, false).words, "HTTP 200");
}

static void words_of_a_server_are_printable_and_name_nobody(void **state)
{
	static const struct {
		const char *said, *words;
	} cases[] = { { "", "" }, { "250 ok", "250 ok" }, { "  250  ok  ", "  250  ok" },
		{ "a\r\nb\x7f\x1b c", "ab c" }, { "\xc3\xbc!~", "!~" },
		{ "<ann@b.example>: unknown", "(address) unknown" }, { "@", "(address)" },
		{ "to ann@b.example", "to (address)" } };
	char words[256], said[400];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mail_words(cases[i].said, strlen(cases[i].said), words);
		assert_string_equal(words, cases[i].words);
	}
	mail_words("250 ok and more", 6, words);
	assert_string_equal(words, "250 ok");
	memset(said, 'x', sizeof(said)); /* what does not fit is left out */
	mail_words(said, sizeof(said), words);
	assert_int_equal(strlen(words), 254);
	memcpy(said + 243, " end", 4); /* no word begins in the last twelve bytes */
	mail_words(said, 247, words);
	assert_int_equal(strlen(words), 243);
	for (size_t i = 0; i < sizeof(said); i += 2)
		memcpy(said + i, "@ ", 2);
	mail_words(said, sizeof(said), words);
	assert_true(strlen(words) < sizeof(words));
	assert_null(strchr(words, '@'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_is_the_mails_or_ours_or_of_the_moment),
		cmocka_unit_test(without_an_answer_the_last_byte_decides),
		cmocka_unit_test(what_it_said_is_kept_without_addresses),
		cmocka_unit_test(words_of_a_server_are_printable_and_name_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
