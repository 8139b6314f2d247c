/* test_whom.c: whom the waiter chases: by policy, for the newest cart, after an order that was not paid */
#include "bus/base/text.h"
#include "given.h"
#include <string.h>

static CartState cart_named(const char *cart_id, int64_t left_us)
{
	static uint64_t version = 100;
	CartState cart = small_cart();

	TEXT_COPY(cart.ids.cart_id, cart_id);
	TEXT_COPY(cart.ids.cart_token, cart_id);
	cart.abandoned_us = cart.changed_us = left_us;
	cart.state_version = ++version;
	return cart;
}

static ClosedReason closed_at_4h(struct harness *h)
{
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), closed(h) == CLOSED_NOT);
	return closed(h);
}

static void of_two_carts_the_newest_is_chased_and_the_other_says_why(void **state)
{
	const struct {
		int64_t left_us;
		ClosedReason closes;
	} table[] = { { H(1), CLOSED_NEWER_CART }, { LEFT_US, CLOSED_NEWER_CART }, { H(-1), CLOSED_NOT } };

	struct harness *same = given_all(MODE_LIVE);
	CartState first = cart_named("c0", LEFT_US); /* left in the same moment as c1: one of the two is chased */
	given_cart(same, &first);
	assert_int_equal(closed_at_4h(same), CLOSED_NOT);
	harness_free(same);

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = given_all(MODE_LIVE);
		CartState other = cart_named("c2", table[i].left_us);

		given_cart(h, &other);
		assert_int_equal(closed_at_4h(h), table[i].closes);
		if (table[i].closes == CLOSED_NEWER_CART)
			assert_non_null(strstr(audited(h).grounds, "newer cart"));
		if (table[i].closes == CLOSED_NEWER_CART)
			assert_non_null(strstr(audited(h).grounds, "(c2)"));
		harness_free(h);
	}
}

static void what_became_of_the_newer_one_decides(void **state)
{
	const struct {
		CartStatus status;
		ClosedReason reason, closes;
	} table[] = { { CART_BOUGHT, CLOSED_NOT, CLOSED_NEWER_CART },
		{ CART_CLOSED, CLOSED_GAVE_UP, CLOSED_NEWER_CART }, { CART_CLOSED, CLOSED_BY_OWNER, CLOSED_NEWER_CART },
		{ CART_CLOSED, CLOSED_EMPTIED, CLOSED_NOT }, { CART_CLOSED, CLOSED_MERGED, CLOSED_NOT },
		{ CART_CLOSED, CLOSED_NOT_CHASED, CLOSED_NOT }, { CART_CLOSED, CLOSED_NO_ADDRESS, CLOSED_NOT } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = given_all(MODE_LIVE);
		CartState other = cart_named("c2", H(1));

		other.status = table[i].status;
		other.closed_reason = table[i].reason;
		given_cart(h, &other);
		assert_int_equal(closed_at_4h(h), table[i].closes);
		harness_free(h);
	}
}

static void a_newest_cart_that_was_emptied_leaves_one_of_the_older_ones(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	CartState second = cart_named("c2", H(1)), third = cart_named("c3", H(2));

	(void)state;
	given_cart(h, &third);
	given_cart(h, &second);
	third.state_version += 100;
	third.status = CART_CLOSED;
	third.closed_reason = CLOSED_EMPTIED;
	given_cart(h, &third);
	assert_int_equal(closed_at_4h(h), CLOSED_NEWER_CART);
	assert_non_null(strstr(audited(h).grounds, "(c2)"));
	harness_free(h);
}

static void carts_of_others_and_a_cart_that_changed_hands_count_for_nothing(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	CartState other = cart_named("c2", H(1));

	(void)state;
	given_cart(h, &other);
	other.state_version += 100;
	TEXT_COPY(other.ids.email, "bob@buyer.example");
	TEXT_COPY(other.ids.email_hash, "bob");
	given_cart(h, &other);
	other = cart_named("c3", H(1));
	other.ids.email[0] = other.ids.email_hash[0] = '\0';
	given_cart(h, &other);
	other = cart_named("c4", H(2));
	GIVEN(h, cart_state, &other, .shop = "other", .key = "c4", .version = other.state_version);
	assert_int_equal(closed_at_4h(h), CLOSED_NOT);
	harness_free(h);
}

static void one_customer_with_two_addresses_is_one_shopper(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	CartState cart = small_cart(), other = cart_named("c2", H(1));

	(void)state;
	TEXT_COPY(cart.ids.customer_id, "44");
	cart.state_version = 49;
	given_cart(h, &cart);
	TEXT_COPY(other.ids.customer_id, "44");
	TEXT_COPY(other.ids.email_hash, "work");
	given_cart(h, &other);
	assert_int_equal(closed_at_4h(h), CLOSED_NEWER_CART);
	harness_free(h);
}

