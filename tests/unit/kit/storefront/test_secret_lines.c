/* test_secret_lines.c: which secrets SHOP.previous holds, however its lines end, and no more than it may */
#include "services/kit/storefront/secret_lines.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>

static const struct {
	const char *text;
	int count;
	bool has_first, has_second;
} cases[] = {
	{ "", 0, false, false },
	{ "\n\r\n\n", 0, false, false },
	{ "first", 1, true, false },
	{ "first\n", 1, true, false },
	{ "first\nsecond", 2, true, true },
	{ "first\r\nsecond\r\n", 2, true, true },
	{ "\n\nfirst\n\n\nsecond\n\n", 2, true, true },
	{ "first\rsecond", 1, false, false }, /* a carriage return alone ends no line */
	{ "firstsecond\nfirs\nsecond ", 3, false, false },
};

static void each_line_is_a_secret_and_empty_ones_are_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bytes text = bytes_of(cases[i].text);

		assert_int_equal(secret_lines_count(text), cases[i].count);
		assert_int_equal(secret_lines_have(text, bytes_of("first")), cases[i].has_first);
		assert_int_equal(secret_lines_have(text, bytes_of("second")), cases[i].has_second);
		assert_false(secret_lines_have(text, bytes_of("")));
		assert_false(secret_lines_have_more(text));
	}
}

static void no_more_are_read_than_a_rotation_may_leave(void **state)
{
	char text[20 * 10] = "";

	(void)state;
	for (int i = 1; i <= SECRET_LINES_MOST + 2; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "\nsecret-%d\n", i);
		assert_int_equal(secret_lines_have_more(bytes_of(text)), i > SECRET_LINES_MOST);
	}
	assert_int_equal(secret_lines_count(bytes_of(text)), SECRET_LINES_MOST);
	assert_true(secret_lines_have(bytes_of(text), bytes_of("secret-8")));
	assert_false(secret_lines_have(bytes_of(text), bytes_of("secret-9")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_is_a_secret_and_empty_ones_are_none),
		cmocka_unit_test(no_more_are_read_than_a_rotation_may_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
