/* test_merge.c: rows that turn out to be one cart, and carts with many ids */
#include "bus/base/text.h"
#include "given.h"
#include "services/carts/intake/cart.h"
#include <stdio.h>

static CartChanged known_only_as(const char *checkout_token, int minute)
{
	CartChanged changed = mug_of_ann_at(minute);

	changed.ids.cart_token[0] = '\0';
	TEXT_COPY(changed.ids.checkout_token, checkout_token);
	return changed;
}

static void two_rows_that_turn_out_to_be_one_become_one(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_at(0), checkout = known_only_as("k1", 5), both = mug_of_ann_at(10);

	(void)state;
	when_changed(h, &cart);
	when_changed(h, &checkout);
	assert_string_equal(said_row(h)->ids.cart_id, "k1");
	TEXT_COPY(both.ids.checkout_token, "k1");
	when_changed(h, &both);
	assert_int_equal(harness_count(h, &topic_cart_state), 2);
	assert_string_equal(said_rows(h, 0)->ids.cart_id, "k1");
	assert_int_equal(said_rows(h, 0)->closed_reason, CLOSED_MERGED);
	assert_string_equal(said_rows(h, 0)->merged_into, "t1");
	assert_string_equal(said_cancel(h)->name, "cart/k1");
	assert_string_equal(said_rows(h, 1)->ids.cart_id, "t1"); /* the older one keeps its id */
	assert_int_equal(said_rows(h, 1)->status, CART_OPEN);
	assert_int_equal(said_rows(h, 1)->merged_from_count, 1);
	assert_string_equal(said_rows(h, 1)->merged_from[0], "k1"); /* and its spent steps are this cart's too */
	assert_string_equal(said_rows(h, 1)->ids.email_hash, "ann");
	assert_true(said_rows(h, 1)->revision >= 2);
	assert_int_equal(said_timer(h)->version, said_rows(h, 1)->revision);
	assert_string_equal(said_audit(h, 0)->action, "merged");
	harness_free(h);
}

static void whatever_names_a_merged_cart_reaches_the_one_that_stayed(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_at(0), checkout = known_only_as("k1", 5), both = mug_of_ann_at(10), after;

	(void)state;
	when_changed(h, &cart);
	when_changed(h, &checkout);
	TEXT_COPY(both.ids.checkout_token, "k1");
	when_changed(h, &both);
	after = known_only_as("k1", 20);
	after.items[0].quantity = 5;
	when_changed(h, &after);
	assert_string_equal(said_row(h)->ids.cart_id, "t1");
	assert_int_equal(said_row(h)->items[0].quantity, 5);
	harness_free(h);
}

static void a_merge_with_a_bought_cart_is_bought(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_of_ann_at(0), both = mug_of_ann_at(10);
	CartCheckout order = order_at(5);

	(void)state;
	when_changed(h, &cart);
	order.ids = (CartIds){ .checkout_token = "k1", .order_id = "1001" };
	when_bought(h, &order); /* knows only the checkout token */
	TEXT_COPY(both.ids.checkout_token, "k1");
	when_changed(h, &both);
	assert_string_equal(said_rows(h, 1)->ids.cart_id, "t1");
	assert_int_equal(said_rows(h, 1)->status, CART_BOUGHT);
	assert_string_equal(said_rows(h, 1)->order_id, "1001");
	assert_int_equal(harness_count(h, &topic_timer_set), 0);
	assert_int_equal(harness_count(h, &topic_timer_cancel), 2);
	harness_free(h);
}

static void a_cart_with_too_many_merges_to_remember_is_not_chased_any_more(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_of_ann_at(0);
	const CartState *row = NULL;

	(void)state;
	when_changed(h, &cart);
	for (int i = 1; i <= 5; i++) {
		char token[8];
		CartChanged other, both = mug_of_ann_at(10 * i + 5);

		snprintf(token, sizeof(token), "k%d", i);
		other = known_only_as(token, 10 * i);
		when_changed(h, &other);
		TEXT_COPY(both.ids.checkout_token, token);
		when_changed(h, &both);
		row = said_rows(h, 1);
		assert_string_equal(row->ids.cart_id, "t1");
		assert_int_equal(row->status, i < 5 ? CART_OPEN : CART_CLOSED);
	}
	harness_free(h);
}

