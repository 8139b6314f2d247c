/* test_purchases.c: what an order's payment status is taken for, and who has bought before */
#include "services/carts/policy/purchases.h"
#include "services/kit/documents/docs.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/document.h"
#include <stdio.h>
#include <string.h>

static const struct service remembers = { .name = "remembers-purchases",
	.remembers = REMEMBERING(REMEMBERS(cart_checkout, purchases_remember), REMEMBERS(document, docs_remember)) };

static struct harness *h;

static int fresh(void **state)
{
	(void)state;
	h = harness_new(&remembers, 5000);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

static void given_shop(const char *more)
{
	given_text(h, "demo", "shop", DEMO_SHOP, more);
	assert_non_null(docs_shop(harness_state(h), "demo"));
}

static void given_order(CartCheckout order)
{
	order.has_ids = true;
	order.heard_us = 9000;
	GIVEN(h, cart_checkout, &order, .shop = "demo", .key = "k");
}

static struct orders orders_of(const char *name)
{
	return purchases_by(harness_state(h), "demo", name);
}

static struct payment payment(Platform platform, CheckoutKind kind, const char *status)
{
	CartCheckout order = { .platform = platform, .kind = kind };

	TEXT_COPY(order.payment_status, status);
	return payment_of(docs_shop(harness_state(h), "demo"), &order);
}

static void every_platforms_words_have_a_meaning(void **state)
{
	static const struct {
		Platform platform;
		const char *status;
		enum payment_meaning meaning;
		bool unknown;
	} table[] = { { PLATFORM_SHOPIFY, "pending", PAYMENT_BOUGHT, false },
		{ PLATFORM_SHOPIFY, "authorized", PAYMENT_BOUGHT, false },
		{ PLATFORM_SHOPIFY, "partially_paid", PAYMENT_BOUGHT, false },
		{ PLATFORM_SHOPIFY, "paid", PAYMENT_BOUGHT, false },
		{ PLATFORM_SHOPIFY, "partially_refunded", PAYMENT_BOUGHT, false },
		{ PLATFORM_SHOPIFY, "refunded", PAYMENT_BOUGHT, false },
		{ PLATFORM_SHOPIFY, "voided", PAYMENT_BOUGHT, false },
		{ PLATFORM_SHOPIFY, "on-hold", PAYMENT_BOUGHT, true },
		{ PLATFORM_WOOCOMMERCE, "pending", PAYMENT_NOT_YET, false },
		{ PLATFORM_WOOCOMMERCE, "failed", PAYMENT_NOT_YET, false },
		{ PLATFORM_WOOCOMMERCE, "on-hold", PAYMENT_BOUGHT, false },
		{ PLATFORM_WOOCOMMERCE, "processing", PAYMENT_BOUGHT, false },
		{ PLATFORM_WOOCOMMERCE, "completed", PAYMENT_BOUGHT, false },
		{ PLATFORM_WOOCOMMERCE, "checkout-draft", PAYMENT_IGNORED, false },
		{ PLATFORM_WOOCOMMERCE, "trash", PAYMENT_IGNORED, false },
		{ PLATFORM_WOOCOMMERCE, "wc-shipped", PAYMENT_BOUGHT, true },
		{ PLATFORM_GENERIC, "", PAYMENT_BOUGHT, false }, { PLATFORM_GENERIC, "whatever", PAYMENT_BOUGHT, true },
		{ PLATFORM_SHOPIFY, "", PAYMENT_BOUGHT, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct payment found = payment(table[i].platform, CHECKOUT_BOUGHT, table[i].status);

		if (found.meaning != table[i].meaning || found.unknown != table[i].unknown)
			fail_msg("%d \"%s\": %d, unknown %d", table[i].platform, table[i].status, found.meaning,
				found.unknown);
		assert_int_equal(
			payment(table[i].platform, CHECKOUT_CANCELLED, table[i].status).meaning, PAYMENT_IGNORED);
	}
}

static void the_shops_own_words_come_first(void **state)
{
	(void)state;
	given_shop("[payment]\nnot-yet = on-hold\nbought = Wc-Deposit\nignore = paid\n");
	assert_int_equal(payment(PLATFORM_WOOCOMMERCE, CHECKOUT_BOUGHT, "on-hold").meaning, PAYMENT_NOT_YET);
	assert_int_equal(payment(PLATFORM_SHOPIFY, CHECKOUT_BOUGHT, "paid").meaning, PAYMENT_IGNORED);
	assert_false(payment(PLATFORM_WOOCOMMERCE, CHECKOUT_BOUGHT, "wc-deposit").unknown);
	assert_int_equal(payment(PLATFORM_WOOCOMMERCE, CHECKOUT_BOUGHT, "processing").meaning, PAYMENT_BOUGHT);
}

static void an_order_that_was_pending_and_is_paid_is_bought(void **state)
{
	CartCheckout order = { .ids = { .cart_token = "t1", .order_id = "7" },
		.platform = PLATFORM_WOOCOMMERCE,
		.payment_status = "pending",
		.bought_us = 1000 };

	(void)state;
	given_order(order);
	assert_int_equal(orders_of("ct:t1").bought.last_us, 0);
	assert_int_equal(orders_of("ct:t1").not_yet.last_us, 1000);
	order.bought_us = 1500;
	TEXT_COPY(order.payment_status, "failed");
	given_order(order);
	assert_int_equal(orders_of("oi:7").not_yet.first_us, 1000);
	assert_int_equal(orders_of("oi:7").not_yet.last_us, 1500);
	order.bought_us = 2000;
	TEXT_COPY(order.payment_status, "processing");
	given_order(order);
	assert_int_equal(orders_of("ct:t1").bought.last_us, 2000);
	assert_int_equal(orders_of("ct:t2").bought.last_us, 0);
}

static void a_map_that_changes_changes_what_was_heard_before(void **state)
{
	(void)state;
	given_order((CartCheckout){ .ids = { .cart_token = "t1" },
		.platform = PLATFORM_WOOCOMMERCE,
		.payment_status = "on-hold",
		.bought_us = 1000 });
	assert_int_equal(orders_of("ct:t1").bought.last_us, 1000);
	given_shop("[payment]\nnot-yet = on-hold\n");
	assert_int_equal(orders_of("ct:t1").bought.last_us, 0);
	assert_int_equal(orders_of("ct:t1").not_yet.last_us, 1000);
	given_shop("");
	assert_int_equal(orders_of("ct:t1").bought.last_us, 1000);
}

static void more_words_than_can_be_kept_are_a_purchase(void **state)
{
	(void)state;
	given_shop(
		"[payment]\nignore = s1\nignore = s2\nignore = s3\nignore = s4\nignore = s5\nignore = s6\nignore = s7\n"
		"ignore = s8\nignore = s9\n");
	for (int i = 1; i <= 9; i++) {
		CartCheckout order = { .ids = { .cart_token = "t1" }, .bought_us = 1000 + i };

		snprintf(order.payment_status, sizeof(order.payment_status), "s%d", i);
		given_order(order);
		assert_int_equal(orders_of("ct:t1").bought.last_us != 0, i == 9);
	}
}

static bool knows(const char *hash, const char *customer, int64_t left_us)
{
	CartState cart = { .abandoned_us = left_us };
	static const struct shop shop = { .name = "demo" };

	TEXT_COPY(cart.ids.email_hash, hash);
	TEXT_COPY(cart.ids.customer_id, customer);
	return purchases_know(harness_state(h), &shop, &cart);
}

static void a_customer_is_who_bought_before_by_address_or_number(void **state)
{
	(void)state;
	given_order((CartCheckout){
		.ids = { .order_id = "1", .email_hash = "h", .customer_id = "44" }, .bought_us = 1000 });
	given_order(
		(CartCheckout){ .ids = { .order_id = "2", .email_hash = "tester" }, .bought_us = 1000, .test = true });
	given_order((CartCheckout){
		.ids = { .order_id = "3", .email_hash = "fickle" }, .bought_us = 1000, .kind = CHECKOUT_CANCELLED });
	given_order((CartCheckout){ .ids = { .order_id = "4", .email_hash = "broke" },
		.bought_us = 1000,
		.platform = PLATFORM_WOOCOMMERCE,
		.payment_status = "failed" });
	assert_true(knows("h", "", 2000));
	assert_true(knows("", "44", 2000));
	assert_true(knows("other", "44", 2000));
	assert_false(knows("h", "44", 900)); /* that order is what this cart became */
	assert_false(knows("", "", 2000));
	assert_false(knows("44", "h", 2000));
	assert_false(knows("tester", "", 2000));
	assert_false(knows("fickle", "", 2000));
	assert_false(knows("broke", "", 2000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_platforms_words_have_a_meaning, fresh, gone),
		cmocka_unit_test_setup_teardown(the_shops_own_words_come_first, fresh, gone),
		cmocka_unit_test_setup_teardown(an_order_that_was_pending_and_is_paid_is_bought, fresh, gone),
		cmocka_unit_test_setup_teardown(a_map_that_changes_changes_what_was_heard_before, fresh, gone),
		cmocka_unit_test_setup_teardown(more_words_than_can_be_kept_are_a_purchase, fresh, gone),
		cmocka_unit_test_setup_teardown(a_customer_is_who_bought_before_by_address_or_number, fresh, gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
