/* test_sends.c: what was mailed, claimed, released: as any service folds it */
#include "bus/actor/sim/harness.h"
#include "services/carts/policy/sends.h"
#include "tests/unit/cmocka_all.h"

static const struct service remembers_sends = { .name = "remembers-sends", .remembers = REMEMBERING(SENDS_REMEMBERED) };
static const CartState cart = { .ids = { .cart_id = "c1" } };

static struct harness *fresh(void)
{
	return harness_new(&remembers_sends, 1000);
}

static void claim(struct harness *h, const char *shop, uint32_t step, uint32_t attempt, int64_t at_us)
{
	SendClaim claim = {
		.cart_id = "c1", .step = step, .attempt = attempt, .address_hash = "h", .claimed_us = at_us
	};

	GIVEN(h, send_claim, &claim, .shop = shop, .key = "c1");
}

#define OUTCOME(h, topic, given_shop, given_step, given_attempt, us)                                                   \
	GIVEN((h), topic,                                                                                              \
		&((ReminderOutcome){ .cart_id = "c1",                                                                  \
			.step = (given_step),                                                                          \
			.attempt = (given_attempt),                                                                    \
			.address_hash = "h",                                                                           \
			.at_us = (us) }),                                                                              \
		.shop = (given_shop), .key = "c1")

static struct send of(const struct harness *h, int step)
{
	return sends_of(harness_state(h), "demo", &cart, step);
}

static void a_step_that_was_never_tried_is_not_spent(void **state)
{
	struct harness *h = fresh();

	(void)state;
	assert_int_equal(of(h, 1).phase, SEND_NONE);
	assert_int_equal(of(h, 1).attempt, 0);
	assert_int_equal(sends_last_to(harness_state(h), "demo", "h"), 0);
	assert_int_equal(sends_last_to(harness_state(h), "demo", ""), 0);
	harness_free(h);
}

static void a_claim_spends_its_step_until_it_is_released(void **state)
{
	struct harness *h = fresh();

	(void)state;
	claim(h, "demo", 1, 1, 50);
	assert_int_equal(of(h, 1).phase, SEND_CLAIMED);
	assert_true(send_is_spent(of(h, 1).phase));
	assert_int_equal(sends_last_to(harness_state(h), "demo", "h"), 50);
	OUTCOME(h, reminder_released, "demo", 1, 1, 60);
	assert_int_equal(of(h, 1).phase, SEND_RELEASED);
	assert_false(send_is_spent(of(h, 1).phase));
	assert_int_equal(of(h, 1).attempt, 1);
	assert_int_equal(sends_last_to(harness_state(h), "demo", "h"), 0);
	assert_int_equal(of(h, 2).phase, SEND_NONE);
	harness_free(h);
}

static void the_outcome_of_an_older_attempt_never_hides_a_newer_one(void **state)
{
	struct harness *h = fresh();

	(void)state;
	claim(h, "demo", 1, 1, 50);
	claim(h, "demo", 1, 2, 70);
	OUTCOME(h, reminder_released, "demo", 1, 1, 80);
	assert_int_equal(of(h, 1).phase, SEND_CLAIMED);
	assert_int_equal(of(h, 1).attempt, 2);
	claim(h, "demo", 1, 1, 90);
	assert_int_equal(of(h, 1).at_us, 70);
	harness_free(h);
}

static void sent_is_final_and_corrects_ambiguous(void **state)
{
	struct harness *h = fresh();

	(void)state;
	claim(h, "demo", 1, 1, 50);
	OUTCOME(h, reminder_ambiguous, "demo", 1, 1, 60);
	assert_int_equal(of(h, 1).phase, SEND_AMBIGUOUS);
	OUTCOME(h, reminder_released, "demo", 1, 1, 61);
	assert_int_equal(of(h, 1).phase, SEND_AMBIGUOUS);
	OUTCOME(h, reminder_sent, "demo", 1, 1, 55);
	assert_int_equal(of(h, 1).phase, SEND_SENT);
	assert_int_equal(of(h, 1).at_us, 60); /* as late as it was when nobody knew: the next mail keeps its distance */
	OUTCOME(h, reminder_skipped, "demo", 1, 2, 70);
	OUTCOME(h, reminder_ambiguous, "demo", 1, 1, 71);
	assert_int_equal(of(h, 1).phase, SEND_SENT);
	harness_free(h);
}

