/* test_period.c: days, weeks and months as a shop's calendar has them */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/time/period.h"
#include "services/kit/time/timestamp.h"
#include "services/kit/time/zone.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <string.h>

static int64_t at(const char *zone, int year, int month, int day, int hour)
{
	const struct local_time local = { .year = year, .month = month, .day = day, .hour = hour };
	int64_t us;

	assert_int_equal(zone_moment(zone, &local, &us), 0);
	return us;
}

static void the_period_that_ended_is_named_and_whole(void **state)
{
	const struct {
		enum period_kind kind;
		const char *zone;
		int year, month, day, hour, back;
		const char *name;
		int hours;
	} table[] = {
		{ PERIOD_DAY, "Europe/Berlin", 2026, 10, 26, 2, 0, "2026-10-25", 25 },
		{ PERIOD_DAY, "Europe/Berlin", 2026, 3, 30, 2, 0, "2026-03-29", 23 },
		{ PERIOD_DAY, "Europe/Berlin", 2026, 3, 30, 2, 1, "2026-03-28", 24 },
		{ PERIOD_DAY, "Australia/Lord_Howe", 2026, 4, 6, 2, 0, "2026-04-05", 24 }, /* 24.5 */
		{ PERIOD_DAY, "Asia/Beirut", 2026, 3, 30, 2, 0, "2026-03-29", 23 },        /* midnight does not exist */
		{ PERIOD_DAY, "Asia/Tokyo", 2027, 1, 1, 2, 0, "2026-12-31", 24 },
		{ PERIOD_WEEK, "Europe/Berlin", 2026, 11, 23, 9, 0, "2026-W47", 168 },
		{ PERIOD_WEEK, "Europe/Berlin", 2026, 11, 29, 23, 0, "2026-W47", 168 },
		{ PERIOD_WEEK, "Europe/Berlin", 2026, 10, 26, 9, 0, "2026-W43", 169 },
		{ PERIOD_WEEK, "Europe/Berlin", 2027, 1, 4, 9, 0, "2026-W53", 168 },
		{ PERIOD_WEEK, "Europe/Berlin", 2026, 1, 5, 9, 0, "2026-W01", 168 },
		{ PERIOD_WEEK, "Europe/Berlin", 2026, 1, 5, 9, 1, "2025-W52", 168 },
		{ PERIOD_MONTH, "Europe/Berlin", 2026, 11, 2, 9, 0, "2026-10", 745 },
		{ PERIOD_MONTH, "Europe/Berlin", 2027, 1, 4, 9, 0, "2026-12", 744 },
		{ PERIOD_MONTH, "Europe/Berlin", 2027, 1, 4, 9, 13, "2025-11", 720 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		int64_t now = at(table[i].zone, table[i].year, table[i].month, table[i].day, table[i].hour);
		struct period period, before, next;

		assert_int_equal(period_ended(table[i].kind, table[i].zone, now, table[i].back, &period), 0);
		assert_string_equal(period.name, table[i].name);
		assert_int_equal((period.to_us - period.from_us) / US_PER_HOUR, table[i].hours);
		assert_int_equal(period_before(table[i].zone, &period, &before), 0);
		assert_int_equal(before.to_us, period.from_us);
		assert_int_equal(period_of(table[i].kind, table[i].zone, period.to_us, &next), 0);
		assert_int_equal(next.from_us, period.to_us);
		assert_true(table[i].back > 0 || now >= period.to_us);
	}
}

static void what_is_asked_for_is_read_strictly(void **state)
{
	static const char *const wrong[] = { "", "2026", "2026-13", "2026-00", "2026-10x", "october" };
	static const char *const days[][2] = { { "2026-10-02", "2026-10-01" }, { "2026-02-30", "2026-03-02" },
		{ "2026-10-01", "" }, { "x", "2026-10-01" } };
	struct period period, before;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_true(period_month("Europe/Berlin", wrong[i], &period) < 0);
	for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++)
		assert_true(period_span("Europe/Berlin", days[i][0], days[i][1], &period) < 0);
	assert_int_equal(period_span("Europe/Berlin", "2026-10-20", "2026-10-26", &period), 0);
	assert_int_equal((period.to_us - period.from_us) / US_PER_HOUR, 169);
	assert_int_equal(period_before("Europe/Berlin", &period, &before), 0);
	assert_string_equal(before.name, "2026-10-13..2026-10-19");
	assert_int_equal(period_month("Europe/Berlin", "2026-10", &period), 0);
	assert_string_equal(period.name, "2026-10");
	assert_true(period_month("Mars/Olympus", "2026-10", &period) < 0);
}

static void it_is_printed_in_the_shops_language(void **state)
{
	struct period period;
	char text[120];

	(void)state;
	assert_int_equal(period_month("Europe/Berlin", "2026-10", &period), 0);
	period_print("Europe/Berlin", &period, "de-DE", text, sizeof(text));
	assert_string_equal(text, "Oktober 2026");
	period_print("Europe/Berlin", &period, "en-US", text, sizeof(text));
	assert_string_equal(text, "October 2026");
	assert_int_equal(
		period_ended(PERIOD_WEEK, "Europe/Berlin", at("Europe/Berlin", 2026, 11, 23, 9), 0, &period), 0);
	period_print("Europe/Berlin", &period, "en-US", text, sizeof(text));
	assert_string_equal(text, "Nov 16, 2026 – Nov 22, 2026");
}

/* --- which day or month is told next, on time and after an outage --- */

STATE_NUMBERS(told, "told");

/* An alarm is the fact that a period was told: its kind is the period's name. */
static void remember(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	STATE_PUT_NUMBER(state, told, said->shop, alarm->kind, 1);
}

