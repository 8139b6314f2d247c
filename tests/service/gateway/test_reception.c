/* test_reception.c: a request from its head to its answer, in front of a bus: webhooks, and what a shopper does with a mail's links */
#include "bus/actor/sim.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"
#include "given.h"
#include "services/gateway/gateway.h"
#include "services/gateway/reception.h"
#include "services/intake/intake.h"
#include "services/kit/return_link.h"
#include "services/kit/signed_link.h"
#include "services/unsub/unsub.h"
#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_US (INT64_C(20000) * US_PER_DAY)
static const char KEY[] = "0123456789abcdef0123456789abcdef", KEY_OF_LINKS[] = "fedcba9876543210fedcba9876543210";
#define TOPIC "arn:aws:sns:eu-central-1:123456789012:bounces"
#define CERTIFICATE_URL "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-01.pem"
static const char FORM[] = "application/x-www-form-urlencoded", BACK[] = "https://demo.example/r/1";
static const struct service *const services[] = { &gateway, &unsub, &intake, NULL };

static struct scene {
	char folder[64], shops[128], rejected[128];
	struct secrets *secrets;
	struct counters counters;
	struct sim *sim;
	struct reception reception;
	struct answer answer; /* the last one */
	struct wish wish;
} scene;

static void write_file(const char *name, const char *text)
{
	write_below(scene.folder, name, text, 0600);
}

static int setup(void **state)
{
	char keys[128];

	(void)state;
	scene = (struct scene){ 0 };
	TEXT_COPY(scene.folder, fresh_folder());
	write_file("secrets/address.key", KEY);
	write_file("secrets/link.key", KEY_OF_LINKS);
	write_file("secrets/admin.key", KEY);
	write_file("secrets/webhook/demo", KEY);
	write_file("shops/demo/shop.conf", "[shop]\ntitle = Demo\n");
	write_file("shops/keyless/shop.conf", "[shop]\ntitle = Keyless\n");
	write_file("shops/ses/shop.conf",
		"[shop]\ntime-zone = UTC\ncurrency = EUR\nlocale = de-DE\ntitle = T\nurl = https://s.example\n[mail]\n"
		"from = shop@shop.example\nsns-topic = " TOPIC "\n");
	snprintf(scene.shops, sizeof(scene.shops), "%s/shops", scene.folder);
	snprintf(scene.rejected, sizeof(scene.rejected), "%s/rejected", scene.folder);
	snprintf(keys, sizeof(keys), "%s/secrets", scene.folder);
	scene.secrets = secrets_open(scene.shops, keys);
	scene.sim = sim_new(services, START_US, 1);
	for (int i = 0; services[i]; i++)
		sim_start(scene.sim, services[i]->name, services[i], NULL);
	sim_run_until_idle(scene.sim);
	scene.reception = (struct reception){ .secrets = scene.secrets,
		.clock = sim_clock(scene.sim),
		.counters = &scene.counters,
		.shops_folder = scene.shops,
		.rejected_folder = scene.rejected,
		.runtime = sim_runtime(scene.sim, "gateway"),
		.event = fresh_event() };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	buffer_free(&scene.answer.body);
	buffer_free(&scene.wish.message);
	sim_free(scene.sim);
	secrets_close(scene.secrets);
	remove_folder(scene.folder);
	return 0;
}

/* --- requests --- */

static void judge_head(const struct request *request)
{
	size_t body_most = 1 << 20;

	if (reception_judge_head(&scene.reception, request, &scene.answer, &body_most))
		assert_true(request->body.len <= body_most);
}

/* true: it is to be let in. */
static bool come(struct request request)
{
	buffer_free(&scene.answer.body);
	buffer_free(&scene.wish.message);
	scene.answer = (struct answer){ 0 };
	scene.wish = (struct wish){ 0 };
	for (request.header_count = 0; request.headers[request.header_count].name;)
		request.header_count++;
	judge_head(&request);
	return scene.answer.status == 0 && reception_receive(&scene.reception, &request, &scene.answer, &scene.wish);
}

