/* test_purchase.c: a checkout ends the chase, in whatever order it comes */
#include "bus/base/text.h"
#include "given.h"

/* What most tests begin with: Ann leaves a mug at noon, and an order that names her cart comes five minutes later. */
static struct harness *h;
static CartChanged cart;
static CartCheckout order;

static int at_noon(void **state)
{
	(void)state;
	h = harness_new(&intake, NOON_US);
	cart = mug_of_ann_at(0);
	order = order_at(5);
	return 0;
}

static int harness_goes(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

static void a_checkout_flips_the_cart_and_cancels_its_timer(void **state)
{
	(void)state;
	when_changed(h, &cart);
	assert_int_equal(when_bought(h, &order), TURN_DONE);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_int_equal(said_row(h)->bought_us, MINUTE(5));
	assert_string_equal(said_row(h)->order_id, "1001");
	assert_int_equal(said_row(h)->order_total_minor, 3500);
	assert_string_equal(said_cancel(h)->name, "cart/t1");
	assert_int_equal(said_cancel(h)->version, 1);
	assert_string_equal(said_audit(h, 0)->action, "bought");
}

static void a_redelivered_checkout_changes_nothing(void **state)
{
	(void)state;
	when_changed(h, &cart);
	when_bought(h, &order);
	assert_int_equal(when_bought(h, &order), TURN_DONE);
	said_nothing(h);
}

static void a_checkout_before_its_cart_keeps_the_cart_from_being_opened(void **state)
{
	CartChanged late = mug_of_ann_at(0);

	(void)state;
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_int_equal(harness_count(h, NULL), 2);
	late.heard_us = MINUTE(8);
	when_changed(h, &late);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_int_equal(said_row(h)->items_count, 1); /* what it adds is taken */
	assert_int_equal(harness_count(h, &topic_timer_set), 0);
}

static void what_was_bought_stays_as_it_was_bought(void **state)
{
	CartChanged after = mug_of_ann_at(10);

	(void)state;
	when_changed(h, &cart);
	when_bought(h, &order);
	after.items_count = 0;
	after.total_minor = 0;
	when_changed(h, &after); /* platforms empty the cart after the order */
	said_nothing(h);
}

static void an_order_that_shares_only_the_address_buys_what_was_left_before_it(void **state)
{
	const struct {
		int minute;
		size_t flipped;
	} table[] = { { -6, 0 }, { -5, 1 }, { 0, 1 }, { 5, 1 } }; /* two clocks differ by five minutes at most */

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		at_noon(state);
		order = order_at(table[i].minute);
		when_changed(h, &cart);
		order.ids = (CartIds){ .order_id = "77", .email = "ann@buyer.example", .email_hash = "ann" };
		when_bought(h, &order);
		assert_int_equal(
			harness_count(h, &topic_cart_state), 1 + table[i].flipped); /* and a row of the order's own */
		assert_int_equal(harness_count(h, &topic_timer_cancel), table[i].flipped);
		harness_goes(state);
	}
}

/* The order is heard of first, or is stamped by a clock that is behind. */
static void a_cart_that_comes_after_an_order_by_its_address_is_bought_if_it_was_left_before(void **state)
{
	const struct {
		int minute;
		CartStatus status;
	} table[] = { { -10, CART_BOUGHT }, { 0, CART_BOUGHT }, { 5, CART_BOUGHT }, { 6, CART_OPEN } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		at_noon(state);
		order = order_at(0);
		order.ids = (CartIds){ .order_id = "77", .email = "ann@buyer.example", .email_hash = "ann" };
		when_bought(h, &order);
		cart = mug_of_ann_at(table[i].minute);
		cart.heard_us = MINUTE(30);
		when_changed(h, &cart);
		assert_int_equal(said_row(h)->status, table[i].status);
		assert_int_equal(harness_count(h, &topic_timer_set), table[i].status == CART_OPEN);
		if (table[i].status == CART_BOUGHT)
			assert_string_equal(said_audit(h, 0)->grounds, "order 77 by the same address");
		harness_goes(state);
	}
}

