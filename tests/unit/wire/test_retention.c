/* the section [retention]: what cannot work is refused, with the key and what was expected */
#include "bus/base/retention.h"
#include "bus/wire/bus_keys.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int read_text(const char *text, struct retention_limits *ret, struct config_error *ret_error)
{
	struct config *config = NULL;
	int r = config_parse(text, "cartbus.conf", bus_keys, &config, ret_error);

	if (r < 0)
		return r;
	*ret = retention_read(config);
	config_free(config);
	return 0;
}

static void ages_and_sizes_are_read(void **state)
{
	struct retention_limits limits = { 0 };
	struct config_error error;

	(void)state;
	assert_int_equal(read_text("", &limits, &error), 0);
	assert_true(limits.raw_us == 30 * US_PER_DAY && limits.facts_us == 400 * US_PER_DAY);
	assert_true(limits.raw_bytes == 0 && limits.facts_bytes == 0);
	assert_int_equal(read_text("[retention]\nraw = 21d\nfacts = 1000d\nraw-mib = 3\n", &limits, &error), 0);
	assert_true(limits.raw_us == 21 * US_PER_DAY && limits.facts_us == 1000 * US_PER_DAY);
	assert_true(limits.raw_bytes == 3 << 20);
}

static void what_would_take_away_what_is_needed_is_refused(void **state)
{
	static const char *const wrong[] = { "raw = 20d", "raw = 31d", "facts = 119d", "raw-mib = -1", "facts = soon" };
	struct retention_limits limits;
	struct config_error error;
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "[retention]\n%s\n", wrong[i]);
		assert_int_equal(read_text(text, &limits, &error), -EINVAL);
		assert_non_null(strstr(error.text, wrong[i][0] == 'r' ? "raw" : "facts"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ages_and_sizes_are_read),
		cmocka_unit_test(what_would_take_away_what_is_needed_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
