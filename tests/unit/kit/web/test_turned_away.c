/* test_turned_away.c: what a process tells of the strangers that it turned away */
#include "services/kit/web/turned_away.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

/* What bus/actor/runtime/counts.c does, for who tells. */
struct counts_told {
	uint64_t count, last_us;
};

void counts_tell(struct counts_told *told, const char *name, uint64_t value)
{
	if (strcmp(name, "turned_away") == 0)
		told->count = value;
	else if (strcmp(name, "turned_away_us") == 0)
		told->last_us = value;
	else
		fail_msg("%s", name);
}

static void the_time_is_that_of_the_last_that_came(void **state)
{
	static const struct {
		int64_t at_us;
		uint64_t count, last_us;
	} course[] = { { 100, 0, 0 }, { 200, 3, 200 }, { 300, 3, 200 }, { 400, 4, 400 }, { 500, 4, 400 } };
	struct clock clock = clock_virtual(0);
	struct turned_away noted = { .clock = &clock };

	(void)state;
	for (size_t i = 0; i < sizeof(course) / sizeof(course[0]); i++) {
		struct counts_told told = { 99, 99 };
		clock.virtual_us = course[i].at_us;
		turned_away_tell(&noted, course[i].count, &told);
		assert_int_equal(told.count, course[i].count);
		assert_int_equal(told.last_us, course[i].last_us);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_is_that_of_the_last_that_came),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