static void a_cart_whose_address_is_told_later_is_bought_by_an_order_of_that_address(void **state)
{
	CartChanged later = mug_of_ann_at(2);

	(void)state;
	cart = mug_at(0);
	when_changed(h, &cart);
	order.ids = (CartIds){ .order_id = "77", .email = "ann@buyer.example", .email_hash = "ann" };
	when_bought(h, &order);
	when_changed(h, &later);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_string_equal(said_row(h)->order_id, "77");
	assert_int_equal(harness_count(h, &topic_timer_cancel), 1);
}

static void one_order_buys_every_open_cart_of_the_shopper_once(void **state)
{
	CartChanged other = mug_of_ann_at(1);

	(void)state;
	when_changed(h, &cart);
	TEXT_COPY(other.ids.cart_token, "t2");
	when_changed(h, &other);
	TEXT_COPY(order.ids.email_hash, "ann");
	when_bought(h, &order);
	assert_int_equal(harness_count(h, &topic_cart_state), 2);
	assert_string_equal(said_rows(h, 0)->ids.cart_id, "t1");
	assert_string_equal(said_rows(h, 1)->ids.cart_id, "t2");
	assert_int_equal(said_rows(h, 1)->status, CART_BOUGHT);
	when_bought(h, &order);
	said_nothing(h);
}

static void an_order_of_another_shopper_buys_nothing_of_ours(void **state)
{
	(void)state;
	when_changed(h, &cart);
	order.ids = (CartIds){ .order_id = "77", .email_hash = "bob" };
	when_bought(h, &order);
	assert_string_equal(said_row(h)->ids.cart_id, "77");
}

static void a_cancelled_order_is_recorded_and_takes_up_no_chase(void **state)
{
	(void)state;
	when_changed(h, &cart);
	when_bought(h, &order);
	order.kind = CHECKOUT_CANCELLED;
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_int_equal(harness_count(h, &topic_timer_set), 0);
	assert_non_null(strstr(said_audit(h, 0)->grounds, "cancelled"));
}

static void what_was_taken_back_of_an_order_is_noted_in_any_order_of_events(void **state)
{
	(void)state;
	when_changed(h, &cart);
	order.kind = CHECKOUT_REFUNDED;
	order.refunded_minor = 1000;
	when_bought(h, &order); /* before the word of the purchase */
	assert_int_equal(said_row(h)->status, CART_OPEN);
	order.kind = CHECKOUT_BOUGHT;
	order.refunded_minor = 0;
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_int_equal(said_row(h)->order_refunded_minor, 1000);
	order.kind = CHECKOUT_REFUNDED;
	order.refunded_minor = 1500;
	when_bought(h, &order);
	assert_int_equal(said_row(h)->order_refunded_minor, 1500);
	assert_non_null(strstr(said_audit(h, 0)->grounds, "money went back"));
	order.refunded_minor = 1200; /* an older word, late */
	when_bought(h, &order);
	said_nothing(h);
	order.kind = CHECKOUT_CANCELLED;
	when_bought(h, &order);
	assert_int_equal(said_row(h)->order_cancelled_us, MINUTE(5));
}

static void a_redelivered_cancellation_or_refund_changes_nothing(void **state)
{
	static const CheckoutKind kinds[] = { CHECKOUT_CANCELLED, CHECKOUT_REFUNDED };

	(void)state;
	when_changed(h, &cart);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		order.kind = kinds[i];
		order.refunded_minor = kinds[i] == CHECKOUT_REFUNDED ? 1000 : 0;
		when_bought(h, &order);
		said_row(h);
		assert_int_equal(when_bought(h, &order), TURN_DONE);
		said_nothing(h);
	}
}

static void another_orders_refund_takes_nothing_from_this_one(void **state)
{
	(void)state;
	when_changed(h, &cart);
	when_bought(h, &order);
	order.kind = CHECKOUT_REFUNDED;
	order.refunded_minor = 1000;
	TEXT_COPY(order.ids.order_id, "2002");
	when_bought(h, &order);
	assert_int_equal(said_row(h)->order_refunded_minor, 0);
	assert_int_equal(said_row(h)->order_cancelled_us, 0);
	assert_string_equal(said_row(h)->order_id, "1001");
}

