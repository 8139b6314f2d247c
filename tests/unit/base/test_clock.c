#include "bus/base/clock.h"
#include "tests/unit/cmocka_all.h"
#include <time.h>

static int64_t real_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

static void the_system_clock_tells_the_real_time(void **state)
{
	(void)state;
	struct clock clock = clock_system();
	int64_t before = real_us(), wall = clock_wall_us(&clock), after = real_us();
	assert_true(before <= wall && wall <= after);
}

static void of_two_waits_the_sooner_counts_and_none_is_no_wait(void **state)
{
	(void)state;
	assert_int_equal(sooner_us(3, 5), 3);
	assert_int_equal(sooner_us(5, 3), 3);
	assert_int_equal(sooner_us(0, 3), 0);
	assert_int_equal(sooner_us(-1, 3), 3);
	assert_int_equal(sooner_us(3, -1), 3);
	assert_int_equal(sooner_us(-1, -1), -1);
}

static void boot_time_never_goes_back(void **state)
{
	(void)state;
	struct clock clock = clock_system();
	int64_t last = clock_boot_us(&clock);
	assert_true(last > 0);
	for (int i = 0; i < 10000; i++) {
		int64_t now = clock_boot_us(&clock);
		assert_true(now >= last);
		last = now;
	}
}

static void a_virtual_clock_stands_until_it_is_moved(void **state)
{
	(void)state;
	struct clock clock = clock_virtual(1000);
	assert_int_equal(clock_wall_us(&clock), 1000);
	assert_int_equal(clock_boot_us(&clock), 1000);
	clock.virtual_us += US_PER_DAY;
	assert_int_equal(clock_wall_us(&clock), 1000 + US_PER_DAY);
}

static void a_scaled_clock_starts_at_its_origin_and_runs_at_its_rate(void **state)
{
	(void)state;
	const int64_t origin = INT64_C(1700000000) * US_PER_S, hour_ago = real_us() - US_PER_HOUR;
	struct clock clock = clock_scaled(60, hour_ago, origin);
	int64_t passed = clock_wall_us(&clock) - origin;
	assert_true(passed >= 60 * US_PER_HOUR);
	assert_true(passed < 60 * US_PER_HOUR + 60 * US_PER_MINUTE); /* a minute of ours for the test itself */
}

static void only_wall_time_is_scaled(void **state)
{
	(void)state;
	struct clock scaled = clock_scaled(3600, real_us(), 0), system = clock_system();
	int64_t before = clock_boot_us(&system), boot = clock_boot_us(&scaled), after = clock_boot_us(&system);
	assert_true(before <= boot && boot <= after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_system_clock_tells_the_real_time),
		cmocka_unit_test(of_two_waits_the_sooner_counts_and_none_is_no_wait),
		cmocka_unit_test(boot_time_never_goes_back),
		cmocka_unit_test(a_virtual_clock_stands_until_it_is_moved),
		cmocka_unit_test(a_scaled_clock_starts_at_its_origin_and_runs_at_its_rate),
		cmocka_unit_test(only_wall_time_is_scaled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
