/* Which size a cart is, and when mail may go, across both clock changes. */
#include "bus/base/clock.h"
#include "services/kit/rules/rules.h"
#include "services/kit/time/zone.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#define SEED                                                                                                           \
	"Small carts (under $40): remind after 4 hours, then after 24. Medium carts: 2 hours, then 22. Big carts "     \
	"(over "                                                                                                       \
	"$150): 1 hour, then 20. "

static struct rules parsed(const char *text)
{
	struct rules rules;
	struct rules_error error;

	if (rules_parse(text, "USD", &rules, &error) < 0)
		fail_msg("%s", error.text);
	return rules;
}

static void assert_size(const struct rules *rules, int64_t total_minor, const char *currency, enum cart_size size)
{
	struct rules_choice choice = rules_choose(rules, total_minor, currency);

	assert_int_equal(choice.size, size);
	assert_false(choice.unknown_currency);
	assert_int_equal(choice.waits.first_us, rules->sizes[size].waits.first_us);
	assert_int_equal(choice.waits.second_us, rules->sizes[size].waits.second_us);
}

static void both_thresholds_themselves_are_medium(void **state)
{
	struct rules rules = parsed(SEED);

	(void)state;
	assert_size(&rules, 0, "USD", SIZE_SMALL);
	assert_size(&rules, 3999, "USD", SIZE_SMALL);
	assert_size(&rules, 4000, "USD", SIZE_MEDIUM);
	assert_size(&rules, 15000, "USD", SIZE_MEDIUM);
	assert_size(&rules, 15001, "USD", SIZE_BIG);
	assert_size(&rules, INT64_C(999999999999999), "USD", SIZE_BIG);
}

static void each_currency_has_its_own_thresholds(void **state)
{
	struct rules rules = parsed(
		"Small carts (under $40 or ¥6000): 4 hours, then 24. Medium carts: 2 hours, then 22. Big carts (over "
		"$150 or ¥22000): 1 hour, then 20.");

	(void)state;
	assert_size(&rules, 5999, "JPY", SIZE_SMALL);
	assert_size(&rules, 6000, "JPY", SIZE_MEDIUM);
	assert_size(&rules, 22000, "JPY", SIZE_MEDIUM);
	assert_size(&rules, 22001, "JPY", SIZE_BIG);
	assert_size(&rules, 6000, "USD", SIZE_MEDIUM);
}

static void the_owners_rate_decides_where_there_is_no_threshold(void **state)
{
	struct rules rules = parsed(SEED "1 EUR is 1.25 USD. 100 JPY is 0.50 USD.");

	(void)state;
	assert_size(&rules, 3199, "EUR", SIZE_SMALL);
	assert_size(&rules, 3200, "EUR", SIZE_MEDIUM);  /* 40.00 USD exactly */
	assert_size(&rules, 12000, "EUR", SIZE_MEDIUM); /* 150.00 USD exactly */
	assert_size(&rules, 12001, "EUR", SIZE_BIG);
	assert_size(&rules, 7998, "JPY", SIZE_SMALL);
	assert_size(&rules, 8000, "JPY", SIZE_MEDIUM);
}

static void a_rate_is_good_in_both_directions(void **state)
{
	struct rules rules = parsed(SEED "1 USD is 0.80 EUR.");

	(void)state;
	assert_size(&rules, 3199, "EUR", SIZE_SMALL);
	assert_size(&rules, 3200, "EUR", SIZE_MEDIUM);
	assert_size(&rules, 12001, "EUR", SIZE_BIG);
}

static void an_absurd_rate_makes_a_cart_big_and_not_small(void **state)
{
	struct rules rules =
		parsed(SEED "1 EUR is 999999999999999999999999999 USD. 1 USD is 0.000000000000000000000001 GBP.");

	(void)state;
	assert_size(&rules, 1, "EUR", SIZE_BIG);
	assert_size(&rules, INT64_C(999999999999999), "EUR", SIZE_BIG);
	assert_size(&rules, INT64_C(999999999999999), "GBP", SIZE_BIG);
	assert_size(&rules, -1, "EUR", SIZE_SMALL);
}

static void an_unknown_currency_is_medium_and_counted(void **state)
{
	struct rules rules = parsed(SEED "1 EUR is 1.08 USD.");
	struct rules_choice choice = rules_choose(&rules, 1, "GBP");

	(void)state;
	assert_int_equal(choice.size, SIZE_MEDIUM);
	assert_true(choice.unknown_currency);
	assert_int_equal(choice.waits.first_us, 2 * US_PER_HOUR);
	assert_true(rules_choose(&rules, 1, "").unknown_currency);
}