/* Of two addresses the newest is mailed. Whichever the shopper orders by, the cart is bought, and stays so. */
static void an_order_by_a_former_address_buys_the_cart(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_of_ann_at(10), earlier = mug_of_ann_at(5);
	CartCheckout order = order_at(15);

	(void)state;
	when_changed(h, &cart);
	TEXT_COPY(earlier.ids.email, "bob@buyer.example");
	TEXT_COPY(earlier.ids.email_hash, "bob");
	when_changed(h, &earlier);
	assert_string_equal(said_row(h)->ids.email_hash, "ann");
	assert_string_equal(said_row(h)->also[0].email_hash, "bob");
	order.ids = (CartIds){ .order_id = "77", .email = "bob@buyer.example", .email_hash = "bob" };
	when_bought(h, &order);
	assert_int_equal(harness_count(h, &topic_cart_state), 2); /* and a row of the order's own */
	assert_string_equal(said_rows(h, 1)->ids.cart_id, "t1");
	assert_int_equal(said_rows(h, 1)->status, CART_BOUGHT);
	assert_int_equal(harness_count(h, &topic_timer_cancel), 1);
	harness_free(h);
}

/* Likewise where the order is heard of before the cart's former address is. */
static void a_cart_is_bought_by_an_earlier_order_of_its_former_address(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_of_ann_at(10), earlier = mug_of_ann_at(5);
	CartCheckout order = order_at(15);

	(void)state;
	order.ids = (CartIds){ .order_id = "77", .email = "bob@buyer.example", .email_hash = "bob" };
	when_bought(h, &order);
	when_changed(h, &cart);
	assert_int_equal(said_row(h)->status, CART_OPEN);
	TEXT_COPY(earlier.ids.email, "bob@buyer.example");
	TEXT_COPY(earlier.ids.email_hash, "bob");
	when_changed(h, &earlier);
	assert_string_equal(said_row(h)->ids.email_hash, "ann");
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_string_equal(said_row(h)->order_id, "77");
	assert_int_equal(harness_count(h, &topic_timer_cancel), 1);
	harness_free(h);
}

static void more_ids_than_fit_lose_none_of_the_first(void **state)
{
	CartState row = { .ids = { .cart_id = "t1", .cart_token = "t1" } };

	(void)state;
	for (int i = 0; i < 9; i++) {
		CartIds ids = { .cart_token = "t1" };

		snprintf(ids.checkout_token, sizeof(ids.checkout_token), "k%d", i);
		cart_learn_ids(&row, &ids, true);
	}
	assert_string_equal(row.ids.checkout_token, "k0");
	assert_int_equal(row.also_count, 4);
	assert_string_equal(row.also[3].checkout_token, "k4");
	assert_string_equal(row.also[0].cart_token, "");
}

/* k2 turns out to be k1, and k1 to be t1: what was mailed about any of them was mailed about t1. */
static void what_was_merged_into_a_merged_cart_is_carried_along(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_at(0), first = known_only_as("k1", 5), second = known_only_as("k2", 10);
	CartChanged firsts = known_only_as("k1", 15), all = mug_of_ann_at(20);
	const CartState *row;

	(void)state;
	when_changed(h, &cart);
	when_changed(h, &first);
	when_changed(h, &second);
	TEXT_COPY(firsts.ids.checkout_id, "9");
	when_changed(h, &firsts);
	second.changed_us = second.heard_us = firsts.heard_us + US_PER_MINUTE;
	TEXT_COPY(second.ids.checkout_id, "9");
	when_changed(h, &second);
	assert_string_equal(said_rows(h, 0)->merged_into, "k1");
	TEXT_COPY(all.ids.checkout_token, "k1");
	when_changed(h, &all);
	row = said_rows(h, 1);
	assert_string_equal(row->ids.cart_id, "t1");
	assert_int_equal(row->merged_from_count, 2);
	assert_string_equal(row->merged_from[0], "k1");
	assert_string_equal(row->merged_from[1], "k2");
	harness_free(h);
}

static CartState row_left(int minute, CartStatus status, ClosedReason reason)
{
	CartState row = { .status = status, .closed_reason = reason, .items_count = 1 };

	TEXT_COPY(row.ids.cart_id, "row");
	row.abandoned_us = row.changed_us = row.first_seen_us = MINUTE(minute);
	return row;
}

