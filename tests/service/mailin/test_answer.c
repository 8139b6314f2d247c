/* test_answer.c: what a bounce quotes and states is told apart from what it supposes */
#include "bus/base/cleanup.h"
#include "services/platform/mailin/answer.h"
#include "tests/unit/cmocka_all.h"

static void quoted_is(const char *text, const char *expected)
{
	_cleanup_(buffer_free) struct buffer quoted = { 0 };

	answer_quoted(text, &quoted);
	assert_string_equal(buffer_text(&quoted), expected);
}

static void stated_is(const char *text, const char *expected)
{
	_cleanup_(buffer_free) struct buffer stated = { 0 };

	answer_stated(text, &stated);
	assert_string_equal(buffer_text(&stated), expected);
}

static void an_answer_is_its_paragraph_and_nothing_around_it(void **state)
{
	(void)state;
	quoted_is("We are sorry.\n\n<a@b.example>: host mx.example said: 550\n    no such user\n\nThe full mailbox.\n",
		"<a@b.example>: host mx.example said: 550\n    no such user\n.\n");
	quoted_is("The response from the remote server was:\n\n550 no such user\n\nbye\n",
		"The response from the remote server was:\n\n550 no such user\n.\n");
	quoted_is("The response was:\r\n\r\n550 no such user\r\n\r\nbye\r\n",
		"The response was:\r\n\r\n550 no such user\r\n.\n");
	quoted_is("reached:\n   <mx.example #5.1.1>\n", "   <mx.example #5.1.1>\n.\n");
	quoted_is("for these recipients:\n\na@b.example: 550 no\n\nBelow\n", "a@b.example: 550 no\n.\n");
	quoted_is("We waited for 550 days, until 1550 came.\n", "");
	quoted_is("Nobody answered.\n", "");
	quoted_is("", "");
}

static void what_is_told_to_administrators_goes_on_over_empty_lines(void **state)
{
	(void)state;
	quoted_is("Diagnostic information for administrators:\n\nGenerating server: x\n\n#550 5.1.1 not found##\n",
		"Diagnostic information for administrators:\n\nGenerating server: x\n\n#550 5.1.1 not found##\n.\n");
}

static void a_supposition_and_an_advice_state_nothing(void **state)
{
	(void)state;
	stated_is("It was refused. The mailbox may be full. Please check the address.\n", "It was refused.\n");
	stated_is("How to Fix It\n- Retype it\n- contact them\n\nNo such user", "- Retype it\n\nNo such user");
	stated_is("", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_its_paragraph_and_nothing_around_it),
		cmocka_unit_test(what_is_told_to_administrators_goes_on_over_empty_lines),
		cmocka_unit_test(a_supposition_and_an_advice_state_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
