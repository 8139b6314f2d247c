#include "bus/base/clock.h"
#include "tests/unit/cmocka_all.h"

static const int64_t START_US = 1000 * US_PER_DAY, YEAR_US = 365 * US_PER_DAY;

/* So much boot time passes, and the wall is set by so much. */
static int64_t look(struct monotonic_wall *monotonic_wall, struct clock *clock, int64_t pass_us, int64_t set_us)
{
	clock->virtual_us += pass_us;
	clock->virtual_ahead_us += set_us;
	monotonic_wall_look(monotonic_wall);
	assert_int_equal(monotonic_wall_us(monotonic_wall), monotonic_wall->shown_us);
	return monotonic_wall->shown_us;
}

static void small_steps_are_followed_and_jumps_are_not(void **state)
{
	static const int64_t jumps[] = { 365 * US_PER_DAY, -365 * US_PER_DAY, 61 * US_PER_S, -61 * US_PER_S };

	(void)state;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(*jumps); i++) {
		struct clock clock = clock_virtual(START_US);
		struct monotonic_wall monotonic_wall = monotonic_wall_new(&clock, 0);

		assert_int_equal(look(&monotonic_wall, &clock, US_PER_S, 0), START_US + US_PER_S);
		assert_int_equal(look(&monotonic_wall, &clock, US_PER_S, 50 * US_PER_S), START_US + 52 * US_PER_S);
		assert_int_equal(look(&monotonic_wall, &clock, US_PER_S, -50 * US_PER_S), START_US + 3 * US_PER_S);
		assert_int_equal(monotonic_wall.jump_us, 0);
		assert_int_equal(look(&monotonic_wall, &clock, US_PER_S, jumps[i]), START_US + 4 * US_PER_S);
		assert_int_equal(monotonic_wall.jump_us, jumps[i]);
		assert_int_equal(look(&monotonic_wall, &clock, US_PER_DAY, 0), START_US + 4 * US_PER_S + US_PER_DAY);
		assert_int_equal(look(&monotonic_wall, &clock, 0, -jumps[i]), START_US + 4 * US_PER_S + US_PER_DAY);
		assert_int_equal(monotonic_wall.jump_us, 0);
	}
}

static void a_minute_is_followed_and_a_microsecond_more_is_a_jump(void **state)
{
	static const int64_t ways[] = { 1, -1 };

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct clock clock = clock_virtual(START_US);
		struct monotonic_wall monotonic_wall = monotonic_wall_new(&clock, 0);
		int64_t minute = ways[i] * US_PER_MINUTE;

		assert_int_equal(look(&monotonic_wall, &clock, 0, minute), START_US + minute);
		assert_int_equal(monotonic_wall.jump_us, 0);
		assert_int_equal(look(&monotonic_wall, &clock, 0, -minute - ways[i]), START_US + minute);
		assert_int_equal(monotonic_wall.jump_us, -minute - ways[i]);
		assert_int_equal(
			look(&monotonic_wall, &clock, 0, 2 * minute + ways[i]), START_US + 2 * minute); /* they agree */
		assert_int_equal(monotonic_wall.jump_us, 0);
	}
}

static void it_says_how_long_to_wait_in_boot_time(void **state)
{
	struct clock clock = clock_virtual(START_US);
	struct monotonic_wall monotonic_wall = monotonic_wall_new(&clock, 0);

	(void)state;
	assert_int_equal(monotonic_wall_until_us(&monotonic_wall, START_US + 10), 10);
	assert_int_equal(monotonic_wall_until_us(&monotonic_wall, START_US), 0);
	assert_int_equal(monotonic_wall_until_us(&monotonic_wall, START_US - 10), 0);
	clock.rate = 1000;
	assert_int_equal(monotonic_wall_until_us(&monotonic_wall, START_US + 2000), 2);
	assert_int_equal(monotonic_wall_until_us(&monotonic_wall, START_US + 2001),
		3); /* one that comes early would find nothing due */
	clock.rate = 0.1;
	assert_int_equal(monotonic_wall_until_us(&monotonic_wall, START_US + 10), 100);
	assert_true(monotonic_wall_until_us(&monotonic_wall, INT64_MAX) == INT64_MAX);
}

