/* test_limits.c: given the shop's policy and its limits, when a reminder is due: is it mailed, does it wait, is it skipped? */
#include "bus/base/text.h"
#include "services/carts/sender/reminder_mail.h"
#include "tests/service/sender/given.h"
#include "tests/unit/document.h"
#include <stdio.h>

static ReminderDue due_to(const char *cart_id)
{
	ReminderDue due = due_reminder(1);
	TEXT_COPY(due.cart.ids.cart_id, cart_id);
	TEXT_COPY(due.cart.ids.cart_token, cart_id);
	snprintf(due.cart.ids.email_hash, sizeof(due.cart.ids.email_hash), "hash-%s", cart_id);
	return due;
}

static void given_claims(struct harness *h, int from, int count)
{
	char cart_id[20];
	for (int i = 0; i < count; i++) {
		snprintf(cart_id, sizeof(cart_id), "other-%d", from + i);
		given_claim(h, 1000 + (uint64_t)i, cart_id, 1, "somebody");
	}
}

static void over_the_rate_a_mail_waits_in_its_queue_and_is_not_skipped(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_to("c1");
	(void)state;
	given_policy(h, "[send]\nper-minute = 3\n");
	given_claims(h, 0, 2);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	harness_free(h);
	h = given_shop();
	given_policy(h, "[send]\nper-minute = 3\n");
	given_claims(h, 0, 3);
	assert_int_equal(when_due(h, &due), TURN_RETRY);
	assert_int_equal(harness_delay_us(h), US_PER_MINUTE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_now(h, NOON_US + US_PER_MINUTE);
	assert_int_equal(harness_again(h), TURN_PENDING);
	harness_free(h);
}

static void over_the_days_number_it_is_decided_anew_on_the_shops_next_day(void **state)
{
	const struct {
		const char *rules;
		int64_t until_us;
	} table[] = { { "", NOON_US + 11 * US_PER_HOUR }, { GIVEN_QUIET, NOON_US + 19 * US_PER_HOUR } };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct harness *h = given_shop();
		ReminderDue due = due_to("c1");
		TimerSet set;
		given_rules(h, table[i].rules);
		given_policy(h, "[send]\nper-day = 3\n");
		given_claims(h, 0, 3);
		assert_int_equal(when_due(h, &due), TURN_DONE);
		assert_true(harness_said(h, &topic_timer_set, 0, &set, NULL));
		assert_int_equal(set.due_us, table[i].until_us);
		said_audit(h, "deferred");
		assert_int_equal(harness_count(h, &topic_reminder_skipped), 0);
		harness_free(h);
	}
}

static void the_installations_limits_count_every_shop(void **state)
{
	static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct sender_setup setup = {
		.public_url = "https://bus.example/", .link_key = bytes_of(key), .clock_rate = 1, .most_a_day = 2
	};
	struct harness *h = given_shop();
	ReminderDue due = due_to("c1");
	SendClaim claim = { .cart_id = "x", .step = 1, .attempt = 1, .claimed_us = NOON_US };
	(void)state;
	sender_set_up(&sender_here, &setup);
	given_claims(h, 0, 1);
	GIVEN(h, send_claim, &claim, .shop = "other", .key = "x/1", .version = 1);
	assert_int_equal(when_due(h, &due), TURN_DONE);
	said_audit(h, "deferred");
	harness_free(h);
}

/* Two senders have begun the day's last mail at once. */
static void a_claim_that_comes_too_late_for_the_limit_goes_no_further(void **state)
{
	(void)state;
	for (int others = 1; others <= 3; others++) {
		struct harness *h = given_shop();
		ReminderDue due = due_to("c1");
		given_policy(h, "[send]\nper-day = 2\n");
		assert_int_equal(when_due(h, &due), TURN_PENDING);
		given_claims(h, 0, others);
		SendClaim own = { .cart_id = "c1", .step = 1, .attempt = 1, .claimed_us = NOON_US };
		GIVEN(h, send_claim, &own, .shop = "demo", .key = "c1/1", .version = 1);
		given_claims(h, 10, 2); /* and these came later still */
		assert_int_equal(harness_may_proceed(h), others < 2);
		assert_int_equal(harness_result(h, NULL, CLAIM_UNUSED), TURN_DONE);
		said_outcome(h, &topic_reminder_released);
		said_audit(h, "deferred");
		harness_free(h);
	}
}