static void skipping_spends_a_step_but_not_one_that_is_under_way(void **state)
{
	struct harness *h = fresh();

	(void)state;
	OUTCOME(h, reminder_skipped, "demo", 2, 0, 70);
	assert_int_equal(of(h, 2).phase, SEND_SKIPPED);
	claim(h, "demo", 1, 1, 50);
	OUTCOME(h, reminder_skipped, "demo", 1, 0, 70);
	assert_int_equal(of(h, 1).phase, SEND_CLAIMED);
	OUTCOME(h, reminder_released, "demo", 1, 1, 80);
	OUTCOME(h, reminder_skipped, "demo", 1, 0, 90);
	assert_int_equal(of(h, 1).phase, SEND_SKIPPED);
	harness_free(h);
}

static void a_merged_cart_spends_the_steps_of_the_one_it_went_into(void **state)
{
	struct harness *h = fresh();
	CartState winner = { .ids = { .cart_id = "older" }, .merged_from_count = 1, .merged_from = { "c1" } };

	(void)state;
	claim(h, "demo", 1, 3, 50);
	OUTCOME(h, reminder_sent, "demo", 1, 3, 60);
	assert_int_equal(sends_of(harness_state(h), "demo", &winner, 1).phase, SEND_SENT);
	assert_int_equal(sends_of(harness_state(h), "demo", &winner, 1).attempt, 3);
	assert_int_equal(sends_of(harness_state(h), "demo", &winner, 2).phase, SEND_NONE);
	harness_free(h);
}

static void the_window_counts_every_mail_that_went_or_may_have_gone(void **state)
{
	struct harness *h = fresh();

	(void)state;
	claim(h, "demo", 1, 1, 50);
	OUTCOME(h, reminder_sent, "demo", 1, 1, 60);
	assert_int_equal(sends_last_to(harness_state(h), "demo", "h"), 60);
	claim(h, "demo", 2, 1, 100);
	OUTCOME(h, reminder_released, "demo", 2, 1, 101);
	assert_int_equal(sends_last_to(harness_state(h), "demo", "h"), 60);
	claim(h, "demo", 2, 2, 110);
	OUTCOME(h, reminder_ambiguous, "demo", 2, 2, 120);
	assert_int_equal(sends_last_to(harness_state(h), "demo", "h"), 120);
	harness_free(h);
}

static void a_mail_to_the_owner_is_none_to_the_shopper(void **state)
{
	struct harness *h = fresh();
	ReminderOutcome sent = {
		.cart_id = "c1", .step = 1, .attempt = 1, .address_hash = "h", .at_us = 60, .to_owner = true
	};

	(void)state;
	claim(h, "demo", 1, 1, 50);
	GIVEN(h, reminder_sent, &sent, .shop = "demo", .key = "c1");
	assert_int_equal(of(h, 1).phase, SEND_SENT);
	assert_int_equal(sends_last_to(harness_state(h), "demo", "h"), 0);
	harness_free(h);
}

static void another_shop_with_the_same_ids_is_another_world(void **state)
{
	struct harness *h = fresh();

	(void)state;
	claim(h, "other", 1, 1, 50);
	OUTCOME(h, reminder_sent, "other", 1, 1, 60);
	assert_int_equal(of(h, 1).phase, SEND_NONE);
	assert_int_equal(sends_last_to(harness_state(h), "demo", "h"), 0);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_that_was_never_tried_is_not_spent),
		cmocka_unit_test(a_claim_spends_its_step_until_it_is_released),
		cmocka_unit_test(the_outcome_of_an_older_attempt_never_hides_a_newer_one),
		cmocka_unit_test(sent_is_final_and_corrects_ambiguous),
		cmocka_unit_test(skipping_spends_a_step_but_not_one_that_is_under_way),
		cmocka_unit_test(a_merged_cart_spends_the_steps_of_the_one_it_went_into),
		cmocka_unit_test(the_window_counts_every_mail_that_went_or_may_have_gone),
		cmocka_unit_test(a_mail_to_the_owner_is_none_to_the_shopper),
		cmocka_unit_test(another_shop_with_the_same_ids_is_another_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
