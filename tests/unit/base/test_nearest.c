#include "bus/base/nearest.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slip_leads_to_the_name_that_was_meant),
		cmocka_unit_test(what_is_far_from_all_is_none_of_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
