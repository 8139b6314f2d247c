/* test_backup_shelf.c: which copies of the log go, and which stay */
#include "bus/base/text.h"
#include "services/cartbus/backup/backup_shelf.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

/* Newest first. W: whole; P: whole and proved; -: not whole. Into `went`: x what goes, . what stays. */
static void choose(const char *copies, size_t keep, char went[32])
{
	struct shelf_copy shelf[32] = { 0 };
	size_t count = strlen(copies);

	for (size_t i = 0; i < count; i++) {
		shelf[i].is_whole = copies[i] != '-';
		shelf[i].proved_us = copies[i] == 'P';
	}
	shelf_choose(shelf, count, keep);
	for (size_t i = 0; i < count; i++)
		went[i] = shelf[i].goes ? 'x' : '.';
	went[count] = '\0';
}

static void so_many_stay_and_always_the_newest_that_was_proved(void **state)
{
	static const struct {
		const char *copies;
		size_t keep;
		const char *went;
	} cases[] = {
		{ "", 3, "" },
		{ "W", 3, "." },
		{ "WWW", 3, "..." },
		{ "WWWW", 3, "...x" },
		{ "WWWPW", 3, "....x" }, /* a log that is damaged is copied damaged: the last sound one stays */
		{ "WWWWWPWP", 3, "...xx.xx" },
		{ "WPWPW", 3, "...xx" },
		{ "WWP", 1, ".x." },
		{ "P", 1, "." },
		{ "PP", 1, ".x" },
		{ "W-WW-W", 3, ".x..xx" }, /* what is not whole counts for nothing */
		{ "-", 3, "x" },
	};
	char went[32];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		choose(cases[i].copies, cases[i].keep, went);
		if (strcmp(went, cases[i].went) != 0)
			fail_msg("of %s with keep=%zu: %s and not %s", cases[i].copies, cases[i].keep, went,
				cases[i].went);
	}
}

static void a_name_is_the_moment_and_sorts_by_it(void **state)
{
	char earlier[SHELF_NAME], later[SHELF_NAME];

	(void)state;
	shelf_name(INT64_C(1764387000) * US_PER_S, earlier);
	shelf_name(INT64_C(1764387001) * US_PER_S, later);
	assert_string_equal(earlier, "2025-11-29T033000Z");
	assert_true(strcmp(earlier, later) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(so_many_stay_and_always_the_newest_that_was_proved),
		cmocka_unit_test(a_name_is_the_moment_and_sorts_by_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
