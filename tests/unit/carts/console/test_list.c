/* test_list.c: the list of carts: what it shows, its filters, and its pages while carts come and go */
#include "services/carts/console/list.h"
#include "world.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY (bytes_of("a key of the console"))

static json_t *list(const struct harness *h, const struct list_filter *filter, const char *cursor)
{
	struct page_asked asked = asked_of(h);
	json_t *page = json_object();

	assert_int_equal(list_carts(&asked, filter, KEY, cursor, page), 0);
	return page;
}

/* The ids of a page that is the whole list, with blanks between. */
static const char *ids(const struct harness *h, struct list_filter filter, char ret[400])
{
	json_t *page = list(h, &filter, ""), *item;
	size_t i;

	ret[0] = '\0';
	json_array_foreach(json_object_get(page, "items"), i, item)
		snprintf(ret + strlen(ret), 400 - strlen(ret), "%s%s", i ? " " : "", text_at(item, "cart"));
	assert_true(json_is_null(json_object_get(page, "next")));
	json_decref(page);
	return ret;
}

static struct list_filter of_word(enum cart_word word)
{
	struct list_filter filter = LIST_FILTER_NONE;

	filter.word = word;
	return filter;
}

static struct list_filter of_amount(const char *currency, int64_t least, int64_t most)
{
	struct list_filter filter = LIST_FILTER_NONE;

	snprintf(filter.currency, sizeof(filter.currency), "%s", currency);
	filter.least_minor = least;
	filter.most_minor = most;
	return filter;
}

static void a_line_shows_what_is_known_of_its_cart_and_its_next_mail(void **context)
{
	struct harness *h = pages_new();
	json_t *page, *item, *next;

	(void)context;
	given_shop(h, "");
	given_cart(h, &(struct a_cart){ .id = "c1", .left_us = NOW_US - US_PER_HOUR });
	given_timer(h, "c1", 3, NOW_US + 3 * US_PER_HOUR);
	page = list(h, &LIST_FILTER_NONE, "");
	item = json_array_get(json_object_get(page, "items"), 0);
	assert_string_equal(text_at(item, "cart"), "c1");
	assert_string_equal(text_at(item, "address"), "a***@buyer.example");
	assert_string_equal(text_at(item, "first_item"), "Mug");
	assert_string_equal(text_at(item, "state"), "waiting");
	assert_int_equal(number_at(item, "left_us"), NOW_US - US_PER_HOUR);
	assert_int_equal(number_at(item, "total_minor"), 3599);
	assert_int_equal(number_at(item, "items"), 1);
	assert_int_equal(number_at(item, "mails"), 0);
	assert_true(json_is_null(json_object_get(item, "closed_reason")));
	next = json_object_get(item, "next");
	assert_int_equal(number_at(next, "step"), 1);
	assert_int_equal(number_at(next, "at_us"), NOW_US + 3 * US_PER_HOUR);
	assert_string_equal(text_at(next, "words"), "first reminder (its wait is over then)");
	json_decref(page);
	harness_free(h);
}

