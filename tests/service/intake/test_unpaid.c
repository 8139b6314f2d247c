/* test_unpaid.c: orders that are no purchase, by the shop's map of payment statuses */
#include "given.h"
#include "tests/unit/document.h"
#include <stdio.h>

static struct harness *h;
static CartChanged cart;
static CartCheckout order;

static int at_noon(void **state)
{
	(void)state;
	h = harness_new(&intake, NOON_US);
	cart = mug_of_ann_at(0);
	order = order_at(5);
	order.platform = PLATFORM_WOOCOMMERCE;
	TEXT_COPY(order.payment_status, "pending");
	when_changed(h, &cart);
	return 0;
}

static int harness_goes(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

static void given_map(const char *payment)
{
	given_text(h, "demo", "shop", DEMO_SHOP "[payment]\n", payment);
}

static void an_order_that_is_not_paid_ends_no_chase_and_its_payment_finds_the_cart(void **state)
{
	(void)state;
	assert_int_equal(when_bought(h, &order), TURN_DONE);
	assert_int_equal(said_row(h)->status, CART_OPEN);
	assert_string_equal(said_row(h)->ids.order_id, "1001");
	assert_string_equal(said_row(h)->payment_status, "pending");
	assert_string_equal(said_audit(h, 0)->action, "not_paid");
	assert_int_equal(harness_count(h, &topic_timer_cancel), 0);
	assert_int_equal(harness_count(h, &topic_timer_set), 0); /* the one that it has goes on */
	when_bought(h, &order);
	said_nothing(h);
	TEXT_COPY(order.payment_status, "processing");
	order.ids = (CartIds){ .order_id = "1001" };
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_string_equal(said_row(h)->payment_status, "processing");
	assert_string_equal(said_row(h)->ids.cart_id, "t1");
}

static void one_that_means_nothing_is_noted(void **state)
{
	(void)state;
	TEXT_COPY(order.payment_status, "checkout-draft");
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_OPEN);
	assert_string_equal(said_audit(h, 0)->action, "order_ignored");
}

static void one_of_no_cart_that_was_heard_of_says_nothing(void **state)
{
	(void)state;
	order.ids = (CartIds){ .order_id = "77", .email_hash = "ann" };
	assert_int_equal(when_bought(h, &order), TURN_DONE);
	said_nothing(h);
}

static void a_purchase_stays_one_whatever_its_payment_says_later(void **state)
{
	(void)state;
	TEXT_COPY(order.payment_status, "on-hold");
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	TEXT_COPY(order.payment_status, "failed");
	when_bought(h, &order);
	said_nothing(h);
}

static void the_shops_map_decides(void **state)
{
	(void)state;
	given_map("bought = pending\nnot-yet = on-hold\n");
	TEXT_COPY(order.payment_status, "on-hold");
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_OPEN);
	TEXT_COPY(order.payment_status, "pending");
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
}

static size_t told(void)
{
	size_t count = 0;
	Audit audit;

	for (size_t i = 0; harness_said(h, &topic_audit, i, &audit, NULL); i++)
		count += strcmp(audit.action, "unknown_payment_status") == 0 &&
			strstr(audit.grounds, "[payment]") != NULL;
	return count;
}

static void a_status_that_nobody_knows_is_a_purchase_and_is_told_once(void **state)
{
	(void)state;
	TEXT_COPY(order.payment_status, "wc-shipped");
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_int_equal(told(), 1);
	order.ids = (CartIds){ .cart_token = "t7", .order_id = "1007" };
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_int_equal(told(), 0);
	TEXT_COPY(order.payment_status, "wc-lost");
	order.ids = (CartIds){ .cart_token = "t8", .order_id = "1008" };
	when_bought(h, &order);
	assert_int_equal(told(), 1);
}

static void carts_that_an_unpaid_order_ties_together_have_one_timer(void **state)
{
	CartChanged other = mug_of_ann_at(1);

	(void)state;
	other.ids = (CartIds){ .checkout_token = "k1" };
	when_changed(h, &other);
	TEXT_COPY(order.ids.checkout_token, "k1");
	when_bought(h, &order);
	assert_int_equal(harness_count(h, &topic_timer_set), 1);
	assert_int_equal(said_timer(h)->version, said_rows(h, 1)->revision);
	order.kind = CHECKOUT_CANCELLED;
	other.ids = (CartIds){ .checkout_token = "k2" };
	when_changed(h, &other);
	TEXT_COPY(order.ids.checkout_token, "k2");
	when_bought(h, &order); /* a cancelled one as well */
	assert_int_equal(harness_count(h, &topic_timer_set), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			an_order_that_is_not_paid_ends_no_chase_and_its_payment_finds_the_cart, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(one_that_means_nothing_is_noted, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(one_of_no_cart_that_was_heard_of_says_nothing, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(
			a_purchase_stays_one_whatever_its_payment_says_later, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(the_shops_map_decides, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(
			a_status_that_nobody_knows_is_a_purchase_and_is_told_once, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(
			carts_that_an_unpaid_order_ties_together_have_one_timer, at_noon, harness_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