static void note_end(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)seq, (void)reason;
	*(enum said_result *)context = result;
}

static void finish(enum door_end end, uint64_t seq, const char *why)
{
	reception_finish(&scene.reception, &scene.wish, end, seq, why, &scene.answer);
}

/* What was to be let in is said, and everybody hears it. */
static void let_in(void)
{
	enum said_result result = SAID_UNKNOWN;

	assert_int_equal(runtime_say_encoded(sim_runtime(scene.sim, "gateway"), buffer_bytes(&scene.wish.message),
				 note_end, &result),
		0);
	sim_run_until_idle(scene.sim);
	assert_int_equal(result, SAID_FRESH);
	finish(DOOR_ACCEPTED, 7, NULL);
}

#define assert_answer(code, words)                                                                                     \
	do {                                                                                                           \
		assert_int_equal(scene.answer.status, code);                                                           \
		if (!strstr(buffer_text(&scene.answer.body), words))                                                   \
			fail_msg("no \"%s\" in %s", words, buffer_text(&scene.answer.body));                           \
	} while (0)

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
	assert_true(scene.wish.stop);
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
	finish(DOOR_REFUSED, 0, "the broker is away");
	assert_int_equal(scene.answer.status, 503);
	assert_int_equal(scene.counters.refused, 1);
	assert_int_equal(scene.counters.optouts, 0);
}

static bool follow(const char *method, const char *to, const char *purpose)
{
	static const char host[] = "https://gate.example";
	struct signed_link link = { .purpose = LINK_RETURN, .shop = "demo", .cart_id = "c1", .step = 2 };
	struct buffer url = { 0 };
	bool counts;

	assert_int_equal(return_link_make(bytes_of(KEY_OF_LINKS), host, &link, BACK, &url), 0);
	char *path = (char *)buffer_text(&url) + strlen(host);
	path[strcspn(path, "?")] = '\0';
	counts = come((struct request){
		.method = method, .path = path, .to = to, .headers = { { purpose ? "Sec-Purpose" : NULL, purpose } } });
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
	finish(DOOR_REFUSED, 0, "the broker is away");
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

static const char *idem_of_wish(void)
{
	static Envelope envelope;
	struct bytes payload;

	assert_int_equal(message_read(buffer_bytes(&scene.wish.message), &envelope, &payload), 0);
	return envelope.idem;
}

static void a_delivery_without_an_id_is_known_by_its_topic_and_body(void **state)
{
	static const char *const ids[] = { "", "w-1" };
	struct bytes cart = fixture("shopify-checkouts-create.json", NULL, NULL);
	char first[160];

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_true(deliver_as(ids[i], "demo", "checkouts/create", cart, signature_of(cart, KEY)));
		TEXT_COPY(first, idem_of_wish());
		assert_true(deliver_as(ids[i], "demo", "checkouts/create", cart, signature_of(cart, KEY)));
		assert_string_equal(idem_of_wish(), first);
		assert_true(deliver_as(ids[i], "demo", "checkouts/update", cart, signature_of(cart, KEY)));
		assert_int_equal(strcmp(idem_of_wish(), first) == 0, i == 1);
	}
	assert_true(deliver_as("w-2", "demo", "checkouts/update", cart, signature_of(cart, KEY)));
	assert_string_not_equal(idem_of_wish(), first);
}

