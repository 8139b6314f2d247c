/* test_reading_generic.c: our own documented JSON */
#include "bus/base/clock.h"
#include "given.h"
#include <stdio.h>

static struct event *event;

static enum reading read_body(struct bytes body)
{
	struct event_source source = { .shop = "demo",
		.topic = "",
		.webhook_id = "",
		.address_key = bytes_of("0123456789abcdef0123456789abcdef"),
		.heard_us = at_us("2026-11-21T10:00:00Z") };

	event = fresh_event();
	return generic_read(&source, body, event);
}

static void a_changed_cart_is_read_whole(void **state)
{
	(void)state;
	assert_int_equal(read_body(fixture("cart-changed.json", NULL, NULL)), READ_CHANGED);
	assert_string_equal(event->webhook_id, "9f0c6c1e-0001");
	assert_string_equal(event->changed.ids.cart_id, "wc-5f1d7a2e");
	assert_string_equal(event->changed.ids.email, "john.doe@example.com");
	assert_int_equal(event->changed.changed_us, at_us("2026-11-20T18:20:00Z"));
	assert_int_equal(event->changed.total_minor, 1800);
	assert_int_equal(event->changed.items_count, 2);
	assert_int_equal(event->changed.items[0].price_minor, 300);
	assert_string_equal(event->changed.items[0].link, "https://store.example/product/single-1");
	assert_string_equal(event->changed.items[1].variant_title, "Black, M");
	assert_string_equal(event->changed.recovery_url, "https://store.example/cart/?cartbus=wc-5f1d7a2e");
	assert_int_equal(event->changed.consent, CONSENT_UNKNOWN);
	assert_string_equal(event->changed.discount_codes[0], "HELLO");
	assert_false(event->changed.saved_link);
	assert_false(event->changed.has_wait_override);
}

static void a_checkout_a_saved_link_and_an_override_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(read_body(fixture("cart-checked-out.json", NULL, NULL)), READ_CHECKOUT);
	assert_int_equal(event->checkout.kind, CHECKOUT_BOUGHT);
	assert_string_equal(event->checkout.ids.order_id, "727");
	assert_int_equal(read_body(fixture("cart-checked-out.json", "checked_out", "cancelled")), READ_CHECKOUT);
	assert_int_equal(event->checkout.kind, CHECKOUT_CANCELLED);
	assert_int_equal(read_body(fixture("cart-checked-out.json", "checked_out", "refunded")), READ_UNREADABLE);
	assert_int_equal(
		read_body(fixture("cart-checked-out.json", "\"checked_out\"", "\"refunded\", \"refunded\": \"4.00\"")),
		READ_CHECKOUT);
	assert_int_equal(event->checkout.kind, CHECKOUT_REFUNDED);
	assert_int_equal(event->checkout.refunded_minor, 400);
	assert_int_equal(read_body(fixture("cart-saved-link.json", NULL, NULL)), READ_CHANGED);
	assert_true(event->changed.saved_link);
	assert_false(event->changed.has_items);
	assert_int_equal(read_body(fixture("cart-wait-override.json", NULL, NULL)), READ_CHANGED);
	assert_true(event->changed.has_wait_override);
	assert_int_equal(event->changed.wait_override.first_us, 90 * US_PER_MINUTE);
	assert_int_equal(event->changed.wait_override.second_us, US_PER_DAY);
}

static void an_override_that_makes_no_sense_is_unreadable(void **state)
{
	static const char *const waits[][2] = { { "90min", "90min" }, { "2h", "1h" }, { "0min", "1h" },
		{ "soon", "1h" }, { "1h", "61d" }, { "1h", "" }, { "-1h", "2h" }, { "1 h", "2h" },
		{ "99999999999999h", "2h" } };
	char body[200];

	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		snprintf(body, sizeof(body),
			"{\"id\":\"1\",\"event\":\"wait_override\",\"cart\":\"c\",\"first_wait\":\"%s\",\"second_"
			"wait\":\"%s\"}",
			waits[i][0], waits[i][1]);
		assert_int_equal(read_body(bytes_of(body)), READ_UNREADABLE);
		assert_non_null(strstr(event->why, "first_wait"));
	}
}

