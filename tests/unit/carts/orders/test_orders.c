/* test_orders.c: what a storefront's API is asked about a cart, and which of its answers are an order of it */
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/carts/orders/orders.h"
#include "services/carts/policy/change.h"
#include "services/kit/storefront/api.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define LEFT_US (INT64_C(1795161600) * US_PER_S) /* Fri 20 Nov 2026, 08:00 UTC */

static struct shop shop;
static CartState cart;

static int fresh(void **state)
{
	(void)state;
	shop = (struct shop){ .name = "demo", .storefront = { .api_version = "2026-07", .deadline_us = 3 * US_PER_S } };
	TEXT_COPY(shop.storefront.api, "https://api.example/x");
	cart = (CartState){ .has_ids = true, .abandoned_us = LEFT_US, .first_seen_us = LEFT_US };
	TEXT_COPY(cart.ids.cart_id, "cart-1");
	TEXT_COPY(cart.ids.cart_token, "c1");
	TEXT_COPY(cart.ids.checkout_token, "k1");
	TEXT_COPY(cart.ids.email, "ann@buyer.example");
	TEXT_COPY(cart.ids.email_hash, "hash-of-ann");
	return 0;
}

static void given(enum storefront_platform platform)
{
	fresh(NULL);
	shop.storefront.platform = platform;
}

/* ---- what is asked ---- */

/* Each header ends with a NUL. */
static bool has_header(const struct http_request *request, const char *header)
{
	return memmem(request->headers.data, request->headers.len, header, strlen(header) + 1) != NULL;
}

static struct http_request asked(int round)
{
	struct http_request request;

	assert_int_equal(storefront_ask(&shop, &cart, round, &request), 0);
	assert_string_equal(request.auth.secret, "api/demo");
	assert_int_equal(request.reach, HTTP_REACH_PUBLIC);
	assert_int_equal(request.deadline_us, 3 * US_PER_S);
	assert_string_equal(request.wanted[0], "Retry-After");
	assert_true(has_header(&request, "Accept: application/json"));
	return request;
}

static void assert_asked(int round, const char *method, const char *url)
{
	struct http_request request = asked(round);

	assert_string_equal(request.method, method);
	assert_string_equal(request.url, url);
	http_request_clear(&request);
}

#define WOO_FIELDS                                                                                                     \
	"id,status,billing,customer_id,currency,total,meta_data,date_created_gmt,date_paid_gmt,date_modified_gmt"

static void each_platform_is_asked_at_its_own_address(void **state)
{
	(void)state;
	given(STOREFRONT_SHOPIFY);
	assert_asked(0, "POST", "https://api.example/x/admin/api/2026-07/graphql.json");
	given(STOREFRONT_WOOCOMMERCE);
	assert_asked(0, "GET",
		"https://api.example/x/wp-json/wc/v3/orders?after=2026-11-20T07:55:00&dates_are_gmt=true"
		"&per_page=100&orderby=date&order=desc&_fields=" WOO_FIELDS);
	assert_asked(1, "GET",
		"https://api.example/x/wp-json/wc/v3/orders?after=2026-11-20T07:55:00&dates_are_gmt=true"
		"&per_page=100&orderby=date&order=desc&_fields=" WOO_FIELDS "&search=ann%40buyer.example");
	given(STOREFRONT_BIGCOMMERCE);
	assert_asked(0, "GET",
		"https://api.example/x/v2/orders?email=ann%40buyer.example&min_date_created=2026-11-20T07:55:00Z"
		"&sort=date_created:desc&limit=100");
	assert_asked(1, "GET", "https://api.example/x/v2/orders?cart_id=c1&limit=100");
}

