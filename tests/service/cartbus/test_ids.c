/* test_ids.c: what a message knows a cart and its shopper by */
#include "services/cartbus/core/naming.h"

#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "tests/unit/cmocka_all.h"
#include <string.h>

static bool has_name(const struct ids *ids, const char *name)
{
	for (int i = 0; i < ids->count; i++)
		if (strcmp(ids->names[i], name) == 0)
			return true;
	return false;
}

static CartState cart_with_a_past(void)
{
	CartState cart = { .has_ids = true, .also_count = 2, .merged_from_count = 2 };

	TEXT_COPY(cart.ids.cart_id, "c-1");
	TEXT_COPY(cart.ids.customer_id, "44");
	TEXT_COPY(cart.also[0].cart_token, "t-2");
	TEXT_COPY(cart.also[0].email_hash, "hash");
	TEXT_COPY(cart.also[0].customer_id, "45");
	TEXT_COPY(cart.also[0].email, "ada@shop.example");
	TEXT_COPY(cart.also[1].email_hash, "later");
	TEXT_COPY(cart.also[1].email, "later@shop.example");
	TEXT_COPY(cart.merged_from[0], "c-3");
	TEXT_COPY(cart.merged_from[1], "c-4");
	return cart;
}

/* The first hash, number and address that are known count; each name does. */
static void expect_past(const struct ids *ids)
{
	static const char *const names[] = { "id:c-1", "ct:t-2", "id:c-3", "id:c-4" };

	assert_int_equal(ids->count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_true(has_name(ids, names[i]));
	assert_string_equal(ids->hash, "hash");
	assert_string_equal(ids->customer, "44");
	assert_string_equal(ids->email, "ada@shop.example");
}

static void a_cart_is_known_by_all_that_was_merged_into_it(void **state)
{
	ReminderDue due = { .has_cart = true, .cart = cart_with_a_past() };
	struct ids ids;

	(void)state;
	ids_of(&topic_cart_state, &due.cart, &ids);
	expect_past(&ids);
	ids_of(&topic_reminder_due, &due, &ids);
	expect_past(&ids);
}

static void a_change_and_an_order_are_known_by_their_own_ids_and_others_by_none(void **state)
{
	CartChanged changed = { .has_ids = true };
	CartCheckout order = { .has_ids = true };
	Audit audit = { .cart_id = "c-1" };
	struct ids ids;

	(void)state;
	TEXT_COPY(changed.ids.cart_token, "t-1");
	TEXT_COPY(changed.ids.email_hash, "hash");
	ids_of(&topic_cart_changed, &changed, &ids);
	assert_int_equal(ids.count, 1);
	assert_true(has_name(&ids, "ct:t-1"));
	assert_string_equal(ids.hash, "hash");
	assert_string_equal(ids.customer, "");
	assert_string_equal(ids.email, "");
	TEXT_COPY(order.ids.order_id, "o-1");
	TEXT_COPY(order.ids.customer_id, "44");
	ids_of(&topic_cart_checkout, &order, &ids);
	assert_int_equal(ids.count, 1);
	assert_true(has_name(&ids, "oi:o-1"));
	assert_string_equal(ids.hash, "");
	assert_string_equal(ids.customer, "44");
	ids_of(&topic_audit, &audit, &ids);
	assert_int_equal(ids.count, 0);
	assert_string_equal(ids.hash, "");
	assert_string_equal(ids.customer, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cart_is_known_by_all_that_was_merged_into_it),
		cmocka_unit_test(a_change_and_an_order_are_known_by_their_own_ids_and_others_by_none),
	};

	return cmocka_run_group_tests_name("cartbus.ids", tests, NULL, NULL);
}
