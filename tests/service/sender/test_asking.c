/* test_asking.c: the storefront is asked before a mail, and what comes of its answer */
#include "bus/base/text.h"
#include "services/kit/http/http.h"
#include "tests/service/sender/given.h"
#include <stdio.h>

static const char SHOP[] = "[shop]\ntime-zone = Europe/Berlin\ncurrency = EUR\nlocale = de-DE\ntitle = Demo\n"
			   "url = https://demo.example\n[mail]\nfrom = Demo <shop@demo.example>\n"
			   "[storefront]\nplatform = %s\napi = https://api.example/x/\n";

static struct harness *given_storefront(const char *platform)
{
	struct harness *h = given_shop();
	char text[1000];
	snprintf(text, sizeof(text), SHOP, platform);
	given_document(h, "demo", "shop", text);
	return h;
}

static ReminderDue due_cart(void)
{
	ReminderDue due = due_reminder(1);
	strcpy(due.cart.ids.checkout_token, "k1");
	due.cart.first_seen_us = due.cart.abandoned_us;
	return due;
}

static struct harness *given_asked(const char *platform)
{
	struct harness *h = given_storefront(platform);
	ReminderDue due = due_cart();
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	return h;
}

static const struct http_request *asked(struct harness *h)
{
	const struct http_request *request = harness_effect_request(h);
	assert_non_null(request);
	assert_string_equal(request->auth.secret, "api/demo");
	assert_int_equal(request->reach, HTTP_REACH_PUBLIC);
	return request;
}

static enum verdict when_answered(struct harness *h, long status, const char *body)
{
	struct http_answer answer = { .end = HTTP_ANSWERED, .status = status, .body = bytes_of(body) };
	snprintf(answer.words, sizeof(answer.words), "HTTP %ld", status);
	return harness_result(h, &answer, CLAIM_NONE);
}

/* The mail is what runs now. */
static Audit when_mailed(struct harness *h)
{
	Audit audit;
	assert_true(harness_may_proceed(h));
	assert_int_equal(when_sent(h, MAIL_SENT, "250 ok"), TURN_DONE);
	said_outcome(h, &topic_reminder_sent);
	assert_int_equal(harness_count(h, &topic_audit), 1);
	harness_said(h, &topic_audit, 0, &audit, NULL);
	return audit;
}

static CartCheckout said_order(struct harness *h)
{
	CartCheckout order;
	Audit audit;
	assert_int_equal(harness_count(h, &topic_cart_checkout), 1);
	assert_true(harness_said(h, &topic_cart_checkout, 0, &order, NULL));
	assert_string_equal(order.ids.email, "");
	ReminderOutcome outcome = said_outcome(h, &topic_reminder_skipped);
	assert_non_null(strstr(outcome.reason, "stopped bought: the storefront knows order "));
	assert_true(harness_said(h, &topic_audit, 0, &audit, NULL));
	assert_non_null(strstr(audit.grounds, order.ids.order_id));
	assert_int_equal(harness_count(h, &topic_send_claim), 0);
	return order;
}

#define SHOPIFY_ANSWER(checkout, cart, email)                                                                          \
	"{\"data\":{\"byCheckout\":{\"nodes\":[" checkout "]},\"byCart\":{\"nodes\":[" cart                            \
	"]},\"byEmail\":{\"nodes\":[" email "]}}}"
#define SHOPIFY_ORDER(id, at, cancelled, email)                                                                        \
	"{\"legacyResourceId\":\"" id "\",\"createdAt\":\"" at "\",\"cancelledAt\":" cancelled                         \
	",\"test\":false,\"displayFinancialStatus\":\"PAID\",\"email\":\"" email                                       \
	"\",\"totalPriceSet\":{\"presentmentMoney\":{\"amount\":\"12.50\",\"currencyCode\":\"EUR\"}}}"
#define BEFORE "2026-11-20T07:00:00Z" /* the cart was left at 08:00 */
#define AFTER "2026-11-20T09:00:00Z"