static void links_and_pictures_that_could_hurt_are_left_out(void **state)
{
	(void)state;
	assert_int_equal(
		read_body(bytes_of(
			"{\"id\":\"1\",\"event\":\"changed\",\"cart\":\"c\",\"recovery_url\":"
			"\"javascript:alert(1)\",\"items\":[{\"title\":\"a\",\"picture\":\"http://x.example/p\","
			"\"link\":\"https://x.example/\\\"onload=\\\"\"}]}")),
		READ_CHANGED);
	assert_string_equal(event->changed.recovery_url, "");
	assert_string_equal(event->changed.items[0].picture, "");
	assert_string_equal(event->changed.items[0].link, "");
}

static void what_is_missing_is_named(void **state)
{
	static const struct {
		const char *body, *word;
	} rows[] = {
		{ "{\"event\":\"changed\",\"cart\":\"c\"}", "id" },
		{ "{\"id\":\"1\",\"cart\":\"c\"}", "event" },
		{ "{\"id\":\"1\",\"event\":\"exploded\",\"cart\":\"c\"}", "event" },
		{ "{\"id\":\"1\",\"event\":\"changed\"}", "cart" },
		{ "{\"id\":\"1\",\"event\":\"changed\",\"customer_id\":\"78\"}", "cart, cart_token" },
		{ "{\"id\":\"1\",\"event\":\"checked_out\"}", "order_id, email, customer_id" },
		{ "{\"id\":\"1\",\"event\":\"checked_out\",\"customer_id\":0}", "order_id, email, customer_id" },
		{ "{\"id\":\"1\",\"event\":\"changed\",\"cart\":\"c\",\"total\":\"1.00\"}", "currency" },
		{ "{\"id\":\"1\",\"event\":\"changed\",\"cart\":\"c\",\"total\":\"x\",\"currency\":\"EUR\"}", "total" },
		{ "{\"id\":\"1\",\"event\":\"changed\",\"cart\":\"c\",\"total\":\"-0.01\",\"currency\":\"EUR\"}",
			"total" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(read_body(bytes_of(rows[i].body)), READ_UNREADABLE);
		assert_non_null(strstr(event->why, rows[i].word));
	}
}

static void a_checkout_that_names_only_the_shopper_is_a_stop(void **state)
{
	(void)state;
	assert_int_equal(read_body(bytes_of("{\"id\":\"1\",\"event\":\"checked_out\",\"email\":\"a@b.example\"}")),
		READ_CHECKOUT);
	assert_string_equal(event->checkout.ids.email, "a@b.example");
	assert_int_equal(
		read_body(bytes_of("{\"id\":\"1\",\"event\":\"checked_out\",\"customer_id\":\"78\"}")), READ_CHECKOUT);
	assert_string_equal(event->checkout.ids.customer_id, "78");
}

/* A storefront gives every guest the number 0. If the reader took it for a name, all guests would be one customer. */
static void a_customer_number_of_0_names_nobody(void **state)
{
	static const struct {
		const char *given, *wanted;
	} cases[] = { { "0", "" }, { "\"0\"", "" }, { "\"\"", "" }, { "null", "" }, { "9", "9" }, { "\"9\"", "9" },
		{ "\"00\"", "00" } };
	char body[200];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(body, sizeof(body), "{\"id\":\"1\",\"event\":\"changed\",\"cart\":\"c\",\"customer_id\":%s}",
			cases[i].given);
		assert_int_equal(read_body(bytes_of(body)), READ_CHANGED);
		assert_string_equal(event->changed.ids.customer_id, cases[i].wanted);
	}
}

static enum reading read_consent(const char *consent)
{
	char body[200];

	snprintf(body, sizeof(body), "{\"id\":\"1\",\"event\":\"changed\",\"cart\":\"c\",\"consent\":%s}", consent);
	return read_body(bytes_of(body));
}