static void a_cancelled_order_of_an_open_cart_buys_nothing(void **state)
{
	(void)state;
	when_changed(h, &cart);
	order.kind = CHECKOUT_CANCELLED;
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_OPEN);
	assert_int_equal(harness_count(h, &topic_timer_cancel), 0);
	assert_int_equal(harness_count(h, &topic_timer_set), 0); /* the one that it has goes on */
}

static void an_order_that_is_heard_of_when_its_money_goes_back_bought_the_cart(void **state)
{
	(void)state;
	when_changed(h, &cart);
	order = order_at(60);
	order.kind = CHECKOUT_REFUNDED;
	order.was_bought = true;
	order.ordered_us = MINUTE(2);
	order.refunded_minor = 500;
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_int_equal(said_row(h)->bought_us, MINUTE(2));
	assert_int_equal(said_row(h)->order_refunded_minor, 500);
	assert_non_null(strstr(said_audit(h, 0)->grounds, "order 1001"));
	when_bought(h, &order);
	said_nothing(h);
}

static void a_test_order_stops_too(void **state)
{
	(void)state;
	when_changed(h, &cart);
	order.test = true;
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
}

static void a_cart_bought_after_it_was_given_up_says_so(void **state)
{
	CartClosed closed = { .cart_id = "t1", .revision = 1, .reason = CLOSED_GAVE_UP };

	(void)state;
	when_changed(h, &cart);
	assert_int_equal(WHEN(h, cart_closed, &closed, .shop = "demo", .key = "t1"), TURN_DONE);
	assert_int_equal(said_row(h)->closed_reason, CLOSED_GAVE_UP);
	order = order_at(50);
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
}

static void an_order_that_names_nothing_goes_to_the_dead_letters(void **state)
{
	(void)state;
	order.ids = (CartIds){ 0 };
	assert_int_equal(when_bought(h, &order), TURN_DEAD_LETTER);
}

/* It belongs to no cart; by it waiter and sender stop that customer's mails (carts/policy/stops.c). */
static void an_order_that_names_a_customer_alone_is_taken(void **state)
{
	(void)state;
	order.ids = (CartIds){ .customer_id = "c" };
	assert_int_equal(when_bought(h, &order), TURN_DONE);
	said_nothing(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_checkout_flips_the_cart_and_cancels_its_timer, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(a_redelivered_checkout_changes_nothing, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(
			a_checkout_before_its_cart_keeps_the_cart_from_being_opened, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(what_was_bought_stays_as_it_was_bought, at_noon, harness_goes),
		cmocka_unit_test(an_order_that_shares_only_the_address_buys_what_was_left_before_it),
		cmocka_unit_test_setup_teardown(
			one_order_buys_every_open_cart_of_the_shopper_once, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(
			an_order_of_another_shopper_buys_nothing_of_ours, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(
			a_cancelled_order_is_recorded_and_takes_up_no_chase, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(
			what_was_taken_back_of_an_order_is_noted_in_any_order_of_events, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(
			a_redelivered_cancellation_or_refund_changes_nothing, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(
			another_orders_refund_takes_nothing_from_this_one, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(a_cancelled_order_of_an_open_cart_buys_nothing, at_noon, harness_goes),
		cmocka_unit_test(a_cart_that_comes_after_an_order_by_its_address_is_bought_if_it_was_left_before),
		cmocka_unit_test_setup_teardown(
			a_cart_whose_address_is_told_later_is_bought_by_an_order_of_that_address, at_noon,
			harness_goes),
		cmocka_unit_test_setup_teardown(
			an_order_that_is_heard_of_when_its_money_goes_back_bought_the_cart, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(a_test_order_stops_too, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(a_cart_bought_after_it_was_given_up_says_so, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(
			an_order_that_names_nothing_goes_to_the_dead_letters, at_noon, harness_goes),
		cmocka_unit_test_setup_teardown(an_order_that_names_a_customer_alone_is_taken, at_noon, harness_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
