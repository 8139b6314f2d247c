/* test_contents.c: of two tellings of one cart the newer counts, and the older fills what is missing, in every field */
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "given.h"
#include "services/carts/intake/cart.h"
#include <stdlib.h>

/* ---- one telling: everything in it is of this letter ---- */

#define FILL(to, letter)                                                                                               \
	do {                                                                                                           \
		const char text[] = { (letter), '\0' };                                                                \
		(to)->items_count = 1;                                                                                 \
		(to)->items[0] = (Item){ .quantity = (uint32_t)(letter), .price_minor = 100 };                         \
		TEXT_COPY((to)->items[0].title, text);                                                                 \
		(to)->items_left_out = (uint32_t)(letter);                                                             \
		(to)->total_minor = (letter);                                                                          \
		TEXT_COPY((to)->currency, (letter) == 'A' ? "EUR" : "USD");                                            \
		TEXT_COPY((to)->locale, text);                                                                         \
		TEXT_COPY((to)->recovery_url, text);                                                                   \
		TEXT_COPY((to)->first_name, text);                                                                     \
		(to)->discount_codes_count = 1;                                                                        \
		TEXT_COPY((to)->discount_codes[0], text);                                                              \
		(to)->note_attributes_count = 1;                                                                       \
		TEXT_COPY((to)->note_attributes[0].name, text);                                                        \
		(to)->tags_count = 1;                                                                                  \
		TEXT_COPY((to)->tags[0], text);                                                                        \
		(to)->tags_left_out = (uint32_t)(letter);                                                              \
		(to)->consent = (letter) == 'A' ? CONSENT_YES : CONSENT_NO;                                            \
		(to)->consent_unreadable = (letter) == 'B';                                                            \
		(to)->has_wait_override = true;                                                                        \
		(to)->wait_override = (WaitOverride){ .first_us = (letter), .second_us = 2 * (letter) };               \
	} while (0)

static void assert_all(const CartState *row, char letter)
{
	const char text[] = { letter, '\0' };

	assert_int_equal(row->items_count, 1);
	assert_int_equal(row->items[0].quantity, letter);
	assert_string_equal(row->items[0].title, text);
	assert_int_equal(row->items_left_out, letter);
	assert_int_equal(row->total_minor, letter);
	assert_string_equal(row->currency, letter == 'A' ? "EUR" : "USD");
	assert_string_equal(row->locale, text);
	assert_string_equal(row->recovery_url, text);
	assert_string_equal(row->first_name, text);
	assert_int_equal(row->discount_codes_count, 1);
	assert_string_equal(row->discount_codes[0], text);
	assert_int_equal(row->note_attributes_count, 1);
	assert_string_equal(row->note_attributes[0].name, text);
	assert_int_equal(row->tags_count, 1);
	assert_string_equal(row->tags[0], text);
	assert_int_equal(row->tags_left_out, letter);
	assert_int_equal(row->consent, letter == 'A' ? CONSENT_YES : CONSENT_NO);
	assert_int_equal(row->consent_unreadable, letter == 'B');
	assert_true(row->has_wait_override);
	assert_int_equal(row->wait_override.first_us, letter);
	assert_int_equal(row->wait_override.second_us, 2 * letter);
}

/* 0: it says nothing but whose cart it is. */
static CartChanged *telling(char letter, int minute)
{
	static CartChanged changed; /* large */

	changed = (CartChanged){
		.has_ids = true, .ids = { .cart_token = "t1" }, .changed_us = MINUTE(minute), .heard_us = MINUTE(60)
	};
	if (letter) {
		FILL(&changed, letter);
		changed.has_items = changed.has_total = true;
		changed.platform = letter == 'A' ? PLATFORM_SHOPIFY : PLATFORM_GENERIC;
	}
	return &changed;
}

static const struct {
	char first, second; /* 0: nothing is said */
	int first_minute, second_minute;
	char wanted;
} cases[] = { { 'A', 'B', 10, 20, 'B' }, { 'A', 'B', 20, 10, 'A' }, { 'A', 0, 10, 20, 'A' }, { 'A', 0, 20, 10, 'A' },
	{ 0, 'B', 10, 20, 'B' }, { 0, 'B', 20, 10, 'B' } };

