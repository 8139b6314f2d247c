/* test_fetching.c: what is asked of a storefront's API, and what is said of its answers */
#include "bus/actor/harness.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/kit/bigcommerce.h"
#include "services/kit/http.h"
#include "services/storefront/storefront.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/document.h"
#include <stdio.h>

#define NOON_US (INT64_C(1795176000) * US_PER_S) /* Fri 20 Nov 2026, 12:00 UTC */

static void given_shop(struct harness *h, const char *name, const char *platform)
{
	char api[100] = "";

	if (*platform)
		snprintf(api, sizeof(api), "[storefront]\napi = https://api.example\nplatform = %s\n", platform);
	given_text(h, name, "shop", DEMO_SHOP, api);
}

static struct harness *given(const char *platform)
{
	struct harness *h = harness_new(&storefront, NOON_US);
	storefront_set_up(bytes_of("0123456789abcdef0123456789abcdef"));
	given_shop(h, "demo", platform);
	return h;
}

static enum verdict when_task(struct harness *h, TaskKind kind, const char *id, uint64_t after)
{
	StorefrontTask task = {
		.kind = kind, .from_us = NOON_US - 6 * US_PER_HOUR, .after = after, .triggered_us = NOON_US - US_PER_S
	};
	TEXT_COPY(task.id, id);
	TEXT_COPY(task.platform_topic, "store/cart/updated");
	return WHEN(h, storefront_task, &task, .shop = "demo", .key = "k");
}

static const char *asked(struct harness *h)
{
	const struct http_request *request = harness_effect_request(h);
	assert_non_null(request);
	return request->url;
}

static enum verdict when_answered(struct harness *h, long status, const char *body)
{
	struct http_answer answer = { .end = HTTP_ANSWERED, .status = status, .body = bytes_of(body), .words = "HTTP" };
	if (status == 429) {
		answer.headers[0].name = "Retry-After";
		strcpy(answer.headers[0].value, "7.0");
	}
	return harness_result(h, &answer, CLAIM_NONE);
}

static StorefrontTask said_task(struct harness *h)
{
	StorefrontTask task;
	assert_int_equal(harness_count(h, &topic_storefront_task), 1);
	assert_true(harness_said(h, &topic_storefront_task, 0, &task, NULL));
	return task;
}

#define ORDER(id, more)                                                                                                \
	"{\"id\":" id ",\"email\":\"Ann@buyer.example\",\"checkout_token\":\"k1\",\"currency\":\"EUR\"," more          \
	"\"total_price\":\"12.50\",\"financial_status\":\"paid\",\"created_at\":\"2026-11-20T09:00:00Z\"}"

static void shopify_orders_come_first_and_then_what_is_open(void **state)
{
	struct harness *h = given("shopify");
	CartCheckout order;
	CartChanged cart;
	Audit audit;
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), WORKING);
	assert_string_equal(asked(h),
		"https://api.example/admin/api/2026-07/orders.json?status=any&updated_at_min=2026-11-20T06:00:00Z"
		"&limit=20&since_id=0");
	assert_int_equal(when_answered(h, 200,
				 "{\"orders\":[" ORDER("5", "") "," ORDER(
					 "6", "\"cancelled_at\":\"2026-11-20T10:00:00Z\",") "]}"),
		DONE);
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
	assert_int_equal(WHEN(h, storefront_task, &next, .shop = "demo", .key = "reconcile"), WORKING);
	assert_non_null(strstr(asked(h), "/checkouts.json?status=open&"));
	assert_int_equal(when_answered(h, 200,
				 "{\"checkouts\":[{\"id\":9,\"token\":\"k9\",\"email\":\"bob@buyer.example\",\"updated_"
				 "at\":\"2026-11-20T08:00:00Z\","
				 "\"currency\":\"EUR\",\"total_price\":\"3.00\",\"line_items\":[{\"title\":\"Mug\","
				 "\"quantity\":1,\"price\":\"3.00\"}]}]}"),
		DONE);
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
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), WORKING);
	assert_int_equal(when_answered(h, 200, buffer_text(&page)), DONE);
	assert_int_equal(harness_count(h, &topic_cart_checkout), 20);
	StorefrontTask next = said_task(h);
	assert_int_equal(next.kind, TASK_ORDERS);
	assert_int_equal(next.after, 120);
	assert_int_equal(when_task(h, TASK_ORDERS, "", 120), WORKING);
	assert_non_null(strstr(asked(h), "&since_id=120"));
	assert_int_equal(
		when_answered(h, 200, buffer_text(&page)), LATER); /* the same page for ever: it would never end */
	assert_int_equal(harness_count(h, NULL), 0);
	buffer_free(&page);
	harness_free(h);
}

