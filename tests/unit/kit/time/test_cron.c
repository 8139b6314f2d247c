/* When a cron line is due, across both clock changes. */
#include "bus/base/clock.h"
#include "services/kit/time/zone.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

static int64_t moment(const char *zone, int year, int month, int day, int hour, int minute)
{
	struct local_time local = { .year = year, .month = month, .day = day, .hour = hour, .minute = minute };
	int64_t us;

	assert_int_equal(zone_moment(zone, &local, &us), 0);
	return us;
}

static int64_t next(const char *line, const char *zone, int64_t after_us)
{
	struct cron *cron = NULL;
	char why[160];
	int64_t us = 0;

	if (cron_parse(line, &cron, why) < 0)
		fail_msg("%s: %s", line, why);
	assert_int_equal(cron_next(cron, zone, after_us, &us), 0);
	cron_free(cron);
	return us;
}

static void the_nightly_tick_is_due_once_a_day(void **state)
{
	const char *zone = "Europe/Berlin";
	int64_t two = moment(zone, 2026, 11, 21, 2, 0);

	(void)state;
	assert_int_equal(next("0 2 * * *", zone, two - 1), two);
	assert_int_equal(next("0 2 * * *", zone, two), moment(zone, 2026, 11, 22, 2, 0));
	assert_int_equal(next("0 2 ? * ?", zone, two + 1), moment(zone, 2026, 11, 22, 2, 0));
}

static void the_first_monday_is_found_in_every_month(void **state)
{
	const char *zone = "America/New_York";
	static const int days[] = { 5, 2, 2, 6, 4, 1, 6, 3, 7, 5, 2, 7 }; /* of 2026: cal 2026 */
	int64_t us = moment(zone, 2026, 1, 1, 0, 0);

	(void)state;
	for (int month = 1; month <= 12; month++) {
		us = next("0 9 ? * 1#1", zone, us);
		assert_int_equal(us, moment(zone, 2026, month, days[month - 1], 9, 0));
	}
}

static void lists_ranges_steps_and_names_mean_what_crons_mean(void **state)
{
	const char *zone = "Asia/Kolkata";
	int64_t saturday = moment(zone, 2026, 11, 21, 10, 7);

	(void)state;
	assert_int_equal(next("*/15 * * * *", zone, saturday), moment(zone, 2026, 11, 21, 10, 15));
	assert_int_equal(next("5-10/2 10 * * *", zone, saturday), moment(zone, 2026, 11, 21, 10, 9));
	assert_int_equal(next("0 8,20 * * *", zone, saturday), moment(zone, 2026, 11, 21, 20, 0));
	assert_int_equal(next("30 9 * * 1-5", zone, saturday), moment(zone, 2026, 11, 23, 9, 30));
	assert_int_equal(next("30 9 * * MON-FRI", zone, saturday), moment(zone, 2026, 11, 23, 9, 30));
	assert_int_equal(next("0 0 * * 0", zone, saturday), moment(zone, 2026, 11, 22, 0, 0));
	assert_int_equal(next("0 0 * * 7", zone, saturday), moment(zone, 2026, 11, 22, 0, 0));
	assert_int_equal(next("0 0 1 jan,jul ?", zone, saturday), moment(zone, 2027, 1, 1, 0, 0));
	assert_int_equal(next("0 0 31 * *", zone, saturday), moment(zone, 2026, 12, 31, 0, 0));
}

static void rare_days_are_found(void **state)
{
	const char *zone = "Asia/Kolkata";

	(void)state;
	assert_int_equal(next("0 0 29 2 *", zone, moment(zone, 2026, 11, 21, 0, 0)), moment(zone, 2028, 2, 29, 0, 0));
	assert_int_equal(next("0 0 29 2 *", zone, moment(zone, 2096, 3, 1, 0, 0)), moment(zone, 2104, 2, 29, 0, 0));
	assert_int_equal(next("0 0 ? 2 MON#5", zone, moment(zone, 2026, 1, 1, 0, 0)), moment(zone, 2044, 2, 29, 0, 0));
}

static void a_day_that_never_comes_is_said(void **state)
{
	struct cron *cron = NULL;
	char why[160];
	int64_t us;

	(void)state;
	assert_int_equal(cron_parse("0 0 30 2 *", &cron, why), 0);
	assert_int_equal(cron_next(cron, "Europe/Berlin", 0, &us), -ENOENT);
	assert_int_equal(cron_next(cron, "Mars/Phobos", 0, &us), -EINVAL);
	cron_free(cron);
}

static void a_tick_in_the_gap_of_spring_is_due_when_it_ends(void **state)
{
	(void)state;
	/* the days after each other, then back in step */
	assert_int_equal(next("30 2 * * *", "Europe/Berlin", moment("Europe/Berlin", 2026, 3, 28, 12, 0)),
		moment("Europe/Berlin", 2026, 3, 29, 3, 0));
	assert_int_equal(next("30 2 * * *", "Europe/Berlin", moment("Europe/Berlin", 2026, 3, 29, 3, 0)),
		moment("Europe/Berlin", 2026, 3, 30, 2, 30));
	assert_int_equal(next("30 2 * * *", "America/New_York", moment("America/New_York", 2026, 3, 7, 12, 0)),
		moment("America/New_York", 2026, 3, 8, 3, 0));
	assert_int_equal(next("10 2 * * *", "Australia/Lord_Howe", moment("Australia/Lord_Howe", 2026, 10, 3, 12, 0)),
		moment("Australia/Lord_Howe", 2026, 10, 4, 2, 30));
	/* several in one gap are due once */
	assert_int_equal(next("*/20 2 * * *", "Europe/Berlin", moment("Europe/Berlin", 2026, 3, 29, 3, 0)),
		moment("Europe/Berlin", 2026, 3, 30, 2, 0));
}

