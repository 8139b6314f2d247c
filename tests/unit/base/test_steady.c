#include "bus/base/steady.h"
#include "tests/unit/cmocka_all.h"

static const int64_t START_US = 1000 * US_PER_DAY, YEAR_US = 365 * US_PER_DAY;

/* So much boot time passes, and the wall is set by so much. */
static int64_t look(struct steady *steady, struct clock *clock, int64_t pass_us, int64_t set_us)
{
	clock->virtual_us += pass_us;
	clock->virtual_ahead_us += set_us;
	steady_look(steady);
	assert_int_equal(steady_us(steady), steady->shown_us);
	return steady->shown_us;
}

static void small_steps_are_followed_and_jumps_are_not(void **state)
{
	static const int64_t jumps[] = { 365 * US_PER_DAY, -365 * US_PER_DAY, 61 * US_PER_S, -61 * US_PER_S };

	(void)state;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		struct clock clock = clock_virtual(START_US);
		struct steady steady = steady_new(&clock, 0);

		assert_int_equal(look(&steady, &clock, US_PER_S, 0), START_US + US_PER_S);
		assert_int_equal(look(&steady, &clock, US_PER_S, 50 * US_PER_S), START_US + 52 * US_PER_S);
		assert_int_equal(look(&steady, &clock, US_PER_S, -50 * US_PER_S), START_US + 3 * US_PER_S);
		assert_int_equal(steady.jump_us, 0);
		assert_int_equal(look(&steady, &clock, US_PER_S, jumps[i]), START_US + 4 * US_PER_S);
		assert_int_equal(steady.jump_us, jumps[i]);
		assert_int_equal(look(&steady, &clock, US_PER_DAY, 0), START_US + 4 * US_PER_S + US_PER_DAY);
		assert_int_equal(look(&steady, &clock, 0, -jumps[i]), START_US + 4 * US_PER_S + US_PER_DAY);
		assert_int_equal(steady.jump_us, 0);
	}
}

static void a_jump_is_not_seen_before_the_next_look_either(void **state)
{
	struct clock clock = clock_virtual(START_US);
	struct steady steady = steady_new(&clock, 0);

	(void)state;
	clock.virtual_ahead_us = YEAR_US;
	clock.virtual_us += US_PER_S;
	assert_int_equal(steady_us(&steady), START_US + US_PER_S);
}

static void a_machine_that_slept_has_not_jumped(void **state)
{
	struct clock clock = clock_virtual(START_US);
	struct steady steady = steady_new(&clock, 0);

	(void)state;
	assert_int_equal(look(&steady, &clock, YEAR_US, 0), START_US + YEAR_US);
	assert_int_equal(steady.jump_us, 0);
}

static void a_clock_behind_the_least_goes_on_from_there(void **state)
{
	struct clock clock = clock_virtual(START_US);
	struct steady steady = steady_new(&clock, START_US + YEAR_US);

	(void)state;
	assert_int_equal(steady_us(&steady), START_US + YEAR_US);
	assert_int_equal(steady.jump_us, -YEAR_US);
	assert_int_equal(look(&steady, &clock, US_PER_HOUR, 0), START_US + YEAR_US + US_PER_HOUR);
	steady = steady_new(&clock, clock_wall_us(&clock) + 59 * US_PER_S);
	assert_int_equal(steady.jump_us, 0);
}

static void a_clock_that_runs_faster_jumps_at_its_own_minute(void **state)
{
	struct clock clock = clock_virtual(START_US);
	struct steady steady;

	(void)state;
	clock.rate = 1000;
	steady = steady_new(&clock, 0);
	assert_int_equal(look(&steady, &clock, US_PER_S, 999 * US_PER_S), START_US + 1000 * US_PER_S);
	assert_int_equal(look(&steady, &clock, US_PER_S, 999 * US_PER_S + US_PER_HOUR),
		START_US + 2000 * US_PER_S + US_PER_HOUR);
	assert_int_equal(steady.jump_us, 0);
	look(&steady, &clock, US_PER_S, 999 * US_PER_S + US_PER_DAY);
	assert_int_equal(steady.jump_us, US_PER_DAY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_steps_are_followed_and_jumps_are_not),
		cmocka_unit_test(a_jump_is_not_seen_before_the_next_look_either),
		cmocka_unit_test(a_machine_that_slept_has_not_jumped),
		cmocka_unit_test(a_clock_behind_the_least_goes_on_from_there),
		cmocka_unit_test(a_clock_that_runs_faster_jumps_at_its_own_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