static void shopify_is_asked_by_tokens_and_address(void **state)
{
	struct harness *h = given_asked("shopify");
	const struct http_request *request = asked(h);
	char body[3000];
	(void)state;
	assert_string_equal(request->method, "POST");
	assert_string_equal(request->url, "https://api.example/x/admin/api/2026-07/graphql.json");
	assert_string_equal(request->auth.name, "X-Shopify-Access-Token");
	assert_int_equal(request->deadline_us, 5 * US_PER_S);
	snprintf(body, sizeof(body), "%.*s", (int)request->body.len, (const char *)request->body.data);
	assert_non_null(strstr(body, "\"byCheckout\":\"checkout_token:k1\""));
	assert_non_null(strstr(body, "\"byCart\":\"cart_token:c1\""));
	assert_non_null(strstr(
		body, "\"byEmail\":\"email:\\\"ann@buyer.example\\\" AND created_at:>='2026-11-20T07:55:00Z'\""));
	harness_free(h);
}

static void an_order_that_the_storefront_knows_ends_the_chase(void **state)
{
	static const struct {
		const char *answer, *order, *token;
	} cases[] = {
		{ SHOPIFY_ANSWER(SHOPIFY_ORDER("77", BEFORE, "null", "other@buyer.example"), "", ""), "77", "k1" },
		{ SHOPIFY_ANSWER("", SHOPIFY_ORDER("78", AFTER, "null", ""), ""), "78", "" },
		{ SHOPIFY_ANSWER("", "", SHOPIFY_ORDER("79", AFTER, "null", "ANN@Buyer.example")), "79", "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = given_asked("shopify");
		assert_int_equal(when_answered(h, 200, cases[i].answer), TURN_DONE);
		CartCheckout order = said_order(h);
		assert_string_equal(order.ids.order_id, cases[i].order);
		assert_string_equal(order.ids.checkout_token, cases[i].token);
		assert_string_equal(order.payment_status, "paid");
		assert_int_equal(order.total_minor, 1250);
		ReminderDue due = due_cart(); /* and it stays ended, for every sender that folds it */
		assert_int_equal(when_due(h, &due), TURN_DONE);
		harness_free(h);
	}
}

static void an_order_of_before_or_of_others_stops_nothing(void **state)
{
	static const char *const answers[] = {
		SHOPIFY_ANSWER("", "", ""),
		SHOPIFY_ANSWER("", "", SHOPIFY_ORDER("1", BEFORE, "null", "ann@buyer.example")),
		SHOPIFY_ANSWER("", "", SHOPIFY_ORDER("1", AFTER, "null", "bob@buyer.example")),
		SHOPIFY_ANSWER(SHOPIFY_ORDER("1", AFTER, "\"" AFTER "\"", ""), "", ""),
	};
	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct harness *h = given_asked("shopify");
		assert_int_equal(when_answered(h, 200, answers[i]), TURN_PENDING);
		assert_int_equal(harness_count(h, NULL), 0);
		assert_non_null(strstr(when_mailed(h).grounds, "; the storefront knows no order of it"));
		assert_int_equal(harness_count(h, &topic_alarm), 0);
		harness_free(h);
	}
}

static void silence_lets_the_log_decide_and_raises_one_alarm(void **state)
{
	static const struct {
		long status;
		const char *body;
	} cases[] = { { 500, "" }, { 302, "" }, { 200, "<html>" }, { 200, "{\"errors\":[{}]}" }, { 200, "[]" },
		{ 200, "{\"data\":{\"byCheckout\":{\"nodes\":[]}}}" }, { 204, "" },
		{ 200,
			"{\"data\":{\"byCheckout\":{\"nodes\":[" SHOPIFY_ORDER(
				"9", AFTER, "null", "") "]}},"
							"\"extensions\":{\"search\":[{\"warnings\":[{\"field\":"
							"\"checkout_token\"}]}]}}" } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = given_asked("shopify");
		Alarm alarm;
		assert_int_equal(when_answered(h, cases[i].status, cases[i].body), TURN_PENDING);
		assert_non_null(strstr(when_mailed(h).grounds, "; the storefront gave no answer, the log decided: "));
		assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
		assert_true(alarm.raised);
		ReminderDue second = due_cart();
		second.step = 2;
		strcpy(second.cart.ids.email_hash, "hash-of-bob");
		assert_int_equal(when_due(h, &second), TURN_PENDING);
		assert_int_equal(when_answered(h, cases[i].status, cases[i].body), TURN_PENDING);
		when_mailed(h);
		assert_int_equal(harness_count(h, &topic_alarm), 0);
		harness_free(h);
	}
}

