/* test_rows.c: how a cart is found: by any id it was ever known by, and whatever it was merged into */
#include "bus/base/text.h"
#include "given.h"
#include "services/carts/intake/rows.h"
#include <stdio.h>

static struct harness *h;

static int fresh(void **state)
{
	(void)state;
	h = harness_new(&intake, NOON_US);
	return 0;
}

static int gone(void **state)
{
	(void)state;
	harness_free(h);
	return 0;
}

static CartState *row_of(const char *id, uint64_t version)
{
	static CartState row; /* large */

	row = (CartState){ .has_ids = true, .state_version = version, .abandoned_us = NOON_US, .changed_us = NOON_US };
	TEXT_COPY(row.ids.cart_id, id);
	return &row;
}

static void given(const CartState *row)
{
	GIVEN(h, cart_state, row, .shop = "demo", .key = row->ids.cart_id, .version = row->state_version);
}

static void given_merged(const char *id, const char *into)
{
	CartState *row = row_of(id, 2);

	row->status = CART_CLOSED;
	row->closed_reason = CLOSED_MERGED;
	TEXT_COPY(row->merged_into, into);
	given(row);
}

static const char *got(const char *id)
{
	static CartState row;

	return rows_get(harness_state(h), "demo", id, &row) ? row.ids.cart_id : "";
}

/* The ids of the carts that share one with these. */
static const char *found(const CartIds *ids)
{
	static char text[ROWS_MOST * CART_ID_MAX];
	char carts[ROWS_MOST][CART_ID_MAX];
	int count = rows_find(harness_state(h), "demo", ids, carts);

	text[0] = '\0';
	for (int i = 0; i < count; i++) {
		strcat(text, carts[i]);
		strcat(text, " ");
	}
	return text;
}

static void a_merged_cart_answers_with_the_one_it_went_into_however_often(void **state)
{
	char id[16], into[16];

	(void)state;
	assert_string_equal(got("c0"), "");
	given(row_of("c15", 1));
	for (int i = 14; i >= 0; i--) {
		snprintf(id, sizeof(id), "c%d", i);
		snprintf(into, sizeof(into), "c%d", i + 1);
		given_merged(id, into);
		assert_string_equal(got(id), "c15");
	}
	given_merged("c15", "c0"); /* a circle has no end; who asks comes to one */
	assert_true(*got("c0"));
	given_merged("d1", "never-seen");
	assert_string_equal(got("d1"), "");
}

static void every_id_that_a_cart_was_known_by_leads_to_it(void **state)
{
	CartState *row = row_of("c1", 1);

	(void)state;
	TEXT_COPY(row->ids.cart_token, "t1");
	TEXT_COPY(row->ids.checkout_token, "k1");
	TEXT_COPY(row->ids.checkout_id, "7");
	row->also_count = 2;
	TEXT_COPY(row->also[0].cart_token, "t2");
	TEXT_COPY(row->also[1].order_id, "1001");
	given(row);
	assert_string_equal(found(&(CartIds){ .cart_id = "c1" }), "c1 ");
	assert_string_equal(found(&(CartIds){ .cart_token = "t1" }), "c1 ");
	assert_string_equal(found(&(CartIds){ .checkout_token = "k1" }), "c1 ");
	assert_string_equal(found(&(CartIds){ .checkout_id = "7" }), "c1 ");
	assert_string_equal(found(&(CartIds){ .cart_token = "t2" }), "c1 ");
	assert_string_equal(found(&(CartIds){ .order_id = "1001" }), "c1 ");
	assert_string_equal(found(&(CartIds){ .order_id = "7" }), ""); /* an order is no checkout */
	assert_string_equal(found(&(CartIds){ .checkout_token = "t1" }), "");
	assert_string_equal(found(&(CartIds){ .cart_token = "t1", .checkout_token = "k1" }), "c1 "); /* once */
	row = row_of("c2", 1);
	TEXT_COPY(row->ids.cart_token, "t9");
	given(row);
	assert_string_equal(found(&(CartIds){ .cart_token = "t9", .checkout_token = "k1" }), "c2 c1 ");
	given_merged("c2", "c1");
	assert_string_equal(found(&(CartIds){ .cart_id = "c2" }), "c1 ");
}

static void a_late_row_replaces_no_newer_one(void **state)
{
	CartState *row = row_of("c1", 5);

	(void)state;
	row->total_minor = 500;
	given(row);
	row = row_of("c1", 4);
	row->total_minor = 400;
	TEXT_COPY(row->ids.cart_token, "late");
	given(row);
	static CartState now;
	assert_true(rows_get(harness_state(h), "demo", "c1", &now));
	assert_int_equal(now.total_minor, 500);
	assert_string_equal(found(&(CartIds){ .cart_token = "late" }), "");
	row = row_of("c1", 5);
	row->total_minor = 501;
	given(row);
	assert_true(rows_get(harness_state(h), "demo", "c1", &now));
	assert_int_equal(now.total_minor, 501);
	assert_false(rows_get(harness_state(h), "other", "c1", &now));
}

static bool note(const char *cart_id, void *context)
{
	strcat(context, cart_id);
	strcat(context, " ");
	return true;
}

static const char *open_of(const char *address_hash)
{
	static char text[200];

	text[0] = '\0';
	rows_of_address(harness_state(h), "demo", address_hash, note, text);
	return text;
}

static void open_carts_are_found_by_each_address_they_were_given(void **state)
{
	CartState *row = row_of("c1", 1);

	(void)state;
	TEXT_COPY(row->ids.email_hash, "ann");
	row->also_count = 1;
	TEXT_COPY(row->also[0].email_hash, "bob");
	given(row);
	row = row_of("c2", 1);
	TEXT_COPY(row->ids.email_hash, "ann");
	given(row);
	given(row_of("c3", 1));
	assert_string_equal(open_of("ann"), "c1 c2 ");
	assert_string_equal(open_of("bob"), "c1 ");
	assert_string_equal(open_of("an"), "");
	assert_string_equal(open_of(""), "");
	row = row_of("c2", 2);
	TEXT_COPY(row->ids.email_hash, "ann");
	row->status = CART_CLOSED;
	given(row);
	assert_string_equal(open_of("ann"), "c1 ");
}

static bool bought_since(const char *address_hash, int64_t at_us)
{
	static CartState row;

	return rows_bought_since(harness_state(h), "demo", address_hash, at_us, &row);
}

static void a_purchase_is_found_by_its_address_from_a_moment_on(void **state)
{
	CartState *row = row_of("c1", 1);

	(void)state;
	TEXT_COPY(row->ids.email_hash, "ann");
	given(row);
	assert_false(bought_since("ann", 0)); /* it is open */
	row->status = CART_BOUGHT;
	row->bought_us = NOON_US;
	row->also_count = 1;
	TEXT_COPY(row->also[0].email_hash, "bob");
	given(row);
	assert_true(bought_since("ann", NOON_US));
	assert_false(bought_since("ann", NOON_US + 1));
	assert_true(bought_since("bob", NOON_US));
	assert_false(bought_since("an", 0));
	assert_false(bought_since("", 0));
	row->status = CART_OPEN; /* it was cancelled, and goes on */
	row->state_version = 2;
	given(row);
	assert_false(bought_since("ann", 0));
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, fresh, gone)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_merged_cart_answers_with_the_one_it_went_into_however_often),
		SCENE(every_id_that_a_cart_was_known_by_leads_to_it),
		SCENE(a_late_row_replaces_no_newer_one),
		SCENE(open_carts_are_found_by_each_address_they_were_given),
		SCENE(a_purchase_is_found_by_its_address_from_a_moment_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
