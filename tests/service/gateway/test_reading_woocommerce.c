/* test_reading_woocommerce.c: what WooCommerce's orders mean */
#include "given.h"
#include <stdio.h>

static struct event *event;

static enum reading read_body(const char *topic, struct bytes body)
{
	struct event_source source = { .shop = "demo",
		.topic = topic,
		.webhook_id = "d-1",
		.address_key = bytes_of("0123456789abcdef0123456789abcdef"),
		.heard_us = at_us("2026-11-21T10:00:00Z") };

	event = fresh_event();
	return woocommerce_read(&source, body, event);
}

static void an_order_stops_the_cart_that_the_stores_snippet_named(void **state)
{
	(void)state;
	assert_int_equal(
		read_body("order.created", fixture("woocommerce-order-created.json", NULL, NULL)), READ_CHECKOUT);
	assert_int_equal(event->checkout.kind, CHECKOUT_BOUGHT);
	assert_int_equal(event->checkout.platform, PLATFORM_WOOCOMMERCE);
	assert_string_equal(event->checkout.ids.order_id, "727");
	assert_string_equal(event->checkout.ids.cart_id, "wc-5f1d7a2e");
	assert_string_equal(event->checkout.ids.email, "john.doe@example.com");
	assert_string_equal(event->checkout.ids.customer_id, ""); /* 0 is every guest */
	assert_int_equal(event->checkout.total_minor, 2935);
	assert_string_equal(event->checkout.currency, "USD");
	assert_int_equal(event->checkout.bought_us, at_us("2026-11-20T18:28:08Z"));
	assert_string_equal(event->checkout.webhook_id, "d-1");
}

static void the_hash_of_a_carts_contents_joins_nothing(void **state)
{
	(void)state;
	assert_int_equal(read_body("order.created",
				 fixture("woocommerce-order-created.json", "\"_cartbus_cart\"", "\"_other\"")),
		READ_CHECKOUT);
	assert_string_equal(event->checkout.ids.cart_id, "");
	assert_string_equal(event->checkout.ids.cart_token, "");
	assert_string_equal(event_key(&event->checkout.ids), "727");
}

static void an_order_of_the_legacy_api_stops_as_well(void **state)
{
	static const char body[] =
		"{\"order\":{\"id\":9,\"status\":\"processing\",\"currency\":\"EUR\",\"total\":\"5.00\","
		"\"created_at\":\"2026-11-20T18:00:00Z\",\"billing_address\":{\"email\":\"john@mail.example\"}}}";

	(void)state;
	assert_int_equal(read_body("order.created", bytes_of(body)), READ_CHECKOUT);
	assert_int_equal(event->checkout.kind, CHECKOUT_BOUGHT);
	assert_string_equal(event->checkout.ids.order_id, "9");
	assert_string_equal(event->checkout.ids.email, "john@mail.example");
	assert_int_equal(event->checkout.bought_us, at_us("2026-11-20T18:00:00Z"));
}

static void a_status_is_passed_on_for_the_shop_to_judge(void **state)
{
	static const struct {
		const char *status;
		enum reading reading;
		CheckoutKind kind;
	} rows[] = { { "processing", READ_CHECKOUT, CHECKOUT_BOUGHT }, { "on-hold", READ_CHECKOUT, CHECKOUT_BOUGHT },
		{ "cancelled", READ_CHECKOUT, CHECKOUT_CANCELLED }, { "refunded", READ_CHECKOUT, CHECKOUT_CANCELLED },
		{ "pending", READ_CHECKOUT, CHECKOUT_BOUGHT }, { "wc-of-a-plugin", READ_CHECKOUT, CHECKOUT_BOUGHT } };
	char body[128];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(body, sizeof(body), "{\"id\":5,\"status\":\"%s\"}", rows[i].status);
		assert_int_equal(read_body("order.updated", bytes_of(body)), rows[i].reading);
		assert_int_equal(event->checkout.kind, rows[i].kind);
		assert_string_equal(event->checkout.payment_status, rows[i].status);
	}
	assert_int_equal(
		read_body("order.updated",
			fixture("woocommerce-order-updated.json", "\"refunds\": []",
				"\"refunds\": [{\"id\":1,\"total\":\"-10.00\"},{\"id\":2,\"total\":\"-0.45\"}]")),
		READ_CHECKOUT);
	assert_int_equal(event->checkout.kind, CHECKOUT_BOUGHT);
	assert_int_equal(event->checkout.refunded_minor, 1045);
	assert_int_equal(read_body("order.updated", bytes_of("{\"id\":5}")), READ_NOTHING);
	assert_int_equal(read_body("order.created", fixture("woocommerce-order-created-pending.json", NULL, NULL)),
		READ_CHECKOUT);
	assert_string_equal(event->checkout.payment_status, "pending");
	assert_int_equal(
		read_body("order.updated", fixture("woocommerce-order-updated.json", NULL, NULL)), READ_CHECKOUT);
	assert_string_equal(event->checkout.ids.customer_id, "26");
}