static void woocommerce_pages_are_numbered(void **state)
{
	struct harness *h = given("woocommerce");
	Audit audit;
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 2), WORKING);
	assert_string_equal(asked(h),
		"https://api.example/wp-json/wc/v3/orders?modified_after=2026-11-20T06:00:00&dates_are_gmt=true"
		"&orderby=id&order=asc&per_page=20&page=3");
	assert_int_equal(when_answered(h, 200,
				 "[{\"id\":7,\"status\":\"processing\",\"billing\":{\"email\":\"ann@buyer.example\"},"
				 "\"currency\":\"EUR\",\"total\":\"1.00\","
				 "\"date_created_gmt\":\"2026-11-20T09:00:00\",\"customer_id\":0}]"),
		DONE);
	assert_int_equal(harness_count(h, &topic_cart_checkout), 1);
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	harness_free(h);
}

/* Orders of these ids, as either platform lists them. */
static const char *page_of(const char *platform, int first, int count)
{
	static struct buffer page;
	bool woo = strcmp(platform, "woocommerce") == 0;
	buffer_clear(&page);
	for (int i = 0; i < count; i++)
		buffer_printf(&page, "%s{\"id\":%d,\"status\":\"processing\",\"financial_status\":\"paid\"}",
			i > 0         ? ","
				: woo ? "["
				      : "{\"orders\":[",
			first + i);
	buffer_add_text(&page, woo ? "]" : "]}");
	return buffer_text(&page);
}

static void a_storefront_that_pays_no_heed_to_pages_is_not_asked_for_ever(void **state)
{
	static const char *const platforms[] = { "shopify", "woocommerce" };
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct harness *h = given(platforms[i]);
		assert_int_equal(when_task(h, TASK_ORDERS, "", 0), WORKING);
		assert_int_equal(when_answered(h, 200, page_of(platforms[i], 100, 20)), DONE);
		StorefrontTask next = said_task(h);
		assert_int_equal(harness_count(h, &topic_cart_checkout), 20);
		assert_int_equal(WHEN(h, storefront_task, &next, .shop = "demo", .key = "k"), WORKING);
		assert_int_equal(when_answered(h, 200, page_of(platforms[i], 100, 20)), LATER); /* the same again */
		assert_int_equal(harness_again(h), WORKING);
		assert_int_equal(when_answered(h, 200, page_of(platforms[i], 100, 500)), LATER); /* all at once */
		assert_int_equal(harness_count(h, NULL), 0);
		assert_int_equal(harness_again(h), WORKING);
		assert_int_equal(when_answered(h, 200, page_of(platforms[i], 119, 20)), DONE); /* shifted by one */
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
	assert_int_equal(when_task(h, TASK_CART, "0934-44fd/..", 0), WORKING);
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
		DONE);
	assert_true(harness_said(h, &topic_cart_changed, 0, &cart, NULL));
	assert_string_equal(cart.ids.cart_token, "0934");
	assert_string_equal(cart.ids.email, "ann@buyer.example");
	assert_int_equal(cart.items_count, 2);
	assert_int_equal(cart.items[0].price_minor, 1000);
	assert_int_equal(cart.total_minor, 2450);
	assert_non_null(strstr(cart.recovery_url, "cart.php"));
	assert_int_equal(when_task(h, TASK_ORDER, "252", 0), WORKING);
	assert_int_equal(when_answered(h, 200,
				 "{\"id\":252,\"status_id\":11,\"status\":\"Awaiting "
				 "Fulfillment\",\"cart_id\":\"0934\",\"currency_code\":\"EUR\","
				 "\"total_inc_tax\":\"24.5000\",\"date_created\":\"Fri, 20 Nov 2026 09:00:00 +0000\","
				 "\"billing_address\":{\"email\":\"ann@buyer.example\"}}"),
		DONE);
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
	assert_int_equal(when_task(h, TASK_CART, "0934", 0), WORKING);
	assert_int_equal(when_answered(h, 404, ""), DONE);
	assert_true(harness_said(h, &topic_cart_changed, 0, &cart, NULL));
	assert_true(cart.has_items && cart.items_count == 0);
	harness_free(h);
}