/* And of the installation's, among all shops. */
static void so_does_one_that_comes_too_late_for_the_limit_of_all_shops(void **state)
{
	static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct sender_setup setup = {
		.public_url = "https://bus.example/", .link_key = bytes_of(key), .clock_rate = 1, .most_a_day = 2
	};
	(void)state;
	for (int others = 1; others <= 2; others++) {
		struct harness *h = given_shop();
		ReminderDue due = due_to("c1");
		sender_set_up(&sender_here, &setup);
		assert_int_equal(when_due(h, &due), TURN_PENDING);
		for (int i = 0; i < others; i++) {
			SendClaim other = { .step = 1, .attempt = 1, .claimed_us = NOON_US };
			snprintf(other.cart_id, sizeof(other.cart_id), "x%d", i);
			GIVEN(h, send_claim, &other, .shop = "other", .key = other.cart_id, .version = 1);
		}
		SendClaim own = { .cart_id = "c1", .step = 1, .attempt = 1, .claimed_us = NOON_US };
		GIVEN(h, send_claim, &own, .shop = "demo", .key = "c1/1", .version = 1);
		assert_int_equal(harness_may_proceed(h), others < 2);
		harness_free(h);
	}
}

/* What a process has begun is not counted in the log yet: without it, the next ones would all begin as well. */
static void mails_under_way_count_until_their_claims_do(void **state)
{
	static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct sender_setup of_all = {
		.public_url = "https://bus.example/", .link_key = bytes_of(key), .clock_rate = 1, .most_a_minute = 2
	};
	struct harness *one = given_shop(), *other = given_shop();
	ReminderDue due = due_to("c1"), next = due_to("c2");
	(void)state;
	given_claims(other, 0, 1);
	given_policy(other, "[send]\nper-minute = 2\n");
	assert_int_equal(when_due(one, &due), TURN_PENDING);
	assert_int_equal(when_due(other, &next), TURN_RETRY);
	assert_int_equal(harness_delay_us(other), US_PER_S);
	given_policy(other, "[send]\nper-day = 2\n");
	assert_int_equal(harness_again(other), TURN_RETRY);
	given_policy(other, "");
	assert_int_equal(harness_again(other), TURN_PENDING);
	harness_free(other);
	other = given_shop();
	sender_set_up(&sender_here, &of_all);
	given_claims(other, 0, 1);
	assert_int_equal(when_due(other, &next), TURN_RETRY);
	assert_true(harness_may_proceed(one)); /* it is claimed: from here on its claim counts, where it is known */
	assert_int_equal(harness_again(other), TURN_PENDING);
	harness_free(one);
	harness_free(other);
}

/* Two instances in one process: neither decides by the other's limits, keys or mails under way. */
static void another_senders_limits_and_mails_do_not_count(void **state)
{
	static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct sender_setup strict = {
		.public_url = "https://strict.example", .link_key = bytes_of(key), .clock_rate = 1, .most_a_minute = 1
	};
	struct sender_setup open = { .public_url = "https://open.example", .link_key = bytes_of(key), .clock_rate = 2 };
	struct sender here = { 0 }, there = { 0 };
	struct harness *one = harness_new_in(sender_in(&here), NOON_US);
	struct harness *other = harness_new_in(sender_in(&there), NOON_US);
	ReminderDue due = due_to("c1"), next = due_to("c2");
	(void)state;
	sender_set_up(&here, &strict);
	sender_set_up(&there, &open);
	given_live_shop(one);
	given_live_shop(other);
	assert_int_equal(when_due(other, &due), TURN_PENDING);
	assert_int_equal(reminder_mails_under_way(&there, NULL), 1);
	assert_int_equal(reminder_mails_under_way(&here, NULL), 0);
	assert_int_equal(when_due(one, &due), TURN_PENDING); /* the other's mail under way is not among its minute's */
	const struct mail *mails[] = { harness_effect_request(one), harness_effect_request(other) };
	assert_non_null(memmem(mails[0]->mime.data, mails[0]->mime.len, "https://strict.example/u/", 25));
	assert_non_null(memmem(mails[1]->mime.data, mails[1]->mime.len, "https://open.example/u/", 23));
	given_claims(one, 0, 1);
	given_claims(other, 0, 1);
	assert_int_equal(when_due(one, &next), TURN_RETRY);
	assert_int_equal(when_due(other, &next), TURN_PENDING);
	harness_free(one);
	harness_free(other);
}