static void a_customer_number_may_be_a_text_and_0_names_nobody(void **state)
{
	static const struct {
		const char *given, *wanted;
	} cases[] = { { "32", "32" }, { "\"32\"", "32" }, { "32.0", "32" }, { "0", "" }, { "\"0\"", "" }, { "0.0", "" },
		{ "32.5", "" }, { "1e300", "" } };
	char body[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(body, sizeof(body), "{\"id\":5,\"status\":\"completed\",\"customer_id\":%s}", cases[i].given);
		assert_int_equal(read_body("order.updated", bytes_of(body)), READ_CHECKOUT);
		assert_string_equal(event->checkout.ids.customer_id, cases[i].wanted);
	}
}

static void an_order_is_a_stop_whatever_else_is_wrong_with_it(void **state)
{
	(void)state;
	assert_int_equal(read_body("order.updated",
				 bytes_of("{\"id\":5,\"status\":\"completed\",\"total\":\"-9\",\"currency\":\"??\","
					  "\"billing\":[],\"meta_data\":{},\"date_paid_gmt\":\"soon\"}")),
		READ_CHECKOUT);
	assert_int_equal(event->checkout.total_minor, 0);
	assert_int_equal(event->checkout.bought_us, at_us("2026-11-21T10:00:00Z"));
}

static void broken_bodies_and_other_topics_say_so(void **state)
{
	(void)state;
	assert_int_equal(read_body("order.created", bytes_of("[1]")), READ_UNREADABLE);
	assert_int_equal(read_body("order.created", bytes_of("{\"status\":\"completed\"}")), READ_UNREADABLE);
	assert_int_equal(read_body("product.updated", bytes_of("{}")), READ_NOTHING);
	assert_int_equal(read_body("", bytes_of("webhook_id=7")), READ_NOTHING);
}

static void a_legacy_order_joins_by_the_address_of_its_customer(void **state)
{
	(void)state;
	assert_int_equal(read_body("order.created",
				 bytes_of("{\"order\":{\"id\":5,\"status\":\"completed\",\"customer\":{\"email\":"
					  "\"ada@shopper.example\"}}}")),
		READ_CHECKOUT);
	assert_string_equal(event->checkout.ids.email, "ada@shopper.example");
}

/* A sum that nobody can have paid back is not counted on; each amount by itself may be one. */
static void refunds_beyond_what_money_can_be_are_left_out(void **state)
{
	struct buffer body = { 0 };

	(void)state;
	buffer_add_text(
		&body, "{\"id\":5,\"status\":\"processing\",\"currency\":\"EUR\",\"total\":\"10.00\",\"refunds\":[");
	for (int i = 0; i < 10000; i++)
		buffer_printf(&body, "%s{\"total\":\"-9999999999999.99\"}", i ? "," : "");
	buffer_add_text(&body, "]}");
	assert_int_equal(read_body("order.updated", buffer_bytes(&body)), READ_CHECKOUT);
	assert_int_equal(event->checkout.refunded_minor, INT64_C(999999999999999));
	buffer_free(&body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_legacy_order_joins_by_the_address_of_its_customer),
		cmocka_unit_test(an_order_of_the_legacy_api_stops_as_well),
		cmocka_unit_test(an_order_stops_the_cart_that_the_stores_snippet_named),
		cmocka_unit_test(the_hash_of_a_carts_contents_joins_nothing),
		cmocka_unit_test(refunds_beyond_what_money_can_be_are_left_out),
		cmocka_unit_test(a_status_is_passed_on_for_the_shop_to_judge),
		cmocka_unit_test(a_customer_number_may_be_a_text_and_0_names_nobody),
		cmocka_unit_test(an_order_is_a_stop_whatever_else_is_wrong_with_it),
		cmocka_unit_test(broken_bodies_and_other_topics_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
