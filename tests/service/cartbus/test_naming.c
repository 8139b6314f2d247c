/* test_naming.c: what a message knows a cart and its shopper by; whose name stands in a text */
#include "services/cartbus/core/naming.h"

#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "tests/unit/cmocka_all.h"
#include <stdlib.h>
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

static const struct {
	const char *text, *name;
	bool alone;
} cases[] = {
	{ "ada@shop.example", "ada@shop.example", true },
	{ "{\"email\":\"Ada@Shop.Example\"}", "ada@shop.example", true },
	{ "To: Ada <ada@shop.example>\r\n", "ada@shop.example", true },
	{ "write to ada@shop.example.", "ada@shop.example", true },
	{ "?email=ada@shop.example&x=1", "ada@shop.example", true },
	{ "nada@shop.example", "ada@shop.example", false },
	{ "x.ada@shop.example", "ada@shop.example", false },
	{ "x+ada@shop.example", "ada@shop.example", false },
	{ "x-ada@shop.example", "ada@shop.example", false },
	{ "ada@shop.example.org", "ada@shop.example", false },
	{ "ada@shop.examples", "ada@shop.example", false },
	{ "nada@shop.example, ada@shop.example", "ada@shop.example", true },
	{ "@@ada@shop.example", "ada@shop.example", true },
	{ "https://shop.example/cart/token-of-a-cart-1", "token-of-a-cart-1", true },
	{ "token-of-a-cart-1?key=7", "token-of-a-cart-1", true },
	{ "cart/token-of-a-cart-1,open", "token-of-a-cart-1", true },
	{ "token-of-a-cart-12", "token-of-a-cart-1", false },
	{ "token-of-a-cart-1-2", "token-of-a-cart-1", false },
	{ "a-token-of-a-cart-1", "token-of-a-cart-1", false },
	{ "TOKEN-OF-A-CART-1", "token-of-a-cart-1", false },
};

static void a_name_counts_where_it_stands_by_itself(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (name_match_in(bytes_of(cases[i].text), cases[i].name) != cases[i].alone)
			fail_msg("%s in %s", cases[i].name, cases[i].text);
	}
}

static void of_bytes_it_counts_wherever_it_stands(void **state)
{
	(void)state;
	assert_true(name_match_somewhere(bytes_of("2token-of-a-cart-1B"), "token-of-a-cart-1"));
	assert_true(name_match_somewhere(bytes_of("\x12\x10"
						  "Ada@shop.exampleZ"),
		"ada@shop.example"));
	assert_false(name_match_somewhere(bytes_of("token-of-a-cart-"), "token-of-a-cart-1"));
	assert_false(name_match_somewhere(bytes_of("ada@shop.exampl"), "ada@shop.example"));
	assert_false(name_match_somewhere(bytes_of("da@shop.example"), "ada@shop.example"));
	assert_false(name_match_somewhere(bytes_of("@"), "ada@shop.example"));
	assert_false(name_match_somewhere(bytes_of(""), "ada@shop.example"));
	assert_false(name_match_somewhere(bytes_of(""), "token-of-a-cart-1"));
}

static void each_address_in_a_text_is_found(void **state)
{
	static const char *const found[] = { "ada@shop.example", "email=o'brien@shop.example",
		"bob@m\xc3\xbcller.example\xe2\x80\x9c", "x@y" };
	const struct bytes text = bytes_of("Write (ada@shop.example.), ?email=o'brien@shop.example&x=1 or @@ "
					   "\xe2\x80\x9e"
					   "bob@m\xc3\xbcller.example\xe2\x80\x9c x@y");
	char address[ADDRESS_MAX + 1];
	size_t at = 0, count = 0;

	(void)state;
	while (name_next_address(text, &at, address)) {
		const char *bare = *address == '?' ? address + 1 : address;

		if (strchr(bare, '@') == bare)
			continue; /* a sign alone */
		assert_true(count < 4);
		assert_string_equal(bare, found[count++]);
	}
	assert_int_equal(count, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cart_is_known_by_all_that_was_merged_into_it),
		cmocka_unit_test(a_change_and_an_order_are_known_by_their_own_ids_and_others_by_none),
		cmocka_unit_test(a_name_counts_where_it_stands_by_itself),
		cmocka_unit_test(of_bytes_it_counts_wherever_it_stands),
		cmocka_unit_test(each_address_in_a_text_is_found),
	};

	return cmocka_run_group_tests_name("cartbus.naming", tests, NULL, NULL);
}
