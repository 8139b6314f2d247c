#include "bus/base/clock.h"
#include "tests/unit/cmocka_all.h"

enum { EVERY = 10, BURST = 3 };

static int taken(struct rate_limit *rate_limit, int64_t now_us, int tries)
{
	int count = 0;

	while (tries-- > 0)
		count += rate_limit_take(rate_limit, now_us, EVERY, BURST);
	return count;
}

static void a_burst_goes_and_then_one_at_a_time(void **state)
{
	struct rate_limit rate_limit = { 0 };

	(void)state;
	assert_int_equal(taken(&rate_limit, 1000, 9), BURST);
	assert_int_equal(rate_limit.left_out, 6);
	assert_int_equal(taken(&rate_limit, 1009, 9), 0);
	assert_int_equal(taken(&rate_limit, 1010, 9), 1);
	assert_int_equal(taken(&rate_limit, 1030, 9), 2);
}

static void what_is_saved_up_is_a_burst_at_most(void **state)
{
	struct rate_limit rate_limit = { 0 };

	(void)state;
	assert_int_equal(taken(&rate_limit, 1000, 9), BURST);
	assert_int_equal(taken(&rate_limit, 1000000, 9), BURST);
}

static void what_is_given_back_was_not_taken(void **state)
{
	struct rate_limit rate_limit = { 0 };

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_true(rate_limit_take(&rate_limit, 1000, EVERY, BURST));
		rate_limit_give_back(&rate_limit, EVERY);
	}
	assert_int_equal(taken(&rate_limit, 1000, 9), BURST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_goes_and_then_one_at_a_time),
		cmocka_unit_test(what_is_saved_up_is_a_burst_at_most),
		cmocka_unit_test(what_is_given_back_was_not_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
