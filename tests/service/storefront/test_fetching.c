/* test_fetching.c: what is asked of a storefront's API, and what is said of its answers */
#include "given.h"
#include "services/kit/storefront/event.h"

static void shopify_orders_come_first_and_then_what_is_open(void **state)
{
	struct harness *h = given("shopify");
	CartCheckout order;
	CartChanged cart;
	Audit audit;
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), TURN_PENDING);
	assert_string_equal(asked(h),
		"https://api.example/admin/api/2026-07/orders.json?status=any&updated_at_min=2026-11-20T06:00:00Z"
		"&limit=20&since_id=0");
	assert_int_equal(when_answered(h, 200,
				 "{\"orders\":[" ORDER("5", "") "," ORDER(
					 "6", "\"cancelled_at\":\"2026-11-20T10:00:00Z\",") "]}"),
		TURN_DONE);
	assert_int_equal(harness_count(h, &topic_cart_checkout), 2);
	assert_true(harness_said(h, &topic_cart_checkout, 0, &order, NULL));
	assert_string_equal(order.ids.order_id, "5");
	assert_string_equal(order.ids.checkout_token, "k1");
	assert_string_equal(order.ids.email, "");
	assert_int_equal(strlen(order.ids.email_hash), 32);
	assert_true(harness_said(h, &topic_cart_checkout, 1, &order, NULL));
	assert_int_equal(order.kind, CHECKOUT_CANCELLED);
	StorefrontTask next = said_task(h);
	assert_int_equal(next.kind, TASK_CHECKOUTS);
	assert_int_equal(next.found_orders, 2);
	assert_int_equal(WHEN(h, storefront_task, &next, .shop = "demo", .key = "reconcile"), TURN_PENDING);
	assert_non_null(strstr(asked(h), "/checkouts.json?status=open&"));
	assert_int_equal(when_answered(h, 200,
				 "{\"checkouts\":[{\"id\":9,\"token\":\"k9\",\"email\":\"bob@buyer.example\",\"updated_"
				 "at\":\"2026-11-20T08:00:00Z\","
				 "\"currency\":\"EUR\",\"total_price\":\"3.00\",\"line_items\":[{\"title\":\"Mug\","
				 "\"quantity\":1,\"price\":\"3.00\"}]}]}"),
		TURN_DONE);
	assert_true(harness_said(h, &topic_cart_changed, 0, &cart, NULL));
	assert_string_equal(cart.ids.email, "bob@buyer.example");
	assert_int_equal(harness_count(h, &topic_storefront_task), 0);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_string_equal(audit.action, "reconciled");
	assert_non_null(strstr(audit.grounds, "orders 2, open checkouts 1"));
	harness_free(h);
}

static void a_full_page_leads_to_the_next(void **state)
{
	struct harness *h = given("shopify");
	struct buffer page = { 0 };
	(void)state;
	for (int i = 1; i <= 20; i++)
		buffer_printf(
			&page, "%s{\"id\":%d,\"financial_status\":\"paid\"}", i > 1 ? "," : "{\"orders\":[", 100 + i);
	buffer_add_text(&page, "]}");
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), TURN_PENDING);
	assert_int_equal(when_answered(h, 200, buffer_text(&page)), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_cart_checkout), 20);
	StorefrontTask next = said_task(h);
	assert_int_equal(next.kind, TASK_ORDERS);
	assert_int_equal(next.after, 120);
	assert_int_equal(when_task(h, TASK_ORDERS, "", 120), TURN_PENDING);
	assert_non_null(strstr(asked(h), "&since_id=120"));
	assert_int_equal(
		when_answered(h, 200, buffer_text(&page)), TURN_RETRY); /* the same page for ever: it would never end */
	assert_int_equal(harness_count(h, NULL), 0);
	buffer_free(&page);
	harness_free(h);
}

static void woocommerce_pages_are_numbered(void **state)
{
	struct harness *h = given("woocommerce");
	Audit audit;
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 2), TURN_PENDING);
	assert_string_equal(asked(h),
		"https://api.example/wp-json/wc/v3/orders?modified_after=2026-11-20T06:00:00&dates_are_gmt=true"
		"&orderby=id&order=asc&per_page=20&page=3");
	assert_int_equal(when_answered(h, 200,
				 "[{\"id\":7,\"status\":\"processing\",\"billing\":{\"email\":\"ann@buyer.example\"},"
				 "\"currency\":\"EUR\",\"total\":\"1.00\","
				 "\"date_created_gmt\":\"2026-11-20T09:00:00\",\"customer_id\":0}]"),
		TURN_DONE);
	assert_int_equal(harness_count(h, &topic_cart_checkout), 1);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	harness_free(h);
}

