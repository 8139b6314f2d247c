/* test_reading_shopify.c: what Shopify's bodies mean, whole and broken */
#include "given.h"
#include "services/kit/mail/address.h"
#include <stdio.h>

static const char cart_token[] = "Z2NwLWV1cm9wZS13ZXN0MTowMUpEOFhBNFRS";
static const char checkout_token[] = "123123123b7d4f0e9c0a1f2e3d4c5b6a";

static struct event_source from(const char *topic)
{
	return (struct event_source){ .shop = "demo",
		.topic = topic,
		.webhook_id = "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043",
		.address_key = bytes_of("0123456789abcdef0123456789abcdef"),
		.heard_us = at_us("2026-11-20T18:00:00Z") };
}

static struct event *event;

static enum reading read_body(const char *topic, struct bytes body)
{
	struct event_source source = from(topic);

	event = fresh_event();
	return shopify_read(&source, body, event);
}

static void a_cart_is_read_with_its_lines_and_their_sum(void **state)
{
	const CartChanged *changed;

	(void)state;
	assert_int_equal(read_body("carts/create", fixture("shopify-carts-create.json", NULL, NULL)), READ_CHANGED);
	changed = &event->changed;
	assert_string_equal(changed->ids.cart_token, cart_token);
	assert_string_equal(event_key(&changed->ids), cart_token);
	assert_string_equal(changed->ids.cart_id, "");
	assert_string_equal(changed->currency, "EUR");
	assert_true(changed->has_total);
	assert_int_equal(changed->total_minor, 6448);
	assert_true(changed->has_items);
	assert_int_equal(changed->items_count, 2);
	assert_string_equal(changed->items[0].title, "Rosenstrauß „Amalia“");
	assert_int_equal(changed->items[0].quantity, 2);
	assert_int_equal(changed->items[0].price_minor, 1999);
	assert_string_equal(changed->items[0].sku, "ROSE-S");
	assert_string_equal(changed->items[0].variant_id, "704912205188288575");
	assert_string_equal(changed->items[1].sku, "");
	assert_string_equal(changed->items[1].title, "Vase <b>Klar</b> & rund");
	assert_int_equal(changed->changed_us, at_us("2026-11-20T10:00:00Z"));
	assert_int_equal(changed->consent, CONSENT_UNKNOWN);
	assert_string_equal(changed->ids.email, "");
	assert_string_equal(changed->webhook_id, "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043");
}

static void a_cart_without_lines_is_emptied(void **state)
{
	(void)state;
	assert_int_equal(
		read_body("carts/update", fixture("shopify-carts-update-emptied.json", NULL, NULL)), READ_CHANGED);
	assert_true(event->changed.has_items);
	assert_int_equal(event->changed.items_count, 0);
	assert_false(event->changed.has_total);
}

static void a_body_that_does_not_speak_of_lines_empties_nothing(void **state)
{
	(void)state;
	assert_int_equal(read_body("carts/update", bytes_of("{\"token\":\"t\",\"line_items\":null}")), READ_CHANGED);
	assert_false(event->changed.has_items);
}

static void an_address_that_is_none_is_noted_and_not_taken(void **state)
{
	(void)state;
	assert_int_equal(
		read_body("checkouts/update", bytes_of("{\"token\":\"t\",\"email\":\"ann at buyer\"}")), READ_CHANGED);
	assert_true(event->changed.ids.email_unusable);
	assert_string_equal(event->changed.ids.email, "");
	assert_int_equal(read_body("checkouts/update", bytes_of("{\"token\":\"t\",\"email\":\"ann@buyer.example\"}")),
		READ_CHANGED);
	assert_false(event->changed.ids.email_unusable);
	assert_int_equal(read_body("checkouts/update", bytes_of("{\"token\":\"t\",\"email\":null}")), READ_CHANGED);
	assert_false(event->changed.ids.email_unusable);
}