static void a_late_change_fills_what_is_missing_and_replaces_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = harness_new(&intake, NOON_US);
		static CartState row;

		assert_int_equal(when_changed(h, telling(cases[i].first, cases[i].first_minute)), TURN_DONE);
		row = *said_row(h);
		assert_int_equal(when_changed(h, telling(cases[i].second, cases[i].second_minute)), TURN_DONE);
		if (harness_count(h, &topic_cart_state))
			row = *said_row(h);
		assert_all(&row, cases[i].wanted);
		assert_int_equal(row.platform, cases[i].wanted == 'A' ? PLATFORM_SHOPIFY : PLATFORM_GENERIC);
		harness_free(h);
	}
}

/* ---- two rows that turn out to be one ---- */

static CartState *row_of(char letter, int minute, const char *id)
{
	CartState *row = memory_new(sizeof(*row));

	row->has_ids = true;
	row->changed_us = row->abandoned_us = MINUTE(minute);
	TEXT_COPY(row->ids.cart_id, id);
	if (letter)
		FILL(row, letter);
	return row;
}

static void of_two_rows_that_are_one_the_newer_counts_as_well(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CartState *winner = row_of(cases[i].first, cases[i].first_minute, "c1");
		CartState *loser = row_of(cases[i].second, cases[i].second_minute, "c2");

		cart_merge(winner, loser, MINUTE(60));
		assert_all(winner, cases[i].wanted);
		assert_int_equal(winner->changed_us, MINUTE(20));
		assert_int_equal(winner->abandoned_us, MINUTE(20));
		assert_int_equal(winner->status, CART_OPEN);
		assert_int_equal(loser->status, CART_CLOSED);
		assert_int_equal(loser->closed_reason, CLOSED_MERGED);
		assert_int_equal(loser->closed_us, MINUTE(60));
		assert_string_equal(loser->merged_into, "c1");
		free(winner);
		free(loser);
	}
}

/* Whichever of the two was saved or is a test, so is the one that they are. */
static void what_holds_of_either_holds_of_the_one(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		CartState *winner = row_of('A', 10, "c1"), *loser = row_of('B', 5, "c2");

		winner->saved_link = winner->test = i & 1;
		loser->saved_link = loser->test = i & 2;
		winner->revision = 3 + (uint64_t)i;
		loser->revision = 5;
		cart_merge(winner, loser, MINUTE(60));
		assert_int_equal(winner->saved_link, i != 0);
		assert_int_equal(winner->test, i != 0);
		assert_int_equal(winner->revision, (i < 2 ? 5 : 3 + i) + 1); /* timers of both are older */
		free(winner);
		free(loser);
	}
}

/* An API of the owner's may add something to a cart of Shopify, whose URL leads to one of Shopify's hosts. */
static void a_recovery_url_keeps_the_platform_that_gave_it(void **state)
{
	CartState row;
	CartChanged changed = { .has_ids = true, .ids = { .cart_token = "t1" }, .heard_us = MINUTE(60) };

	(void)state;
	for (int newer = 0; newer < 2; newer++) {
		changed.changed_us = MINUTE(10);
		changed.platform = PLATFORM_SHOPIFY;
		TEXT_COPY(changed.recovery_url, "https://name.myshopify.com/1");
		cart_first_seen(&row, "t1", &changed, MINUTE(60));
		changed.changed_us = MINUTE(newer ? 20 : 5);
		changed.platform = PLATFORM_GENERIC;
		changed.recovery_url[0] = '\0';
		cart_upsert(&row, &changed, MINUTE(61));
		assert_int_equal(row.platform, PLATFORM_SHOPIFY);
		TEXT_COPY(changed.recovery_url, "https://shop.example/1");
		cart_upsert(&row, &changed, MINUTE(62));
		assert_int_equal(row.platform, newer ? PLATFORM_GENERIC : PLATFORM_SHOPIFY);
		assert_string_equal(
			row.recovery_url, newer ? "https://shop.example/1" : "https://name.myshopify.com/1");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_change_fills_what_is_missing_and_replaces_nothing),
		cmocka_unit_test(of_two_rows_that_are_one_the_newer_counts_as_well),
		cmocka_unit_test(what_holds_of_either_holds_of_the_one),
		cmocka_unit_test(a_recovery_url_keeps_the_platform_that_gave_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
