/* test_dispatch.c: a request from its head to its answer, in front of a bus: webhooks, and what a shopper does with a mail's links */
#include "bus/actor/runtime/state_layers.h"
#include "scene.h"
#include "services/kit/web/signed_link.h"
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

static const char FORM[] = "application/x-www-form-urlencoded", BACK[] = "https://demo.example/r/1";

/* --- links of a mail --- */

static const char *unsubscribe_path(char letter)
{
	static char path[420];
	struct signed_link link = { .purpose = LINK_UNSUBSCRIBE, .shop = "demo", .cart_id = "c1", .step = 1 };
	char token[400];

	memset(link.address_hash, letter, 32);
	assert_int_equal(signed_link_make(bytes_of(KEY_OF_LINKS), &link, token), 0);
	snprintf(path, sizeof(path), "/u/%s", token);
	return path;
}

static bool look(char letter)
{
	return come((struct request){ .method = "GET", .path = unsubscribe_path(letter) });
}

static bool post(char letter, const char *body)
{
	return come((struct request){ .method = "POST",
		.path = unsubscribe_path(letter),
		.headers = { { "Content-Type", FORM } },
		.body = bytes_of(body) });
}

static bool is_listed(char letter, Suppression *ret)
{
	char hash[33] = "";

	memset(hash, letter, 32);
	return state_get(runtime_state(sim_runtime(scene.sim, "gateway")), "suppressed", "demo", hash, &Suppression_msg,
		       ret) &&
		!ret->lifted;
}

static void who_presses_the_button_is_on_the_list_and_may_take_it_back(void **state)
{
	Suppression row;
	char undo[64];

	(void)state;
	assert_false(look('a'));
	assert_answer(200, "unsubscribe");
	assert_false(is_listed('a', &row));
	assert_true(post('a', "unsubscribe=yes"));
	assert_true(scene.submission->stop);
	let_in();
	assert_answer(200, "name=\"undo\"");
	assert_string_equal(scene.answer.content_type, "text/html; charset=utf-8");
	assert_true(is_listed('a', &row));
	assert_int_equal(row.source, OPTOUT_PAGE);
	assert_int_equal(scene.counters.optouts, 1);
	assert_false(look('a'));
	assert_answer(200, "name=\"undo\"");
	snprintf(undo, sizeof(undo), "undo=%lld", (long long)sim_now_us(scene.sim));
	assert_true(post('a', undo));
	let_in();
	assert_int_equal(scene.answer.status, 200);
	assert_false(is_listed('a', &row));
	assert_int_equal(scene.counters.taken_back, 1);
	assert_int_equal(scene.counters.optouts, 1);
}

static void what_a_mailbox_said_is_not_taken_back_on_a_page(void **state)
{
	Suppression row;

	(void)state;
	assert_true(post('b', "List-Unsubscribe=One-Click"));
	let_in();
	assert_true(is_listed('b', &row));
	assert_int_equal(row.source, OPTOUT_ONE_CLICK);
	assert_null(strstr(buffer_text(&scene.answer.body), "name=\"undo\""));
	assert_false(post('b', "undo=1"));
	assert_int_equal(scene.answer.status, 409);
	assert_true(post('b', "unsubscribe=yes"));
	let_in();
	assert_null(strstr(buffer_text(&scene.answer.body), "name=\"undo\""));
	assert_true(is_listed('b', &row));
	assert_false(is_listed('c', &row));
}

static void a_link_or_a_form_that_is_none_says_so_and_stops_nothing(void **state)
{
	Suppression row;
	char path[420];

	(void)state;
	TEXT_COPY(path, unsubscribe_path('d'));
	path[20] = path[20] == 'A' ? 'B' : 'A';
	assert_false(come((struct request){ .method = "POST", .path = path, .body = bytes_of("unsubscribe=yes") }));
	assert_int_equal(scene.answer.status, 404);
	assert_false(scene.answer.proven);
	assert_int_equal(scene.counters.malformed, 1);
	assert_false(post('d', "something=else"));
	assert_int_equal(scene.answer.status, 400);
	assert_true(scene.answer.proven);
	assert_int_equal(scene.counters.malformed, 2);
	assert_false(come((struct request){ .method = "PUT", .path = unsubscribe_path('d') }));
	assert_int_equal(scene.answer.status, 405);
	assert_string_equal(scene.answer.allow, "GET, HEAD, POST");
	assert_false(come((struct request){ .method = "GET", .path = "/nothing" }));
	assert_answer(404, "nothing is here");
	assert_false(is_listed('d', &row));
	assert_true(post('d', "unsubscribe=yes"));
	finish(SUBMISSION_REFUSED, 0, "the broker is away");
	assert_int_equal(scene.answer.status, 503);
	assert_int_equal(scene.counters.refused, 1);
	assert_int_equal(scene.counters.optouts, 0);
}