static void a_webhook_that_is_the_shops_is_let_in_and_answered_with_its_number(void **state)
{
	struct bytes cart = fixture("shopify-checkouts-create.json", NULL, NULL);

	(void)state;
	assert_true(deliver("demo", "checkouts/create", cart, signature_of(cart, KEY)));
	assert_true(scene.answer.proven);
	assert_false(scene.wish.stop);
	assert_string_equal(scene.wish.shop, "demo");
	let_in();
	assert_answer(200, "{\"accepted\":7}");
	assert_true(deliver("demo", "checkouts/create", cart, signature_of(cart, KEY)));
	scene.answer.status = 0;
	finish(DOOR_DUPLICATE, 3, NULL);
	assert_answer(200, "{\"duplicate_of\":3}");
	assert_true(deliver("demo", "orders/create", cart, signature_of(cart, KEY)));
	assert_true(scene.wish.stop);
	finish(DOOR_SPOOLED, 0, NULL);
	assert_answer(200, "{\"spooled\":true}");
	assert_true(deliver("demo", "orders/create", cart, signature_of(cart, KEY)));
	finish(DOOR_REFUSED, 0, "the spool is full");
	assert_answer(503, "the spool is full");
	assert_int_equal(scene.counters.refused, 1);
}

static void a_consent_that_cannot_be_read_is_counted_and_warned_of(void **state)
{
	struct bytes cart = fixture("shopify-checkouts-create.json", NULL, NULL);

	(void)state;
	assert_true(deliver("demo", "checkouts/create", cart, signature_of(cart, KEY)));
	assert_null(scene.wish.doubt);
	assert_int_equal(scene.counters.consents_unreadable, 0);
	cart = fixture("shopify-checkouts-create.json", "\"buyer_accepts_marketing\": false",
		"\"buyer_accepts_marketing\": \"perhaps\"");
	assert_true(deliver("demo", "checkouts/create", cart, signature_of(cart, KEY)));
	assert_non_null(scene.wish.doubt);
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

#define SHOP_CONF(storefront)                                                                                          \
	"[shop]\ntime-zone = UTC\ncurrency = EUR\nlocale = de-DE\ntitle = T\nurl = https://s.example\n[mail]\n"        \
	"from = shop@s.example\n" storefront

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
		assert_int_equal(scene.wish.stop, cases[i].is_believed);
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

/* --- what SES tells by way of SNS --- */

static EVP_PKEY *key_of_sns;

static int make_key_of_sns(void **state)
{
	(void)state;
	key_of_sns = EVP_RSA_gen(2048U);
	return key_of_sns ? 0 : -1;
}

static int free_key_of_sns(void **state)
{
	(void)state;
	EVP_PKEY_free(key_of_sns);
	return 0;
}

/* As mailin has fetched it. */
static void let_certificate_be_known(int64_t from_us, int64_t until_us)
{
	static FeedbackCertificate fact;
	X509 *certificate = X509_new();
	BIO *bio = BIO_new(BIO_s_mem());
	unsigned char digest[32];
	char name[65];

	ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)(from_us / US_PER_S));
	ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)(until_us / US_PER_S));
	X509_set_pubkey(certificate, key_of_sns);
	X509_sign(certificate, key_of_sns, EVP_sha256());
	PEM_write_bio_X509(bio, certificate);
	memset(&fact, 0, sizeof(fact));
	assert_true(BIO_read(bio, fact.pem, sizeof(fact.pem) - 1) > 0);
	BIO_free(bio);
	X509_free(certificate);
	TEXT_COPY(fact.url, CERTIFICATE_URL);
	assert_true(EVP_Digest(CERTIFICATE_URL, strlen(CERTIFICATE_URL), digest, NULL, EVP_sha256(), NULL) == 1);
	text_hex(digest, 16, name);
	assert_int_equal(
		SIM_SAY(scene.sim, feedback_certificate, &fact, .shop = SHOP_OF_ALL, .key = name, .version = 1),
		SAID_FRESH);
	sim_run_until_idle(scene.sim);
}

struct posted {
	const char *message, *timestamp, *topic, *type_header;
	const char *type;    /* NULL: Notification */
	const char *version; /* of the signature */
	bool is_forged;
};

