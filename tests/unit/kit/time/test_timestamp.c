/* test_timestamp.c: the platforms' timestamps, and how far their clocks may be ahead of ours */
#include "bus/base/clock.h"
#include "services/kit/time/timestamp.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>

static void what_is_too_far_ahead_counts_from_when_it_was_heard(void **state)
{
	const int64_t heard_us = INT64_C(1795348800) * US_PER_S, most_us = 10 * US_PER_MINUTE;

	(void)state;
	assert_int_equal(timestamp_not_ahead(heard_us - US_PER_DAY, heard_us), heard_us - US_PER_DAY);
	assert_int_equal(timestamp_not_ahead(heard_us, heard_us), heard_us);
	assert_int_equal(timestamp_not_ahead(heard_us + most_us, heard_us), heard_us + most_us);
	assert_int_equal(timestamp_not_ahead(heard_us + most_us + 1, heard_us), heard_us);
}

#define AT_2 (INT64_C(1795312800) * US_PER_S) /* 2026-11-22T02:00:00Z */

static void a_moment_is_read_in_its_zone_to_the_microsecond(void **state)
{
	static const struct {
		const char *text;
		int64_t us;
	} cases[] = {
		{ "2026-11-22T02:00:00Z", AT_2 },
		{ "2026-11-22t02:00:00z", AT_2 },
		{ "2026-11-22 02:00:00", AT_2 },
		{ "2026-11-22T02:00:00", AT_2 },
		{ "2026-11-21T21:00:00-05:00", AT_2 },
		{ "2026-11-22T07:45:00+05:45", AT_2 },
		{ "2026-11-22T07:45:00+0545", AT_2 },
		{ "2026-11-22T16:59:00+14:59", AT_2 },
		{ "2026-11-22T02:00:00.5Z", AT_2 + 500000 },
		{ "2026-11-22T02:00:00.000001-00:00", AT_2 + 1 },
		{ "2026-11-22T02:00:00.123456789Z", AT_2 + 123456 },
		{ "2026-11-22T01:59:60Z", AT_2 },
		{ "2024-02-29T00:00:00Z", INT64_C(1709164800) * US_PER_S },
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1970-01-01T01:00:00+01:00", 0 },
		{ "9999-12-31T23:59:59Z", INT64_C(253402300799) * US_PER_S },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t us = -1;
		assert_int_equal(timestamp_parse(cases[i].text, &us), 0);
		assert_int_equal(us, cases[i].us);
	}
}

static void nothing_looser_is_a_moment(void **state)
{
	static const char *const bad[] = { "", "2026", "2026-11-22", "2026-11-22T02:00", "2026-11-22T02:00:0Z",
		"26-11-22T02:00:00Z", "2026-1-22T02:00:00Z", "2026-11-22_02:00:00Z", "2026/11/22T02:00:00Z",
		"2026-00-22T02:00:00Z", "2026-13-22T02:00:00Z", "2026-11-00T02:00:00Z", "2026-11-31T02:00:00Z",
		"2026-11-32T02:00:00Z", "2023-02-29T00:00:00Z", "2026-11-22T24:00:00Z", "2026-11-22T02:60:00Z",
		"2026-11-22T02:00:61Z", "2026-11-22T02:00:00Zx", "2026-11-22T02:00:00 Z", "2026-11-22T02:00:00+15:00",
		"2026-11-22T02:00:00+14:60", "2026-11-22T02:00:00+1", "2026-11-22T02:00:00+", "2026-11-22T02:00:00,5Z",
		"1969-12-31T23:59:59Z", "1970-01-01T00:59:59+01:00", "10000-01-01T00:00:00Z", "+2026-11-22T02:00:00Z",
		" 2026-11-22T02:00:00Z", "tomorrow" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t us;
		if (timestamp_parse(bad[i], &us) != -EINVAL)
			fail_msg("\"%s\" was read", bad[i]);
	}
}

/* --- spans are read as they are written --- */

#define MOST_US (400 * US_PER_DAY)

static void spans_are_read_with_their_unit_and_nothing_else(void **state)
{
	static const char *const wrong[] = { "", " 5h", "+5h", "5", "0h", "-1h", "5 h", "5hours", "h", "5h3", "401d",
		"9223372036854775807h" };
	int64_t us = 0;

	(void)state;
	assert_int_equal(duration_parse("30min", MOST_US, &us), 0);
	assert_int_equal(us, 30 * US_PER_MINUTE);
	assert_int_equal(duration_parse("2d", MOST_US, &us), 0);
	assert_int_equal(us, 2 * US_PER_DAY);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(duration_parse(wrong[i], MOST_US, &us), -EINVAL);
}

static void each_unit_is_read_up_to_the_bound(void **state)
{
	static const struct {
		const char *text;
		int64_t most_us, us; /* 0: it is none */
	} cases[] = { { "1s", US_PER_S, US_PER_S }, { "2s", US_PER_S, 0 }, { "45s", MOST_US, 45 * US_PER_S },
		{ "60min", US_PER_HOUR, US_PER_HOUR }, { "61min", US_PER_HOUR, 0 }, { "6h", MOST_US, 6 * US_PER_HOUR },
		{ "400d", MOST_US, MOST_US }, { "007h", MOST_US, 7 * US_PER_HOUR }, { "1m", MOST_US, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t us = 0;
		assert_int_equal(duration_parse(cases[i].text, cases[i].most_us, &us), cases[i].us ? 0 : -EINVAL);
		assert_int_equal(us, cases[i].us);
	}
}

static void a_span_is_said_in_its_two_largest_units(void **state)
{
	static const struct {
		int64_t s;
		const char *words;
	} cases[] = { { 0, "0 s" }, { 1, "1 s" }, { 59, "59 s" }, { 60, "1 min" }, { 119, "1 min" }, { 3599, "59 min" },
		{ 3600, "1 h" }, { 3659, "1 h" }, { 3660, "1 h 1 min" }, { 86399, "23 h 59 min" }, { 86400, "1 d" },
		{ 86400 + 3599, "1 d" }, { 86400 + 3600, "1 d 1 h" }, { 2 * 86400 + 5 * 3600, "2 d 5 h" },
		{ 3 * 86400, "3 d" }, { -61, "1 min" } };
	char words[DURATION_WORDS_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(duration_words(cases[i].s * US_PER_S, words), cases[i].words);
	assert_string_equal(duration_words(US_PER_S - 1, words), "0 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_moment_is_read_in_its_zone_to_the_microsecond),
		cmocka_unit_test(nothing_looser_is_a_moment),
		cmocka_unit_test(what_is_too_far_ahead_counts_from_when_it_was_heard),
		cmocka_unit_test(spans_are_read_with_their_unit_and_nothing_else),
		cmocka_unit_test(each_unit_is_read_up_to_the_bound),
		cmocka_unit_test(a_span_is_said_in_its_two_largest_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
