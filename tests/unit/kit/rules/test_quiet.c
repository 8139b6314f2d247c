/* test_quiet.c: quiet hours where clocks are changed: the next sending minute, minute by minute, in seven zones */
#include "bus/base/clock.h"
#include "services/kit/rules/rules.h"
#include "services/kit/time/zone.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>

struct change {
	const char *zone;
	int year, month, day; /* of the change; the day before and two after it are looked at as well */
};

static const struct change changes[] = { { "Europe/Berlin", 2026, 3, 29 }, { "Europe/Berlin", 2026, 10, 25 },
	{ "America/New_York", 2026, 3, 8 }, { "America/New_York", 2026, 11, 1 }, { "Australia/Lord_Howe", 2026, 4, 5 },
	{ "Australia/Lord_Howe", 2026, 10, 4 }, { "America/Santiago", 2026, 9, 6 }, { "Asia/Kolkata", 2026, 6, 1 },
	{ "Pacific/Apia", 2011, 12, 30 }, { "Pacific/Kiritimati", 1994, 12, 31 } };

/* From and to, in minutes of the day: over midnight, within the hour that is skipped or comes twice, at its ends, and all but all day. */
static const int windows[][2] = { { 21 * 60, 8 * 60 }, { 22 * 60, 150 }, { 150, 6 * 60 }, { 120, 180 }, { 130, 150 },
	{ 90, 120 }, { 180, 240 }, { 23 * 60, 30 }, { 0, 60 }, { 8 * 60, 7 * 60 } };

static int64_t midnight(const struct change *change, int days)
{
	int64_t us = 0;

	assert_int_equal(
		zone_moment(change->zone,
			&(struct local_time){ .year = change->year, .month = change->month, .day = change->day + days },
			&us),
		0);
	return us;
}

static bool is_quiet_at(const struct rules *rules, const char *zone, int64_t us)
{
	struct local_time local;

	assert_int_equal(zone_local(zone, us, &local), 0);
	int minute = local.hour * 60 + local.minute, from = rules->quiets[0].from_minute,
	    to = rules->quiets[0].to_minute;
	return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}

/* From the end to the beginning, so that the next sending minute is known when a minute is asked about. */
static void check_window(const struct change *change, int from_minute, int to_minute)
{
	const struct rules rules = { .quiet_count = 1,
		.quiets = { { .days = RULES_EVERY_DAY, .from_minute = from_minute, .to_minute = to_minute } } };
	int64_t from_us = midnight(change, -1), next_us = 0;

	for (int64_t us = midnight(change, 3); us >= from_us; us -= US_PER_MINUTE) {
		bool quiet = is_quiet_at(&rules, change->zone, us);

		next_us = quiet ? next_us : us;
		if (next_us == 0)
			continue;                                    /* the end of what is looked at is quiet */
		int64_t within_us = quiet ? us + 17 * US_PER_S : us; /* seconds do not matter */
		if (rules_next_sending_us(&rules, change->zone, within_us) != next_us) {
			char asked[80], is[80];
			zone_print(change->zone, us, asked, sizeof(asked));
			zone_print(
				change->zone, rules_next_sending_us(&rules, change->zone, within_us), is, sizeof(is));
			fail_msg("%s, quiet %d to %d, at %s: %s", change->zone, from_minute, to_minute, asked, is);
		}
	}
	assert_true(next_us > 0);
}

static void the_next_sending_minute_is_the_first_that_is_not_quiet(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		for (size_t j = 0; j < sizeof(windows) / sizeof(windows[0]); j++)
			check_window(&changes[i], windows[j][0], windows[j][1]);
}

static void known_nights_end_when_an_owner_expects_it(void **state)
{
	static const struct {
		const char *zone, *at, *until;
		int64_t at_us;
	} table[] = { /* `date -u -d 'TZ="Europe/Berlin" 2026-03-28 22:00' +%s` */
		{ "Europe/Berlin", "Sat 28 Mar 2026, 22:00 GMT+1", "Sun 29 Mar 2026, 08:00 GMT+2", 1774731600 },
		{ "Europe/Berlin", "Sat 24 Oct 2026, 22:00 GMT+2", "Sun 25 Oct 2026, 08:00 GMT+1", 1792872000 },
		{ "America/New_York", "Sat 7 Mar 2026, 22:00 EST", "Sun 8 Mar 2026, 08:00 EDT", 1772938800 },
		{ "America/New_York", "Sat 31 Oct 2026, 22:00 EDT", "Sun 1 Nov 2026, 08:00 EST", 1793498400 }
	};
	const struct rules rules = { .quiet_count = 1,
		.quiets = { { .days = RULES_EVERY_DAY, .from_minute = 21 * 60, .to_minute = 8 * 60 } } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char text[80];

		zone_print(table[i].zone, table[i].at_us * US_PER_S, text, sizeof(text));
		assert_string_equal(text, table[i].at);
		zone_print(table[i].zone, rules_next_sending_us(&rules, table[i].zone, table[i].at_us * US_PER_S), text,
			sizeof(text));
		assert_string_equal(text, table[i].until);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_sending_minute_is_the_first_that_is_not_quiet),
		cmocka_unit_test(known_nights_end_when_an_owner_expects_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