static void a_no_is_a_no_however_it_is_written(void **state)
{
	static const char *const no[] = { "false", "0", "0.0", "\"0\"", "\"false\"", "\"False\"", "\"no\"",
		"\"denied\"", "\"\"" };
	static const char *const yes[] = { "true", "1", "\"1\"", "\"true\"", "\"yes\"", "\"YES\"" };

	(void)state;
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		assert_int_equal(read_consent(no[i]), READ_CHANGED);
		assert_int_equal(event->changed.consent, CONSENT_NO);
	}
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		assert_int_equal(read_consent(yes[i]), READ_CHANGED);
		assert_int_equal(event->changed.consent, CONSENT_YES);
	}
	assert_int_equal(read_consent("null"), READ_CHANGED);
	assert_int_equal(event->changed.consent, CONSENT_UNKNOWN);
}

static void a_consent_that_is_neither_yes_nor_no_counts_as_a_no_and_is_told(void **state)
{
	static const char *const neither[] = { "2", "-1", "\"maybe\"", "{\"email\":false}", "[]", "[true]",
		"\"yes\\u0000\"" };

	(void)state;
	for (size_t i = 0; i < sizeof(neither) / sizeof(neither[0]); i++) {
		assert_int_equal(read_consent(neither[i]), READ_CHANGED);
		assert_int_equal(event->changed.consent, CONSENT_NO);
		assert_true(event->changed.consent_unreadable);
		assert_non_null(strstr(event->doubt, "consent"));
	}
	assert_int_equal(read_consent("false"), READ_CHANGED);
	assert_false(event->changed.consent_unreadable);
	assert_null(event->doubt);
}

static void a_byte_order_mark_before_the_json_is_skipped(void **state)
{
	(void)state;
	assert_int_equal(
		read_body(bytes_of("\xef\xbb\xbf{\"id\":\"1\",\"event\":\"changed\",\"cart\":\"c\"}")), READ_CHANGED);
	assert_int_equal(read_body(bytes_of("\xef\xbb\xbf")), READ_UNREADABLE);
}

static void a_text_that_was_cut_within_an_emoji_is_read(void **state)
{
	static const struct {
		const char *sent, *read;
	} titles[] = { { "cut \\ud83c", "cut \xef\xbf\xbd" }, { "\\uDF39 low", "\xef\xbf\xbd low" },
		{ "\\ud83c\\ud83c\\udf39", "\xef\xbf\xbd\xf0\x9f\x8c\xb9" },
		{ "whole \\ud83c\\udf39", "whole \xf0\x9f\x8c\xb9" }, { "\\\\ud83c", "\\ud83c" } };

	(void)state;
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++) {
		char body[300];

		snprintf(body, sizeof(body),
			"{\"id\": \"1\", \"event\": \"changed\", \"cart\": \"c\", \"items\": [{\"title\": \"%s\"}]}",
			titles[i].sent);
		assert_int_equal(read_body(bytes_of(body)), READ_CHANGED);
		assert_string_equal(event->changed.items[0].title, titles[i].read);
	}
	assert_int_equal(
		read_body(bytes_of(
			"{\"id\": \"1\", \"event\": \"checked_out\", \"cart\": \"c\", \"note\": \"\\ud83c\"}")),
		READ_CHECKOUT);              /* a stop is not lost for it */
	for (size_t len = 0; len < 6; len++) /* cut anywhere it is no JSON, and read no further than its end */
		assert_int_equal(read_body(BYTES("\\ud83c", len)), READ_UNREADABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_cart_is_read_whole),
		cmocka_unit_test(a_checkout_a_saved_link_and_an_override_are_told_apart),
		cmocka_unit_test(an_override_that_makes_no_sense_is_unreadable),
		cmocka_unit_test(links_and_pictures_that_could_hurt_are_left_out),
		cmocka_unit_test(what_is_missing_is_named),
		cmocka_unit_test(a_checkout_that_names_only_the_shopper_is_a_stop),
		cmocka_unit_test(a_customer_number_of_0_names_nobody),
		cmocka_unit_test(a_no_is_a_no_however_it_is_written),
		cmocka_unit_test(a_consent_that_is_neither_yes_nor_no_counts_as_a_no_and_is_told),
		cmocka_unit_test(a_byte_order_mark_before_the_json_is_skipped),
		cmocka_unit_test(a_text_that_was_cut_within_an_emoji_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