static void it_is_asked_again_until_it_answers(void **state)
{
	struct harness *h = given("shopify");
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), WORKING);
	assert_int_equal(when_answered(h, 429, ""), LATER);
	assert_int_equal(harness_delay_us(h), 7 * US_PER_S);
	assert_int_equal(harness_again(h), WORKING);
	assert_int_equal(harness_result(h, NULL, CLAIM_NONE), LATER);
	assert_int_equal(harness_again(h), WORKING);
	assert_int_equal(when_answered(h, 503, ""), LATER);
	assert_int_equal(harness_again(h), WORKING);
	assert_int_equal(when_answered(h, 200, "<html>"), LATER);
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
		assert_int_equal(when_task(h, tasks[i].kind, tasks[i].id, 0), WORKING);
		for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++) {
			assert_int_equal(when_it_ends(h, ends[k]), LATER);
			assert_int_equal(harness_again(h), WORKING);
		}
		for (const long *status = (long[]){ 302, 401, 403, 500, 0 }; *status; status++) {
			assert_int_equal(when_answered(h, *status, ""), LATER);
			assert_int_equal(harness_again(h), WORKING);
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
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), WORKING);
	assert_int_equal(when_answered(h, 401, ""), LATER);
	assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
	assert_true(alarm.raised && strcmp(alarm.kind, "storefront-key") == 0);
	assert_int_equal(harness_again(h), WORKING);
	assert_int_equal(when_answered(h, 403, ""), LATER);
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	assert_int_equal(harness_again(h), WORKING);
	assert_int_equal(when_answered(h, 500, ""), LATER); /* that says nothing of the key */
	assert_int_equal(harness_count(h, &topic_alarm), 0);
	assert_int_equal(harness_again(h), WORKING);
	assert_int_equal(when_answered(h, 200, "[]"), DONE);
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
		assert_int_equal(when_task(h, tasks[i].kind, tasks[i].id, 0), WORKING);
		for (size_t k = 0; k < sizeof(bodies) / sizeof(bodies[0]); k++) {
			assert_int_equal(when_answered(h, 200, bodies[k]), LATER);
			assert_int_equal(harness_count(h, NULL), 0);
			assert_int_equal(harness_again(h), WORKING);
		}
		harness_free(h);
	}
}

/* One of them that cannot be read holds up none of the others. */
static void what_is_no_order_in_a_page_is_left_out(void **state)
{
	struct harness *h = given("shopify");
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), WORKING);
	assert_int_equal(
		when_answered(h, 200, "{\"orders\":[null,{\"id\":99999999999999999999999}," ORDER("5", "") "]}"),
		LATER); /* a number that no reader of JSON takes */
	assert_int_equal(harness_again(h), WORKING);
	assert_int_equal(
		when_answered(h, 200, "{\"orders\":[null,7,\"x\",[],{},{\"id\":{}}," ORDER("5", "") "]}"), DONE);
	assert_int_equal(harness_count(h, &topic_cart_checkout), 1);
	harness_free(h);
}

