/* test_reading_bigcommerce.c: what BigCommerce's webhooks mean, which carry ids alone */
#include "given.h"
#include "services/kit/storefront/event.h"
#include <stdio.h>
#include <string.h>

static struct event *event;

static enum reading read_body(const char *text)
{
	struct event_source source = { .shop = "demo",
		.topic = "",
		.webhook_id = "",
		.address_key = bytes_of("0123456789abcdef0123456789abcdef"),
		.heard_us = at_us("2026-11-21T10:00:00Z") };

	event = fresh_event();
	return bigcommerce_read(&source, bytes_of(text), event);
}

static void a_sale_names_its_order_and_its_cart(void **state)
{
	(void)state;
	assert_int_equal(read_body("{\"scope\":\"store/cart/converted\",\"created_at\":1795248000,"
				   "\"data\":{\"type\":\"cart\",\"id\":\"c-7\",\"orderId\":118}}"),
		READ_CHECKOUT);
	assert_int_equal(event->checkout.kind, CHECKOUT_BOUGHT);
	assert_int_equal(event->checkout.platform, PLATFORM_BIGCOMMERCE);
	assert_string_equal(event->checkout.platform_topic, "store/cart/converted");
	assert_true(event->checkout.has_ids); /* without it none of them is said */
	assert_string_equal(event->checkout.ids.order_id, "118");
	assert_string_equal(event->checkout.ids.cart_token, "c-7");
	assert_int_equal(event->checkout.bought_us, 1795248000000000);
	assert_int_equal(event->checkout.heard_us, at_us("2026-11-21T10:00:00Z"));
	assert_int_equal(read_body("{\"scope\":\"store/cart/converted\",\"data\":{\"id\":\"c-7\"}}"), READ_UNREADABLE);
	assert_non_null(strstr(event->why, "orderId"));
}

static void a_cart_that_was_deleted_is_an_empty_one(void **state)
{
	(void)state;
	assert_int_equal(
		read_body("{\"scope\":\"store/cart/deleted\",\"created_at\":1795248000,\"data\":{\"id\":\"c-7\"}}"),
		READ_CHANGED);
	assert_true(event->changed.has_ids);
	assert_string_equal(event->changed.ids.cart_token, "c-7");
	assert_int_equal(event->changed.platform, PLATFORM_BIGCOMMERCE);
	assert_string_equal(event->changed.platform_topic, "store/cart/deleted");
	assert_true(event->changed.has_items);
	assert_int_equal(event->changed.items_count, 0);
	assert_int_equal(event->changed.changed_us, 1795248000000000);
	assert_int_equal(event->changed.heard_us, at_us("2026-11-21T10:00:00Z"));
}

static void all_else_is_asked_for(void **state)
{
	static const struct {
		const char *scope;
		TaskKind kind;
	} rows[] = { { "store/cart/created", TASK_CART }, { "store/cart/updated", TASK_CART },
		{ "store/cart/abandoned", TASK_CART }, { "store/order/created", TASK_ORDER },
		{ "store/order/statusUpdated", TASK_ORDER } };
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), "{\"scope\":\"%s\",\"created_at\":1795248000,\"data\":{\"id\":7}}",
			rows[i].scope);
		assert_int_equal(read_body(text), READ_TASK);
		assert_int_equal(event->task.kind, rows[i].kind);
		assert_string_equal(event->task.id, "7");
		assert_string_equal(event->task.platform_topic, rows[i].scope);
		assert_int_equal(event->task.triggered_us, 1795248000000000);
		assert_int_equal(event->task.heard_us, at_us("2026-11-21T10:00:00Z"));
	}
}

static void what_is_not_used_or_names_nothing_is_told(void **state)
{
	(void)state;
	assert_int_equal(read_body("{\"scope\":\"store/product/updated\",\"data\":{\"id\":7}}"), READ_NOTHING);
	assert_int_equal(read_body("{\"scope\":\"store/cart/created\",\"data\":{}}"), READ_UNREADABLE);
	assert_non_null(strstr(event->why, "data.id"));
	assert_int_equal(read_body("{\"scope\":"), READ_UNREADABLE);
}

static void a_moment_that_lies_ahead_is_the_one_it_was_heard_at(void **state)
{
	static const struct {
		const char *created_at;
		int64_t bought_us;
	} rows[] = { { "1795255200", INT64_C(1795255200000000) }, { "1795255201", INT64_C(1795255200000000) },
		{ "1", INT64_C(1000000) }, { "0", INT64_C(1795255200000000) }, { "-1", INT64_C(1795255200000000) } };
	char text[200];

	(void)state;
	assert_int_equal(at_us("2026-11-21T10:00:00Z"), INT64_C(1795255200000000));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text),
			"{\"scope\":\"store/cart/converted\",\"created_at\":%s,\"data\":{\"id\":\"c\",\"orderId\":1}}",
			rows[i].created_at);
		assert_int_equal(read_body(text), READ_CHECKOUT);
		assert_int_equal(event->checkout.bought_us, rows[i].bought_us);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sale_names_its_order_and_its_cart),
		cmocka_unit_test(a_cart_that_was_deleted_is_an_empty_one),
		cmocka_unit_test(all_else_is_asked_for),
		cmocka_unit_test(what_is_not_used_or_names_nothing_is_told),
		cmocka_unit_test(a_moment_that_lies_ahead_is_the_one_it_was_heard_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