static void the_newest_comes_first_and_each_cart_is_under_one_word(void **context)
{
	static const struct a_cart carts[] = { { .id = "waits", .left_us = NOON_US(1) },
		{ .id = "nobody", .left_us = NOON_US(2), .email = "" },
		{ .id = "bought", .left_us = NOON_US(3), .status = CART_BOUGHT, .bought_us = NOON_US(2) },
		{ .id = "mailed", .left_us = NOON_US(4) },
		{ .id = "gaveup", .left_us = NOON_US(5), .status = CART_CLOSED, .closed_reason = CLOSED_GAVE_UP },
		{ .id = "observed", .left_us = NOON_US(6), .status = CART_CLOSED, .closed_reason = CLOSED_GAVE_UP },
		{ .id = "optout", .left_us = NOON_US(7), .status = CART_CLOSED, .closed_reason = CLOSED_OPTED_OUT },
		{ .id = "excluded", .left_us = NOON_US(8), .status = CART_CLOSED, .closed_reason = CLOSED_NOT_CHASED },
		{ .id = "old", .left_us = NOON_US(9), .status = CART_CLOSED, .closed_reason = CLOSED_NO_ADDRESS },
		{ .id = "owner", .left_us = NOON_US(10), .status = CART_CLOSED, .closed_reason = CLOSED_BY_OWNER } };
	struct harness *h = pages_new();
	char seen[400];
	size_t sum = 0;

	(void)context;
	for (size_t i = 0; i < sizeof(carts) / sizeof(carts[0]); i++)
		given_cart(h, &carts[i]);
	given_sent(h, "mailed", 1, NOON_US(3));
	given_sent(h, "gaveup", 1, NOON_US(4));
	assert_string_equal(
		ids(h, LIST_FILTER_NONE, seen), "waits nobody bought mailed gaveup observed optout excluded old owner");
	assert_string_equal(ids(h, of_word(CART_WORD_WAITING), seen), "waits");
	assert_string_equal(ids(h, of_word(CART_WORD_MAILED), seen), "mailed gaveup");
	assert_string_equal(ids(h, of_word(CART_WORD_BOUGHT), seen), "bought");
	assert_string_equal(ids(h, of_word(CART_WORD_NO_ADDRESS), seen), "nobody old");
	assert_string_equal(ids(h, of_word(CART_WORD_EXCLUDED), seen), "excluded");
	assert_string_equal(ids(h, of_word(CART_WORD_SUPPRESSED), seen), "optout");
	assert_string_equal(ids(h, of_word(CART_WORD_CLOSED), seen), "observed owner");
	for (enum cart_word word = 0; word < CART_WORDS; word++) {
		struct list_filter filter = of_word(word);
		json_t *page = list(h, &filter, "");

		sum += json_array_size(json_object_get(page, "items"));
		json_decref(page);
	}
	assert_int_equal(sum, sizeof(carts) / sizeof(carts[0]));
	harness_free(h);
}

static void amounts_and_days_filter(void **context)
{
	struct list_filter filter = LIST_FILTER_NONE;
	struct harness *h = pages_new();
	char seen[400];

	(void)context;
	given_cart(h, &(struct a_cart){ .id = "c1", .left_us = NOON_US(1), .total_minor = 1000 });
	given_cart(h, &(struct a_cart){ .id = "c2", .left_us = NOON_US(2), .total_minor = 2000 });
	given_cart(h, &(struct a_cart){ .id = "c3", .left_us = NOON_US(3), .total_minor = 3000, .email = "" });
	given_cart(h, &(struct a_cart){ .id = "e2", .left_us = NOON_US(2), .total_minor = 2000, .currency = "EUR" });
	assert_string_equal(ids(h, of_amount("USD", 0, INT64_MAX), seen), "c3 c2 c1");
	assert_string_equal(ids(h, of_amount("USD", 1000, 2000), seen), "c2 c1");
	assert_string_equal(ids(h, of_amount("USD", 2000, 2999), seen), "c2");
	assert_string_equal(ids(h, of_amount("EUR", 0, INT64_MAX), seen), "e2");
	assert_string_equal(ids(h, of_amount("GBP", 0, INT64_MAX), seen), "");
	filter.from_us = NOON_US(2);
	assert_string_equal(ids(h, filter, seen), "c1 c2 e2");
	filter.to_us = NOON_US(1);
	assert_string_equal(ids(h, filter, seen), "c2 e2");
	filter = of_amount("USD", 1500, INT64_MAX);
	filter.word = CART_WORD_NO_ADDRESS;
	assert_string_equal(ids(h, filter, seen), "c3");
	harness_free(h);
}