static void sign_as_sns(const char *covered, bool by_sha1, char ret[400])
{
	unsigned char signature[256];
	size_t len = sizeof(signature);
	EVP_MD_CTX *context = EVP_MD_CTX_new();

	assert_int_equal(EVP_DigestSignInit(context, NULL, by_sha1 ? EVP_sha1() : EVP_sha256(), NULL, key_of_sns), 1);
	assert_int_equal(EVP_DigestSign(context, signature, &len, (const unsigned char *)covered, strlen(covered)), 1);
	EVP_MD_CTX_free(context);
	EVP_EncodeBlock((unsigned char *)ret, signature, (int)len);
}

#define SUBSCRIBE_URL "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=" TOPIC "&Token=t"

static bool come_from_sns(const char *topic, const char *type, const char *body)
{
	return come((struct request){ .method = "POST",
		.path = "/feedback/ses/sns",
		.headers = { { "x-amz-sns-topic-arn", topic }, { type ? "x-amz-sns-message-type" : NULL, type } },
		.body = bytes_of(body) });
}

static bool post_as_sns(struct posted posted)
{
	const char *type = posted.type ? posted.type : "Notification";
	char covered[3000], signature[400];

	if (posted.type)
		snprintf(covered, sizeof(covered),
			"Message\n%s\nMessageId\nid-1\nSubscribeURL\n%s\nTimestamp\n%s\nToken\nt\nTopicArn\n%s\nType\n%"
			"s\n",
			posted.message, SUBSCRIBE_URL, posted.timestamp, posted.topic, type);
	else
		snprintf(covered, sizeof(covered),
			"Message\n%s\nMessageId\nid-1\nTimestamp\n%s\nTopicArn\n%s\nType\nNotification\n",
			posted.message, posted.timestamp, posted.topic);
	sign_as_sns(covered, strcmp(posted.version, "1") == 0, signature);
	if (posted.is_forged)
		signature[10] = signature[10] == 'A' ? 'B' : 'A'; /* base64 still */
	json_t *json = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "Type", type, "MessageId", "id-1",
		"TopicArn", posted.topic, "Message", posted.message, "Timestamp", posted.timestamp, "SignatureVersion",
		posted.version, "Signature", signature, "SigningCertURL", CERTIFICATE_URL, "SubscribeURL",
		SUBSCRIBE_URL, "Token", "t");
	char *body = json_dumps(json, 0);
	bool ret = come_from_sns(posted.topic, posted.type_header, body);

	free(body);
	json_decref(json);
	return ret;
}

/* Sent when the simulated world begins. */
static const struct posted a_bounce = {
	.message = "{\"notificationType\":\"Bounce\",\"bounce\":{\"bounceType\":\"Permanent\",\"bouncedRecipients\":["
		   "{\"emailAddress\":\"Ada <ada@mail.example>\",\"status\":\"5.1.1\"},"
		   "{\"emailAddress\":\"no address\"},{\"emailAddress\":\"bob@mail.example\"}]}}",
	.timestamp = "2024-10-04T00:00:00.000Z",
	.topic = TOPIC,
	.type_header = "Notification",
	.version = "2"
};

static void a_bounce_of_ses_is_believed_for_its_signature_alone(void **state)
{
	struct posted posted = a_bounce;

	(void)state;
	assert_true(post_as_sns(posted)); /* mailin is asked for the certificate */
	assert_false(scene.answer.proven);
	finish(DOOR_ACCEPTED, 1, NULL);
	assert_answer(503, "is being fetched");
	assert_false(post_as_sns(posted)); /* it was asked for just now */
	assert_answer(503, "is being fetched");
	let_certificate_be_known(START_US - US_PER_DAY, START_US + 30 * US_PER_DAY);
	for (int i = 0; i < 2; i++) {
		posted.version = i == 0 ? "2" : "1";
		assert_true(post_as_sns(posted));
		assert_true(scene.answer.proven);
		assert_true(scene.wish.stop);
		assert_int_equal(scene.wish.more_count, 1);
		assert_string_equal(scene.wish.shop, "ses");
		assert_true(text_starts(idem_of_wish(), "sns:id-1:"));
		buffer_free(&scene.wish.more[0]);
		free(scene.wish.more);
		assert_int_equal(scene.counters.feedback, 2 * (i + 1));
	}
	posted.is_forged = true;
	assert_false(post_as_sns(posted));
	assert_answer(403, "not signed by SNS");
	assert_false(scene.answer.proven);
	assert_int_equal(scene.counters.feedback_refused, 1);
	assert_int_equal(scene.counters.feedback, 4);
}