static bool follow(const char *method, const char *to, const char *purpose)
{
	static const char host[] = "https://gate.example";
	struct signed_link link = { .purpose = LINK_RETURN, .shop = "demo", .cart_id = "c1", .step = 2 };
	static char query[200];
	struct buffer url = { 0 };
	bool counts;

	assert_int_equal(return_link_make(bytes_of(KEY_OF_LINKS), host, &link, BACK, &url), 0);
	char *path = (char *)buffer_text(&url) + strlen(host);
	path[strcspn(path, "?")] = '\0';
	snprintf(query, sizeof(query), "to=%s", to ? to : "");
	counts = come((struct request){ .method = method,
		.path = path,
		.query = to ? query : NULL,
		.headers = { { purpose ? "Sec-Purpose" : NULL, purpose } } });
	buffer_free(&url);
	return counts;
}

static void a_page_names_the_shop_as_its_shop_conf_does(void **state)
{
	(void)state;
	look('a');
	assert_null(strstr(buffer_text(&scene.answer.body), "Blumen Huber")); /* its shop.conf cannot be read */
	assert_answer(200, "demo");
	write_file("shops/demo/shop.conf",
		"[shop]\ntime-zone = UTC\ncurrency = EUR\nlocale = de-DE\ntitle = Blumen Huber\n"
		"url = https://s.example\n[mail]\nfrom = shop@s.example\n");
	look('a');
	assert_answer(200, "Blumen Huber");
}

static void what_is_told_late_of_the_list_takes_nobody_off_it(void **state)
{
	Suppression row = { .since_us = START_US }, found;

	(void)state;
	memset(row.address_hash, 'e', 32);
	SIM_SAY(scene.sim, suppression, &row, .shop = "demo", .key = row.address_hash, .version = 5);
	row.lifted = true;
	SIM_SAY(scene.sim, suppression, &row, .shop = "demo", .key = row.address_hash, .version = 4);
	sim_run_until_idle(scene.sim);
	assert_true(is_listed('e', &found));
	SIM_SAY(scene.sim, suppression, &row, .shop = "demo", .key = row.address_hash, .version = 6);
	sim_run_until_idle(scene.sim);
	assert_false(is_listed('e', &found));
}

static void who_follows_a_link_gets_to_the_basket_and_is_counted_once_a_minute(void **state)
{
	(void)state;
	assert_true(follow("GET", BACK, NULL));
	let_in();
	assert_int_equal(scene.answer.status, 302);
	assert_string_equal(scene.answer.location, BACK);
	assert_int_equal(scene.counters.clicks, 1);
	assert_true(follow("GET", BACK, NULL));
	finish(SUBMISSION_REFUSED, 0, "the broker is away");
	assert_int_equal(scene.answer.status, 302);
	assert_int_equal(scene.counters.clicks, 1);
	assert_false(follow("GET", BACK, "prefetch"));
	assert_int_equal(scene.answer.status, 302);
	assert_false(follow("HEAD", BACK, NULL));
	assert_int_equal(scene.answer.status, 302);
	assert_false(follow("GET", "https://evil.example/", NULL));
	assert_int_equal(scene.answer.status, 404);
	assert_false(follow("GET", NULL, NULL));
	assert_int_equal(scene.answer.status, 404);
}

/* --- webhooks --- */

static const char *signature_of(struct bytes body, const char *key)
{
	static char text[64];
	unsigned char digest[32];

	HMAC(EVP_sha256(), key, (int)strlen(key), body.data, body.len, digest, NULL);
	EVP_EncodeBlock((unsigned char *)text, digest, sizeof(digest));
	return text;
}

static bool deliver_as(const char *id, const char *shop, const char *topic, struct bytes body, const char *signature)
{
	char path[80];

	snprintf(path, sizeof(path), "/hooks/%s/shopify", shop);
	return come((struct request){ .method = "POST",
		.path = path,
		.headers = { { "X-Shopify-Topic", topic }, { "X-Shopify-Webhook-Id", id },
			{ signature ? "X-Shopify-Hmac-Sha256" : NULL, signature } },
		.body = body });
}

static bool deliver(const char *shop, const char *topic, struct bytes body, const char *signature)
{
	return deliver_as("w-1", shop, topic, body, signature);
}