static void a_checkout_without_an_address_and_with_a_list_for_its_shipping_address_is_read(void **state)
{
	const CartChanged *changed;

	(void)state;
	assert_int_equal(
		read_body("checkouts/create", fixture("shopify-checkouts-create.json", NULL, NULL)), READ_CHANGED);
	changed = &event->changed;
	assert_string_equal(changed->ids.cart_token, cart_token);
	assert_string_equal(changed->ids.checkout_token, checkout_token);
	assert_string_equal(changed->ids.checkout_id, "981820079255243537");
	assert_string_equal(changed->ids.email, "");
	assert_string_equal(changed->ids.email_hash, "");
	assert_int_equal(changed->consent, CONSENT_UNKNOWN); /* a box that was not ticked */
	assert_string_equal(changed->locale, "de-DE");
	assert_int_equal(changed->total_minor, 6448);
	assert_string_equal(changed->items[0].picture, "https://cdn.shop.example/rose.jpg");
	assert_string_equal(changed->recovery_url,
		"https://blumen-huber.example/548380009/checkouts/123123123/recover?key=example-secret-token");
	assert_int_equal(changed->changed_us, at_us("2026-11-20T10:58:03Z"));
}

static void the_address_that_arrives_later_is_normalised_and_hashed(void **state)
{
	char hash[ADDRESS_HASH_LEN + 1];

	(void)state;
	assert_int_equal(
		read_body("checkouts/update", fixture("shopify-checkouts-update.json", NULL, NULL)), READ_CHANGED);
	address_hash(bytes_of("0123456789abcdef0123456789abcdef"), "demo", "ada.lovelace@example.com", hash);
	assert_string_equal(event->changed.ids.email, "ada.lovelace@example.com");
	assert_string_equal(event->changed.ids.email_hash, hash);
	assert_string_equal(event->changed.ids.customer_id, "603851970716743426");
	assert_string_equal(event->changed.first_name, "Ada");
	assert_int_equal(event->changed.consent, CONSENT_YES);
	assert_int_equal(event->changed.discount_codes_count, 1);
	assert_string_equal(event->changed.discount_codes[0], "WELCOME10");
	assert_int_equal(event->changed.note_attributes_count, 2);
	assert_string_equal(event->changed.note_attributes[0].value, "yes");
	assert_string_equal(event->changed.note_attributes[1].value, "");
	assert_int_equal(event->changed.total_minor, 5803);
}

static void what_was_seen_in_the_wild_is_tolerated(void **state)
{
	(void)state;
	assert_int_equal(read_body("checkouts/create", fixture("shopify-checkouts-create-malformed.json", NULL, NULL)),
		READ_CHANGED);
	assert_string_equal(event->changed.currency, "JPY"); /* what the shopper saw */
	assert_int_equal(event->changed.total_minor, 10320);
	assert_int_equal(event->changed.items[0].price_minor, 3440);
	assert_int_equal(event->changed.changed_us, at_us("2026-11-20T18:00:00Z")); /* ours, its own is no date */
}

static void the_triggered_at_header_stands_in_for_a_bad_date(void **state)
{
	struct event_source source = from("checkouts/create");

	(void)state;
	source.triggered_us = at_us("2026-11-20T17:00:00.123Z");
	event = fresh_event();
	assert_int_equal(shopify_read(&source, fixture("shopify-checkouts-create-malformed.json", NULL, NULL), event),
		READ_CHANGED);
	assert_int_equal(event->changed.changed_us, source.triggered_us);
}

static void a_date_in_the_future_does_not_make_later_events_look_old(void **state)
{
	(void)state;
	assert_int_equal(
		read_body("carts/create",
			fixture("shopify-carts-create.json", "\"updated_at\": \"2026-", "\"updated_at\": \"2099-")),
		READ_CHANGED);
	assert_int_equal(event->changed.changed_us, at_us("2026-11-20T18:00:00Z"));
}

static void a_completed_checkout_is_a_purchase(void **state)
{
	(void)state;
	assert_int_equal(read_body("checkouts/update", fixture("shopify-checkouts-update-completed.json", NULL, NULL)),
		READ_CHECKOUT);
	assert_int_equal(event->checkout.kind, CHECKOUT_BOUGHT);
	assert_string_equal(event->checkout.ids.checkout_token, checkout_token);
	assert_string_equal(event->checkout.ids.cart_token, cart_token);
	assert_int_equal(event->checkout.bought_us, at_us("2026-11-20T11:20:00Z"));
}

static void a_deleted_checkout_counts_as_emptied(void **state)
{
	(void)state;
	assert_int_equal(
		read_body("checkouts/delete", fixture("shopify-checkouts-delete.json", NULL, NULL)), READ_CHANGED);
	assert_string_equal(event_key(&event->changed.ids), "981820079255243537");
	assert_true(event->changed.has_items);
	assert_int_equal(event->changed.items_count, 0);
}