static void the_cap_counts_the_mails_about_the_older_cart(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	ReminderOutcome sent = { .cart_id = "c0", .step = 1, .attempt = 1, .address_hash = "h", .at_us = H(-2) };

	(void)state;
	GIVEN(h, reminder_sent, &sent, .shop = "demo", .key = "c0/1");
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_int_equal(next_us(h), H(22));
	harness_free(h);
}

static void given_order(struct harness *h, const char *status, int64_t at_us)
{
	CartCheckout order = { .has_ids = true,
		.ids = { .cart_token = "c1", .order_id = "o1" },
		.platform = PLATFORM_WOOCOMMERCE,
		.bought_us = at_us,
		.heard_us = at_us };

	TEXT_COPY(order.payment_status, status);
	GIVEN(h, cart_checkout, &order, .shop = "demo", .key = "c1");
}

static void an_order_that_is_not_paid_starts_the_waits_again(void **state)
{
	struct harness *h = given_all(MODE_LIVE);

	(void)state;
	given_order(h, "pending", H(3));
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_int_equal(next_us(h), H(7));
	assert_non_null(strstr(audited(h).grounds, "not paid 1 h ago"));
	when_woken(h, H(7), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 1);
	assert_int_equal(next_us(h), H(27));
	given_order(h, "on-hold", H(8));
	when_woken(h, H(27), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	assert_non_null(strstr(audited(h).grounds, "bought"));
	harness_free(h);
}

static void the_policy_of_the_shop_is_recorded_with_what_it_was_about(void **state)
{
	static const struct {
		const char *more, *says;
	} table[] = { { "customers\n", "neither bought here before" },
		{ "all\n[exclude]\nproduct = title:mug\n", "a product that it holds: mug" },
		{ "all\n[exclude]\ntag = vip\n", "carts with its tag: vip" },
		{ "all\n[exclude]\nstaff = @buyer.example\n", "the shop's own people" } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct harness *h = given_all(MODE_LIVE);
		CartState cart = small_cart();

		given_document(h, "shop", SHOP, table[i].more);
		cart.tags_count = 1;
		TEXT_COPY(cart.tags[0], "VIP");
		cart.state_version = 49;
		given_cart(h, &cart);
		assert_int_equal(closed_at_4h(h), CLOSED_NOT_CHASED);
		if (!strstr(audited(h).grounds, table[i].says))
			fail_msg("%s: %s", table[i].more, audited(h).grounds);
		harness_free(h);
	}
}

static void who_bought_before_is_a_customer(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	CartCheckout order = { .has_ids = true,
		.ids = { .order_id = "o9", .email_hash = "h" },
		.bought_us = H(-2000),
		.heard_us = H(-2000) };

	(void)state;
	given_document(h, "shop", SHOP, "customers\n");
	GIVEN(h, cart_checkout, &order, .shop = "demo", .key = "o9");
	assert_int_equal(closed_at_4h(h), CLOSED_NOT);
	harness_free(h);
}

static void a_no_that_came_after_the_decision_was_prepared_holds_it_back(void **state)
{
	struct harness *h = given_all(MODE_LIVE);
	CartChanged changed = { .has_ids = true,
		.ids = { .cart_token = "c1" },
		.changed_us = H(3),
		.heard_us = H(3),
		.consent = CONSENT_NO };

	(void)state;
	GIVEN(h, cart_changed, &changed, .shop = "demo", .key = "c1");
	when_woken(h, H(4), 3);
	assert_int_equal(harness_count(h, &topic_reminder_due), 0);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_carts_the_newest_is_chased_and_the_other_says_why),
		cmocka_unit_test(what_became_of_the_newer_one_decides),
		cmocka_unit_test(a_newest_cart_that_was_emptied_leaves_one_of_the_older_ones),
		cmocka_unit_test(carts_of_others_and_a_cart_that_changed_hands_count_for_nothing),
		cmocka_unit_test(one_customer_with_two_addresses_is_one_shopper),
		cmocka_unit_test(the_cap_counts_the_mails_about_the_older_cart),
		cmocka_unit_test(an_order_that_is_not_paid_starts_the_waits_again),
		cmocka_unit_test(the_policy_of_the_shop_is_recorded_with_what_it_was_about),
		cmocka_unit_test(who_bought_before_is_a_customer),
		cmocka_unit_test(a_no_that_came_after_the_decision_was_prepared_holds_it_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
