/* test_words.c: how languages write measures, spans of time and short days */
#include "bus/base/clock.h"
#include "services/kit/locale/locale.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static const int64_t moment_us = INT64_C(1795512600000000); /* 24 November 2026, 09:30 UTC */

static void a_ratio_is_percent_with_a_digit_more_when_it_is_small(void **state)
{
	static const struct {
		double fraction;
		const char *tag, *shown;
	} cases[] = { { 0.664, "en-US", "66%" }, { 0.664, "de-DE", "66\xc2\xa0%" }, { 0.0123, "de-DE", "1,2\xc2\xa0%" },
		{ 0, "en-US", "0%" }, { -0.05, "en-US", "-5%" }, { 18, "en-US", "1,800%" }, { 1, "en-US", "100%" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char shown[80];

		locale_percent(cases[i].fraction, cases[i].tag, shown, sizeof(shown));
		assert_string_equal(shown, cases[i].shown);
	}
}

static void a_size_has_the_unit_that_fits(void **state)
{
	static const struct {
		int64_t bytes;
		const char *shown;
	} cases[] = { { 0, "0 byte" }, { 999, "999 byte" }, { 1000, "1 kB" }, { 999949, "999.9 kB" },
		{ 999950, "1 MB" }, { 1234567890, "1.2 GB" }, { INT64_MAX, "9,223.4 PB" }, { -2000, "-2 kB" } };
	char german[80];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char shown[80];

		locale_bytes(cases[i].bytes, "en-US", shown, sizeof(shown));
		assert_string_equal(shown, cases[i].shown);
	}
	locale_bytes(1234567890, "de-DE", german, sizeof(german));
	assert_string_equal(german, "1,2\xc2\xa0GB");
}

static void a_span_has_its_two_largest_units(void **state)
{
	static const struct {
		int64_t us;
		const char *english, *german;
	} cases[] = { { 0, "0 sec", "0 Sek." }, { 999, "0 sec", "0 Sek." }, { 250 * US_PER_MS, "250 ms", "250 ms" },
		{ 20 * US_PER_S, "20 sec", "20 Sek." }, { 60 * US_PER_S, "1 min", "1 Min." },
		{ 61 * US_PER_S, "1 min 1 sec", "1 Min. 1 Sek." },
		{ 4 * US_PER_HOUR + 3 * US_PER_MINUTE + 59 * US_PER_S, "4 hr 3 min", "4 Std. 3 Min." },
		{ 3 * US_PER_DAY + 2 * US_PER_HOUR, "3 days 2 hr", "3 Tg. 2 Std." },
		{ -90 * US_PER_S, "-1 min 30 sec", "-1 Min. 30 Sek." } };
	char shown[80];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		locale_span(cases[i].us, "en-US", shown, sizeof(shown));
		assert_string_equal(shown, cases[i].english);
		locale_span(cases[i].us, "de-DE", shown, sizeof(shown));
		assert_string_equal(shown, cases[i].german);
	}
	locale_span(INT64_MIN, "en-US", shown, sizeof(shown));
	assert_string_equal(shown, "-106,751,991 days 4 hr");
}

static void the_past_and_the_future_are_told_from_now(void **state)
{
	static const struct {
		int64_t us;
		const char *english, *german;
	} cases[] = { { 0, "now", "jetzt" }, { 999999, "now", "jetzt" }, { -US_PER_S, "1 sec. ago", "vor 1 Sek." },
		{ 8 * US_PER_MINUTE, "in 8 min.", "in 8 Min." }, { -8 * US_PER_MINUTE, "8 min. ago", "vor 8 Min." },
		{ -90 * US_PER_MINUTE, "1 hr. ago", "vor 1 Std." },
		{ -400 * US_PER_DAY, "400 days ago", "vor 400 Tagen" } };
	char shown[80];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		locale_ago(cases[i].us, "en-US", shown, sizeof(shown));
		assert_string_equal(shown, cases[i].english);
		locale_ago(cases[i].us, "de-DE", shown, sizeof(shown));
		assert_string_equal(shown, cases[i].german);
	}
}

static void short_days_are_in_the_zone(void **state)
{
	static const struct {
		enum locale_day form;
		const char *english, *german;
	} cases[] = { { LOCALE_SHORT, "24 Nov, 10:30", "24. Nov., 10:30" },
		{ LOCALE_SHORT_YEAR, "24 Nov 2026, 10:30", "24. Nov. 2026, 10:30" },
		{ LOCALE_SHORT_ZONE, "24 Nov 2026, 10:30 CET", "24. Nov. 2026, 10:30 MEZ" },
		{ LOCALE_CLOCK, "10:30", "10:30" }, { LOCALE_CLOCK_ZONE, "10:30 CET", "10:30 MEZ" },
		{ LOCALE_DAY, "Tue, 24 Nov", "Di., 24. Nov." },
		{ LOCALE_DAY_YEAR, "Tue, 24 Nov 2026", "Di., 24. Nov. 2026" },
		{ LOCALE_DAY_OF_MONTH, "24 Nov", "24. Nov." } };
	char shown[80];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		locale_day(moment_us, "Europe/Berlin", "en-GB", cases[i].form, shown, sizeof(shown));
		assert_string_equal(shown, cases[i].english);
		locale_day(moment_us, "Europe/Berlin", "de-DE", cases[i].form, shown, sizeof(shown));
		assert_string_equal(shown, cases[i].german);
	}
}

static void numbers_below_zero_and_with_fractions_are_numbers(void **state)
{
	char shown[80];

	(void)state;
	locale_integer(-1234567, "de-DE", shown, sizeof(shown));
	assert_string_equal(shown, "-1.234.567");
	locale_decimal(1234.5678, "de-DE", shown, sizeof(shown));
	assert_string_equal(shown, "1.234,568");
	locale_decimal(1e300, "de-DE", shown, sizeof(shown));
	assert_string_equal(shown, "1e+300");
}

static void what_does_not_fit_is_terminated(void **state)
{
	(void)state;
	for (int room = 1; room <= 12; room++) {
		char shown[16];

		memset(shown, 'x', sizeof(shown));
		locale_span(4 * US_PER_HOUR + 3 * US_PER_MINUTE, "de-DE", shown, room);
		assert_non_null(memchr(shown, '\0', (size_t)room));
		memset(shown, 'x', sizeof(shown));
		locale_ago(-8 * US_PER_MINUTE, "de-DE", shown, room);
		assert_non_null(memchr(shown, '\0', (size_t)room));
		memset(shown, 'x', sizeof(shown));
		locale_bytes(1234567890, "de-DE", shown, room);
		assert_non_null(memchr(shown, '\0', (size_t)room));
		memset(shown, 'x', sizeof(shown));
		locale_percent(0.0123, "de-DE", shown, room);
		assert_non_null(memchr(shown, '\0', (size_t)room));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ratio_is_percent_with_a_digit_more_when_it_is_small),
		cmocka_unit_test(a_size_has_the_unit_that_fits),
		cmocka_unit_test(a_span_has_its_two_largest_units),
		cmocka_unit_test(the_past_and_the_future_are_told_from_now),
		cmocka_unit_test(short_days_are_in_the_zone),
		cmocka_unit_test(numbers_below_zero_and_with_fractions_are_numbers),
		cmocka_unit_test(what_does_not_fit_is_terminated),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