static void of_one_shop_no_others_mails_under_way_count(void **state)
{
	struct harness *one = given_shop(), *other = given_shop();
	ReminderDue due = due_to("c1"), next = due_to("c2");
	ShopStatus live = { .mode = MODE_LIVE, .version = 1 };
	(void)state;
	given_document(one, "other", "shop", DEMO_SHOP "postal-address = 1 Main Street\n");
	given_document(one, "other", "rules", "All carts: 4 hours, then 24.\n");
	GIVEN(one, shop_status, &live, .shop = "other", .key = "other", .version = 1);
	assert_int_equal(WHEN(one, reminder_due, &due, .shop = "other", .key = due.cart.ids.email_hash), TURN_PENDING);
	given_policy(other, "[send]\nper-minute = 1\n");
	assert_int_equal(when_due(other, &next), TURN_PENDING);
	harness_free(one);
	harness_free(other);
}

static void a_policy_that_changed_since_the_decision_holds(void **state)
{
	static const struct {
		const char *more, *word;
	} table[] = { { "consent = marketing\n", "no_consent" }, { "consent = customers\n", "no_customer" },
		{ "[exclude]\nproduct = title:m*\n", "product" }, { "[exclude]\nstaff = @buyer.example\n", "staff" } };
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = given_shop();
		ReminderDue due = due_reminder(1);
		given_policy(h, table[i].more);
		assert_int_equal(when_due(h, &due), TURN_DONE);
		ReminderOutcome skipped = said_outcome(h, &topic_reminder_skipped);
		if (strncmp(skipped.reason, table[i].word, strlen(table[i].word)) != 0)
			fail_msg("%s: %s", table[i].word, skipped.reason);
		harness_free(h);
	}
}

static void given_order(struct harness *h, const char *status)
{
	CartCheckout order = { .has_ids = true,
		.ids = { .cart_token = "c1", .order_id = "o1" },
		.platform = PLATFORM_WOOCOMMERCE,
		.bought_us = NOON_US,
		.heard_us = NOON_US };
	TEXT_COPY(order.payment_status, status);
	GIVEN(h, cart_checkout, &order, .shop = "demo", .key = "c1");
}

static void an_unpaid_order_after_the_decision_has_it_decided_anew(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	given_order(h, "pending");
	assert_false(harness_may_proceed(h));
	assert_int_equal(harness_result(h, NULL, CLAIM_UNUSED), TURN_DONE);
	said_outcome(h, &topic_reminder_released);
	said_audit(h, "deferred");
	due.decided_on = harness_message_seq(h) + 10; /* decided with it */
	due.step = 2;
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	harness_free(h);
}

static void an_order_that_means_nothing_holds_nothing_back(void **state)
{
	struct harness *h = given_shop();
	ReminderDue due = due_reminder(1);
	(void)state;
	given_order(h, "checkout-draft");
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(over_the_rate_a_mail_waits_in_its_queue_and_is_not_skipped),
		cmocka_unit_test(over_the_days_number_it_is_decided_anew_on_the_shops_next_day),
		cmocka_unit_test(the_installations_limits_count_every_shop),
		cmocka_unit_test(a_claim_that_comes_too_late_for_the_limit_goes_no_further),
		cmocka_unit_test(so_does_one_that_comes_too_late_for_the_limit_of_all_shops),
		cmocka_unit_test(mails_under_way_count_until_their_claims_do),
		cmocka_unit_test(another_senders_limits_and_mails_do_not_count),
		cmocka_unit_test(of_one_shop_no_others_mails_under_way_count),
		cmocka_unit_test(a_policy_that_changed_since_the_decision_holds),
		cmocka_unit_test(an_unpaid_order_after_the_decision_has_it_decided_anew),
		cmocka_unit_test(an_order_that_means_nothing_holds_nothing_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
