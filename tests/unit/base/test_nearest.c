#include "bus/base/text.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static const char *meant(const char *typed)
{
	static const char *const names[] = { "carts", "cart override", "status", "timers", "trace", "tap", "top" };
	struct nearest nearest = nearest_begin(typed);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		nearest_try(&nearest, names[i]);
	return nearest.name;
}

static void a_slip_leads_to_the_name_that_was_meant(void **state)
{
	(void)state;
	assert_string_equal(meant("catrs"), "carts");
	assert_string_equal(meant("cart"), "carts");
	assert_string_equal(meant("statuss"), "status");
	assert_string_equal(meant("sttatus"), "status");
	assert_string_equal(meant("cart overide"), "cart override");
	assert_string_equal(meant("timer"), "timers");
}

static void what_is_far_from_all_is_none_of_them(void **state)
{
	char endless[200];

	(void)state;
	assert_null(meant("nonsense"));
	assert_null(meant(""));
	assert_null(meant("x"));
	memset(endless, 's', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	assert_null(meant(endless));
}

static void a_short_name_bears_one_slip_and_of_two_the_first_is_meant(void **state)
{
	(void)state;
	assert_string_equal(meant("ta"), "tap");
	assert_string_equal(meant("tp"), "tap");
	assert_string_equal(meant("atp"), "tap"); /* neighbours that are swapped are one slip */
	assert_string_equal(meant("tpo"), "top");
	assert_null(meant("tzz"));
	assert_null(meant("zap e"));
}

/* The longest that are compared have 60 letters, and three of them may be wrong. */
static void a_long_name_bears_three_slips(void **state)
{
	char typed[62], name[62];
	struct nearest nearest;

	(void)state;
	for (int slips = 3; slips <= 4; slips++) {
		memset(typed, 's', sizeof(typed));
		memset(name, 's', sizeof(name));
		memset(typed + 60 - slips, 'x', (size_t)slips);
		typed[60] = name[60] = '\0';
		nearest = nearest_begin(typed);
		nearest_try(&nearest, name);
		assert_int_equal(nearest.name != NULL, slips == 3);
	}
	memset(typed, 's', 61);
	typed[61] = '\0';
	nearest = nearest_begin(typed);
	nearest_try(&nearest, name);
	assert_null(nearest.name);
	nearest = nearest_begin(name);
	nearest_try(&nearest, typed);
	assert_null(nearest.name);
	nearest_try(&nearest, name);
	assert_ptr_equal(nearest.name, name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slip_leads_to_the_name_that_was_meant),
		cmocka_unit_test(a_short_name_bears_one_slip_and_of_two_the_first_is_meant),
		cmocka_unit_test(a_long_name_bears_three_slips),
		cmocka_unit_test(what_is_far_from_all_is_none_of_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