static void a_storefront_that_pays_no_heed_to_pages_is_not_asked_for_ever(void **state)
{
	static const char *const platforms[] = { "shopify", "woocommerce" };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct harness *h = given(platforms[i]);
		assert_int_equal(when_task(h, TASK_ORDERS, "", 0), TURN_PENDING);
		assert_int_equal(when_answered(h, 200, page_of(platforms[i], 100, 20)), TURN_DONE);
		StorefrontTask next = said_task(h);
		assert_int_equal(harness_count(h, &topic_cart_checkout), 20);
		assert_int_equal(WHEN(h, storefront_task, &next, .shop = "demo", .key = "k"), TURN_PENDING);
		assert_int_equal(
			when_answered(h, 200, page_of(platforms[i], 100, 20)), TURN_RETRY); /* the same again */
		assert_int_equal(harness_again(h), TURN_PENDING);
		assert_int_equal(when_answered(h, 200, page_of(platforms[i], 100, 500)), TURN_RETRY); /* all at once */
		assert_int_equal(harness_count(h, NULL), 0);
		assert_int_equal(harness_again(h), TURN_PENDING);
		assert_int_equal(when_answered(h, 200, page_of(platforms[i], 119, 20)), TURN_DONE); /* shifted by one */
		assert_int_equal(harness_count(h, &topic_cart_checkout), 20);
		harness_free(h);
	}
}

static void bigcommerce_carts_and_orders_are_fetched_by_id(void **state)
{
	struct harness *h = given("bigcommerce");
	CartChanged cart;
	CartCheckout order;
	(void)state;
	assert_int_equal(when_task(h, TASK_CART, "0934-44fd/..", 0), TURN_PENDING);
	assert_string_equal(asked(h), "https://api.example/v3/carts/0934-44fd%2F..?include=redirect_urls");
	assert_int_equal(
		when_answered(h, 200,
			"{\"data\":{\"id\":\"0934\",\"customer_id\":0,\"email\":\"Ann@buyer.example\",\"currency\":{"
			"\"code\":\"EUR\"},"
			"\"cart_amount\":24.5,\"locale\":\"de\",\"created_time\":\"2026-11-20T08:00:00+00:00\","
			"\"updated_time\":\"2026-11-20T09:00:00+00:00\",\"line_items\":{\"physical_items\":[{\"name\":"
			"\"Mug\",\"quantity\":2,"
			"\"sale_price\":10.0,\"sku\":\"M\",\"product_id\":3,\"variant_id\":4,\"url\":\"https://"
			"demo.example/mug\"}],"
			"\"digital_items\":[{\"name\":\"Song\",\"quantity\":1,\"sale_price\":4.5}]},"
			"\"redirect_urls\":{\"cart_url\":\"https://demo.example/"
			"cart.php?action=loadInCheckout&id=0934\"}}}"),
		TURN_DONE);
	assert_true(harness_said(h, &topic_cart_changed, 0, &cart, NULL));
	assert_string_equal(cart.ids.cart_token, "0934");
	assert_string_equal(cart.ids.email, "ann@buyer.example");
	assert_int_equal(cart.items_count, 2);
	assert_int_equal(cart.items[0].price_minor, 1000);
	assert_int_equal(cart.total_minor, 2450);
	assert_non_null(strstr(cart.recovery_url, "cart.php"));
	assert_int_equal(when_task(h, TASK_ORDER, "252", 0), TURN_PENDING);
	assert_int_equal(when_answered(h, 200,
				 "{\"id\":252,\"status_id\":11,\"status\":\"Awaiting "
				 "Fulfillment\",\"cart_id\":\"0934\",\"currency_code\":\"EUR\","
				 "\"total_inc_tax\":\"24.5000\",\"date_created\":\"Fri, 20 Nov 2026 09:00:00 +0000\","
				 "\"billing_address\":{\"email\":\"ann@buyer.example\"}}"),
		TURN_DONE);
	assert_true(harness_said(h, &topic_cart_checkout, 0, &order, NULL));
	assert_string_equal(order.ids.cart_token, "0934");
	assert_int_equal(order.total_minor, 2450);
	assert_int_equal(order.bought_us, NOON_US - 3 * US_PER_HOUR);
	assert_string_equal(order.ids.email, "");
	harness_free(h);
}