static const struct service teller = { .name = "teller", .remembers = REMEMBERING(REMEMBERS(alarm, remember)) };

static struct harness *h;

static int fresh(void **state)
{
	(void)state;
	h = harness_new(&teller, 1000);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

static void given_told(const char *shop, const char *name)
{
	Alarm alarm = { .raised = true };

	TEXT_COPY(alarm.kind, name);
	GIVEN(h, alarm, &alarm, .shop = shop, .key = alarm.kind);
}

static int64_t moment_at(const char *moment)
{
	int64_t us;

	assert_int_equal(timestamp_parse(moment, &us), 0);
	return us;
}

/* The name of what is told next; "": nothing is missing. */
static const char *next(enum period_kind kind, const char *ticked, const char *until, bool *ret_more)
{
	static struct period period;
	const struct missed missed = { .table = STATE_HANDLE(told),
		.shop = "demo",
		.zone = "Europe/Berlin",
		.kind = kind,
		.ticked_us = moment_at(ticked),
		.until_us = until ? moment_at(until) : 0 };

	period = (struct period){ .name = "" };
	int r = missed_find(harness_state(h), &missed, &period, ret_more);
	assert_int_equal(r, *period.name != '\0');
	return period.name;
}

static void on_time_it_is_the_one_that_has_just_ended(void **state)
{
	bool more = true;

	(void)state;
	assert_string_equal(next(PERIOD_DAY, "2026-11-20T01:00:00Z", NULL, &more), "2026-11-19");
	assert_false(more);
	assert_string_equal(next(PERIOD_DAY, "2026-11-20T01:00:00Z", "2026-11-20T01:00:05Z", &more), "2026-11-19");
	assert_false(more);
	given_told("other", "2026-11-19");
	assert_string_equal(next(PERIOD_DAY, "2026-11-20T01:00:00Z", NULL, &more), "2026-11-19");
	given_told("demo", "2026-11-19");
	assert_string_equal(next(PERIOD_DAY, "2026-11-20T01:00:00Z", NULL, &more), "");
	assert_false(more);
}

static void after_an_outage_the_oldest_comes_first_and_the_ticks_own_is_the_oldest(void **state)
{
	static const char *const days[] = { "2026-11-16", "2026-11-17", "2026-11-18", "2026-11-19" };
	bool more;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(next(PERIOD_DAY, "2026-11-17T01:00:00Z", "2026-11-20T09:00:00Z", &more), days[i]);
		assert_int_equal(more, i < 3);
		given_told("demo", days[i]);
	}
	assert_string_equal(next(PERIOD_DAY, "2026-11-17T01:00:00Z", "2026-11-20T09:00:00Z", &more), "");
	assert_false(more);
}

static void a_gap_between_told_days_is_found(void **state)
{
	bool more;

	(void)state;
	given_told("demo", "2026-11-16");
	given_told("demo", "2026-11-18");
	assert_string_equal(next(PERIOD_DAY, "2026-11-17T01:00:00Z", "2026-11-20T09:00:00Z", &more), "2026-11-17");
	assert_true(more);
	given_told("demo", "2026-11-17");
	assert_string_equal(next(PERIOD_DAY, "2026-11-17T01:00:00Z", "2026-11-20T09:00:00Z", &more), "2026-11-19");
	assert_false(more);
}

/* A clock behind the tick's: the tick is what says that the time has come. */
static void the_tick_counts_where_the_clock_is_behind_it(void **state)
{
	bool more;

	(void)state;
	assert_string_equal(next(PERIOD_DAY, "2026-11-20T01:00:00Z", "2026-11-18T01:00:00Z", &more), "2026-11-19");
	assert_false(more);
}

static void months_are_told_as_days_are(void **state)
{
	bool more;

	(void)state;
	assert_string_equal(next(PERIOD_MONTH, "2026-11-02T08:00:00Z", "2027-01-20T08:00:00Z", &more), "2026-10");
	assert_true(more);
	given_told("demo", "2026-10");
	given_told("demo", "2026-11");
	assert_string_equal(next(PERIOD_MONTH, "2026-11-02T08:00:00Z", "2027-01-20T08:00:00Z", &more), "2026-12");
	assert_false(more);
}

/* 62 days are looked at: nobody is told of times long forgotten. */
static void a_tick_that_is_years_late_tells_of_the_last_two_months(void **state)
{
	bool more;

	(void)state;
	assert_string_equal(next(PERIOD_DAY, "2020-01-01T01:00:00Z", "2026-11-20T09:00:00Z", &more), "2026-09-19");
	assert_true(more);
}

static void a_zone_that_is_none_finds_nothing(void **state)
{
	struct period period;
	bool more;
	const struct missed missed = { .table = STATE_HANDLE(told),
		.shop = "demo",
		.zone = "Europe/Nowhere",
		.kind = PERIOD_DAY,
		.ticked_us = 1000 };

	(void)state;
	assert_int_equal(missed_find(harness_state(h), &missed, &period, &more), -EINVAL);
	assert_false(more);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, fresh, gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_period_that_ended_is_named_and_whole),
		cmocka_unit_test(what_is_asked_for_is_read_strictly),
		cmocka_unit_test(it_is_printed_in_the_shops_language),
		SCENE(on_time_it_is_the_one_that_has_just_ended),
		SCENE(after_an_outage_the_oldest_comes_first_and_the_ticks_own_is_the_oldest),
		SCENE(a_gap_between_told_days_is_found),
		SCENE(the_tick_counts_where_the_clock_is_behind_it),
		SCENE(months_are_told_as_days_are),
		SCENE(a_tick_that_is_years_late_tells_of_the_last_two_months),
		SCENE(a_zone_that_is_none_finds_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