/* Slow, never, a gigabyte: unknown. An expired certificate, nobody there: not sent. An address that is none to ask: barred. */
static void a_storefront_that_cannot_be_heard_is_as_good_as_silent(void **state)
{
	static const enum http_end ends[] = { HTTP_UNKNOWN, HTTP_NOT_SENT, HTTP_BARRED };
	static const char *const platforms[] = { "shopify", "woocommerce", "bigcommerce" };
	(void)state;
	for (size_t i = 0; i < 9; i++) {
		struct harness *h = given_asked(platforms[i / 3]);
		struct http_answer answer = { .end = ends[i % 3], .words = "words" };
		Alarm alarm;
		assert_int_equal(harness_result(h, &answer, CLAIM_NONE), TURN_PENDING);
		assert_non_null(strstr(when_mailed(h).grounds, "; the storefront gave no answer, the log decided: "));
		assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
		assert_true(alarm.raised);
		harness_free(h);
	}
}

static void the_words_of_a_failure_are_cut_between_two_characters(void **state)
{
	(void)state;
	for (int odd = 0; odd < 2; odd++) {
		struct harness *h = given_asked("shopify");
		struct http_answer answer = { .end = HTTP_NOT_SENT };
		if (odd)
			answer.words[0] = 'x';
		while (strlen(answer.words) + 2 < sizeof(answer.words))
			strcat(answer.words, "ö");
		assert_int_equal(harness_result(h, &answer, CLAIM_NONE), TURN_PENDING);
		Audit audit = when_mailed(h);
		assert_non_null(strstr(audit.grounds, "öö"));
		assert_true(text_is_utf8(bytes_of(audit.grounds)));
		harness_free(h);
	}
}

/* Not an order that it does not know: a storefront that says nothing of orders has not answered. */
static void an_answer_that_is_no_list_of_orders_is_as_good_as_none(void **state)
{
	static const struct {
		const char *platform, *body;
	} cases[] = { { "shopify", "[]" }, { "shopify", "{\"data\":[]}" }, { "shopify", "null" },
		{ "woocommerce", "{}" }, { "woocommerce", "{\"code\":\"rest_no_route\"}" }, { "woocommerce", "null" },
		{ "bigcommerce", "{}" }, { "bigcommerce", "{\"data\":[]}" }, { "bigcommerce", "null" } };
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = given_asked(cases[i].platform);
		Alarm alarm;
		assert_int_equal(when_answered(h, 200, cases[i].body), TURN_PENDING);
		assert_non_null(strstr(when_mailed(h).grounds, "; the storefront gave no answer, the log decided: "));
		assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
		assert_true(alarm.raised && strcmp(alarm.kind, "storefront") == 0);
		harness_free(h);
	}
}

static void an_answer_ends_the_alarm(void **state)
{
	struct harness *h = given_storefront("shopify");
	Alarm alarm = { .kind = "storefront", .raised = true };
	ReminderDue due = due_cart();
	(void)state;
	GIVEN(h, alarm, &alarm, .shop = "demo", .key = "storefront", .version = 1);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	assert_int_equal(when_answered(h, 200, SHOPIFY_ANSWER("", "", "")), TURN_PENDING);
	when_mailed(h);
	assert_true(harness_said(h, &topic_alarm, 0, &alarm, NULL));
	assert_false(alarm.raised);
	harness_free(h);
}

static size_t alarms_when(struct harness *h, int step, long status, Alarm *ret)
{
	ReminderDue due = due_cart();
	due.step = (uint32_t)step;
	snprintf(due.cart.ids.cart_id, sizeof(due.cart.ids.cart_id), "c-%d-%ld", step, status);
	snprintf(due.cart.ids.email_hash, sizeof(due.cart.ids.email_hash), "hash-%d-%ld", step, status);
	assert_int_equal(when_due(h, &due), TURN_PENDING);
	assert_int_equal(when_answered(h, status, status == 200 ? SHOPIFY_ANSWER("", "", "") : "{}"), TURN_PENDING);
	when_mailed(h);
	*ret = (Alarm){ 0 };
	harness_said(h, &topic_alarm, 0, ret, NULL);
	return harness_count(h, &topic_alarm);
}