static void a_cart_that_is_gone_is_as_good_as_emptied(void **state)
{
	struct harness *h = given("bigcommerce");
	CartChanged cart;
	(void)state;
	assert_int_equal(when_task(h, TASK_CART, "0934", 0), TURN_PENDING);
	assert_int_equal(when_answered(h, 404, ""), TURN_DONE);
	assert_true(harness_said(h, &topic_cart_changed, 0, &cart, NULL));
	assert_true(cart.has_items && cart.items_count == 0);
	harness_free(h);
}

static void it_is_asked_again_until_it_answers(void **state)
{
	struct harness *h = given("shopify");
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), TURN_PENDING);
	assert_int_equal(when_answered(h, 429, ""), TURN_RETRY);
	assert_int_equal(harness_delay_us(h), 7 * US_PER_S);
	assert_int_equal(harness_again(h), TURN_PENDING);
	assert_int_equal(harness_result(h, NULL, CLAIM_NONE), TURN_RETRY);
	assert_int_equal(harness_again(h), TURN_PENDING);
	assert_int_equal(when_answered(h, 503, ""), TURN_RETRY);
	assert_int_equal(harness_again(h), TURN_PENDING);
	assert_int_equal(when_answered(h, 200, "<html>"), TURN_RETRY);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static enum verdict when_it_ends(struct harness *h, enum http_end end)
{
	struct http_answer answer = { .end = end, .words = "words" };
	return harness_result(h, &answer, CLAIM_NONE);
}

/* Slow, never, a gigabyte: unknown. A certificate that has expired, nobody there: not sent. */
static void a_server_that_does_not_answer_is_asked_until_it_does(void **state)
{
	static const struct {
		const char *platform, *id;
		TaskKind kind;
	} tasks[] = { { "shopify", "", TASK_ORDERS }, { "shopify", "", TASK_CHECKOUTS },
		{ "woocommerce", "", TASK_ORDERS }, { "bigcommerce", "0934", TASK_CART },
		{ "bigcommerce", "252", TASK_ORDER } };
	static const enum http_end ends[] = { HTTP_UNKNOWN, HTTP_NOT_SENT, HTTP_BARRED };
	(void)state;
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		struct harness *h = given(tasks[i].platform);
		assert_int_equal(when_task(h, tasks[i].kind, tasks[i].id, 0), TURN_PENDING);
		for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++) {
			assert_int_equal(when_it_ends(h, ends[k]), TURN_RETRY);
			assert_int_equal(harness_again(h), TURN_PENDING);
		}
		for (const long *status = (long[]){ 302, 401, 403, 500, 0 }; *status; status++) {
			assert_int_equal(when_answered(h, *status, ""), TURN_RETRY);
			assert_int_equal(harness_again(h), TURN_PENDING);
		}
		assert_int_equal(harness_count(h, NULL), 0);
		harness_free(h);
	}
}

static void a_key_that_is_refused_is_told_once_and_once_that_it_is_taken(void **state)
{
	struct harness *h = given("woocommerce");
	Alarm alarm;
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), TURN_PENDING);
	assert_int_equal(when_answered(h, 401, ""), TURN_RETRY);
	assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
	assert_true(alarm.raised && strcmp(alarm.kind, "storefront-key") == 0);
	assert_int_equal(harness_again(h), TURN_PENDING);
	assert_int_equal(when_answered(h, 403, ""), TURN_RETRY);
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	assert_int_equal(harness_again(h), TURN_PENDING);
	assert_int_equal(when_answered(h, 500, ""), TURN_RETRY); /* that says nothing of the key */
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	assert_int_equal(harness_again(h), TURN_PENDING);
	assert_int_equal(when_answered(h, 200, "[]"), TURN_DONE);
	assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
	assert_true(!alarm.raised && strcmp(alarm.kind, "storefront-key") == 0);
	harness_free(h);
}

#define GARBAGE                                                                                                        \
	"", "<html>", "null", "7", "\"x\"", "{", "{\"orders\":7}", "{\"orders\":{}}", "{\"data\":[]}",                 \
		"{\"data\":{\"id\":{}}}", "\xff\xfe{", "[", "{\"a\":1,\"a\":2}"

