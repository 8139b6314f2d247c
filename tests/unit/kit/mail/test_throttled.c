/* test_throttled.c: which answers ask to be left alone for a while */
#include "services/kit/mail/transport.h"
#include "tests/unit/cmocka_all.h"

static void a_mail_servers_reply_that_asks_for_patience_is_known(void **state)
{
	static const struct {
		long code;
		const char *reply;
		bool is_throttled;
	} cases[] = {
		{ 450, "450 4.7.1 Greylisted, see http://example", true },
		{ 421, "421 4.7.0 Try again later", true },
		{ 452, "452 4.5.3 Too many recipients", true },
		{ 451, "451 Rate limit exceeded", true },
		{ 454, "454 Throttling failure: Maximum sending rate exceeded.", true },
		{ 450, "450 4.2.1 mailbox is busy", false },
		{ 451, "451 4.3.0 no 4.7.1 here", false },
		{ 550, "550 5.7.1 too many complaints", false },
		{ 250, "250 2.0.0 too many thanks", false },
		{ 421, "421", false },
		{ 0, "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (mail_is_throttled(cases[i].code, cases[i].reply) != cases[i].is_throttled)
			fail_msg("%s", cases[i].reply);
}

static void ses_is_known_by_its_names_and_by_429(void **state)
{
	static const struct {
		long status;
		const char *body;
		bool is_throttled;
	} cases[] = {
		{ 429, "", true },
		{ 429, "not json", true },
		{ 400, "{\"__type\":\"com.amazonaws.sesv2#ThrottlingException\"}", true },
		{ 400, "{\"__type\":\"LimitExceededException:http://internal\"}", true },
		{ 400, "{\"__type\":\"BadRequestException\"}", false },
		{ 503, "{}", false },
		{ 200, "{\"MessageId\":\"m\"}", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_answer answer = {
			.end = HTTP_ANSWERED, .status = cases[i].status, .body = bytes_of(cases[i].body)
		};

		if (ses_is_throttled(&answer) != cases[i].is_throttled)
			fail_msg("%ld %s", cases[i].status, cases[i].body);
		answer.end = HTTP_UNKNOWN;
		assert_false(ses_is_throttled(&answer));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mail_servers_reply_that_asks_for_patience_is_known),
		cmocka_unit_test(ses_is_known_by_its_names_and_by_429),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