static void what_ends_a_chase_for_good_ends_that_of_the_cart_it_is_merged_with(void **state)
{
	static const struct {
		CartStatus status;
		ClosedReason reason;
		bool ends;
	} table[] = { { CART_BOUGHT, CLOSED_NOT, true }, { CART_CLOSED, CLOSED_OPTED_OUT, true },
		{ CART_CLOSED, CLOSED_BY_OWNER, true }, { CART_CLOSED, CLOSED_GAVE_UP, true },
		{ CART_CLOSED, CLOSED_EMPTIED, false }, { CART_CLOSED, CLOSED_NOT_CHASED, false },
		{ CART_CLOSED, CLOSED_NO_ADDRESS, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		for (int older = 0; older < 2; older++) { /* whichever of them changed last, and whichever stays */
			CartState ended = row_left(older ? 10 : 0, table[i].status, table[i].reason);
			CartState open = row_left(5, CART_OPEN, CLOSED_NOT), again = open, ended_again = ended;
			CartChanged after = mug_of_ann_at(60);

			cart_merge(&open, &ended, MINUTE(20));
			cart_merge(&ended_again, &again, MINUTE(20));
			if (table[i].ends) {
				assert_int_equal(open.status, table[i].status);
				assert_int_equal(open.closed_reason, table[i].reason);
				assert_int_equal(ended_again.status, table[i].status);
				assert_int_equal(ended_again.closed_reason, table[i].reason);
				cart_upsert(&open, &after, MINUTE(61));
				assert_int_equal(open.status, table[i].status); /* and no change opens it again */
			} else {
				assert_int_equal(
					older ? ended_again.status : open.status, older ? table[i].status : CART_OPEN);
			}
		}
	}
}

static void a_merged_cart_counts_its_waits_from_the_later_change(void **state)
{
	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		CartState one = row_left(swapped ? 30 : 0, CART_OPEN, CLOSED_NOT);
		CartState other = row_left(swapped ? 0 : 30, CART_OPEN, CLOSED_NOT);

		cart_merge(&one, &other, MINUTE(40));
		assert_int_equal(one.abandoned_us, MINUTE(30));
		assert_int_equal(one.changed_us, MINUTE(30));
	}
}

static void a_test_and_a_saved_link_stay_what_they_are_through_a_merge(void **state)
{
	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		CartState one = row_left(0, CART_OPEN, CLOSED_NOT), other = row_left(5, CART_OPEN, CLOSED_NOT);

		(swapped ? &one : &other)->test = true;
		(swapped ? &one : &other)->saved_link = true;
		cart_merge(&one, &other, MINUTE(10));
		assert_true(one.test && one.saved_link);
	}
}

static CartCheckout word_of(CheckoutKind kind, const char *order_id, int64_t refunded_minor)
{
	CartCheckout order = order_at(3);

	order.kind = kind;
	order.refunded_minor = refunded_minor;
	TEXT_COPY(order.ids.order_id, order_id);
	return order;
}

/* Each row hears something of order 1001 or 2002, and then they turn out to be one cart. */
static void what_was_taken_back_of_an_order_stays_through_a_merge(void **state)
{
	static const struct {
		const char *one[3], *other[3]; /* "b": bought, "r": refunded, "c": cancelled; behind it the order */
		bool is_cancelled;
		int64_t refunded_minor;
	} table[] = {
		{ { 0 }, { "c1001" }, true, 0 }, { { 0 }, { "r1001" }, false, 1000 },
		{ { "c1001" }, { "r1001" }, true, 1000 }, { { "b1001" }, { "c1001" }, true, 0 },
		{ { "b1001", "r1001" }, { "b1001" }, false, 1000 }, { { "b1001" }, { "r2002", "c2002" }, false, 0 },
		{ { "b1001", "r1001" }, { "b2002" }, false, -1 }, /* of the order that stays */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		for (int way = 0; way < 4; way++) { /* whichever of them changed last, and whichever stays */
			CartState one = row_left(way & 1 ? 10 : 0, CART_OPEN, CLOSED_NOT);
			CartState other = row_left(5, CART_OPEN, CLOSED_NOT);
			CartState *winner = way & 2 ? &other : &one, *loser = way & 2 ? &one : &other;

			for (int word = 0; word < 3; word++) {
				for (int row = 0; row < 2; row++) {
					const char *heard = row ? table[i].other[word] : table[i].one[word];
					CartCheckout order;

					if (!heard)
						continue;
					order = word_of(*heard == 'b'   ? CHECKOUT_BOUGHT
							: *heard == 'c' ? CHECKOUT_CANCELLED
									: CHECKOUT_REFUNDED,
						heard + 1, *heard == 'r' ? 1000 : 0);
					cart_bought(row ? &other : &one, &order, true);
				}
			}
			cart_merge(winner, loser, MINUTE(20));
			assert_int_equal(winner->order_cancelled_us > 0, table[i].is_cancelled);
			assert_int_equal(winner->order_refunded_minor,
				table[i].refunded_minor >= 0                    ? table[i].refunded_minor
					: strcmp(winner->order_id, "1001") == 0 ? 1000
										: 0);
		}
	}
}