static void a_subscription_is_confirmed_and_its_end_is_told(void **state)
{
	static FeedbackFetch fetch;
	static Envelope envelope;
	struct posted posted = a_bounce;
	struct bytes payload;

	(void)state;
	let_certificate_be_known(START_US - US_PER_DAY, START_US + 30 * US_PER_DAY);
	posted.type = posted.type_header = "SubscriptionConfirmation";
	assert_true(post_as_sns(posted));
	assert_true(scene.answer.proven);
	assert_int_equal(message_read(buffer_bytes(&scene.wish.message), &envelope, &payload), 0);
	assert_string_equal(envelope.topic, "feedback.fetch");
	assert_string_equal(envelope.shop, "ses");
	assert_string_equal(envelope.idem, "sns:id-1");
	assert_string_equal(scene.wish.shop, "ses");
	assert_true(state_row(payload, &FeedbackFetch_msg, &fetch));
	assert_int_equal(fetch.kind, FETCH_SUBSCRIBE);
	assert_string_equal(fetch.url, SUBSCRIBE_URL);
	assert_string_equal(fetch.topic_arn, TOPIC);
	posted.type = posted.type_header = "UnsubscribeConfirmation";
	assert_false(post_as_sns(posted));
	assert_true(scene.answer.proven);
	assert_answer(200, "the end of a subscription");
	assert_int_equal(scene.counters.ignored, 1);
	posted.is_forged = true;
	assert_false(post_as_sns(posted));
	assert_answer(403, "not signed by SNS");
}

/* A few bytes of brackets and commas would make thousands of parts in memory; in a text they are nothing but characters. */
static void a_body_of_more_parts_than_sns_writes_is_not_even_read(void **state)
{
	static const char part[] = "{[,", *const beside[] = { "", "x", "xx", "\\\"", "x\\\"", "\\\\" };
	char body[600], text[700];

	(void)state;
	for (size_t i = 0; i < sizeof(part) - 1; i++) {
		memset(body, part[i], 129);
		body[129] = '\0';
		assert_false(come_from_sns(TOPIC, "Notification", body));
		assert_answer(400, "too many parts");
		body[128] = '\0';
		assert_false(come_from_sns(TOPIC, "Notification", body));
		assert_null(strstr(buffer_text(&scene.answer.body), "too many parts"));
	}
	memset(body, ',', 500);
	body[500] = '\0';
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		snprintf(text, sizeof(text), "[\"%s\",\"%s%s\"]", beside[i], beside[i], body);
		assert_false(come_from_sns(TOPIC, "Notification", text));
		assert_null(strstr(buffer_text(&scene.answer.body), "too many parts"));
		snprintf(text, sizeof(text), "[\"%s\"%s", beside[i], body);
		assert_false(come_from_sns(TOPIC, "Notification", text));
		assert_answer(400, "too many parts");
	}
}