static void without_an_api_it_is_a_dead_letter(void **state)
{
	struct harness *h = given("");
	(void)state;
	assert_int_equal(when_task(h, TASK_CART, "0934", 0), NEVER);
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
	assert_int_equal(WHEN(h, gateway_away, &away, .shop = SHOP_OF_ALL, .key = "gateway"), DONE);
	assert_int_equal(harness_count(h, &topic_storefront_task), 2);
	StorefrontTask task;
	assert_true(harness_said(h, &topic_storefront_task, 0, &task, NULL));
	assert_true(task.from_us < away.from_us);
	harness_now(h, NOON_US + 2 * US_PER_DAY); /* an old one, of a log that is read anew */
	assert_int_equal(WHEN(h, gateway_away, &away, .shop = SHOP_OF_ALL, .key = "gateway"), DONE);
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* ---- when it is asked again, and why it says ---- */

static void each_failure_says_why_and_when_it_is_asked_again(void **state)
{
	static const struct {
		enum http_end end;
		long status;
		const char *retry_after, *body, *reason;
		int64_t delay_us;
	} cases[] = {
		{ HTTP_UNKNOWN, 0, NULL, "", "the storefront does not answer: words", 30 * US_PER_S },
		{ HTTP_NOT_SENT, 0, NULL, "", "the storefront does not answer: words", 30 * US_PER_S },
		{ HTTP_ANSWERED, 500, NULL, "", "the storefront does not answer: words", 30 * US_PER_S },
		{ HTTP_ANSWERED, 503, "90", "", "the storefront does not answer: words", 90 * US_PER_S },
		{ HTTP_ANSWERED, 429, "0", "", "the storefront does not answer: words", US_PER_S },
		{ HTTP_ANSWERED, 429, "1", "", "the storefront does not answer: words", US_PER_S },
		{ HTTP_ANSWERED, 429, "3600", "", "the storefront does not answer: words", US_PER_HOUR },
		{ HTTP_ANSWERED, 429, "90000", "", "the storefront does not answer: words", US_PER_HOUR },
		{ HTTP_ANSWERED, 499, NULL, "", "words", 30 * US_PER_S },
		{ HTTP_ANSWERED, 201, NULL, "{\"orders\":[]}", "words", 30 * US_PER_S },
		{ HTTP_ANSWERED, 404, NULL, "", "words", 30 * US_PER_S }, /* orders are not what can be gone */
		{ HTTP_ANSWERED, 200, NULL, "{}", "the storefront's answer is not what it was asked for",
			30 * US_PER_S },
		{ HTTP_ANSWERED, 401, NULL, "", "words", 10 * US_PER_MINUTE },
		{ HTTP_BARRED, 0, NULL, "", "words", 10 * US_PER_MINUTE },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_answer answer = { .end = cases[i].end,
			.status = cases[i].status,
			.body = bytes_of(cases[i].body),
			.words = "words" };
		struct harness *h = given("shopify");
		if (cases[i].retry_after) {
			answer.headers[0].name = "Retry-After";
			TEXT_COPY(answer.headers[0].value, cases[i].retry_after);
		}
		assert_int_equal(when_task(h, TASK_ORDERS, "", 0), WORKING);
		assert_int_equal(harness_result(h, &answer, CLAIM_NONE), LATER);
		assert_string_equal(harness_reason(h), cases[i].reason);
		assert_int_equal(harness_delay_us(h), cases[i].delay_us);
		assert_int_equal(harness_count(h, &topic_storefront_task) + harness_count(h, &topic_audit), 0);
		harness_free(h);
	}
	struct harness *h = given("shopify");
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), WORKING);
	assert_int_equal(harness_result(h, NULL, CLAIM_NONE), LATER);
	assert_string_equal(harness_reason(h), "the storefront does not answer: not in time");
	assert_int_equal(harness_delay_us(h), 30 * US_PER_S);
	harness_free(h);
}

static void a_shop_whose_configuration_has_not_come_is_waited_for(void **state)
{
	struct harness *h = harness_new(&storefront, NOON_US);
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), LATER);
	assert_int_equal(harness_delay_us(h), 5 * US_PER_S);
	assert_non_null(strstr(harness_reason(h), "configuration"));
	given_shop(h, "demo", "shopify");
	assert_int_equal(harness_again(h), WORKING);
	harness_free(h);
}

static void nobody_waits_for_a_page_so_it_has_time_and_room(void **state)
{
	static const struct {
		const char *platform, *id;
		TaskKind kind;
	} cases[] = { { "shopify", "", TASK_ORDERS }, { "woocommerce", "", TASK_ORDERS },
		{ "bigcommerce", "7", TASK_CART } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = given(cases[i].platform);
		assert_int_equal(when_task(h, cases[i].kind, cases[i].id, 0), WORKING);
		const struct http_request *request = harness_effect_request(h);
		assert_string_equal(request->method, "GET");
		assert_int_equal(request->deadline_us, 20 * US_PER_S);
		assert_int_equal(request->most_bytes, 8 * 1024 * 1024);
		assert_int_equal(request->reach, HTTP_REACH_PUBLIC);
		harness_free(h);
	}
}

static void what_a_platform_does_not_have_is_never_asked_for(void **state)
{
	static const struct {
		const char *platform;
		bool has[4]; /* orders, checkouts, one cart, one order */
	} cases[] = { { "shopify", { true, true, false, false } }, { "woocommerce", { true, false, false, false } },
		{ "bigcommerce", { false, false, true, true } }, { "", { false, false, false, false } } };
	static const TaskKind kinds[] = { TASK_ORDERS, TASK_CHECKOUTS, TASK_CART, TASK_ORDER };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
			struct harness *h = given(cases[i].platform);
			assert_int_equal(when_task(h, kinds[k], "7", 0), cases[i].has[k] ? WORKING : NEVER);
			harness_free(h);
		}
}

/* ---- what goes from page to page ---- */