static void garbage_says_nothing_and_is_told(void **state)
{
	static const struct {
		const char *platform, *id;
		TaskKind kind;
	} tasks[] = { { "shopify", "", TASK_ORDERS }, { "shopify", "", TASK_CHECKOUTS },
		{ "woocommerce", "", TASK_ORDERS }, { "bigcommerce", "0934", TASK_CART } };
	static const char *const bodies[] = { GARBAGE };
	(void)state;
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		struct harness *h = given(tasks[i].platform);
		assert_int_equal(when_task(h, tasks[i].kind, tasks[i].id, 0), TURN_PENDING);
		for (size_t k = 0; k < sizeof(bodies) / sizeof(bodies[0]); k++) {
			assert_int_equal(when_answered(h, 200, bodies[k]), TURN_RETRY);
			assert_int_equal(harness_count(h, NULL), 0);
			assert_int_equal(harness_again(h), TURN_PENDING);
		}
		harness_free(h);
	}
}

/* One of them that cannot be read holds up none of the others. */
static void what_is_no_order_in_a_page_is_left_out(void **state)
{
	struct harness *h = given("shopify");
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), TURN_PENDING);
	assert_int_equal(
		when_answered(h, 200, "{\"orders\":[null,{\"id\":99999999999999999999999}," ORDER("5", "") "]}"),
		TURN_RETRY); /* a number that no reader of JSON takes */
	assert_int_equal(harness_again(h), TURN_PENDING);
	assert_int_equal(
		when_answered(h, 200, "{\"orders\":[null,7,\"x\",[],{},{\"id\":{}}," ORDER("5", "") "]}"), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_cart_checkout), 1);
	harness_free(h);
}

static void without_an_api_it_is_a_dead_letter(void **state)
{
	struct harness *h = given("");
	(void)state;
	assert_int_equal(when_task(h, TASK_CART, "0934", 0), TURN_DEAD_LETTER);
	assert_non_null(strstr(harness_reason(h), "[storefront]"));
	harness_free(h);
}

static void an_absence_is_made_up_for_by_every_shop_that_can(void **state)
{
	struct harness *h = given("shopify");
	GatewayAway away = { .gateway = "gateway", .from_us = NOON_US - US_PER_HOUR, .back_us = NOON_US };
	(void)state;
	given_shop(h, "other", "woocommerce");
	given_shop(h, "third", "");
	given_shop(h, "fourth", "bigcommerce");
	assert_int_equal(WHEN(h, gateway_away, &away, .shop = SHOP_OF_ALL, .key = "gateway"), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_storefront_task), 2);
	StorefrontTask task;
	assert_true(harness_said(h, &topic_storefront_task, 0, &task, NULL));
	assert_true(task.from_us < away.from_us);
	harness_now(h, NOON_US + 2 * US_PER_DAY); /* an old one, of a log that is read anew */
	assert_int_equal(WHEN(h, gateway_away, &away, .shop = SHOP_OF_ALL, .key = "gateway"), TURN_DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

static enum reading reading_of(const char *body, struct event *event)
{
	const struct event_source source = { .shop = "demo", .topic = "", .webhook_id = "", .heard_us = NOON_US };
	return bigcommerce_read(&source, bytes_of(body), event);
}

#define HOOK(scope, data)                                                                                              \
	"{\"created_at\":1795175990,\"store_id\":\"1\",\"scope\":\"" scope "\",\"hash\":\"x\",\"data\":" data "}"

static void bigcommerce_webhooks_carry_ids_alone(void **state)
{
	static struct event event;
	(void)state;
	assert_int_equal(
		reading_of(HOOK("store/cart/abandoned", "{\"type\":\"cart\",\"id\":\"0934\"}"), &event), READ_TASK);
	assert_string_equal(event.task.id, "0934");
	assert_int_equal(event.task.kind, TASK_CART);
	assert_int_equal(event.task.triggered_us, NOON_US - 10 * US_PER_S);
	assert_int_equal(
		reading_of(HOOK("store/order/statusUpdated", "{\"type\":\"order\",\"id\":252}"), &event), READ_TASK);
	assert_int_equal(event.task.kind, TASK_ORDER);
	assert_string_equal(event.task.id, "252");
	assert_int_equal(
		reading_of(HOOK("store/cart/converted", "{\"type\":\"cart\",\"id\":\"0934\",\"orderId\":252}"), &event),
		READ_CHECKOUT);
	assert_string_equal(event.checkout.ids.order_id, "252");
	assert_string_equal(event.checkout.ids.cart_token, "0934");
	assert_int_equal(
		reading_of(HOOK("store/cart/deleted", "{\"type\":\"cart\",\"id\":\"0934\"}"), &event), READ_CHANGED);
	assert_true(event.changed.has_items && event.changed.items_count == 0);
	assert_int_equal(reading_of(HOOK("store/product/updated", "{\"id\":1}"), &event), READ_NOTHING);
	assert_int_equal(reading_of(HOOK("store/cart/created", "{}"), &event), READ_UNREADABLE);
	assert_int_equal(reading_of(HOOK("store/cart/created", "[]"), &event), READ_UNREADABLE);
	assert_int_equal(reading_of("[]", &event), READ_UNREADABLE);
}

/* What a stranger may write as a number is no moment only because it is one. */
static void a_moment_that_lies_ahead_or_is_none_is_not_taken(void **state)
{
	static const struct {
		const char *created_at;
		int64_t triggered_us;
	} cases[] = { { "1795176000", NOON_US }, { "1795175999", NOON_US - US_PER_S }, { "1795176001", 0 }, { "0", 0 },
		{ "-1", 0 }, { "9223372036854", 0 }, { "9223372036855", 0 }, { "9223372036854775807", 0 },
		{ "-9223372036854775807", 0 }, { "\"1795175999\"", 0 }, { "null", 0 } };
	static struct event event;
	char body[200];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(body, sizeof(body),
			"{\"created_at\":%s,\"scope\":\"store/cart/created\",\"data\":{\"id\":\"0934\"}}",
			cases[i].created_at);
		assert_int_equal(reading_of(body, &event), READ_TASK);
		assert_int_equal(event.task.triggered_us, cases[i].triggered_us);
		assert_int_equal(event.task.heard_us, NOON_US);
	}
}