static void a_storefront_that_refuses_our_key_is_told_apart_from_a_silent_one(void **state)
{
	struct harness *h = given_storefront("shopify");
	Alarm alarm;
	(void)state;
	assert_int_equal(alarms_when(h, 1, 401, &alarm), 1);
	assert_string_equal(alarm.kind, "storefront-key");
	assert_true(alarm.raised);
	assert_non_null(strstr(alarm.text, "refuses our API key"));
	assert_non_null(strstr(alarm.remedy, "cartbus shop secret demo --api --set"));
	assert_int_equal(alarms_when(h, 1, 403, &alarm), 0);
	assert_int_equal(alarms_when(h, 1, 500, &alarm), 1); /* that says nothing of the key */
	assert_string_equal(alarm.kind, "storefront");
	assert_int_equal(alarms_when(h, 2, 401, &alarm), 1); /* it answers */
	assert_string_equal(alarm.kind, "storefront");
	assert_false(alarm.raised);
	assert_int_equal(alarms_when(h, 1, 200, &alarm), 1);
	assert_string_equal(alarm.kind, "storefront-key");
	assert_false(alarm.raised);
	harness_free(h);
}

#define WOO_ORDER(id, status, email, at, cart)                                                                         \
	"{\"id\":" id ",\"status\":\"" status "\",\"billing\":{\"email\":\"" email "\"},\"customer_id\":0,"            \
	"\"currency\":\"EUR\",\"total\":\"12.50\",\"date_created_gmt\":\"" at                                          \
	"\",\"meta_data\":[{\"id\":1,\"key\":\"_cartbus_cart\",\"value\":\"" cart "\"}]}"