static void an_order_names_all_that_joins_it_to_its_cart(void **state)
{
	static const char *const topics[] = { "orders/create", "orders/paid" };
	static const char *const bodies[] = { "shopify-orders-create.json", "shopify-orders-paid.json" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		const CartCheckout *checkout;

		assert_int_equal(read_body(topics[i], fixture(bodies[i], NULL, NULL)), READ_CHECKOUT);
		checkout = &event->checkout;
		assert_int_equal(checkout->kind, CHECKOUT_BOUGHT);
		assert_string_equal(checkout->ids.cart_token, cart_token);
		assert_string_equal(checkout->ids.checkout_token, checkout_token);
		assert_string_equal(checkout->ids.checkout_id, "981820079255243537");
		assert_string_equal(checkout->ids.order_id, "820982911946154508");
		assert_string_equal(checkout->ids.email, "ada.lovelace@example.com");
		assert_int_equal(checkout->total_minor, 5803);
		assert_string_equal(checkout->currency, "EUR");
		assert_int_equal(checkout->bought_us, at_us("2026-11-20T11:20:04Z"));
		assert_string_equal(event_key(&checkout->ids), cart_token);
	}
	assert_string_equal(event->checkout.payment_status, "paid");
}

static void a_cancelled_order_is_told_as_such(void **state)
{
	(void)state;
	assert_int_equal(
		read_body("orders/cancelled", fixture("shopify-orders-cancelled.json", NULL, NULL)), READ_CHECKOUT);
	assert_int_equal(event->checkout.kind, CHECKOUT_CANCELLED);
	assert_int_equal(event->checkout.bought_us, at_us("2026-11-20T14:00:00Z"));
}

/* The webhook of an order's creation may be late, or lost. */
static void every_topic_that_brings_an_order_tells_that_something_was_bought(void **state)
{
	static const char *const topics[] = { "orders/create", "orders/paid", "orders/updated", "orders/fulfilled",
		"orders/partially_fulfilled" };
	int64_t ordered_us = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		assert_int_equal(read_body(topics[i], fixture("shopify-orders-paid.json", NULL, NULL)), READ_CHECKOUT);
		assert_int_equal(event->checkout.kind, CHECKOUT_BOUGHT);
		assert_true(event->checkout.ids.checkout_token[0] && event->checkout.ids.email_hash[0]);
		if (i == 0)
			ordered_us = event->checkout.bought_us;
		assert_int_equal(event->checkout.bought_us, ordered_us); /* not when it was changed */
	}
}

static void what_was_paid_before_it_was_cancelled_was_bought(void **state)
{
	static const struct {
		const char *status;
		bool was_bought;
	} table[] = { { "paid", true }, { "refunded", true }, { "partially_refunded", true }, { "pending", false },
		{ "authorized", false }, { "voided", false } };
	char to[80];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		snprintf(to, sizeof(to), "\"financial_status\": \"%s\"", table[i].status);
		assert_int_equal(
			read_body("orders/updated",
				fixture("shopify-orders-cancelled.json", "\"financial_status\": \"voided\"", to)),
			READ_CHECKOUT);
		assert_int_equal(event->checkout.kind, CHECKOUT_CANCELLED);
		assert_int_equal(event->checkout.was_bought, table[i].was_bought);
		assert_true(event->checkout.ordered_us > 0 && event->checkout.ordered_us < event->checkout.bought_us);
	}
}

static void an_order_that_changed_tells_when_money_went_back(void **state)
{
	static const char paid[] = "\"financial_status\": \"paid\"";
	const char *const part = "\"financial_status\": \"partially_refunded\", \"was\": 1";

	(void)state;
	assert_int_equal(read_body("orders/updated",
				 fixture("shopify-orders-paid.json", paid, "\"financial_status\": \"refunded\"")),
		READ_CHECKOUT);
	assert_int_equal(event->checkout.kind, CHECKOUT_REFUNDED);
	assert_int_equal(event->checkout.refunded_minor, event->checkout.total_minor);
	assert_int_equal(read_body("orders/updated", fixture("shopify-orders-paid.json", paid, part)), READ_CHECKOUT);
	assert_int_equal(event->checkout.refunded_minor, event->checkout.total_minor - 5803);
	assert_true(event->checkout.ids.order_id[0] && event->checkout.ids.checkout_token[0]);
	assert_true(event->checkout.was_bought && event->checkout.ordered_us > 0);
}