static void what_is_not_for_us_to_believe_is_refused_before_its_signature(void **state)
{
	static const struct {
		const char *timestamp, *topic, *type_header;
		unsigned status;
		const char *words;
	} cases[] = { { "2024-10-03T00:00:01Z", TOPIC, "Notification", 0, "" },
		{ "2024-10-02T23:59:58Z", TOPIC, "Notification", 403, "too long ago" },
		{ "2024-10-04T00:14:59Z", TOPIC, "Notification", 0, "" },
		{ "2024-10-04T00:15:02Z", TOPIC, "Notification", 403, "yet to be sent" },
		{ "2024-10-04T00:00:00Z", TOPIC "2", "Notification", 403, "not among the shop's" },
		{ "2024-10-04T00:00:00Z", TOPIC, "SubscriptionConfirmation", 400, "another type" },
		{ "2024-10-04T00:00:00Z", TOPIC, NULL, 400, "header of its type" },
		{ "soon", TOPIC, "Notification", 400, "when it was sent" } };

	(void)state;
	let_certificate_be_known(START_US - US_PER_DAY, START_US + 30 * US_PER_DAY);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct posted posted = a_bounce;

		posted.timestamp = cases[i].timestamp;
		posted.topic = cases[i].topic;
		posted.type_header = cases[i].type_header;
		assert_int_equal(post_as_sns(posted), cases[i].status == 0);
		if (cases[i].status) {
			assert_answer(cases[i].status, cases[i].words);
			continue;
		}
		buffer_free(&scene.wish.more[0]);
		free(scene.wish.more);
	}
	assert_int_equal(scene.counters.feedback_refused, 3);
	assert_int_equal(scene.counters.malformed, 3);
	assert_false(come((struct request){ .method = "POST", .path = "/feedback/nobody/sns" }));
	assert_answer(404, "no such shop");
	assert_int_equal(scene.counters.malformed, 4);
	write_file("shops/plain/shop.conf", SHOP_CONF(""));
	assert_false(come((struct request){ .method = "POST", .path = "/feedback/plain/sns" }));
	assert_answer(404, "no topics of SNS");
}

static void a_certificate_that_is_over_is_fetched_anew_and_events_of_no_interest_are_ignored(void **state)
{
	static const char *const ignored[] = { "Successfully validated SNS topic", "{\"eventType\":\"Open\"}",
		"{\"eventType\":\"Complaint\",\"complaint\":{\"complaintFeedbackType\":\"not-spam\"}}" };
	struct posted posted = a_bounce;

	(void)state;
	let_certificate_be_known(START_US - US_PER_DAY, START_US + US_PER_MINUTE);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
		posted.message = ignored[i];
		assert_false(post_as_sns(posted));
		assert_answer(200, "\"ignored\"");
		assert_int_equal(scene.counters.ignored, i + 1);
	}
	posted.message = "{\"eventType\":\"Bounce\",\"bounce\":{\"bouncedRecipients\":[]}}";
	assert_false(post_as_sns(posted));
	assert_answer(400, "it names 0 recipients");
	posted.message = "{\"eventType\":\"Complaint\",\"complaint\":{\"complainedRecipients\":[{\"emailAddress\":"
			 "\"ada@mail.example\"}]}}";
	assert_true(post_as_sns(posted));
	assert_true(scene.wish.stop);
	assert_int_equal(scene.wish.more_count, 0);
	posted.message = "{\"eventType\":\"Bounce\",\"bounce\":{\"bounceType\":\"Transient\",\"bouncedRecipients\":[{"
			 "\"emailAddress\":\"ada@mail.example\"}]}}";
	assert_true(post_as_sns(posted));
	assert_false(scene.wish.stop);
	sim_run_until(scene.sim, START_US + 2 * US_PER_MINUTE);
	assert_true(post_as_sns(posted));
	finish(DOOR_ACCEPTED, 1, NULL);
	assert_answer(503, "is being fetched");
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
		TEST(a_bounce_of_ses_is_believed_for_its_signature_alone),
		TEST(a_subscription_is_confirmed_and_its_end_is_told),
		TEST(a_body_of_more_parts_than_sns_writes_is_not_even_read),
		TEST(what_is_not_for_us_to_believe_is_refused_before_its_signature),
		TEST(a_certificate_that_is_over_is_fetched_anew_and_events_of_no_interest_are_ignored),
	};
	return cmocka_run_group_tests(tests, make_key_of_sns, free_key_of_sns);
}