static void what_was_found_is_counted_over_all_pages(void **state)
{
	struct harness *h = given("shopify");
	StorefrontTask task = { .kind = TASK_ORDERS,
		.from_us = NOON_US - 90 * US_PER_MINUTE,
		.after = 7,
		.found_orders = 3,
		.found_carts = 2,
		.who = "ada" };
	struct said how;
	Audit audit;
	(void)state;
	assert_int_equal(WHEN(h, storefront_task, &task, .shop = "demo", .key = "reconcile"), WORKING);
	assert_int_equal(when_answered(h, 200, "{\"orders\":[" ORDER("8", "") "," ORDER("9", "") "]}"), DONE);
	assert_true(harness_said(h, &topic_storefront_task, 0, &task, &how));
	assert_string_equal(how.shop, "demo");
	assert_string_equal(how.key, "reconcile");
	assert_int_equal(task.kind, TASK_CHECKOUTS);
	assert_int_equal(task.found_orders, 5);
	assert_int_equal(task.found_carts, 2);
	assert_int_equal(task.after + task.last_id, 0); /* it begins at the first page of the checkouts */
	assert_int_equal(WHEN(h, storefront_task, &task, .shop = "demo", .key = "reconcile"), WORKING);
	assert_int_equal(
		when_answered(h, 200,
			"{\"checkouts\":[{\"id\":9,\"token\":\"k9\",\"email\":\"bob@buyer.example\",\"updated_at\":"
			"\"2026-11-20T08:00:00Z\",\"currency\":\"EUR\",\"total_price\":\"3.00\"}]}"),
		DONE);
	assert_true(harness_said(h, &topic_audit, 0, &audit, &how));
	assert_string_equal(how.key, "demo");
	assert_string_equal(audit.who, "ada");
	assert_int_equal(audit.at_us, NOON_US);
	assert_string_equal(audit.grounds,
		"asked the storefront for what changed in the 90 minutes before: orders 5, open checkouts 3");
	harness_free(h);
}

/* Twenty are a full page, of which there may be a next; nineteen are the last. */
static void a_page_with_room_left_is_the_last(void **state)
{
	static const struct {
		const char *platform;
		uint64_t after, next_after, next_last_id;
	} cases[] = { { "shopify", 50, 119, 119 }, { "woocommerce", 2, 3, 119 } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = given(cases[i].platform);
		assert_int_equal(when_task(h, TASK_ORDERS, "", cases[i].after), WORKING);
		assert_int_equal(when_answered(h, 200, page_of(cases[i].platform, 100, 20)), DONE);
		StorefrontTask next = said_task(h);
		assert_int_equal(next.kind, TASK_ORDERS);
		assert_int_equal(next.after, cases[i].next_after);
		assert_int_equal(next.last_id, cases[i].next_last_id);
		assert_int_equal(harness_count(h, &topic_audit), 0);
		assert_int_equal(WHEN(h, storefront_task, &next, .shop = "demo", .key = "reconcile"), WORKING);
		assert_int_equal(when_answered(h, 200, page_of(cases[i].platform, 120, 19)), DONE);
		bool shopify = strcmp(cases[i].platform, "shopify") == 0;
		assert_int_equal(harness_count(h, &topic_storefront_task), shopify); /* its checkouts */
		assert_int_equal(harness_count(h, &topic_audit), !shopify);
		harness_free(h);
	}
}

/* One cart or order is not a part of a list: nothing comes after it. */
static void after_one_cart_or_order_nothing_is_asked(void **state)
{
	struct harness *h = given("bigcommerce");
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDER, "252", 0), WORKING);
	assert_int_equal(
		when_answered(h, 200,
			"{\"id\":252,\"status_id\":11,\"status\":\"Awaiting Fulfillment\",\"cart_id\":\"0934\","
			"\"currency_code\":\"EUR\",\"total_inc_tax\":\"24.50\"}"),
		DONE);
	assert_int_equal(harness_count(h, NULL), harness_count(h, &topic_cart_checkout));
	harness_free(h);
}