static void totals_that_no_cart_can_have_are_unreadable(void **state)
{
	static const char *const totals[] = { "\"-1.00\"", "\"1e9\"", "\"99999999999999999999\"", "\"12,50\"",
		"\"NaN\"", "\"\"", "[]", "true", "1e300", "\"1.005\"", "\"0x10\"", "\" 1\"", "\"1\\u0000\"" };
	char to[64];

	(void)state;
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
		snprintf(to, sizeof(to), "\"total_price\": %s", totals[i]);
		if (read_body("checkouts/create",
			    fixture("shopify-checkouts-create.json", "\"total_price\": \"64.48\"", to)) !=
			READ_UNREADABLE)
			fail_msg("total %s was accepted", totals[i]);
		assert_non_null(strstr(event->why, "total_price"));
	}
	assert_int_equal(read_body("checkouts/create",
				 fixture("shopify-checkouts-create.json", "\"total_price\": \"64.48\"",
					 "\"total_price\": null")),
		READ_CHANGED);
	assert_false(event->changed.has_total);
}

static void an_unknown_currency_is_unreadable(void **state)
{
	static const char *const currencies[] = { "\"XQZ\"", "\"EURO\"", "\"\\u0000AB\"", "7", "[]" };
	char to[64];

	(void)state;
	for (size_t i = 0; i < sizeof(currencies) / sizeof(currencies[0]); i++) {
		snprintf(to, sizeof(to), "{\"token\":\"t\",\"total_price\":\"1.00\",\"currency\":%s}", currencies[i]);
		if (read_body("checkouts/create", bytes_of(to)) != READ_UNREADABLE)
			fail_msg("currency %s was accepted", currencies[i]);
		assert_non_null(strstr(event->why, "currency"));
	}
}

static void an_order_is_a_stop_whatever_its_amounts_say(void **state)
{
	(void)state;
	assert_int_equal(
		read_body("orders/create",
			bytes_of("{\"id\":7,\"cart_token\":\"t\",\"total_price\":\"-5\",\"currency\":\"XQZ\"}")),
		READ_CHECKOUT);
	assert_int_equal(event->checkout.total_minor, 0);
	assert_string_equal(event->checkout.currency, "");
	assert_string_equal(event_key(&event->checkout.ids), "t");
}

static void broken_bodies_are_unreadable_and_their_words_are_not_repeated(void **state)
{
	static const char *const bodies[] = { "", "{", "null", "[]", "\"text\"", "{\"token\":\"t\"}x",
		"{\"a\":1,\"a\":2}", "{\"email\":\"secret@example.com\" oops}", "\xff\xfe", "{\"token\":\"\xc3\x28\"}",
		"{}", "{\"token\":null}", "{\"token\":{}}", "{\"token\":\"\"}" };

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		assert_int_equal(read_body("carts/create", bytes_of(bodies[i])), READ_UNREADABLE);
		assert_true(event->why[0]);
		assert_null(strstr(event->why, "secret"));
	}
}

static void nesting_is_limited_to_64(void **state)
{
	struct buffer body = { 0 };

	(void)state;
	for (int depth = 64; depth <= 65; depth++) {
		buffer_clear(&body);
		buffer_add_text(&body, "{\"token\":\"[[{{\",\"x\":");
		for (int i = 1; i < depth; i++)
			buffer_add_text(&body, "[");
		for (int i = 1; i < depth; i++)
			buffer_add_text(&body, "]");
		buffer_add_text(&body, "}");
		assert_int_equal(
			read_body("carts/create", buffer_bytes(&body)), depth == 64 ? READ_CHANGED : READ_UNREADABLE);
	}
	assert_non_null(strstr(event->why, "deeper than 64"));
	buffer_clear(&body);
	for (int i = 0; i < 500000; i++)
		buffer_add_text(&body, "[");
	assert_int_equal(read_body("carts/create", buffer_bytes(&body)), READ_UNREADABLE);
	buffer_free(&body);
}