static void the_secret_is_shown_in_the_platforms_way(void **state)
{
	static const struct {
		enum storefront_platform platform;
		enum http_auth_kind kind;
		const char *name;
	} cases[] = { { STOREFRONT_SHOPIFY, HTTP_AUTH_HEADER, "X-Shopify-Access-Token" },
		{ STOREFRONT_WOOCOMMERCE, HTTP_AUTH_BASIC, "" },
		{ STOREFRONT_BIGCOMMERCE, HTTP_AUTH_HEADER, "X-Auth-Token" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given(cases[i].platform);
		struct http_request request = asked(0);
		assert_int_equal(request.auth.kind, cases[i].kind);
		assert_string_equal(request.auth.name, cases[i].name);
		http_request_clear(&request);
	}
}

static void nobody_is_asked_for_a_shop_without_a_storefront(void **state)
{
	struct http_answer answer = { .end = HTTP_ANSWERED, .status = 200, .body = bytes_of("[]") };
	struct http_request request;
	CartCheckout order;
	char why[200];

	(void)state;
	given(STOREFRONT_NONE);
	assert_int_equal(storefront_ask(&shop, &cart, 0, &request), -ENOTSUP);
	assert_int_equal(storefront_hear(&shop, &cart, 0, &answer, &order, why), STOREFRONT_SILENT);
}

/* Since the cart was first seen, or left if that was before; and the clocks' difference more. */
static void orders_are_asked_for_since_the_cart_was_there(void **state)
{
	static const struct {
		int64_t first_us, left_us;
		const char *since;
	} cases[] = { { 0, LEFT_US, "2026-11-20T07:55:00" }, { LEFT_US - US_PER_HOUR, LEFT_US, "2026-11-20T06:55:00" },
		{ LEFT_US + US_PER_HOUR, LEFT_US, "2026-11-20T07:55:00" }, { LEFT_US, LEFT_US, "2026-11-20T07:55:00" },
		{ 0, 0, "1970-01-01T00:00:00" }, { 0, CLOCKS_DIFFER_US, "1970-01-01T00:00:00" },
		{ 0, CLOCKS_DIFFER_US + US_PER_S, "1970-01-01T00:00:01" }, { 0, US_PER_S, "1970-01-01T00:00:00" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char wanted[64];
		given(STOREFRONT_WOOCOMMERCE);
		cart.first_seen_us = cases[i].first_us;
		cart.abandoned_us = cases[i].left_us;
		struct http_request request = asked(0);
		snprintf(wanted, sizeof(wanted), "?after=%s&", cases[i].since);
		assert_non_null(strstr(request.url, wanted));
		http_request_clear(&request);
	}
}

static void a_word_of_a_query_is_percent_encoded_or_not_written(void **state)
{
	static const struct {
		const char *word, *wanted;
	} cases[] = { { "", "" }, { "azAZ09-._~", "azAZ09-._~" }, { "`{@[/:", "%60%7B%40%5B%2F%3A" },
		{ "a b", "a%20b" }, { "+&=?#%", "%2B%26%3D%3F%23%25" }, { "\xc3\xbc", "%C3%BC" } };
	char word[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(storefront_encode(cases[i].word, word, sizeof(word)));
		assert_string_equal(word, cases[i].wanted);
	}
	memset(word, 'x', sizeof(word));
	assert_true(storefront_encode("@@", word, 7));
	assert_string_equal(word, "%40%40");
	assert_int_equal(word[7], 'x');
	assert_false(storefront_encode("@@", word, 6));
	assert_int_equal(word[6 + 1], 'x');
}

static void an_address_of_the_api_that_is_too_long_is_not_asked(void **state)
{
	struct http_request request = { 0 };
	char path[1700];

	(void)state;
	given(STOREFRONT_BIGCOMMERCE);
	memset(path, 'p', sizeof(path));
	path[0] = '/';
	path[1599] = '\0';
	assert_int_equal(storefront_request(&shop, "GET", &request, "%s", path), 0);
	assert_int_equal(strlen(request.url), strlen("https://api.example/x") + 1599);
	http_request_clear(&request);
	path[1599] = 'p';
	path[1600] = '\0';
	request = (struct http_request){ 0 };
	assert_int_equal(storefront_request(&shop, "GET", &request, "%s", path), -EINVAL);
	http_request_clear(&request);
}

/* One that is not plain could say something else in Shopify's search language. */
static void shopify_is_asked_by_what_cannot_be_misread(void **state)
{
	static const struct {
		const char *checkout, *cart, *email, *query, *variables[3];
	} cases[] = {
		{ "k-1_Z9", "c1", "ann@buyer.example",
			"query Orders($byCheckout: String!, $byCart: String!, $byEmail: String!) {",
			{ "checkout_token:k-1_Z9", "cart_token:c1",
				"email:\"ann@buyer.example\" AND created_at:>='2026-11-20T07:55:00Z'" } },
		{ "", "c1", "", "query Orders($byCart: String!) {", { NULL, "cart_token:c1", NULL } },
		{ "k1 OR *", "", "a\"b@buyer.example", "query Orders() {", { NULL, NULL, NULL } },
		{ "k1", "c:1", "a\\b@buyer.example", "query Orders($byCheckout: String!) {",
			{ "checkout_token:k1", NULL, NULL } },
	};
	static const char *const names[3] = { "byCheckout", "byCart", "byEmail" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given(STOREFRONT_SHOPIFY);
		TEXT_COPY(cart.ids.checkout_token, cases[i].checkout);
		TEXT_COPY(cart.ids.cart_token, cases[i].cart);
		TEXT_COPY(cart.ids.email, cases[i].email);
		struct http_request request = asked(0);
		json_t *body = json_loadb((const char *)request.body.data, request.body.len, 0, NULL);
		const char *query = json_string_value(json_object_get(body, "query"));
		assert_non_null(query);
		assert_ptr_equal(strstr(query, cases[i].query), query);
		assert_int_equal(query[strlen(query) - 1], '}');
		for (int k = 0; k < 3; k++) {
			const json_t *value = json_object_get(json_object_get(body, "variables"), names[k]);
			char field[200];
			snprintf(field, sizeof(field),
				"%s: orders(first: 20, sortKey: CREATED_AT, reverse: true, query: $%s) { nodes { "
				"legacyResourceId createdAt cancelledAt test displayFinancialStatus email ",
				names[k], names[k]);
			assert_int_equal(strstr(query, field) != NULL, cases[i].variables[k] != NULL);
			if (cases[i].variables[k])
				assert_string_equal(json_string_value(value), cases[i].variables[k]);
			else
				assert_null(value);
		}
		assert_true(has_header(&request, "Content-Type: application/json"));
		json_decref(body);
		http_request_clear(&request);
	}
}

/* ---- what is heard ---- */

struct heard {
	enum storefront_word word;
	CartCheckout order;
	char why[200];
};

static struct heard heard_status(int round, long status, const char *body)
{
	struct http_answer answer = { .end = HTTP_ANSWERED, .status = status, .body = bytes_of(body) };
	struct heard heard;

	snprintf(answer.words, sizeof(answer.words), "HTTP %ld", status);
	memset(&heard, 'x', sizeof(heard));
	heard.word = storefront_hear(&shop, &cart, round, &answer, &heard.order, heard.why);
	if (heard.word != STOREFRONT_SILENT)
		assert_string_equal(heard.why, "");
	return heard;
}

static struct heard heard(int round, const char *body)
{
	return heard_status(round, 200, body);
}

#define NODE(id, at, more)                                                                                             \
	"{\"legacyResourceId\":" id ",\"createdAt\":" at ",\"displayFinancialStatus\":\"PAID\",\"totalPriceSet\":{"    \
	"\"presentmentMoney\":{\"amount\":\"12.50\",\"currencyCode\":\"EUR\"}}" more "}"
#define SHOPIFY(checkout, cart, email)                                                                                 \
	"{\"data\":{\"byCheckout\":{\"nodes\":[" checkout "]},\"byCart\":{\"nodes\":[" cart                            \
	"]},\"byEmail\":{\"nodes\":[" email "]}}}"
#define AT "\"2026-11-20T09:00:00Z\""
#define WOO(id, at, more)                                                                                              \
	"{\"id\":" id                                                                                                  \
	",\"status\":\"processing\",\"currency\":\"EUR\",\"total\":\"12.50\",\"date_created_gmt\":" at more "}"
#define BIG(id, at, more)                                                                                              \
	"{\"id\":" id ",\"status_id\":11,\"status\":\"Awaiting Fulfillment\",\"currency_code\":\"EUR\","               \
	"\"total_inc_tax\":\"12.50\",\"date_created\":" at more "}"

static void what_is_no_whole_answer_is_silence_and_says_why(void **state)
{
	static const struct {
		enum storefront_platform platform;
		long status;
		const char *body, *why;
	} cases[] = {
		{ STOREFRONT_SHOPIFY, 199, SHOPIFY("", "", ""), "HTTP 199" },
		{ STOREFRONT_SHOPIFY, 201, SHOPIFY("", "", ""), "HTTP 201" },
		{ STOREFRONT_SHOPIFY, 203, SHOPIFY("", "", ""), "HTTP 203" },
		{ STOREFRONT_SHOPIFY, 205, SHOPIFY("", "", ""), "HTTP 205" },
		{ STOREFRONT_SHOPIFY, 204, "", "its answer is not JSON (line 1)" },
		{ STOREFRONT_WOOCOMMERCE, 204, "", "its answer is not JSON (line 1)" },
		{ STOREFRONT_BIGCOMMERCE, 200, "", "its answer is not JSON (line 1)" },
		{ STOREFRONT_WOOCOMMERCE, 200, "[\n{", "its answer is not JSON (line 2)" },
		{ STOREFRONT_WOOCOMMERCE, 200, "{\"id\":1}", "its answer is not a list of orders" },
		{ STOREFRONT_BIGCOMMERCE, 200, "{\"id\":1}", "its answer is not a list of orders" },
		{ STOREFRONT_BIGCOMMERCE, 200, "[{\"id\":1,\"id\":2}]", "its answer is not JSON (line 1)" },
		{ STOREFRONT_SHOPIFY, 200, "{}",
			"it did not answer what it was asked (errors or warnings in its answer)" },
		{ STOREFRONT_SHOPIFY, 200, "{\"data\":{},\"errors\":[{}]}",
			"it did not answer what it was asked (errors or warnings in its answer)" },
		{ STOREFRONT_SHOPIFY, 200,
			"{\"data\":{},\"extensions\":{\"search\":[{\"warnings\":[]},{\"warnings\":[{}]}]}}",
			"it did not answer what it was asked (errors or warnings in its answer)" },
		{ STOREFRONT_SHOPIFY, 200, "{\"data\":{\"byCheckout\":{\"nodes\":[]},\"byEmail\":{\"nodes\":[]}}}",
			"its answer lacks byCart" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given(cases[i].platform);
		struct heard got = heard_status(0, cases[i].status, cases[i].body);
		assert_int_equal(got.word, STOREFRONT_SILENT);
		assert_string_equal(got.why, cases[i].why);
	}
}

static void no_answer_is_silence(void **state)
{
	struct http_answer cut = { .end = HTTP_UNKNOWN, .status = 200, .body = bytes_of("[]"), .words = "it hung up" };
	CartCheckout order;
	char why[200];

	(void)state;
	given(STOREFRONT_WOOCOMMERCE);
	assert_int_equal(storefront_hear(&shop, &cart, 0, NULL, &order, why), STOREFRONT_SILENT);
	assert_string_equal(why, "no answer within the deadline");
	assert_int_equal(storefront_hear(&shop, &cart, 0, &cut, &order, why), STOREFRONT_SILENT);
	assert_string_equal(why, "it hung up");
}

/* Errors and warnings that are empty lists are none. */
static void an_answer_without_errors_is_believed(void **state)
{
	(void)state;
	given(STOREFRONT_SHOPIFY);
	assert_int_equal(heard(0,
				 "{\"errors\":[],\"extensions\":{\"search\":[{\"warnings\":[]}]},\"data\":{"
				 "\"byCheckout\":{\"nodes\":[]},\"byCart\":{\"nodes\":[]},\"byEmail\":{\"nodes\":[]}}}")
				 .word,
		STOREFRONT_NO_ORDER);
	TEXT_COPY(cart.ids.checkout_token, "");
	TEXT_COPY(cart.ids.email, "");
	assert_int_equal(
		heard(0, "{\"data\":{\"byCart\":{\"nodes\":[]}}}").word, STOREFRONT_NO_ORDER); /* all that was asked */
	given(STOREFRONT_BIGCOMMERCE);
	assert_int_equal(heard_status(1, 204, "").word, STOREFRONT_NO_ORDER);
}

static void a_shopify_order_is_told_as_its_webhook_tells_it(void **state)
{
	static const struct {
		const char *node;
		CheckoutKind kind;
		bool test;
		const char *status, *currency;
		int64_t total_minor;
	} cases[] = {
		{ NODE("\"7\"", AT, ""), CHECKOUT_BOUGHT, false, "paid", "EUR", 1250 },
		{ NODE("\"7\"", AT, ",\"test\":true"), CHECKOUT_BOUGHT, true, "paid", "EUR", 1250 },
		{ "{\"legacyResourceId\":\"7\",\"createdAt\":" AT ",\"displayFinancialStatus\":\"AZ[@az_`{\"}",
			CHECKOUT_BOUGHT, false, "az[@az_`{", "", 0 },
		{ "{\"legacyResourceId\":\"7\",\"createdAt\":" AT
		  ",\"displayFinancialStatus\":\"PARTIALLY_REFUNDED\",\"totalPriceSet\":{\"presentmentMoney\":{"
		  "\"amount\":\"1250\",\"currencyCode\":\"JPY\"}}}",
			CHECKOUT_BOUGHT, false, "partially_refunded", "JPY", 1250 },
		{ "{\"legacyResourceId\":\"7\",\"createdAt\":" AT ",\"totalPriceSet\":{\"presentmentMoney\":{"
		  "\"amount\":\"x\",\"currencyCode\":\"EUR\"}}}",
			CHECKOUT_BOUGHT, false, "", "EUR", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char body[1000];
		given(STOREFRONT_SHOPIFY);
		snprintf(body, sizeof(body),
			"{\"data\":{\"byCheckout\":{\"nodes\":[%s]},\"byCart\":{\"nodes\":[]},\"byEmail\":{\"nodes\":[]"
			"}}}",
			cases[i].node);
		struct heard got = heard(0, body);
		assert_int_equal(got.word, STOREFRONT_ORDER);
		assert_int_equal(got.order.platform, PLATFORM_SHOPIFY);
		assert_int_equal(got.order.kind, cases[i].kind);
		assert_int_equal(got.order.test, cases[i].test);
		assert_string_equal(got.order.payment_status, cases[i].status);
		assert_string_equal(got.order.currency, cases[i].currency);
		assert_int_equal(got.order.total_minor, cases[i].total_minor);
		assert_int_equal(got.order.bought_us, LEFT_US + US_PER_HOUR);
		assert_string_equal(got.order.platform_topic, "api/orders");
		assert_string_equal(got.order.ids.order_id, "7");
	}
}

/* One that cannot be read, or is no purchase, does not hide the one behind it. */
static void an_order_is_found_behind_others_that_are_none(void **state)
{
	(void)state;
	given(STOREFRONT_SHOPIFY);
	struct heard got = heard(0,
		SHOPIFY("",
			NODE("null", AT, "") "," NODE("\"1\"", "null", "") "," NODE("\"2\"", "\"soon\"", "") "," NODE(
				"\"3\"", AT, ",\"cancelledAt\":" AT) "," NODE("\"4\"", AT, ""),
			""));
	assert_int_equal(got.word, STOREFRONT_ORDER);
	assert_string_equal(got.order.ids.order_id, "4");
	assert_string_equal(got.order.ids.cart_token, "c1");
	assert_string_equal(got.order.ids.checkout_token, "");
	given(STOREFRONT_WOOCOMMERCE);
	got = heard(0,
		"[7,{}," WOO("1", "null", "") "," WOO(
			"2", "\"2026-11-20T09:00:00\"", ",\"billing\":{\"email\":\"bob@buyer.example\"}") "," WOO("3",
			"\"2026-11-20T09:00:00\"", ",\"billing\":{\"email\":\"ann@buyer.example\"}") "]");
	assert_int_equal(got.word, STOREFRONT_ORDER);
	assert_string_equal(got.order.ids.order_id, "3");
	assert_int_equal(got.order.bought_us, LEFT_US + US_PER_HOUR);
	given(STOREFRONT_BIGCOMMERCE);
	got = heard(0,
		"[7,{}," BIG("2", "\"Fri, 20 Nov 2026 09:00:00 +0000\"", ",\"cart_id\":\"c9\"") "," BIG(
			"3", "\"Fri, 20 Nov 2026 09:00:00 +0000\"", ",\"cart_id\":\"c1\"") "]");
	assert_int_equal(got.word, STOREFRONT_ORDER);
	assert_string_equal(got.order.ids.order_id, "3");
}

/* By the address alone it must be as young as the cart, give or take what clocks differ by; by a token it may be of any time. */
static void an_order_by_the_address_is_of_the_carts_time(void **state)
{
	static const struct {
		const char *at;
		enum storefront_word by_address;
	} cases[] = { { "\"2026-11-20T07:54:59Z\"", STOREFRONT_NO_ORDER },
		{ "\"2026-11-20T07:55:00Z\"", STOREFRONT_ORDER }, { "\"2026-11-20T07:55:01Z\"", STOREFRONT_ORDER },
		{ "\"2026-11-21T07:55:01Z\"", STOREFRONT_ORDER } };
	char body[1200];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given(STOREFRONT_SHOPIFY);
		snprintf(body, sizeof(body), SHOPIFY("", "", NODE("\"7\"", "%s", ",\"email\":\"Ann@Buyer.example\"")),
			cases[i].at);
		struct heard got = heard(0, body);
		assert_int_equal(got.word, cases[i].by_address);
		snprintf(body, sizeof(body), SHOPIFY("", NODE("\"7\"", "%s", ""), ""), cases[i].at);
		assert_int_equal(heard(0, body).word, STOREFRONT_ORDER);
	}
}

/* An order for another address says nothing of this shopper; and an address is never told on. */
static void an_order_says_as_much_as_is_known_of_it(void **state)
{
	static const struct {
		const char *body, *checkout, *hash;
	} cases[] = {
		{ SHOPIFY(NODE("\"7\"", AT, ",\"email\":\"bob@buyer.example\""), "", ""), "k1", "" },
		{ SHOPIFY(NODE("\"7\"", AT, ",\"email\":\"ANN@buyer.example\""), "", ""), "k1", "hash-of-ann" },
		{ SHOPIFY(NODE("\"7\"", AT, ",\"email\":\"no address\""), "", ""), "k1", "" },
		{ SHOPIFY(NODE("\"7\"", AT, ""), "", ""), "k1", "" },
		{ SHOPIFY("", "", NODE("\"7\"", AT, ",\"email\":\"ann@buyer.example\"")), "", "hash-of-ann" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		given(STOREFRONT_SHOPIFY);
		struct heard got = heard(0, cases[i].body);
		assert_int_equal(got.word, STOREFRONT_ORDER);
		assert_true(got.order.has_ids);
		assert_string_equal(got.order.ids.order_id, "7");
		assert_string_equal(got.order.ids.checkout_token, cases[i].checkout);
		assert_string_equal(got.order.ids.cart_token, "");
		assert_string_equal(got.order.ids.email_hash, cases[i].hash);
		assert_string_equal(got.order.ids.email, "");
	}
}

/* A cart is known by the tokens of those that it was merged from as well. */
static void an_order_of_a_merged_cart_is_the_carts(void **state)
{
	const char *by_token = "[" BIG("7", "\"Fri, 20 Nov 2026 09:00:00 +0000\"", ",\"cart_id\":\"c7\"") "]";
	const char *by_ours = "[" WOO("7", "\"2026-11-20T09:00:00\"",
		",\"meta_data\":[{\"key\":\"_cartbus_cart\",\"value\":\"cart-7\"}]") "]";

	(void)state;
	given(STOREFRONT_BIGCOMMERCE);
	assert_int_equal(heard(1, by_token).word, STOREFRONT_NO_ORDER);
	cart.also_count = 2;
	TEXT_COPY(cart.also[0].cart_token, "c6");
	TEXT_COPY(cart.also[1].cart_token, "c7");
	assert_int_equal(heard(1, by_token).word, STOREFRONT_ORDER);
	cart.also_count = 1; /* what lies behind the count is nothing */
	assert_int_equal(heard(1, by_token).word, STOREFRONT_NO_ORDER);
	given(STOREFRONT_WOOCOMMERCE);
	assert_int_equal(heard(0, by_ours).word, STOREFRONT_NO_ORDER);
	cart.merged_from_count = 2;
	TEXT_COPY(cart.merged_from[0], "cart-6");
	TEXT_COPY(cart.merged_from[1], "cart-7");
	assert_int_equal(heard(0, by_ours).word, STOREFRONT_ORDER);
	cart.merged_from_count = 1;
	assert_int_equal(heard(0, by_ours).word, STOREFRONT_NO_ORDER);
}

/* What the shop says a status means counts, as it does for its webhooks. */
static void an_order_that_is_not_paid_yet_is_none(void **state)
{
	const char *body = SHOPIFY(NODE("\"7\"", AT, ""), "", "");

	(void)state;
	given(STOREFRONT_SHOPIFY);
	shop.payment_count = 1;
	shop.payments[0] = (struct payment_word){ "paid", PAYMENT_NOT_YET };
	assert_int_equal(heard(0, body).word, STOREFRONT_NO_ORDER);
	shop.payments[0].meaning = PAYMENT_BOUGHT;
	assert_int_equal(heard(0, body).word, STOREFRONT_ORDER);
}

static enum storefront_word heard_woo_page(int round, int orders)
{
	struct buffer page = { 0 };

	buffer_add_text(&page, "[");
	for (int i = 0; i < orders; i++)
		buffer_printf(&page, "%s" WOO("%d", "\"2026-11-20T09:00:00\"", ""), i ? "," : "", i + 1);
	buffer_add_text(&page, "]");
	enum storefront_word word = heard(round, buffer_text(&page)).word;
	buffer_free(&page);
	return word;
}

static void a_second_round_is_asked_where_the_first_does_not_tell(void **state)
{
	const char *order = "[" BIG("7", "\"Fri, 20 Nov 2026 09:00:00 +0000\"", ",\"cart_id\":\"c1\"") "]";

	(void)state;
	given(STOREFRONT_WOOCOMMERCE);
	assert_int_equal(heard_woo_page(0, 99), STOREFRONT_NO_ORDER);
	assert_int_equal(heard_woo_page(0, 100), STOREFRONT_ASK_ON);
	assert_int_equal(heard_woo_page(0, 101), STOREFRONT_ASK_ON);
	assert_int_equal(heard_woo_page(1, 100), STOREFRONT_NO_ORDER);
	given(STOREFRONT_BIGCOMMERCE);
	assert_int_equal(heard(0, "[]").word, STOREFRONT_ASK_ON);
	assert_int_equal(heard(1, "[]").word, STOREFRONT_NO_ORDER);
	assert_int_equal(heard(0, order).word, STOREFRONT_ORDER);
	TEXT_COPY(cart.ids.cart_token, "");
	assert_int_equal(heard(0, "[]").word, STOREFRONT_NO_ORDER); /* there is nothing else to ask by */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_platform_is_asked_at_its_own_address),
		cmocka_unit_test(the_secret_is_shown_in_the_platforms_way),
		cmocka_unit_test(nobody_is_asked_for_a_shop_without_a_storefront),
		cmocka_unit_test(orders_are_asked_for_since_the_cart_was_there),
		cmocka_unit_test(a_word_of_a_query_is_percent_encoded_or_not_written),
		cmocka_unit_test(an_address_of_the_api_that_is_too_long_is_not_asked),
		cmocka_unit_test(shopify_is_asked_by_what_cannot_be_misread),
		cmocka_unit_test(what_is_no_whole_answer_is_silence_and_says_why),
		cmocka_unit_test(no_answer_is_silence),
		cmocka_unit_test(an_answer_without_errors_is_believed),
		cmocka_unit_test(a_shopify_order_is_told_as_its_webhook_tells_it),
		cmocka_unit_test(an_order_is_found_behind_others_that_are_none),
		cmocka_unit_test(an_order_by_the_address_is_of_the_carts_time),
		cmocka_unit_test(an_order_says_as_much_as_is_known_of_it),
		cmocka_unit_test(an_order_of_a_merged_cart_is_the_carts),
		cmocka_unit_test(an_order_that_is_not_paid_yet_is_none),
		cmocka_unit_test(a_second_round_is_asked_where_the_first_does_not_tell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
