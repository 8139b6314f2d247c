/* test_missed.c: which day or month is told next, on time and after an outage */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/time/missed.h"
#include "services/kit/time/moment.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <string.h>

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

static int64_t at(const char *moment)
{
	int64_t us;

	assert_int_equal(moment_parse(moment, &us), 0);
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
		.ticked_us = at(ticked),
		.until_us = until ? at(until) : 0 };

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