static void control_characters_do_not_come_through(void **state)
{
	(void)state;
	assert_int_equal(read_body("checkouts/create",
				 bytes_of("{\"token\":\"a\\r\\nb\",\"email\":\"a@b.example\\u0000\","
					  "\"customer\":{\"first_name\":\"A\\r\\nB\\u0000C\"},\"line_items\":[{"
					  "\"title\":\"x\\ny\"}]}")),
		READ_CHANGED);
	assert_string_equal(event->changed.first_name, "A  B C");
	assert_string_equal(event->changed.items[0].title, "x y");
	assert_string_equal(event->changed.ids.email, ""); /* no address that we would mail */
	assert_memory_equal(event->changed.ids.checkout_token, "sha256-", 7);
}

static void a_control_character_in_front_does_not_come_through_either(void **state)
{
	(void)state;
	assert_int_equal(read_body("carts/update",
				 bytes_of("{\"token\":\"t\",\"line_items\":[{\"title\":\"\\u0007Mug\",\"quantity\":1,"
					  "\"price\":\"1.00\"}],\"updated_at\":\"2026-11-20T10:00:00Z\"}")),
		READ_CHANGED);
	assert_null(strchr(event->changed.items[0].title, 0x07));
	assert_non_null(strstr(event->changed.items[0].title, "Mug"));
}

/* The shop counts in euros, the shopper paid in francs. */
static void an_order_is_told_in_the_currency_that_the_shopper_saw(void **state)
{
	(void)state;
	assert_int_equal(read_body("orders/create",
				 bytes_of("{\"id\":7,\"cart_token\":\"t\",\"total_price\":\"10.00\",\"currency\":"
					  "\"EUR\",\"total_price_set\":"
					  "{\"presentment_money\":{\"amount\":\"9.40\",\"currency_code\":\"CHF\"}}}")),
		READ_CHECKOUT);
	assert_string_equal(event->checkout.currency, "CHF");
	assert_int_equal(event->checkout.total_minor, 940);
	assert_int_equal(read_body("orders/create",
				 bytes_of("{\"id\":7,\"cart_token\":\"t\",\"total_price\":\"10.00\",\"currency\":"
					  "\"EUR\"}")),
		READ_CHECKOUT);
	assert_string_equal(event->checkout.currency, "EUR");
	assert_int_equal(event->checkout.total_minor, 1000);
}

static void a_token_that_is_too_long_still_joins(void **state)
{
	char body[400], first[72];

	(void)state;
	snprintf(body, sizeof(body), "{\"token\":\"%0200d\"}", 7);
	assert_int_equal(read_body("carts/create", bytes_of(body)), READ_CHANGED);
	snprintf(first, sizeof(first), "%s", event->changed.ids.cart_token);
	assert_int_equal(read_body("carts/update", bytes_of(body)), READ_CHANGED);
	assert_string_equal(event->changed.ids.cart_token, first);
	assert_int_equal(strlen(first), 71);
	snprintf(body, sizeof(body), "{\"token\":\"%0200d\"}", 8);
	assert_int_equal(read_body("carts/update", bytes_of(body)), READ_CHANGED);
	assert_string_not_equal(event->changed.ids.cart_token, first);
}

static void more_lines_than_fit_are_counted(void **state)
{
	struct buffer body = { 0 };

	(void)state;
	buffer_add_text(&body, "{\"token\":\"t\",\"line_items\":[null,7,{\"title\":\"gone\",\"quantity\":0}");
	for (int i = 0; i < 40; i++)
		buffer_printf(&body, ",{\"title\":\"item %d\",\"quantity\":99999999999,\"price\":\"x\"}", i);
	buffer_add_text(&body, "]}");
	assert_int_equal(read_body("carts/create", buffer_bytes(&body)), READ_CHANGED);
	assert_int_equal(event->changed.items_count, 30);
	assert_int_equal(event->changed.items_left_out, 10);
	assert_int_equal(event->changed.items[0].quantity, 1000000);
	buffer_free(&body);
}

static void other_topics_are_of_no_interest(void **state)
{
	static const char *const topics[] = { "", "carts", "orders/edited", "products/create", "CARTS/CREATE" };

	(void)state;
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
		assert_int_equal(read_body(topics[i], bytes_of("{\"id\":1}")), READ_NOTHING);
}

