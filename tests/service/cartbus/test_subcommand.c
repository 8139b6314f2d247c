/* test_subcommand.c: the tables of subcommands that the command's parts and the systems register, put together */
#include "services/cartbus/core/subcommand.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/output_of.h"
#include <stdlib.h>

static int do_nothing(struct command *command, int argc, char **argv)
{
	(void)command, (void)argc, (void)argv;
	return EXIT_FINE;
}

static const struct subcommand of_one[] = {
	{ SUBCOMMANDS_SEE, "look", "", "looks", do_nothing },
	{ SUBCOMMANDS_RUN, "start", "", "starts", do_nothing },
	{ SUBCOMMANDS_SEE, "look again", "", "looks once more", do_nothing },
	{ .name = NULL },
};
static const struct subcommand of_another[] = {
	{ SUBCOMMANDS_MEND, "repair", "", "repairs", do_nothing },
	{ SUBCOMMANDS_RUN, "begin", "", "begins", do_nothing },
	{ .name = NULL },
};
static const struct subcommand of_none[] = { { .name = NULL } };

static void rows_are_ordered_by_group_and_then_as_they_are_registered(void **state)
{
	static const struct subcommand *const tables[] = { of_one, of_none, of_another, NULL };
	static const char *const names[] = { "start", "begin", "look", "look again", "repair" };
	struct subcommands all = subcommands_gather(tables);

	(void)state;
	assert_int_equal(all.count, 5);
	for (size_t i = 0; i < all.count; i++)
		assert_string_equal(all.all[i]->name, names[i]);
	subcommands_free(&all);
	assert_null(all.all);
	assert_int_equal(all.count, 0);
}

static void no_table_is_no_row(void **state)
{
	static const struct subcommand *const tables[] = { NULL };
	struct subcommands all = subcommands_gather(tables);

	(void)state;
	assert_int_equal(all.count, 0);
	subcommands_free(&all);
}

static int gather_twice_the_same(const void *context)
{
	static const struct subcommand *const tables[] = { of_one, of_another, of_one, NULL };
	struct subcommands all = subcommands_gather(tables);

	(void)context;
	subcommands_free(&all);
	return EXIT_FINE;
}

static void two_rows_of_one_name_are_refused(void **state)
{
	struct buffer said = { 0 };

	(void)state;
	assert_int_not_equal(output_of(gather_twice_the_same, NULL, &said), 0);
	assert_non_null(strstr(buffer_text(&said), "two subcommands are registered as \"start\": rename one of them"));
	buffer_free(&said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_ordered_by_group_and_then_as_they_are_registered),
		cmocka_unit_test(no_table_is_no_row),
		cmocka_unit_test(two_rows_of_one_name_are_refused),
	};

	return cmocka_run_group_tests_name("cartbus.subcommand", tests, NULL, NULL);
}