/* The word of the cancellation comes first, then the two rows are one, then the word of the purchase comes. */
static void an_order_that_was_cancelled_before_its_purchase_and_a_merge_is_cancelled(void **state)
{
	struct harness *h = harness_new(&intake, NOON_US);
	CartChanged cart = mug_at(0), checkout = known_only_as("k1", 5), both = mug_of_ann_at(10);
	CartCheckout order = order_at(7);

	(void)state;
	when_changed(h, &cart);
	when_changed(h, &checkout);
	order.ids = (CartIds){ .checkout_token = "k1", .order_id = "1001" };
	order.kind = CHECKOUT_CANCELLED;
	when_bought(h, &order);
	TEXT_COPY(both.ids.checkout_token, "k1");
	when_changed(h, &both);
	assert_string_equal(said_rows(h, 1)->ids.cart_id, "t1");
	order = order_at(6);
	order.heard_us = MINUTE(11);
	when_bought(h, &order);
	assert_int_equal(said_row(h)->status, CART_BOUGHT);
	assert_int_equal(said_row(h)->order_cancelled_us, MINUTE(7));
	harness_free(h);
}

static void a_recovery_url_keeps_its_platform_through_a_merge(void **state)
{
	(void)state;
	for (int newer = 0; newer < 2; newer++) {
		CartState winner = row_left(10, CART_OPEN, CLOSED_NOT),
			  loser = row_left(newer ? 15 : 5, CART_OPEN, CLOSED_NOT);

		winner.platform = PLATFORM_GENERIC;
		loser.platform = PLATFORM_SHOPIFY;
		TEXT_COPY(winner.recovery_url, "https://shop.example/1");
		TEXT_COPY(loser.recovery_url, "https://name.myshopify.com/2");
		cart_merge(&winner, &loser, MINUTE(20));
		assert_string_equal(winner.recovery_url, newer ? loser.recovery_url : "https://shop.example/1");
		assert_int_equal(winner.platform, newer ? PLATFORM_SHOPIFY : PLATFORM_GENERIC);
		winner.recovery_url[0] = '\0';
		winner.platform = PLATFORM_GENERIC;
		cart_merge(&winner, &loser, MINUTE(30));
		assert_string_equal(winner.recovery_url, loser.recovery_url);
		assert_int_equal(winner.platform, PLATFORM_SHOPIFY);
		loser.recovery_url[0] = '\0';
		loser.platform = PLATFORM_GENERIC;
		loser.changed_us = winner.changed_us + 1;
		cart_merge(&winner, &loser, MINUTE(40));
		assert_int_equal(winner.platform, PLATFORM_SHOPIFY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_rows_that_turn_out_to_be_one_become_one),
		cmocka_unit_test(whatever_names_a_merged_cart_reaches_the_one_that_stayed),
		cmocka_unit_test(a_merge_with_a_bought_cart_is_bought),
		cmocka_unit_test(a_cart_with_too_many_merges_to_remember_is_not_chased_any_more),
		cmocka_unit_test(an_order_by_a_former_address_buys_the_cart),
		cmocka_unit_test(a_cart_is_bought_by_an_earlier_order_of_its_former_address),
		cmocka_unit_test(more_ids_than_fit_lose_none_of_the_first),
		cmocka_unit_test(what_was_merged_into_a_merged_cart_is_carried_along),
		cmocka_unit_test(what_ends_a_chase_for_good_ends_that_of_the_cart_it_is_merged_with),
		cmocka_unit_test(a_merged_cart_counts_its_waits_from_the_later_change),
		cmocka_unit_test(a_test_and_a_saved_link_stay_what_they_are_through_a_merge),
		cmocka_unit_test(what_was_taken_back_of_an_order_stays_through_a_merge),
		cmocka_unit_test(an_order_that_was_cancelled_before_its_purchase_and_a_merge_is_cancelled),
		cmocka_unit_test(a_recovery_url_keeps_its_platform_through_a_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