static void every_field_may_be_null(void **state)
{
	static const char *const bodies[] = {
		"{\"id\":1,\"token\":null,\"cart_token\":null,\"email\":null,\"customer\":null,\"line_items\":null,"
		"\"shipping_address\":null,\"currency\":null,\"presentment_currency\":null,\"total_price\":null,"
		"\"updated_at\":null,\"note_attributes\":null,\"discount_codes\":null,\"customer_locale\":null,"
		"\"abandoned_checkout_url\":null,\"completed_at\":null,\"buyer_accepts_marketing\":null}",
		"{\"id\":1,\"token\":[],\"cart_token\":{},\"email\":[],\"customer\":[],\"line_items\":{},"
		"\"shipping_address\":[],\"updated_at\":7,\"note_attributes\":{},\"discount_codes\":7,"
		"\"customer_locale\":[],\"abandoned_checkout_url\":{},\"completed_at\":[],\"buyer_accepts_marketing\":"
		"\"\"}",
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(read_body("checkouts/update", bytes_of(bodies[i])), READ_CHANGED);
		assert_string_equal(event_key(&event->changed.ids), "1");
		assert_int_equal(read_body("orders/paid", bytes_of(bodies[i])), READ_CHECKOUT);
	}
}

static void a_privacy_request_names_the_person_by_the_keyed_hash_and_the_storefronts_number(void **state)
{
	static const struct {
		const char *topic, *file;
		PrivacyKind kind;
		bool person;
	} rows[] = { { "customers/redact", "shopify-customers-redact.json", PRIVACY_REDACT_CUSTOMER, true },
		{ "customers/data_request", "shopify-customers-data-request.json", PRIVACY_DATA_REQUEST, true },
		{ "shop/redact", "shopify-shop-redact.json", PRIVACY_REDACT_SHOP, false } };
	char hash[ADDRESS_HASH_LEN + 1];

	(void)state;
	address_hash(bytes_of("0123456789abcdef0123456789abcdef"), "demo", "ada@example.com", hash);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char id[40];

		assert_int_equal(read_body(rows[i].topic, fixture(rows[i].file, NULL, NULL)), READ_PRIVACY);
		assert_int_equal(event->privacy.kind, rows[i].kind);
		assert_string_equal(event->privacy.address_hash, rows[i].person ? hash : "");
		assert_string_equal(event->privacy.customer_id, rows[i].person ? "191167" : "");
		assert_string_equal(event->privacy.platform_topic, rows[i].topic);
		assert_int_equal(strlen(event->privacy.request_id), 32);
		strcpy(id, event->privacy.request_id);
		read_body(rows[i].topic, fixture(rows[i].file, NULL, NULL));
		assert_string_equal(event->privacy.request_id, id); /* delivered twice */
	}
}

static void a_privacy_request_with_holes_is_a_request_all_the_same(void **state)
{
	static const char *const bodies[] = { "{}", "{\"customer\":null}", "{\"customer\":[]}",
		"{\"customer\":{\"id\":7,\"email\":\"no address\"}}", "{\"customer\":{\"id\":7,\"email\":null}}" };

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		assert_int_equal(read_body("customers/redact", bytes_of(bodies[i])), READ_PRIVACY);
		assert_string_equal(event->privacy.address_hash, "");
		assert_int_equal(strlen(event->privacy.request_id), 32);
	}
	assert_int_equal(read_body("customers/redact", bytes_of("{\"customer\":")), READ_UNREADABLE);
	assert_true(event->why[0]);
}

