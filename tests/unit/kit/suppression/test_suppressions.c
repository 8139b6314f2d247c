/* test_suppressions.c: what the owner reads of who is on the list, by which way, and since when */
#include "bus/base/clock.h"
#include "services/kit/suppression/suppressions.h"
#include "tests/unit/cmocka_all.h"

static void a_line_says_by_which_way_and_since_when(void **state)
{
	static const struct {
		Suppression row;
		const char *wanted;
	} cases[] = {
		{ { .source = OPTOUT_ONE_CLICK, .since_us = INT64_C(1795348800) * US_PER_S },
			"listed: one-click, since 2026-11-22 12:00 UTC" },
		{ { .source = OPTOUT_BOUNCE, .since_us = INT64_C(951782399) * US_PER_S + 999999 },
			"listed: bounce, since 2000-02-28 23:59 UTC" },
		{ { .source = OPTOUT_OWNER, .since_us = INT64_C(1795348860) * US_PER_S, .lifted = true },
			"lifted: owner, since 2026-11-22 12:01 UTC" },
	};
	char line[OPTOUT_LINE_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(optout_line(&cases[i].row, line), cases[i].wanted);
	assert_string_equal(optout_line(NULL, line), "not listed");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_line_says_by_which_way_and_since_when) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