static void a_cart_that_was_merged_away_is_not_listed_and_its_mails_count_for_the_other(void **context)
{
	struct harness *h = pages_new();
	char seen[400], now[LINE_ID_MAX];

	(void)context;
	given_cart(h, &(struct a_cart){ .id = "c1", .left_us = NOON_US(2) });
	given_cart(h, &(struct a_cart){ .id = "c2", .left_us = NOON_US(1), .merged_from = "c1" });
	given_cart(h, &(struct a_cart){ .id = "c1", .left_us = NOON_US(2), .merged_into = "c2" });
	assert_string_equal(ids(h, LIST_FILTER_NONE, seen), "c2");
	assert_true(line_named(harness_state(h), DEMO, "id:c1", now));
	assert_string_equal(now, "c2");
	given_sent(h, "c1", 1, NOON_US(1));
	assert_string_equal(ids(h, of_word(CART_WORD_MAILED), seen), "c2");
	harness_free(h);
}

static void a_mail_to_the_owner_is_none_to_the_shopper(void **context)
{
	ReminderOutcome sent = { .cart_id = "c1", .step = 1, .attempt = 1, .at_us = NOW_US, .to_owner = true };
	struct harness *h = pages_new();
	char seen[400];

	(void)context;
	given_cart(h, &(struct a_cart){ .id = "c1" });
	GIVEN(h, reminder_sent, &sent, .shop = DEMO, .key = "c1/1");
	assert_string_equal(ids(h, of_word(CART_WORD_WAITING), seen), "c1");
	harness_free(h);
}

static void a_cart_that_changes_moves_in_each_index_and_leaves_nothing_behind(void **context)
{
	struct harness *h = pages_new();
	char seen[400];

	(void)context;
	given_cart(h, &(struct a_cart){ .id = "c1", .left_us = NOON_US(3), .total_minor = 1000, .token = "old" });
	given_cart(h,
		&(struct a_cart){ .id = "c1",
			.left_us = NOON_US(1),
			.total_minor = 2000,
			.token = "new",
			.email = "ben@buyer.example" });
	assert_string_equal(ids(h, LIST_FILTER_NONE, seen), "c1");
	assert_string_equal(ids(h, of_amount("USD", 0, 1500), seen), "");
	assert_string_equal(ids(h, of_amount("USD", 0, INT64_MAX), seen), "c1");
	assert_false(line_named(harness_state(h), DEMO, "ct:old", seen));
	assert_true(line_named(harness_state(h), DEMO, "ct:new", seen));
	assert_false(STATE_HAS(harness_state(h), lines_by_shopper, DEMO, "h-ann@buyer.example"));
	harness_free(h);
}

/* ---- pages ---- */

enum { MANY = 3000, COMES = 1000 };

static void give_numbered(struct harness *h, int n, int64_t left_us, CartStatus status)
{
	char id[16];

	snprintf(id, sizeof(id), "n%05d", n);
	given_cart(h, &(struct a_cart){ .id = id, .left_us = left_us, .status = status, .bought_us = left_us });
}

static void a_walk_over_all_pages_meets_each_cart_once_while_others_come_and_go(void **context)
{
	struct harness *h = pages_new();
	static int met[MANY];
	char *cursor = strdup("");
	int next_new = MANY, next_gone = 0;

	(void)context;
	memset(met, 0, sizeof(met));
	for (int i = 0; i < MANY; i++) /* three carts were left in each moment */
		give_numbered(h, i, NOON_US(20) + i / 3 * US_PER_MINUTE, CART_OPEN);
	do {
		struct list_filter filter = of_word(CART_WORD_WAITING);
		json_t *page = list(h, &filter, cursor), *item;
		size_t i;

		json_array_foreach(json_object_get(page, "items"), i, item)
		{
			int n = atoi(text_at(item, "cart") + 1);

			if (n < MANY)
				met[n]++;
		}
		free(cursor);
		cursor = json_is_string(json_object_get(page, "next")) ? strdup(text_at(page, "next")) : NULL;
		json_decref(page);
		for (int k = 0; k < COMES / 60 + 1;
			k++) { /* newer carts come, and between the others; the oldest ones go */
			give_numbered(h, next_new, NOON_US(20) + (next_new % 997) * US_PER_MINUTE + 1, CART_OPEN);
			next_new++;
		}
		give_numbered(h, next_gone, NOON_US(20) + next_gone / 3 * US_PER_MINUTE, CART_BOUGHT);
		next_gone++;
	} while (cursor);
	for (int i = 0; i < MANY; i++)
		if (met[i] != 1 && (i >= next_gone || met[i] > 1))
			fail_msg("cart %d came %d times", i, met[i]);
	assert_true(next_new - MANY >= COMES);
	harness_free(h);
}