static void a_cart_is_gone_since_its_webhook_said_something(void **state)
{
	static const struct {
		int64_t triggered_us, heard_us, changed_us;
	} cases[] = { { NOON_US - US_PER_S, NOON_US - 1, NOON_US - US_PER_S }, { 0, NOON_US - 1, NOON_US - 1 } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = given("bigcommerce");
		StorefrontTask task = { .kind = TASK_CART,
			.id = "0934",
			.platform_topic = "store/cart/updated",
			.triggered_us = cases[i].triggered_us,
			.heard_us = cases[i].heard_us };
		CartChanged cart;
		struct said how;
		assert_int_equal(WHEN(h, storefront_task, &task, .shop = "demo", .key = "k"), WORKING);
		assert_int_equal(when_answered(h, 404, ""), DONE);
		assert_true(harness_said(h, &topic_cart_changed, 0, &cart, &how));
		assert_string_equal(how.shop, "demo");
		assert_string_equal(how.key, "0934");
		assert_string_equal(cart.ids.cart_token, "0934");
		assert_string_equal(cart.platform_topic, "store/cart/updated");
		assert_int_equal(cart.platform, PLATFORM_BIGCOMMERCE);
		assert_int_equal(cart.changed_us, cases[i].changed_us);
		assert_int_equal(cart.heard_us, NOON_US);
		assert_true(cart.has_ids);
		harness_free(h);
	}
	struct harness *h = given("bigcommerce");
	assert_int_equal(when_task(h, TASK_ORDER, "252", 0), WORKING);
	assert_int_equal(when_answered(h, 404, ""), LATER); /* an order does not vanish */
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* A cart and an order are keyed by the token that others know them by, so that they are decided on one after the other. */
static void what_is_fetched_is_keyed_as_its_webhook_is(void **state)
{
	struct harness *h = given("shopify");
	struct said how;
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), WORKING);
	assert_int_equal(when_answered(h, 200,
				 "{\"orders\":[" ORDER(
					 "5", "") ",{\"id\":6,\"email\":\"ann@buyer.example\",\"financial_status\":"
						  "\"paid\",\"created_at\":\"2026-11-20T09:00:00Z\"}]}"),
		DONE);
	CartCheckout order;
	assert_true(harness_said(h, &topic_cart_checkout, 0, &order, &how));
	assert_string_equal(how.shop, "demo");
	assert_string_equal(how.key, "k1");
	assert_true(harness_said(h, &topic_cart_checkout, 1, &order, &how));
	assert_true(*how.key);
	assert_string_not_equal(how.key, "k1");
	harness_free(h);
}

static void an_absence_is_old_news_after_a_day(void **state)
{
	static const struct {
		int64_t ago_us;
		size_t tasks;
	} cases[] = { { 0, 1 }, { US_PER_DAY, 1 }, { US_PER_DAY + 1, 0 } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = given("shopify");
		GatewayAway away = { .gateway = "gateway",
			.from_us = NOON_US - 30 * US_PER_HOUR,
			.back_us = NOON_US - cases[i].ago_us };
		struct said how;
		assert_int_equal(WHEN(h, gateway_away, &away, .shop = SHOP_OF_ALL, .key = "gateway"), DONE);
		assert_int_equal(harness_count(h, NULL), cases[i].tasks);
		if (cases[i].tasks) {
			StorefrontTask task = said_task(h);
			assert_int_equal(task.kind, TASK_ORDERS);
			assert_int_equal(task.from_us, away.from_us - 15 * US_PER_MINUTE); /* what was under way */
			assert_int_equal(task.heard_us, NOON_US);
			assert_string_equal(task.who, "system");
			harness_said(h, &topic_storefront_task, 0, &task, &how);
			assert_string_equal(how.shop, "demo");
			assert_string_equal(how.key, "reconcile");
		}
		harness_free(h);
	}
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
		cmocka_unit_test(each_failure_says_why_and_when_it_is_asked_again),
		cmocka_unit_test(a_shop_whose_configuration_has_not_come_is_waited_for),
		cmocka_unit_test(nobody_waits_for_a_page_so_it_has_time_and_room),
		cmocka_unit_test(what_a_platform_does_not_have_is_never_asked_for),
		cmocka_unit_test(what_was_found_is_counted_over_all_pages),
		cmocka_unit_test(a_page_with_room_left_is_the_last),
		cmocka_unit_test(after_one_cart_or_order_nothing_is_asked),
		cmocka_unit_test(a_cart_is_gone_since_its_webhook_said_something),
		cmocka_unit_test(what_is_fetched_is_keyed_as_its_webhook_is),
		cmocka_unit_test(an_absence_is_old_news_after_a_day),
		cmocka_unit_test(bigcommerce_webhooks_carry_ids_alone),
		cmocka_unit_test(a_guest_of_bigcommerce_has_no_customer_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
