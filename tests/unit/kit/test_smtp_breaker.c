/* test_smtp_breaker.c: no connection: one probe at growing intervals */
#include "services/kit/transport_smtp_breaker.h"
#include "tests/unit/cmocka_all.h"

static void the_pauses_double_up_to_a_minute_and_end_with_a_connection(void **state)
{
	static const int seconds[] = { 1, 2, 4, 8, 16, 32, 60, 60, 60 };
	struct smtp_breaker breaker = { 0 };
	int64_t now_us = 5 * US_PER_HOUR;

	(void)state;
	for (int again = 0; again < 2; again++) {
		assert_true(smtp_breaker_lets(&breaker, 7, now_us));
		for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
			smtp_breaker_failed(&breaker, now_us);
			assert_false(smtp_breaker_lets(&breaker, 0, now_us + seconds[i] * US_PER_S - 1));
			now_us += seconds[i] * US_PER_S;
			assert_true(smtp_breaker_lets(&breaker, 0, now_us));
			assert_false(smtp_breaker_lets(&breaker, 1, now_us));
		}
		smtp_breaker_worked(&breaker);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pauses_double_up_to_a_minute_and_end_with_a_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
