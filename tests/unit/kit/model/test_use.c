/* test_use.c: when a model may be asked, and what is told of it */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/config.h"
#include "services/kit/model/use.h"
#include "tests/unit/cmocka_all.h"

#define NOW_US (INT64_C(1795176000) * US_PER_S)

static const struct service counts = { .name = "counts",
	.remembers = REMEMBERING(REMEMBERS(model_used, spend_remember_model)) };

static void a_model_is_asked_while_the_months_budget_lasts(void **state)
{
	struct model_use use = { .is_on = true, .budget = { .nano_usd = 1000, .tokens = 100 } };
	struct harness *h = harness_new(&counts, NOW_US);
	ModelUsed used = { .tokens_in = 40, .tokens_out = 59, .cost_nano_usd = 10, .at_us = NOW_US };

	(void)state;
	assert_true(model_use_allows(&use, harness_state(h), NOW_US));
	GIVEN(h, model_used, &used, .shop = "demo", .key = "k");
	assert_true(model_use_allows(&use, harness_state(h), NOW_US));
	used = (ModelUsed){ .tokens_out = 1, .at_us = NOW_US };
	GIVEN(h, model_used, &used, .shop = "other", .key = "k");
	assert_false(model_use_allows(&use, harness_state(h), NOW_US)); /* of all shops together */
	assert_true(model_use_allows(&use, harness_state(h), NOW_US + 31 * US_PER_DAY));
	use.is_on = false;
	assert_false(model_use_allows(&use, harness_state(h), NOW_US + 31 * US_PER_DAY));
	harness_free(h);
}

static void what_was_asked_costs_whether_or_not_it_was_of_use(void **state)
{
	const struct model_use use = { .nano_usd_per_token_in = 3, .nano_usd_per_token_out = 50 };
	static const struct model_answer answer = { .tokens_in = 1000000000, .tokens_out = 4000000000 };
	ModelUsed used;

	(void)state;
	used = model_use_told(&use, &answer, "opening", NULL);
	assert_string_equal(used.purpose, "opening");
	assert_string_equal(used.outcome, "used");
	assert_int_equal(used.tokens_in, 1000000000);
	assert_int_equal(used.tokens_out, 4000000000);
	assert_int_equal(used.cost_nano_usd, INT64_C(203000000000));
	used = model_use_told(&use, &answer, "paragraph", "it has a number of its own");
	assert_string_equal(used.purpose, "paragraph");
	assert_string_equal(used.outcome, "it has a number of its own");
	assert_int_equal(used.cost_nano_usd, INT64_C(203000000000));
	used = model_use_told(&use, NULL, "opening", "no answer in time");
	assert_string_equal(used.outcome, "no answer in time");
	assert_int_equal(used.tokens_in + used.tokens_out, 0);
	assert_int_equal(used.cost_nano_usd, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_is_asked_while_the_months_budget_lasts),
		cmocka_unit_test(what_was_asked_costs_whether_or_not_it_was_of_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