/* A guest is customer 0, which is nobody: whoever took it for a name would join all guests' carts. */
static void a_guest_of_bigcommerce_has_no_customer_number(void **state)
{
	static const struct {
		const char *given, *wanted;
	} cases[] = { { "0", "" }, { "\"0\"", "" }, { "1", "1" }, { "731", "731" }, { "\"731\"", "731" } };
	const struct event_source source = { .shop = "demo",
		.topic = "",
		.webhook_id = "",
		.address_key = bytes_of("0123456789abcdef0123456789abcdef"),
		.heard_us = NOON_US };
	static struct event event;
	CartCheckout checkout;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *number = json_loads(cases[i].given, JSON_DECODE_ANY, NULL);
		json_t *cart = json_pack("{s:{s:s,s:O}}", "data", "id", "0934", "customer_id", number);
		json_t *order = json_pack("{s:i,s:i,s:o}", "id", 7, "status_id", 11, "customer_id", number);

		assert_int_equal(bigcommerce_read_cart(&source, cart, &event), READ_CHANGED);
		assert_string_equal(event.changed.ids.customer_id, cases[i].wanted);
		assert_true(bigcommerce_read_order(order, &checkout));
		assert_string_equal(checkout.ids.customer_id, cases[i].wanted);
		json_decref(cart);
		json_decref(order);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shopify_orders_come_first_and_then_what_is_open),
		cmocka_unit_test(a_full_page_leads_to_the_next),
		cmocka_unit_test(woocommerce_pages_are_numbered),
		cmocka_unit_test(a_storefront_that_pays_no_heed_to_pages_is_not_asked_for_ever),
		cmocka_unit_test(bigcommerce_carts_and_orders_are_fetched_by_id),
		cmocka_unit_test(a_cart_that_is_gone_is_as_good_as_emptied),
		cmocka_unit_test(it_is_asked_again_until_it_answers),
		cmocka_unit_test(a_server_that_does_not_answer_is_asked_until_it_does),
		cmocka_unit_test(a_key_that_is_refused_is_told_once_and_once_that_it_is_taken),
		cmocka_unit_test(garbage_says_nothing_and_is_told),
		cmocka_unit_test(what_is_no_order_in_a_page_is_left_out),
		cmocka_unit_test(without_an_api_it_is_a_dead_letter),
		cmocka_unit_test(an_absence_is_made_up_for_by_every_shop_that_can),
		cmocka_unit_test(bigcommerce_webhooks_carry_ids_alone),
		cmocka_unit_test(a_moment_that_lies_ahead_or_is_none_is_not_taken),
		cmocka_unit_test(a_guest_of_bigcommerce_has_no_customer_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