static void a_delivery_without_an_id_is_known_by_its_topic_and_body(void **state)
{
	static const char *const ids[] = { "", "w-1" };
	struct bytes cart = fixture("shopify-checkouts-create.json", NULL, NULL);
	char first[160];

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_true(deliver_as(ids[i], "demo", "checkouts/create", cart, signature_of(cart, KEY)));
		TEXT_COPY(first, said_envelope()->idem);
		assert_true(deliver_as(ids[i], "demo", "checkouts/create", cart, signature_of(cart, KEY)));
		assert_string_equal(said_envelope()->idem, first);
		assert_true(deliver_as(ids[i], "demo", "checkouts/update", cart, signature_of(cart, KEY)));
		assert_int_equal(strcmp(said_envelope()->idem, first) == 0, i == 1);
	}
	assert_true(deliver_as("w-2", "demo", "checkouts/update", cart, signature_of(cart, KEY)));
	assert_string_not_equal(said_envelope()->idem, first);
}

static void a_webhook_that_is_the_shops_is_let_in_and_answered_with_its_number(void **state)
{
	struct bytes cart = fixture("shopify-checkouts-create.json", NULL, NULL);

	(void)state;
	assert_true(deliver("demo", "checkouts/create", cart, signature_of(cart, KEY)));
	assert_true(scene.answer.proven);
	assert_false(scene.submission->stop);
	assert_string_equal(said_envelope()->shop, "demo");
	let_in();
	assert_answer(200, "{\"accepted\":7}");
	assert_true(deliver("demo", "checkouts/create", cart, signature_of(cart, KEY)));
	scene.answer.status = 0;
	finish(SUBMISSION_DUPLICATE, 3, NULL);
	assert_answer(200, "{\"duplicate_of\":3}");
	assert_true(deliver("demo", "orders/create", cart, signature_of(cart, KEY)));
	assert_true(scene.submission->stop);
	finish(SUBMISSION_SPOOLED, 0, NULL);
	assert_answer(200, "{\"spooled\":true}");
	assert_true(deliver("demo", "orders/create", cart, signature_of(cart, KEY)));
	finish(SUBMISSION_REFUSED, 0, "the spool is full");
	assert_answer(503, "the spool is full");
	assert_int_equal(scene.counters.refused, 1);
}

static void a_consent_that_cannot_be_read_is_counted_and_warned_of(void **state)
{
	struct bytes cart = fixture("shopify-checkouts-create.json", NULL, NULL);

	(void)state;
	assert_true(deliver("demo", "checkouts/create", cart, signature_of(cart, KEY)));
	assert_int_equal(scene.counters.consents_unreadable, 0);
	cart = fixture("shopify-checkouts-create.json", "\"buyer_accepts_marketing\": false",
		"\"buyer_accepts_marketing\": \"perhaps\"");
	assert_true(deliver("demo", "checkouts/create", cart, signature_of(cart, KEY)));
	assert_int_equal(scene.counters.consents_unreadable, 1);
	let_in();
	assert_answer(200, ",\"warning\":\"");
}

static void a_webhook_that_is_nobodys_is_refused_and_counted_for_what_it_is(void **state)
{
	struct bytes cart = fixture("shopify-checkouts-create.json", NULL, NULL);

	(void)state;
	assert_false(deliver("demo", "checkouts/create", cart, signature_of(cart, "another key of that shop")));
	assert_int_equal(scene.answer.status, 401);
	assert_false(scene.answer.proven);
	assert_false(deliver("demo", "checkouts/create", cart, NULL));
	assert_int_equal(scene.answer.status, 401);
	assert_int_equal(scene.counters.bad_signatures, 2);
	assert_false(deliver("nobody", "checkouts/create", cart, signature_of(cart, KEY)));
	assert_answer(404, "no such shop");
	assert_int_equal(scene.counters.malformed, 1);
	assert_false(deliver("keyless", "checkouts/create", cart, signature_of(cart, KEY)));
	assert_answer(503, "secret cannot be read");
	assert_int_equal(scene.counters.refused, 1);
}

static void what_is_the_shops_and_cannot_be_read_is_kept_and_never_asked_for_again(void **state)
{
	static const char broken[] = "{\"token\":", other[] = "{\"id\":1}";

	(void)state;
	assert_false(deliver("demo", "checkouts/create", bytes_of(broken), signature_of(bytes_of(broken), KEY)));
	assert_int_equal(scene.answer.status, 200);
	assert_non_null(strstr(buffer_text(&scene.answer.body), "error"));
	assert_int_equal(scene.counters.rejected, 1);
	assert_false(deliver("demo", "themes/publish", bytes_of(other), signature_of(bytes_of(other), KEY)));
	assert_answer(200, "\"ignored\"");
	assert_int_equal(scene.counters.ignored, 1);
	assert_int_equal(scene.counters.rejected, 1);
}