static void a_size_is_named_or_told_by_its_amounts_in_the_carts_own_currency(void **state)
{
	static const char AMOUNTS[] =
		"Carts under 40 EUR or 6000 JPY: never. Carts from 40 EUR or 6000 JPY to 150 EUR or 22000 JPY: "
		"remind after 4 hours. Carts over 150 EUR or 22000 JPY: after 1 hour. 1 EUR is 1.25 USD.";
	static const char ALL[] = "All carts: remind after 4 hours.";
	static const struct {
		const char *rules;
		int64_t total_minor;
		const char *currency, *words;
	} cases[] = { { SEED, 3999, "USD", "a small cart" }, { SEED, 4000, "USD", "a medium cart" },
		{ SEED, 15001, "USD", "a big cart" }, { SEED, 1, "GBP", "a medium cart" },
		{ ALL, 4000, "EUR", "a cart" }, { AMOUNTS, 4000, "GBP", "a cart" },
		{ AMOUNTS, 3999, "EUR", "a cart up to 39.99 EUR" },
		{ AMOUNTS, 4000, "EUR", "a cart from 40.00 to 150.00 EUR" },
		{ AMOUNTS, 15001, "EUR", "a cart from 150.01 EUR" }, { AMOUNTS, 5999, "JPY", "a cart up to 5999 JPY" },
		{ AMOUNTS, 22000, "JPY", "a cart from 6000 to 22000 JPY" },
		{ AMOUNTS, 5000, "USD", "a cart from 40.00 to 150.00 EUR" } };
	char words[96];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rules rules = parsed(cases[i].rules);
		struct rules_choice choice = rules_choose(&rules, cases[i].total_minor, cases[i].currency);

		memset(words, 'x', sizeof(words));
		assert_string_equal(rules_size_words(&choice, words), cases[i].words);
	}
}

static void the_window_is_a_day_unless_the_owner_says_otherwise(void **state)
{
	struct rules silent = parsed(SEED), spoken = parsed(SEED "At most one mail per shopper every 36 hours.");

	(void)state;
	assert_int_equal(rules_window_us(&silent), 24 * US_PER_HOUR);
	assert_int_equal(rules_window_us(&spoken), 36 * US_PER_HOUR);
}

static int64_t at(const char *zone, int year, int month, int day, int hour, int minute)
{
	struct local_time local = { .year = year, .month = month, .day = day, .hour = hour, .minute = minute };
	int64_t us;

	assert_int_equal(zone_moment(zone, &local, &us), 0);
	return us;
}

static void quiet_hours_end_on_the_minute(void **state)
{
	struct rules rules = parsed(SEED "No mail between 9 pm and 8 am.");
	const char *zone = "Asia/Kolkata";

	(void)state;
	int64_t before = at(zone, 2026, 11, 20, 20, 59) + 59 * US_PER_S;
	assert_int_equal(rules_next_sending_us(&rules, zone, before), before);
	int64_t morning = at(zone, 2026, 11, 21, 8, 0);
	assert_int_equal(rules_next_sending_us(&rules, zone, at(zone, 2026, 11, 20, 21, 0)), morning);
	assert_int_equal(rules_next_sending_us(&rules, zone, morning - 1), morning);
	assert_int_equal(rules_next_sending_us(&rules, zone, morning), morning);
	struct rules noon = parsed(SEED "Quiet hours: 12:00 to 14:30.");
	assert_int_equal(rules_next_sending_us(&noon, zone, at(zone, 2026, 11, 21, 13, 7) + 12345),
		at(zone, 2026, 11, 21, 14, 30));
}

static void without_quiet_hours_mail_goes_at_once(void **state)
{
	struct rules rules = parsed(SEED);

	(void)state;
	assert_int_equal(rules_next_sending_us(&rules, "Europe/Berlin", 123456789), 123456789);
}

/* { zone, quiet hours, the evening, how many hours later the first sending minute is } */
static void quiet_hours_follow_the_local_clock_across_its_changes(void **state)
{
	static const struct {
		const char *zone;
		int year, month, day; /* the evening before the change */
		int minutes;          /* from 22:00 to 8:00 of that night */
	} nights[] = {
		{ "Europe/Berlin", 2026, 3, 28, 9 * 60 },
		{ "Europe/Berlin", 2026, 10, 24, 11 * 60 },
		{ "America/New_York", 2026, 3, 7, 9 * 60 },
		{ "America/New_York", 2026, 10, 31, 11 * 60 },
		{ "Australia/Lord_Howe", 2026, 10, 3, 9 * 60 + 30 },
		{ "Australia/Lord_Howe", 2026, 4, 4, 10 * 60 + 30 },
		{ "Asia/Kolkata", 2026, 3, 28, 10 * 60 },
	};
	struct rules rules = parsed(SEED "Quiet hours: 21:00 to 8:00.");

	(void)state;
	for (size_t i = 0; i < sizeof(nights) / sizeof(*nights); i++) {
		int64_t evening = at(nights[i].zone, nights[i].year, nights[i].month, nights[i].day, 22, 0);
		assert_int_equal(rules_next_sending_us(&rules, nights[i].zone, evening) - evening,
			nights[i].minutes * US_PER_MINUTE);
	}
}

