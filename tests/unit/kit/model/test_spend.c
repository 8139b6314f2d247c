/* test_spend.c: what models and mails cost this month, as any service folds it */
#include "bus/actor/sim/harness.h"
#include "bus/base/clock.h"
#include "bus/base/config.h"
#include "services/kit/model/spend.h"
#include "tests/unit/cmocka_all.h"

#define NOVEMBER_30 INT64_C(1764547199000000) /* 2025-11-30T23:59:59Z */
#define DECEMBER_1 (NOVEMBER_30 + US_PER_S)
#define NANO INT64_C(1000000000)

static const struct service counts = { .name = "counts",
	.remembers = REMEMBERING(REMEMBERS(model_used, spend_remember_model),
		REMEMBERS(send_claim, spend_remember_claim), REMEMBERS(reminder_released, spend_remember_released)) };
static const struct budget budget = { .nano_usd = 15 * NANO, .nano_usd_per_mail = 100000, .tokens = 2000 };

static void asked(struct harness *h, const char *shop, uint32_t in, uint32_t out, int64_t nano_usd, int64_t at_us)
{
	ModelUsed used = {
		.purpose = "opening", .tokens_in = in, .tokens_out = out, .cost_nano_usd = nano_usd, .at_us = at_us
	};

	GIVEN(h, model_used, &used, .shop = shop, .key = "opening");
}

static void claimed(struct harness *h, const char *shop, int64_t at_us)
{
	SendClaim claim = { .cart_id = "c1", .step = 1, .attempt = 1, .claimed_us = at_us };

	GIVEN(h, send_claim, &claim, .shop = shop, .key = "c1/1");
}

static void released(struct harness *h, const char *shop, int64_t at_us)
{
	ReminderOutcome outcome = { .cart_id = "c1", .step = 1, .attempt = 1, .at_us = at_us };

	GIVEN(h, reminder_released, &outcome, .shop = shop, .key = "c1/1");
}

static struct spend of(const struct harness *h, int64_t now_us)
{
	return spend_of_month(harness_state(h), now_us);
}

static void all_shops_are_counted_together_and_each_month_by_itself(void **state)
{
	struct harness *h = harness_new(&counts, 1000);

	(void)state;
	assert_int_equal(of(h, NOVEMBER_30).tokens, 0);
	asked(h, "one", 100, 20, 200, NOVEMBER_30);
	asked(h, "two", 10, 2, 20, NOVEMBER_30 - US_PER_DAY);
	asked(h, "one", 1, 1, 6, DECEMBER_1);
	claimed(h, "one", NOVEMBER_30);
	claimed(h, "two", DECEMBER_1);
	assert_int_equal(of(h, NOVEMBER_30).tokens, 132);
	assert_int_equal(of(h, NOVEMBER_30).models_nano_usd, 220);
	assert_int_equal(of(h, NOVEMBER_30).mails, 1);
	assert_int_equal(of(h, DECEMBER_1 + US_PER_DAY).tokens, 2);
	assert_int_equal(of(h, DECEMBER_1).mails, 1);
	harness_free(h);
}

static void a_mail_that_was_not_delivered_costs_nothing(void **state)
{
	struct harness *h = harness_new(&counts, 1000);

	(void)state;
	claimed(h, "one", NOVEMBER_30);
	claimed(h, "one", NOVEMBER_30);
	released(h, "one", NOVEMBER_30);
	assert_int_equal(of(h, NOVEMBER_30).mails, 1);
	released(h, "one", DECEMBER_1); /* of a claim of last month */
	assert_int_equal(of(h, DECEMBER_1).mails, 0);
	harness_free(h);
}

/* The two months together are right. */
static void a_release_is_taken_off_its_own_month(void **state)
{
	struct harness *h = harness_new(&counts, 1000);

	(void)state;
	claimed(h, "one", NOVEMBER_30);
	claimed(h, "one", DECEMBER_1);
	claimed(h, "one", DECEMBER_1);
	released(h, "one", DECEMBER_1);
	assert_int_equal(of(h, NOVEMBER_30).mails, 1);
	assert_int_equal(of(h, DECEMBER_1).mails, 1);
	harness_free(h);
}

static void the_fuller_budget_counts(void **state)
{
	struct spend spend = { .tokens = 1600, .mails = 30000, .models_nano_usd = 9 * NANO };

	(void)state;
	assert_int_equal(spend_nano_usd(&budget, &spend), 12 * NANO);
	assert_int_equal(budget_used_percent(&budget, &spend), 80);
	spend.tokens = 100;
	assert_int_equal(budget_used_percent(&budget, &spend), 80);
	spend.models_nano_usd = 12 * NANO;
	assert_int_equal(budget_used_percent(&budget, &spend), 100);
	assert_int_equal(budget_used_percent(&(struct budget){ .tokens = 1 }, &(struct spend){ 0 }), 100);
}

/* --- when a model may be asked, and what is told of it --- */

#define NOW_US (INT64_C(1795176000) * US_PER_S)

static const struct service asks = { .name = "counts",
	.remembers = REMEMBERING(REMEMBERS(model_used, spend_remember_model)) };

static void a_model_is_asked_while_the_months_budget_lasts(void **state)
{
	struct model_use use = { .is_on = true, .budget = { .nano_usd = 1000, .tokens = 100 } };
	struct harness *h = harness_new(&asks, NOW_US);
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
		cmocka_unit_test(all_shops_are_counted_together_and_each_month_by_itself),
		cmocka_unit_test(a_mail_that_was_not_delivered_costs_nothing),
		cmocka_unit_test(a_release_is_taken_off_its_own_month),
		cmocka_unit_test(the_fuller_budget_counts),
		cmocka_unit_test(a_model_is_asked_while_the_months_budget_lasts),
		cmocka_unit_test(what_was_asked_costs_whether_or_not_it_was_of_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