/* The app of one developer signs for all shops that it is installed in: the body has to be about this one. */
static void a_privacy_request_about_another_shop_than_its_shop_conf_names_is_kept_aside(void **state)
{
	static const struct {
		const char *shop_conf;
		bool is_believed;
	} cases[] = {
		{ SHOP_CONF("[storefront]\nplatform = shopify\napi = https://demo.myshopify.example\n"), true },
		{ SHOP_CONF("[storefront]\nplatform = shopify\napi = https://Demo.MyShopify.example/\n"), true },
		{ SHOP_CONF("[storefront]\nplatform = shopify\napi = https://demo.myshopify.example:8443/x\n"), true },
		{ SHOP_CONF("[storefront]\nplatform = shopify\napi = https://other.myshopify.example\n"), false },
		{ SHOP_CONF("[storefront]\nplatform = shopify\napi = https://demo.myshopify.example.org\n"), false },
		{ SHOP_CONF("[storefront]\nplatform = woocommerce\napi = https://other.example\n"), true },
		{ SHOP_CONF(""), true }, /* what it is called there is not known */
		{ "no shop.conf at all", true },
		{ SHOP_CONF("[storefront]\nplatform = shopify\napi = https://other.myshopify.example\nno line\n"),
			true },
	};
	struct bytes body = fixture("shopify-shop-redact.json", NULL, NULL);
	unsigned believed = 0, kept = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		write_file("shops/demo/shop.conf", cases[i].shop_conf);
		if (deliver("demo", "shop/redact", body, signature_of(body, KEY)) != cases[i].is_believed)
			fail_msg("with %s", cases[i].shop_conf);
		believed += cases[i].is_believed;
		kept += !cases[i].is_believed;
		assert_int_equal(scene.submission->stop, cases[i].is_believed);
		assert_int_equal(scene.counters.privacy, believed);
		assert_int_equal(scene.counters.rejected, kept);
		if (!cases[i].is_believed)
			assert_answer(200, "the body is about demo.myshopify.example, and this shop is ");
	}
}

/* WooCommerce posts it when a webhook is saved: it is signed by nobody, and wants to hear 200. */
static void the_ping_of_a_new_webhook_is_answered_and_nothing_like_it(void **state)
{
	static const struct {
		const char *body;
		unsigned status;
	} cases[] = { { "webhook_id=7", 200 }, { "webhook_id=12345678901234567890", 200 },
		{ "webhook_id=123456789012345678901", 401 }, { "webhook_id=", 401 }, { "webhook_id=7a", 401 },
		{ "webhook_ie=7", 401 }, { "", 401 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char length[10];

		snprintf(length, sizeof(length), "%zu", strlen(cases[i].body));
		assert_false(come((struct request){ .method = "POST",
			.path = "/hooks/demo/woocommerce",
			.headers = { { "Content-Length", length } },
			.body = bytes_of(cases[i].body) }));
		assert_int_equal(scene.answer.status, cases[i].status);
		assert_false(scene.answer.proven);
	}
	assert_false(come((struct request){ .method = "POST",
		.path = "/hooks/demo/woocommerce",
		.headers = { { "Content-Length", "100" } },
		.body = bytes_of("webhook_id=7") }));
	assert_int_equal(scene.answer.status, 401);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(who_presses_the_button_is_on_the_list_and_may_take_it_back),
		TEST(what_a_mailbox_said_is_not_taken_back_on_a_page),
		TEST(a_link_or_a_form_that_is_none_says_so_and_stops_nothing),
		TEST(a_page_names_the_shop_as_its_shop_conf_does),
		TEST(what_is_told_late_of_the_list_takes_nobody_off_it),
		TEST(who_follows_a_link_gets_to_the_basket_and_is_counted_once_a_minute),
		TEST(a_webhook_that_is_the_shops_is_let_in_and_answered_with_its_number),
		TEST(a_delivery_without_an_id_is_known_by_its_topic_and_body),
		TEST(a_consent_that_cannot_be_read_is_counted_and_warned_of),
		TEST(a_webhook_that_is_nobodys_is_refused_and_counted_for_what_it_is),
		TEST(what_is_the_shops_and_cannot_be_read_is_kept_and_never_asked_for_again),
		TEST(a_privacy_request_about_another_shop_than_its_shop_conf_names_is_kept_aside),
		TEST(the_ping_of_a_new_webhook_is_answered_and_nothing_like_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
