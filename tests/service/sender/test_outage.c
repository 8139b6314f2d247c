/* test_outage.c: until when mails wait after a gateway was away */
#include "bus/base/text.h"
#include "services/carts/sender/outage.h"
#include "tests/service/sender/given.h"

static void given_away(struct harness *h, const char *gateway, int64_t back_us, int64_t hold_until_us)
{
	GatewayAway away = { .from_us = 1, .back_us = back_us, .hold_until_us = hold_until_us };

	TEXT_COPY(away.gateway, gateway);
	GIVEN(h, gateway_away, &away, .shop = SHOP_OF_ALL, .key = gateway);
}

static int64_t until_us(const struct harness *h)
{
	return downtime_holds_until_us(harness_state(h));
}

/* Of each gateway its last absence counts, whatever the order in which they are told; of all gateways the one that holds longest. */
static void mails_wait_for_the_gateway_that_needs_longest(void **state)
{
	struct harness *h = given_shop();

	(void)state;
	assert_int_equal(until_us(h), 0);
	given_away(h, "a", 100, 500);
	assert_int_equal(until_us(h), 500);
	given_away(h, "a", 90, 900); /* an older one, told late */
	assert_int_equal(until_us(h), 500);
	given_away(h, "b", 50, 400);
	assert_int_equal(until_us(h), 500);
	given_away(h, "b", 60, 700);
	assert_int_equal(until_us(h), 700);
	given_away(h, "b", 60, 650); /* the same absence, told again */
	assert_int_equal(until_us(h), 650);
	given_away(h, "b", 61, 0);
	assert_int_equal(until_us(h), 500);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mails_wait_for_the_gateway_that_needs_longest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