/* The topic stands in a header that the signature does not cover. */
static void a_body_signed_as_one_thing_is_not_believed_as_another(void **state)
{
	static const struct {
		const char *topic, *file;
		enum reading reading;
		CheckoutKind kind;
	} rows[] = {
		{ "shop/redact", "shopify-orders-create.json", READ_UNREADABLE, 0 },
		{ "customers/redact", "shopify-orders-create.json", READ_UNREADABLE, 0 },
		{ "customers/redact", "shopify-checkouts-create.json", READ_UNREADABLE, 0 },
		{ "shop/redact", "shopify-carts-create.json", READ_UNREADABLE, 0 },
		{ "shop/redact", "shopify-customers-redact.json", READ_UNREADABLE, 0 },
		{ "shop/redact", "shopify-customers-data-request.json", READ_UNREADABLE, 0 },
		{ "customers/redact", "shopify-customers-data-request.json", READ_UNREADABLE, 0 },
		{ "customers/data_request", "shopify-orders-create.json", READ_UNREADABLE, 0 },
		{ "checkouts/update", "shopify-orders-create.json", READ_CHECKOUT, CHECKOUT_BOUGHT },
		{ "carts/update", "shopify-orders-create.json", READ_CHECKOUT, CHECKOUT_BOUGHT },
		{ "checkouts/delete", "shopify-orders-create.json", READ_CHECKOUT, CHECKOUT_BOUGHT },
		{ "orders/cancelled", "shopify-orders-create.json", READ_CHECKOUT, CHECKOUT_BOUGHT },
		{ "orders/create", "shopify-orders-cancelled.json", READ_CHECKOUT, CHECKOUT_CANCELLED },
		{ "checkouts/delete", "shopify-checkouts-update.json", READ_CHANGED, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (read_body(rows[i].topic, fixture(rows[i].file, NULL, NULL)) != rows[i].reading)
			fail_msg("%s as %s: %s", rows[i].file, rows[i].topic, event->why);
		if (rows[i].reading == READ_CHECKOUT)
			assert_int_equal(event->checkout.kind, rows[i].kind);
		if (rows[i].reading == READ_CHANGED)
			assert_true(event->changed.items_count > 0); /* it empties nothing */
	}
}

static void a_privacy_request_of_another_shop_is_not_believed(void **state)
{
	struct event_source source = from("shop/redact");
	struct bytes body = fixture("shopify-shop-redact.json", NULL, NULL);

	(void)state;
	event = fresh_event();
	source.domain = "demo.myshopify.example";
	assert_int_equal(shopify_read(&source, body, event), READ_PRIVACY);
	source.domain = "other.myshopify.example";
	assert_int_equal(shopify_read(&source, body, event), READ_UNREADABLE);
	assert_non_null(strstr(event->why, "demo.myshopify.example"));
}

static void titles_are_those_that_the_shopper_saw(void **state)
{
	(void)state;
	assert_int_equal(
		read_body("checkouts/update",
			bytes_of("{\"token\":\"t\",\"line_items\":[{\"title\":\"Rosen\",\"variant_title\":\"rot\","
				 "\"presentment_title\":\"Roses\",\"presentment_variant_title\":\"rouge\",\"quantity\":"
				 "\"3\"},{\"title\":\"Vase\",\"presentment_title\":null,\"quantity\":2.0},"
				 "{\"title\":\"x\",\"quantity\":\"many\"},{\"title\":\"y\",\"quantity\":\"0\"}]}")),
		READ_CHANGED);
	assert_int_equal(event->changed.items_count, 3);
	assert_string_equal(event->changed.items[0].title, "Roses");
	assert_string_equal(event->changed.items[0].variant_title, "rouge");
	assert_int_equal(event->changed.items[0].quantity, 3);
	assert_string_equal(event->changed.items[1].title, "Vase");
	assert_int_equal(event->changed.items[1].quantity, 2);
	assert_int_equal(event->changed.items[2].quantity, 1);
}

static enum reading read_consent(const char *accepts, const char *state)
{
	char body[200];

	snprintf(body, sizeof(body),
		"{\"token\":\"t\",\"buyer_accepts_marketing\":%s,\"customer\":{\"email_marketing_consent\":{\"state\":%"
		"s}}}",
		accepts, state);
	return read_body("checkouts/update", bytes_of(body));
}

static void a_consent_that_cannot_be_read_is_never_taken_for_not_asked(void **state)
{
	static const struct {
		const char *accepts, *state;
		Consent consent;
	} rows[] = { { "false", "null", CONSENT_UNKNOWN }, { "\"false\"", "\"not_subscribed\"", CONSENT_UNKNOWN },
		{ "\"true\"", "null", CONSENT_YES }, { "1", "null", CONSENT_YES },
		{ "false", "\"SUBSCRIBED\"", CONSENT_YES }, { "null", "\"UNSUBSCRIBED\"", CONSENT_NO },
		{ "false", "\"withdrawn\"", CONSENT_NO }, { "false", "0", CONSENT_NO } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(read_consent(rows[i].accepts, rows[i].state), READ_CHANGED);
		assert_int_equal(event->changed.consent, rows[i].consent);
	}
	assert_int_equal(read_consent("\"perhaps\"", "\"subscribed\""), READ_CHANGED);
	assert_int_equal(event->changed.consent, CONSENT_NO);
	assert_true(event->changed.consent_unreadable);
	assert_non_null(strstr(event->doubt, "buyer_accepts_marketing"));
}

static void a_product_without_variants_has_no_variant_title(void **state)
{
	(void)state;
	assert_int_equal(read_body("checkouts/update",
				 bytes_of("{\"token\":\"t\",\"line_items\":[{\"title\":\"Vase\",\"variant_title\":"
					  "\"Default Title\"}]}")),
		READ_CHANGED);
	assert_string_equal(event->changed.items[0].variant_title, "");
}

static void a_sum_beyond_what_money_can_be_is_no_total(void **state)
{
	struct buffer body = { 0 };

	(void)state;
	buffer_add_text(&body, "{\"id\":\"t1\",\"token\":\"t1\",\"line_items\":[");
	for (int i = 0; i < 10000; i++)
		buffer_printf(&body,
			"%s{\"line_price\":\"9999999999999.99\",\"line_price_set\":{\"shop_money\":{\"currency_code\":"
			"\"EUR\"}}}",
			i ? "," : "");
	buffer_add_text(&body, "]}");
	assert_int_equal(read_body("carts/update", buffer_bytes(&body)), READ_CHANGED);
	assert_false(event->changed.has_total);
	assert_int_equal(event->changed.total_minor, 0);
	buffer_free(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sum_beyond_what_money_can_be_is_no_total),
		cmocka_unit_test(a_control_character_in_front_does_not_come_through_either),
		cmocka_unit_test(an_order_is_told_in_the_currency_that_the_shopper_saw),
		cmocka_unit_test(a_consent_that_cannot_be_read_is_never_taken_for_not_asked),
		cmocka_unit_test(a_product_without_variants_has_no_variant_title),
		cmocka_unit_test(a_body_signed_as_one_thing_is_not_believed_as_another),
		cmocka_unit_test(a_privacy_request_of_another_shop_is_not_believed),
		cmocka_unit_test(titles_are_those_that_the_shopper_saw),
		cmocka_unit_test(a_privacy_request_names_the_person_by_the_keyed_hash_and_the_storefronts_number),
		cmocka_unit_test(a_privacy_request_with_holes_is_a_request_all_the_same),
		cmocka_unit_test(a_cart_is_read_with_its_lines_and_their_sum),
		cmocka_unit_test(a_cart_without_lines_is_emptied),
		cmocka_unit_test(a_body_that_does_not_speak_of_lines_empties_nothing),
		cmocka_unit_test(an_address_that_is_none_is_noted_and_not_taken),
		cmocka_unit_test(a_checkout_without_an_address_and_with_a_list_for_its_shipping_address_is_read),
		cmocka_unit_test(the_address_that_arrives_later_is_normalised_and_hashed),
		cmocka_unit_test(what_was_seen_in_the_wild_is_tolerated),
		cmocka_unit_test(the_triggered_at_header_stands_in_for_a_bad_date),
		cmocka_unit_test(a_date_in_the_future_does_not_make_later_events_look_old),
		cmocka_unit_test(a_completed_checkout_is_a_purchase),
		cmocka_unit_test(a_deleted_checkout_counts_as_emptied),
		cmocka_unit_test(an_order_names_all_that_joins_it_to_its_cart),
		cmocka_unit_test(a_cancelled_order_is_told_as_such),
		cmocka_unit_test(every_topic_that_brings_an_order_tells_that_something_was_bought),
		cmocka_unit_test(what_was_paid_before_it_was_cancelled_was_bought),
		cmocka_unit_test(an_order_that_changed_tells_when_money_went_back),
		cmocka_unit_test(totals_that_no_cart_can_have_are_unreadable),
		cmocka_unit_test(an_unknown_currency_is_unreadable),
		cmocka_unit_test(an_order_is_a_stop_whatever_its_amounts_say),
		cmocka_unit_test(broken_bodies_are_unreadable_and_their_words_are_not_repeated),
		cmocka_unit_test(nesting_is_limited_to_64),
		cmocka_unit_test(control_characters_do_not_come_through),
		cmocka_unit_test(a_token_that_is_too_long_still_joins),
		cmocka_unit_test(more_lines_than_fit_are_counted),
		cmocka_unit_test(other_topics_are_of_no_interest),
		cmocka_unit_test(every_field_may_be_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
