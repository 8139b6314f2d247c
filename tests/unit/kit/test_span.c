/* test_span.c: spans are read as they are written */
#include "bus/base/clock.h"
#include "services/kit/span.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_are_read_with_their_unit_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
