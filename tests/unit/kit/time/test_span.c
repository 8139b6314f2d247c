/* test_span.c: spans are read as they are written */
#include "bus/base/clock.h"
#include "services/kit/time/span.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>

#define MOST_US (400 * US_PER_DAY)

static void spans_are_read_with_their_unit_and_nothing_else(void **state)
{
	static const char *const wrong[] = { "", " 5h", "+5h", "5", "0h", "-1h", "5 h", "5hours", "h", "5h3", "401d",
		"9223372036854775807h" };
	int64_t us = 0;

	(void)state;
	assert_int_equal(span_parse("30min", MOST_US, &us), 0);
	assert_int_equal(us, 30 * US_PER_MINUTE);
	assert_int_equal(span_parse("2d", MOST_US, &us), 0);
	assert_int_equal(us, 2 * US_PER_DAY);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(span_parse(wrong[i], MOST_US, &us), -EINVAL);
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
		assert_int_equal(span_parse(cases[i].text, cases[i].most_us, &us), cases[i].us ? 0 : -EINVAL);
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
	char words[SPAN_WORDS_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(span_words(cases[i].s * US_PER_S, words), cases[i].words);
	assert_string_equal(span_words(US_PER_S - 1, words), "0 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_are_read_with_their_unit_and_nothing_else),
		cmocka_unit_test(each_unit_is_read_up_to_the_bound),
		cmocka_unit_test(a_span_is_said_in_its_two_largest_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
