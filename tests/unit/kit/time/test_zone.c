/* Local time: never UTC by accident, right where the clock jumps. */
#include "bus/base/clock.h"
#include "services/kit/time/zone.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static int64_t utc(int64_t seconds)
{
	return seconds * US_PER_S;
}

static void an_unknown_zone_is_refused_everywhere(void **state)
{
	/* ICU answers each of these with a calendar that runs on GMT, or with a place nobody meant */
	static const char *const bad[] = { "", "Mars/Phobos", "Europe/Berln", "europe/berlin", "Etc/Unknown", "GMT+3",
		"EST", "BST", "PST", "Berlin", "UTC+1", "+01:00", "Europe/Berlin ", " Europe/Berlin",
		"Europe/Berlin\nX", "Europe/Ber\xc3\xbcn",
		"A/very/long/name/that/no/zone/ever/had/in/the/whole/world" };
	struct local_time local = { .year = 2026, .month = 1, .day = 1 };
	int64_t us;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (zone_valid(bad[i]))
			fail_msg("accepted \"%s\"", bad[i]);
		assert_int_equal(zone_local(bad[i], 0, &local), -EINVAL);
		assert_int_equal(zone_moment(bad[i], &local, &us), -EINVAL);
	}
}

static void zones_that_exist_are_accepted(void **state)
{
	static const char *const good[] = { "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
		"Asia/Calcutta", "America/Argentina/Buenos_Aires", "Etc/UTC", "UTC", "Etc/GMT+3", "Pacific/Apia",
		"Europe/Kyiv" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!zone_valid(good[i]))
			fail_msg("refused %s", good[i]);
}

static void a_moment_is_shown_in_the_shops_own_time(void **state)
{
	struct local_time local;
	char shown[64];

	(void)state;
	/* 1795266300 = 2026-11-21 13:05:00 UTC (date -d @1795266300) */
	assert_int_equal(zone_local("Asia/Kolkata", utc(1795266300), &local), 0);
	assert_int_equal(local.hour * 100 + local.minute, 1835);
	assert_int_equal(local.weekday, 6);
	assert_int_equal(zone_local("Australia/Lord_Howe", utc(1795266300), &local), 0);
	assert_int_equal(local.day * 10000 + local.hour * 100 + local.minute, 220005);
	zone_print("Europe/Berlin", utc(1795266300), shown, sizeof(shown));
	assert_string_equal(shown, "Sat 21 Nov 2026, 14:05 GMT+1");
	zone_print("America/New_York", utc(1795266300), shown, sizeof(shown));
	assert_string_equal(shown, "Sat 21 Nov 2026, 08:05 EST");
	assert_int_equal(zone_local("UTC", -1, &local), 0);
	assert_int_equal(local.year * 10000 + local.month * 100 + local.day, 19691231);
	assert_int_equal(local.second, 59);
}

static int64_t moment(const char *zone, int year, int month, int day, int hour, int minute)
{
	struct local_time local = { .year = year, .month = month, .day = day, .hour = hour, .minute = minute };
	int64_t us;

	assert_int_equal(zone_moment(zone, &local, &us), 0);
	return us;
}

static void a_time_that_is_skipped_means_when_the_gap_ends(void **state)
{
	(void)state;
	/* Berlin: 29 March 2026 01:00 UTC, 2:00 becomes 3:00 */
	assert_int_equal(moment("Europe/Berlin", 2026, 3, 29, 2, 0), utc(1774746000));
	assert_int_equal(moment("Europe/Berlin", 2026, 3, 29, 2, 59), utc(1774746000));
	assert_int_equal(moment("Europe/Berlin", 2026, 3, 29, 3, 0), utc(1774746000));
	assert_int_equal(moment("Europe/Berlin", 2026, 3, 29, 1, 59), utc(1774746000 - 60));
	/* New York: 8 March 2026 07:00 UTC */
	assert_int_equal(moment("America/New_York", 2026, 3, 8, 2, 30), utc(1772953200));
	/* Lord Howe moves by half an hour: 4 October 2026 2:00 becomes 2:30, 3 October 15:30 UTC */
	assert_int_equal(moment("Australia/Lord_Howe", 2026, 10, 4, 2, 15), utc(1791041400));
	assert_int_equal(moment("Australia/Lord_Howe", 2026, 10, 4, 2, 30), utc(1791041400));
}

static void a_time_that_comes_twice_means_the_first(void **state)
{
	(void)state;
	/* Berlin: 25 October 2026, 2:30 is 00:30 and 01:30 UTC */
	assert_int_equal(moment("Europe/Berlin", 2026, 10, 25, 2, 30), utc(1792888200));
	/* New York: 1 November 2026, 1:30 is 05:30 and 06:30 UTC */
	assert_int_equal(moment("America/New_York", 2026, 11, 1, 1, 30), utc(1793511000));
	/* Lord Howe: 5 April 2026, 1:45 is 14:45 and 15:15 UTC of 4 April */
	assert_int_equal(moment("Australia/Lord_Howe", 2026, 4, 5, 1, 45), utc(1775313900));
}

static void fields_out_of_range_roll_over(void **state)
{
	(void)state;
	assert_int_equal(moment("Asia/Kolkata", 2026, 1, 32, 0, 0), moment("Asia/Kolkata", 2026, 2, 1, 0, 0));
	assert_int_equal(moment("Asia/Kolkata", 2026, 13, 1, 0, 0), moment("Asia/Kolkata", 2027, 1, 1, 0, 0));
	assert_int_equal(moment("Asia/Kolkata", 2026, 3, 0, 0, 0), moment("Asia/Kolkata", 2026, 2, 28, 0, 0));
}

/* Local and back is the same minute, but in an hour that comes twice. */
static void local_and_back_is_the_same_moment(void **state)
{
	static const char *const zones[] = { "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
		"Asia/Kolkata" };

	(void)state;
	srandom(7);
	for (int i = 0; i < 4000; i++) {
		int64_t us = ((int64_t)random() % (80LL * 365 * 86400)) * US_PER_S, back;
		struct local_time local, again;
		assert_int_equal(zone_local(zones[i % 4], us, &local), 0);
		assert_int_equal(zone_moment(zones[i % 4], &local, &back), 0);
		assert_int_equal(zone_local(zones[i % 4], back, &again), 0);
		assert_memory_equal(&local, &again, sizeof(local));
		assert_true(back == us || (back < us && us - back <= US_PER_HOUR));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_zone_is_refused_everywhere),
		cmocka_unit_test(zones_that_exist_are_accepted),
		cmocka_unit_test(a_moment_is_shown_in_the_shops_own_time),
		cmocka_unit_test(a_time_that_is_skipped_means_when_the_gap_ends),
		cmocka_unit_test(a_time_that_comes_twice_means_the_first),
		cmocka_unit_test(fields_out_of_range_roll_over),
		cmocka_unit_test(local_and_back_is_the_same_moment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
