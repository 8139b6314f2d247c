/* test_moment.c: how far a storefront's clock may be ahead of ours */
#include "bus/base/clock.h"
#include "services/kit/moment.h"
#include "tests/unit/cmocka_all.h"

static void what_is_too_far_ahead_counts_from_when_it_was_heard(void **state)
{
	const int64_t heard_us = INT64_C(1795348800) * US_PER_S, most_us = 10 * US_PER_MINUTE;

	(void)state;
	assert_int_equal(moment_not_ahead(heard_us - US_PER_DAY, heard_us), heard_us - US_PER_DAY);
	assert_int_equal(moment_not_ahead(heard_us, heard_us), heard_us);
	assert_int_equal(moment_not_ahead(heard_us + most_us, heard_us), heard_us + most_us);
	assert_int_equal(moment_not_ahead(heard_us + most_us + 1, heard_us), heard_us);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_too_far_ahead_counts_from_when_it_was_heard) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