static void woocommerce_orders_are_matched_by_cart_and_by_address(void **state)
{
	static const struct {
		const char *answer, *order;
	} cases[] = {
		{ "[" WOO_ORDER("5", "processing", "other@buyer.example", "2026-11-20T07:00:00", "c1") "]", "5" },
		{ "[" WOO_ORDER("6", "completed", "Ann@buyer.example", "2026-11-20T09:00:00", "") "]", "6" },
		{ "[" WOO_ORDER("7", "processing", "ann@buyer.example", "2026-11-20T07:54:30", "") "]", NULL },
		{ "[" WOO_ORDER("8", "pending", "ann@buyer.example", "2026-11-20T09:00:00", "c1") "]", NULL },
		{ "[" WOO_ORDER("9", "cancelled", "ann@buyer.example", "2026-11-20T09:00:00", "c1") "]", NULL },
		{ "[" WOO_ORDER("10", "processing", "bob@buyer.example", "2026-11-20T09:00:00", "c9") "]", NULL },
		{ "[]", NULL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct harness *h = given_asked("woocommerce");
		const char *url = asked(h)->url;
		assert_ptr_equal(strstr(url,
					 "https://api.example/x/wp-json/wc/v3/"
					 "orders?after=2026-11-20T07:55:00&dates_are_gmt=true&"),
			url);
		assert_int_equal(when_answered(h, 200, cases[i].answer), cases[i].order ? TURN_DONE : TURN_PENDING);
		if (cases[i].order)
			assert_string_equal(said_order(h).ids.order_id, cases[i].order);
		else
			assert_non_null(strstr(when_mailed(h).grounds, "knows no order"));
		harness_free(h);
	}
}

static void a_full_page_is_asked_on_by_the_address(void **state)
{
	struct harness *h = given_asked("woocommerce");
	struct buffer page = { 0 };
	(void)state;
	for (int i = 0; i < 100; i++)
		buffer_printf(&page, "%s" WOO_ORDER("1", "processing", "bob@buyer.example", "2026-11-20T09:00:00", ""),
			i ? "," : "[");
	buffer_add_text(&page, "]");
	assert_int_equal(when_answered(h, 200, buffer_text(&page)), TURN_PENDING);
	assert_non_null(strstr(asked(h)->url, "&search=ann%40buyer.example"));
	assert_int_equal(when_answered(h, 200, buffer_text(&page)), TURN_PENDING);
	assert_non_null(strstr(when_mailed(h).grounds, "knows no order"));
	buffer_free(&page);
	harness_free(h);
}

#define BIG_ORDER(id, status, email, cart)                                                                             \
	"[{\"id\":" id ",\"status_id\":" status ",\"status\":\"X\",\"cart_id\":\"" cart                                \
	"\",\"date_created\":\"Fri, 20 Nov 2026 09:00:00 +0000\",\"billing_address\":{\"email\":\"" email              \
	"\"},\"currency_code\":\"EUR\",\"total_inc_tax\":\"12.5000\",\"customer_id\":0}]"

static void bigcommerce_is_asked_by_address_and_by_cart(void **state)
{
	struct harness *h = given_asked("bigcommerce");
	(void)state;
	assert_string_equal(asked(h)->auth.name, "X-Auth-Token");
	assert_non_null(
		strstr(asked(h)->url, "/x/v2/orders?email=ann%40buyer.example&min_date_created=2026-11-20T07:55:00Z"));
	assert_int_equal(when_answered(h, 204, ""), TURN_PENDING);
	assert_non_null(strstr(asked(h)->url, "/x/v2/orders?cart_id=c1&"));
	assert_int_equal(when_answered(h, 200, BIG_ORDER("31", "11", "other@buyer.example", "c1")), TURN_DONE);
	assert_string_equal(said_order(h).ids.order_id, "31");
	harness_free(h);
	h = given_asked("bigcommerce");
	assert_int_equal(when_answered(h, 200, BIG_ORDER("32", "0", "ann@buyer.example", "c1")), TURN_PENDING);
	assert_int_equal(when_answered(h, 200, BIG_ORDER("33", "5", "ann@buyer.example", "c1")), TURN_PENDING);
	assert_non_null(strstr(when_mailed(h).grounds, "knows no order"));
	harness_free(h);
}

static void nobody_is_asked_about_what_would_not_be_mailed_now(void **state)
{
	struct harness *h = given_storefront("shopify");
	ReminderDue due = due_cart();
	(void)state;
	given_rules(h, "Quiet hours: 10 am to 8 pm.\n");
	assert_int_equal(when_due(h, &due), TURN_DONE);
	assert_null(harness_effect_request(h));
	harness_free(h);
}

static void a_stop_that_came_while_it_was_asked_counts(void **state)
{
	struct harness *h = given_asked("shopify");
	(void)state;
	given_checkout(h);
	assert_int_equal(when_answered(h, 200, SHOPIFY_ANSWER("", "", "")), TURN_DONE);
	assert_non_null(strstr(said_outcome(h, &topic_reminder_skipped).reason, "stopped bought"));
	harness_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shopify_is_asked_by_tokens_and_address),
		cmocka_unit_test(an_order_that_the_storefront_knows_ends_the_chase),
		cmocka_unit_test(an_order_of_before_or_of_others_stops_nothing),
		cmocka_unit_test(silence_lets_the_log_decide_and_raises_one_alarm),
		cmocka_unit_test(a_storefront_that_cannot_be_heard_is_as_good_as_silent),
		cmocka_unit_test(the_words_of_a_failure_are_cut_between_two_characters),
		cmocka_unit_test(an_answer_that_is_no_list_of_orders_is_as_good_as_none),
		cmocka_unit_test(an_answer_ends_the_alarm),
		cmocka_unit_test(a_storefront_that_refuses_our_key_is_told_apart_from_a_silent_one),
		cmocka_unit_test(woocommerce_orders_are_matched_by_cart_and_by_address),
		cmocka_unit_test(a_full_page_is_asked_on_by_the_address),
		cmocka_unit_test(bigcommerce_is_asked_by_address_and_by_cart),
		cmocka_unit_test(nobody_is_asked_about_what_would_not_be_mailed_now),
		cmocka_unit_test(a_stop_that_came_while_it_was_asked_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