static void a_jump_is_not_seen_before_the_next_look_either(void **state)
{
	struct clock clock = clock_virtual(START_US);
	struct monotonic_wall monotonic_wall = monotonic_wall_new(&clock, 0);

	(void)state;
	clock.virtual_ahead_us = YEAR_US;
	clock.virtual_us += US_PER_S;
	assert_int_equal(monotonic_wall_us(&monotonic_wall), START_US + US_PER_S);
	clock.virtual_ahead_us = US_PER_MINUTE;
	assert_int_equal(
		monotonic_wall_us(&monotonic_wall), START_US + US_PER_S + US_PER_MINUTE); /* that is none yet */
	clock.virtual_ahead_us = -US_PER_MINUTE;
	assert_int_equal(monotonic_wall_us(&monotonic_wall), START_US + US_PER_S - US_PER_MINUTE);
}

static void a_machine_that_slept_has_not_jumped(void **state)
{
	struct clock clock = clock_virtual(START_US);
	struct monotonic_wall monotonic_wall = monotonic_wall_new(&clock, 0);

	(void)state;
	assert_int_equal(look(&monotonic_wall, &clock, YEAR_US, 0), START_US + YEAR_US);
	assert_int_equal(monotonic_wall.jump_us, 0);
}

static void a_clock_behind_the_least_goes_on_from_there(void **state)
{
	struct clock clock = clock_virtual(START_US);
	struct monotonic_wall monotonic_wall = monotonic_wall_new(&clock, START_US + YEAR_US);

	(void)state;
	assert_int_equal(monotonic_wall_us(&monotonic_wall), START_US + YEAR_US);
	assert_int_equal(monotonic_wall.jump_us, -YEAR_US);
	assert_int_equal(look(&monotonic_wall, &clock, US_PER_HOUR, 0), START_US + YEAR_US + US_PER_HOUR);
	monotonic_wall = monotonic_wall_new(&clock, clock_wall_us(&clock) + US_PER_MINUTE);
	assert_int_equal(monotonic_wall.jump_us, 0);
	assert_int_equal(monotonic_wall_us(&monotonic_wall), clock_wall_us(&clock));
	monotonic_wall = monotonic_wall_new(&clock, clock_wall_us(&clock) + US_PER_MINUTE + 1);
	assert_int_equal(monotonic_wall_us(&monotonic_wall), clock_wall_us(&clock) + US_PER_MINUTE + 1);
}

static void a_clock_that_runs_faster_jumps_at_its_own_minute(void **state)
{
	struct clock clock = clock_virtual(START_US);
	struct monotonic_wall monotonic_wall;

	(void)state;
	clock.rate = 1000;
	monotonic_wall = monotonic_wall_new(&clock, 0);
	assert_int_equal(look(&monotonic_wall, &clock, US_PER_S, 999 * US_PER_S), START_US + 1000 * US_PER_S);
	assert_int_equal(look(&monotonic_wall, &clock, US_PER_S, 999 * US_PER_S + US_PER_HOUR),
		START_US + 2000 * US_PER_S + US_PER_HOUR);
	assert_int_equal(monotonic_wall.jump_us, 0);
	look(&monotonic_wall, &clock, US_PER_S, 999 * US_PER_S + US_PER_DAY);
	assert_int_equal(monotonic_wall.jump_us, US_PER_DAY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_steps_are_followed_and_jumps_are_not),
		cmocka_unit_test(a_minute_is_followed_and_a_microsecond_more_is_a_jump),
		cmocka_unit_test(it_says_how_long_to_wait_in_boot_time),
		cmocka_unit_test(a_jump_is_not_seen_before_the_next_look_either),
		cmocka_unit_test(a_machine_that_slept_has_not_jumped),
		cmocka_unit_test(a_clock_behind_the_least_goes_on_from_there),
		cmocka_unit_test(a_clock_that_runs_faster_jumps_at_its_own_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
