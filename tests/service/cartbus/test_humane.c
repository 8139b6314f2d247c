/* test_humane.c: numbers as people read them */
#include "services/cartbus/watch/top_figures.h"

#include "bus/base/clock.h"
#include "tests/unit/cmocka_all.h"

static void counts_are_whole_up_to_ten_thousand(void **state)
{
	static const struct {
		double number;
		const char *words;
	} cases[] = { { 0, "0" }, { 1, "1" }, { 312, "312" }, { 9999, "9999" }, { 10000, "10.0k" }, { 12345, "12.3k" },
		{ 99949, "99.9k" }, { 99950, "100k" }, { 999999, "1000k" }, { 1000000, "1.0M" }, { 4100000, "4.1M" },
		{ 1e9, "1.0G" }, { 1e12, "1.0T" }, { 1e15, "1000T" } };
	char words[HUMANE_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(humane_count(cases[i].number, words), cases[i].words);
}

/* Little is not nothing. */
static void a_rate_has_a_place_behind_the_point_while_it_is_small(void **state)
{
	static const struct {
		double number;
		const char *words;
	} cases[] = { { -1, "-" }, { 0, "0" }, { 0.001, "0.1" }, { 0.05, "0.1" }, { 0.3, "0.3" }, { 1, "1.0" },
		{ 9.94, "9.9" }, { 9.95, "10" }, { 312, "312" }, { 12345, "12.3k" } };
	char words[HUMANE_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(humane_rate(cases[i].number, words), cases[i].words);
}

static void bytes_are_told_in_powers_of_1024(void **state)
{
	static const struct {
		double number;
		const char *words;
	} cases[] = { { 0, "0.0B" }, { 1023, "1023B" }, { 1024, "1.0K" }, { 812 * 1024, "812K" },
		{ 41.2 * (1 << 30), "41.2G" }, { 1024.0 * 1024, "1.0M" }, { 5e15, "4547T" } };
	char words[HUMANE_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(humane_bytes(cases[i].number, words), cases[i].words);
}

static void an_age_is_told_in_the_unit_of_which_there_are_two(void **state)
{
	static const struct {
		int64_t us;
		const char *words;
	} cases[] = { { -5 * US_PER_S, "0s" }, { 0, "0s" }, { US_PER_S - 1, "0s" }, { 3 * US_PER_S, "3s" },
		{ 2 * US_PER_MINUTE - 1, "119s" }, { 2 * US_PER_MINUTE, "2min" }, { 2 * US_PER_HOUR - 1, "119min" },
		{ 2 * US_PER_HOUR, "2h" }, { 2 * US_PER_DAY - 1, "47h" }, { 2 * US_PER_DAY, "2d" },
		{ 100 * US_PER_DAY, "100d" } };
	char words[HUMANE_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(humane_age(cases[i].us, words), cases[i].words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_whole_up_to_ten_thousand),
		cmocka_unit_test(a_rate_has_a_place_behind_the_point_while_it_is_small),
		cmocka_unit_test(bytes_are_told_in_powers_of_1024),
		cmocka_unit_test(an_age_is_told_in_the_unit_of_which_there_are_two),
	};

	return cmocka_run_group_tests_name("cartbus.humane", tests, NULL, NULL);
}