/* In Berlin 2:00 to 3:00 does not exist on 29 March 2026 and comes twice on 25 October 2026. */
static void quiet_hours_that_end_inside_a_clock_change(void **state)
{
	struct rules rules = parsed(SEED "Quiet hours: 21:00 to 2:30.");
	const char *zone = "Europe/Berlin";

	(void)state;
	assert_int_equal(rules_next_sending_us(&rules, zone, at(zone, 2026, 3, 29, 1, 0)), at(zone, 2026, 3, 29, 3, 0));
	assert_int_equal(
		rules_next_sending_us(&rules, zone, at(zone, 2026, 10, 25, 1, 0)), at(zone, 2026, 10, 25, 2, 30));
	/* 2:15 the second time, an hour after 2:15 the first time: quiet again until 2:30 comes again */
	int64_t again = at(zone, 2026, 10, 25, 2, 15) + US_PER_HOUR;
	assert_int_equal(rules_next_sending_us(&rules, zone, again), again + 15 * US_PER_MINUTE);
}

static bool is_quiet(const struct rules *rules, const char *zone, int64_t us)
{
	struct local_time local;

	assert_int_equal(zone_local(zone, us, &local), 0);
	int minute = local.hour * 60 + local.minute, today = 1 << local.weekday,
	    yesterday = 1 << (local.weekday + 6) % 7;
	for (int i = 0; i < rules->quiet_count; i++) {
		int from = rules->quiets[i].from_minute, to = rules->quiets[i].to_minute, days = rules->quiets[i].days;
		if ((days & today) && minute >= from && (minute < to || from > to))
			return true;
		if ((days & yesterday) && from > to && minute < to)
			return true;
	}
	return false;
}

/* Against the definition itself: the first minute that is not quiet, found by looking at every one. */
static int64_t first_sending_minute(const struct rules *rules, const char *zone, int64_t us)
{
	if (!is_quiet(rules, zone, us))
		return us;
	us -= us % US_PER_MINUTE;
	while (is_quiet(rules, zone, us))
		us += US_PER_MINUTE;
	return us;
}

static int64_t random_below(int64_t most)
{
	return (int64_t)((((uint64_t)random() << 31) ^ (uint64_t)random()) % (uint64_t)most);
}

static void the_next_sending_moment_is_the_first_that_is_not_quiet(void **state)
{
	static const char *const zones[] = { "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
		"Africa/Cairo", "Pacific/Apia" };
	const int64_t start = INT64_C(946684800) * US_PER_S; /* 2000-01-01 */

	(void)state;
	srandom(20261121);
	for (int i = 0; i < 400; i++) {
		struct rules rules = { 0 };
		const char *zone = zones[i % 6];
		while (rules.quiet_count < 1 + i % 3) {
			struct rules_quiet *quiet = &rules.quiets[rules.quiet_count++];
			quiet->days = i % 3 ? 1 + (int)random_below(RULES_EVERY_DAY) : RULES_EVERY_DAY;
			quiet->from_minute = (int)random_below(1440);
			quiet->to_minute = (quiet->from_minute + 1 + (int)random_below(1438)) % 1440;
			if (i % 3 && random_below(2))
				*quiet = (struct rules_quiet){ .days = quiet->days, .to_minute = 1440 };
		}
		if (!rules_ever_send(&rules))
			continue;
		int64_t us = start + random_below(40 * 365 * US_PER_DAY);
		if (i % 2) /* near a clock change of Berlin, New York or Lord Howe */
			us = at(zone, 2026, i % 4 == 1 ? 3 + i % 3 / 2 : 10, 1 + i % 31, (int)random_below(5),
				(int)random_below(60));
		assert_int_equal(rules_next_sending_us(&rules, zone, us), first_sending_minute(&rules, zone, us));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_thresholds_themselves_are_medium),
		cmocka_unit_test(each_currency_has_its_own_thresholds),
		cmocka_unit_test(the_owners_rate_decides_where_there_is_no_threshold),
		cmocka_unit_test(a_rate_is_good_in_both_directions),
		cmocka_unit_test(an_absurd_rate_makes_a_cart_big_and_not_small),
		cmocka_unit_test(an_unknown_currency_is_medium_and_counted),
		cmocka_unit_test(a_size_is_named_or_told_by_its_amounts_in_the_carts_own_currency),
		cmocka_unit_test(the_window_is_a_day_unless_the_owner_says_otherwise),
		cmocka_unit_test(quiet_hours_end_on_the_minute),
		cmocka_unit_test(without_quiet_hours_mail_goes_at_once),
		cmocka_unit_test(quiet_hours_follow_the_local_clock_across_its_changes),
		cmocka_unit_test(quiet_hours_that_end_inside_a_clock_change),
		cmocka_unit_test(the_next_sending_moment_is_the_first_that_is_not_quiet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