static void a_search_that_finds_little_stops_and_tells_how_far_it_came(void **context)
{
	struct list_filter filter = of_word(CART_WORD_WAITING);
	struct harness *h = pages_new();
	json_t *page, *rest;

	(void)context;
	for (int i = 0; i < LIST_BUDGET + 500; i++)
		give_numbered(h, i, NOON_US(20) + (i + 1) * US_PER_MINUTE, CART_OPEN);
	given_cart(h, &(struct a_cart){ .id = "rare", .left_us = NOON_US(20), .total_minor = 9, .currency = "USD" });
	filter = of_amount("USD", 0, INT64_MAX);
	filter.from_us = NOON_US(20);
	filter.to_us = NOON_US(20) + 1;
	page = list(h, &filter, "");
	assert_int_equal(json_array_size(json_object_get(page, "items")), 0);
	assert_int_equal(number_at(page, "searched_to_minor"), 3599);
	rest = list(h, &filter, text_at(page, "next"));
	assert_true(json_is_null(json_object_get(rest, "next")));
	assert_true(json_is_null(json_object_get(rest, "searched_to_minor")));
	json_decref(page);
	assert_int_equal(json_array_size(json_object_get(rest, "items")), 1);
	json_decref(rest);
	harness_free(h);
}

static void a_cursor_that_was_not_made_for_this_list_is_refused(void **context)
{
	struct list_filter filter = LIST_FILTER_NONE, other = of_word(CART_WORD_WAITING);
	struct harness *h = pages_new();
	struct page_asked asked = asked_of(h), of_other_shop = asked_of(h);
	static const char *const forged[] = { "x", "AAAA", "%", "../../etc", "\xff\xfe" };
	json_t *page, *ret = json_object();
	char cursor[400];

	(void)context;
	for (int i = 0; i < LIST_ROWS + 2; i++)
		give_numbered(h, i, NOON_US(2) + i, CART_OPEN);
	page = list(h, &filter, "");
	snprintf(cursor, sizeof(cursor), "%s", text_at(page, "next"));
	json_decref(page);
	assert_int_equal(list_carts(&asked, &filter, KEY, cursor, ret), 0);
	of_other_shop.shop = "other";
	assert_int_equal(list_carts(&of_other_shop, &filter, KEY, cursor, ret), -EBADMSG);
	assert_int_equal(list_carts(&asked, &other, KEY, cursor, ret), -EBADMSG);
	assert_int_equal(list_carts(&asked, &filter, bytes_of("another key"), cursor, ret), -EBADMSG);
	cursor[5] = cursor[5] == 'A' ? 'B' : 'A';
	assert_int_equal(list_carts(&asked, &filter, KEY, cursor, ret), -EBADMSG);
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++)
		assert_int_equal(list_carts(&asked, &filter, KEY, forged[i], ret), -EBADMSG);
	json_decref(ret);
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_shows_what_is_known_of_its_cart_and_its_next_mail),
		cmocka_unit_test(the_newest_comes_first_and_each_cart_is_under_one_word),
		cmocka_unit_test(amounts_and_days_filter),
		cmocka_unit_test(a_cart_that_was_merged_away_is_not_listed_and_its_mails_count_for_the_other),
		cmocka_unit_test(a_mail_to_the_owner_is_none_to_the_shopper),
		cmocka_unit_test(a_cart_that_changes_moves_in_each_index_and_leaves_nothing_behind),
		cmocka_unit_test(a_walk_over_all_pages_meets_each_cart_once_while_others_come_and_go),
		cmocka_unit_test(a_search_that_finds_little_stops_and_tells_how_far_it_came),
		cmocka_unit_test(a_cursor_that_was_not_made_for_this_list_is_refused),
	};

	return cmocka_run_group_tests_name("carts.console.list", tests, NULL, NULL);
}
