/* test_merge.c: rows that turn out to be one cart, and carts with many ids */
#include "bus/base/text.h"
#include "given.h"
#include "services/intake/cart.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_rows_that_turn_out_to_be_one_become_one),
		cmocka_unit_test(whatever_names_a_merged_cart_reaches_the_one_that_stayed),
		cmocka_unit_test(a_merge_with_a_bought_cart_is_bought),
		cmocka_unit_test(a_cart_with_too_many_merges_to_remember_is_not_chased_any_more),
		cmocka_unit_test(more_ids_than_fit_lose_none_of_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
