/* test_change.c: which cart an event is about, and what of it the shopper did */
#include "bus/base/clock.h"
#include "services/carts/policy/change.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static void any_shared_id_makes_one_cart(void **state)
{
	const struct {
		CartIds a, b;
		bool same;
	} table[] = {
		{ { .cart_token = "t" }, { .cart_token = "t" }, true },
		{ { .checkout_token = "k" }, { .checkout_token = "k", .cart_token = "t" }, true },
		{ { .checkout_id = "9" }, { .checkout_id = "9" }, true },
		{ { .order_id = "7" }, { .order_id = "7" }, true },
		{ { .cart_id = "x" }, { .cart_id = "x", .cart_token = "other" }, true },
		{ { .cart_token = "t" }, { .cart_token = "u" }, false },
		{ { .cart_token = "" }, { .cart_token = "" }, false },
		{ { .checkout_id = "7" }, { .order_id = "7" }, false },
		{ { .cart_token = "t" }, { .checkout_token = "t" }, false },
		{ { .customer_id = "c" }, { .customer_id = "c" }, false },
		{ { .email = "a@b.example" }, { .email = "a@b.example" }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(join_same_cart(&table[i].a, &table[i].b), table[i].same);
		assert_int_equal(join_same_cart(&table[i].b, &table[i].a), table[i].same);
	}
}

static void names_carry_their_kind_at_any_length(void **state)
{
	CartIds ids = { .cart_id = "x", .checkout_id = "9", .order_id = "9", .customer_id = "c" };
	char names[JOIN_NAMES_MAX][80];

	(void)state;
	assert_int_equal(join_names(&ids, names), 3);
	assert_string_equal(names[0], "id:x");
	assert_string_equal(names[1], "ci:9");
	assert_string_equal(names[2], "oi:9");
	assert_int_equal(join_names(&(CartIds){ .customer_id = "c", .email = "a@b.example" }, names), 0);
	memset(ids.cart_id, 'a', sizeof(ids.cart_id) - 1);
	join_names(&ids, names);
	assert_int_equal(strlen(names[0]), 3 + sizeof(ids.cart_id) - 1);
}

static void the_platforms_time_counts_unless_it_lies_in_our_future(void **state)
{
	(void)state;
	assert_int_equal(change_us(&(CartChanged){ .changed_us = 5, .heard_us = 9 }), 5);
	assert_int_equal(change_us(&(CartChanged){ .changed_us = 9, .heard_us = 9 }), 9);
	assert_int_equal(change_us(&(CartChanged){ .changed_us = 10, .heard_us = 9 }), 9);
	assert_int_equal(change_us(&(CartChanged){ .heard_us = 9 }), 9);
	assert_int_equal(change_us(&(CartChanged){ .changed_us = -4, .heard_us = 9 }), 9);
	assert_int_equal(purchase_us(&(CartCheckout){ .bought_us = 10, .heard_us = 9 }), 9);
	assert_int_equal(purchase_us(&(CartCheckout){ .bought_us = 8, .heard_us = 9 }), 8);
}

static void the_same_goods_are_the_same_in_any_order_and_price(void **state)
{
	const Item shirt = { .title = "Shirt", .variant_id = "1", .quantity = 2, .price_minor = 100 };
	const Item mug = { .title = "Mug", .sku = "m", .quantity = 1 };
	Item cheaper = shirt, more = shirt;

	(void)state;
	cheaper.price_minor = 90;
	more.quantity = 3;
	assert_true(
		change_items_digest((Item[]){ shirt, mug }, 2, 0) == change_items_digest((Item[]){ mug, shirt }, 2, 0));
	assert_true(change_items_digest(&shirt, 1, 0) == change_items_digest(&cheaper, 1, 0));
	assert_true(change_items_digest(&shirt, 1, 0) != change_items_digest(&more, 1, 0));
	assert_true(change_items_digest(&shirt, 1, 0) != change_items_digest((Item[]){ shirt, mug }, 2, 0));
	assert_true(change_items_digest(&shirt, 1, 0) != change_items_digest(&shirt, 1, 1));
	assert_true(change_items_digest(NULL, 0, 0) != 0);
}

static void only_a_change_that_speaks_of_items_empties(void **state)
{
	(void)state;
	assert_true(change_empties(&(CartChanged){ .has_items = true }));
	assert_false(change_empties(&(CartChanged){ .has_items = false }));
	assert_false(change_empties(&(CartChanged){ .has_items = true, .items_count = 1 }));
	assert_false(change_empties(&(CartChanged){ .has_items = true, .items_left_out = 4 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_shared_id_makes_one_cart),
		cmocka_unit_test(names_carry_their_kind_at_any_length),
		cmocka_unit_test(the_platforms_time_counts_unless_it_lies_in_our_future),
		cmocka_unit_test(the_same_goods_are_the_same_in_any_order_and_price),
		cmocka_unit_test(only_a_change_that_speaks_of_items_empties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