static void a_tick_in_the_hour_that_comes_twice_is_due_once(void **state)
{
	static const struct {
		const char *line, *zone;
		int month, day, hour, minute;
	} autumns[] = {
		{ "30 2 * * *", "Europe/Berlin", 10, 25, 2, 30 },
		{ "30 1 * * *", "America/New_York", 11, 1, 1, 30 },
		{ "45 1 * * *", "Australia/Lord_Howe", 4, 5, 1, 45 },
		{ "45 1 * * *", "Asia/Kolkata", 4, 5, 1, 45 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(autumns) / sizeof(*autumns); i++) {
		const char *zone = autumns[i].zone;
		int month = autumns[i].month, day = autumns[i].day, hour = autumns[i].hour, minute = autumns[i].minute;
		int64_t due = moment(zone, 2026, month, day, hour, minute);
		assert_int_equal(next(autumns[i].line, zone, moment(zone, 2026, month, day, 0, 0)), due);
		assert_int_equal(next(autumns[i].line, zone, due), moment(zone, 2026, month, day + 1, hour, minute));
	}
}

static int64_t random_below(int64_t most)
{
	return (int64_t)((((uint64_t)random() << 31) ^ (uint64_t)random()) % (uint64_t)most);
}

/* Against the definition: the least moment past the given one among those of all matching local minutes. */
static int64_t by_definition(int hour, int minute, const char *zone, int64_t after_us)
{
	struct local_time local;
	int64_t best = INT64_MAX;

	assert_int_equal(zone_local(zone, after_us, &local), 0);
	for (int day = -3; day <= 3; day++) {
		int64_t us = moment(zone, local.year, local.month, local.day + day, hour, minute);
		if (us > after_us && us < best)
			best = us;
	}
	return best;
}

static void every_next_tick_is_the_first_one_after(void **state)
{
	static const char *const zones[] = { "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
		"Africa/Cairo", "Pacific/Apia" };

	(void)state;
	srandom(11);
	for (int i = 0; i < 3000; i++) {
		const char *zone = zones[i % 6];
		int hour = (int)random_below(i % 2 ? 4 : 24), minute = (int)random_below(60);
		int64_t after_us = INT64_C(946684800) * US_PER_S + random_below(40 * 365 * US_PER_DAY);
		char line[32];
		snprintf(line, sizeof(line), "%d %d * * *", minute, hour);
		assert_int_equal(next(line, zone, after_us), by_definition(hour, minute, zone, after_us));
	}
}

static void a_line_that_is_no_cron_is_refused_with_a_reason(void **state)
{
	static const struct {
		const char *line, *reason;
	} bad[] = { { "", "minute is missing" }, { "0 2 * *", "weekday is missing" },
		{ "0 2 * * * *", "there are more" }, { "60 2 * * *", "not a minute" }, { "0 24 * * *", "not a hour" },
		{ "0 2 0 * *", "not a day of month" }, { "0 2 32 * *", "not a day of month" },
		{ "0 2 * 13 *", "not a month" }, { "0 2 * * 8", "not a weekday" }, { "0 2 * * 1#6", "not a weekday" },
		{ "0 2 * * 1#0", "not a weekday" }, { "*/0 2 * * *", "not a minute" },
		{ "*/+5 2 * * *", "not a minute" }, { "5-1 2 * * *", "not a minute" },
		{ "1,,2 2 * * *", "not a minute" }, { "-1 2 * * *", "not a minute" },
		{ "0 2 15 * 1", "? for the other" }, { "0 2 ? * 1-5#2", "one weekday" },
		{ "0 2 * * FOO", "not a weekday" }, { "99999999999999999999 2 * * *", "not a minute" } };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cron *cron = NULL;
		char why[160];
		assert_int_equal(cron_parse(bad[i].line, &cron, why), -EINVAL);
		if (!strstr(why, bad[i].reason))
			fail_msg("%s: %s", bad[i].line, why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nightly_tick_is_due_once_a_day),
		cmocka_unit_test(the_first_monday_is_found_in_every_month),
		cmocka_unit_test(lists_ranges_steps_and_names_mean_what_crons_mean),
		cmocka_unit_test(rare_days_are_found),
		cmocka_unit_test(a_day_that_never_comes_is_said),
		cmocka_unit_test(a_tick_in_the_gap_of_spring_is_due_when_it_ends),
		cmocka_unit_test(a_tick_in_the_hour_that_comes_twice_is_due_once),
		cmocka_unit_test(every_next_tick_is_the_first_one_after),
		cmocka_unit_test(a_line_that_is_no_cron_is_refused_with_a_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
