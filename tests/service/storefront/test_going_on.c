/* test_going_on.c: what comes after each answer: why and when it is asked again, and what goes from page to page */
#include "given.h"

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
		assert_int_equal(when_task(h, TASK_ORDERS, "", 0), TURN_PENDING);
		assert_int_equal(harness_result(h, &answer, CLAIM_NONE), TURN_RETRY);
		assert_string_equal(harness_reason(h), cases[i].reason);
		assert_int_equal(harness_delay_us(h), cases[i].delay_us);
		assert_int_equal(harness_count(h, &topic_storefront_task) + harness_count(h, &topic_audit), 0);
		harness_free(h);
	}
	struct harness *h = given("shopify");
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), TURN_PENDING);
	assert_int_equal(harness_result(h, NULL, CLAIM_NONE), TURN_RETRY);
	assert_string_equal(harness_reason(h), "the storefront does not answer: not in time");
	assert_int_equal(harness_delay_us(h), 30 * US_PER_S);
	harness_free(h);
}

static void a_shop_whose_configuration_has_not_come_is_waited_for(void **state)
{
	struct harness *h = harness_new_in(storefront_in(&storefront_here), NOON_US);
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), TURN_RETRY);
	assert_int_equal(harness_delay_us(h), 5 * US_PER_S);
	assert_non_null(strstr(harness_reason(h), "configuration"));
	given_shop(h, "demo", "shopify");
	assert_int_equal(harness_again(h), TURN_PENDING);
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
		assert_int_equal(when_task(h, cases[i].kind, cases[i].id, 0), TURN_PENDING);
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
			assert_int_equal(
				when_task(h, kinds[k], "7", 0), cases[i].has[k] ? TURN_PENDING : TURN_DEAD_LETTER);
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
	struct message_meta how;
	Audit audit;
	(void)state;
	assert_int_equal(WHEN(h, storefront_task, &task, .shop = "demo", .key = "reconcile"), TURN_PENDING);
	assert_int_equal(when_answered(h, 200, "{\"orders\":[" ORDER("8", "") "," ORDER("9", "") "]}"), TURN_DONE);
	assert_true(harness_said(h, &topic_storefront_task, 0, &task, &how));
	assert_string_equal(how.shop, "demo");
	assert_string_equal(how.key, "reconcile");
	assert_int_equal(task.kind, TASK_CHECKOUTS);
	assert_int_equal(task.found_orders, 5);
	assert_int_equal(task.found_carts, 2);
	assert_int_equal(task.after + task.last_id, 0); /* it begins at the first page of the checkouts */
	assert_int_equal(WHEN(h, storefront_task, &task, .shop = "demo", .key = "reconcile"), TURN_PENDING);
	assert_int_equal(
		when_answered(h, 200,
			"{\"checkouts\":[{\"id\":9,\"token\":\"k9\",\"email\":\"bob@buyer.example\",\"updated_at\":"
			"\"2026-11-20T08:00:00Z\",\"currency\":\"EUR\",\"total_price\":\"3.00\"}]}"),
		TURN_DONE);
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
		assert_int_equal(when_task(h, TASK_ORDERS, "", cases[i].after), TURN_PENDING);
		assert_int_equal(when_answered(h, 200, page_of(cases[i].platform, 100, 20)), TURN_DONE);
		StorefrontTask next = said_task(h);
		assert_int_equal(next.kind, TASK_ORDERS);
		assert_int_equal(next.after, cases[i].next_after);
		assert_int_equal(next.last_id, cases[i].next_last_id);
		assert_int_equal(harness_count(h, &topic_audit), 0);
		assert_int_equal(WHEN(h, storefront_task, &next, .shop = "demo", .key = "reconcile"), TURN_PENDING);
		assert_int_equal(when_answered(h, 200, page_of(cases[i].platform, 120, 19)), TURN_DONE);
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
	assert_int_equal(when_task(h, TASK_ORDER, "252", 0), TURN_PENDING);
	assert_int_equal(
		when_answered(h, 200,
			"{\"id\":252,\"status_id\":11,\"status\":\"Awaiting Fulfillment\",\"cart_id\":\"0934\","
			"\"currency_code\":\"EUR\",\"total_inc_tax\":\"24.50\"}"),
		TURN_DONE);
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
		struct message_meta how;
		assert_int_equal(WHEN(h, storefront_task, &task, .shop = "demo", .key = "k"), TURN_PENDING);
		assert_int_equal(when_answered(h, 404, ""), TURN_DONE);
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
	assert_int_equal(when_task(h, TASK_ORDER, "252", 0), TURN_PENDING);
	assert_int_equal(when_answered(h, 404, ""), TURN_RETRY); /* an order does not vanish */
	assert_int_equal(harness_count(h, NULL), 0);
	harness_free(h);
}

/* A cart and an order are keyed by the token that others know them by, so that they are decided on one after the other. */
static void what_is_fetched_is_keyed_as_its_webhook_is(void **state)
{
	struct harness *h = given("shopify");
	struct message_meta how;
	(void)state;
	assert_int_equal(when_task(h, TASK_ORDERS, "", 0), TURN_PENDING);
	assert_int_equal(when_answered(h, 200,
				 "{\"orders\":[" ORDER(
					 "5", "") ",{\"id\":6,\"email\":\"ann@buyer.example\",\"financial_status\":"
						  "\"paid\",\"created_at\":\"2026-11-20T09:00:00Z\"}]}"),
		TURN_DONE);
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
		struct message_meta how;
		assert_int_equal(WHEN(h, gateway_away, &away, .shop = SHOP_OF_ALL, .key = "gateway"), TURN_DONE);
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

static void every_shop_is_asked_about_after_an_absence(void **state)
{
	enum { SHOPS = 300 };
	struct harness *h = given("shopify");
	const GatewayAway away = { .gateway = "gateway", .from_us = NOON_US - US_PER_HOUR, .back_us = NOON_US };
	StorefrontTask task;
	struct message_meta how;
	char name[20];

	(void)state;
	for (int i = 1; i < SHOPS; i++) {
		snprintf(name, sizeof(name), "demo-%03d", i);
		given_shop(h, name, "shopify");
	}
	assert_int_equal(WHEN(h, gateway_away, &away, .shop = SHOP_OF_ALL, .key = "gateway"), TURN_DONE);
	assert_int_equal(harness_count(h, &topic_storefront_task), SHOPS);
	assert_true(harness_said(h, &topic_storefront_task, SHOPS - 1, &task, &how));
	assert_string_equal(how.shop, "demo-299");
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		cmocka_unit_test(every_shop_is_asked_about_after_an_absence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
