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
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#define START_US (INT64_C(20000) * US_PER_DAY)
static const char KEY[] = "0123456789abcdef0123456789abcdef", KEY_OF_LINKS[] = "fedcba9876543210fedcba9876543210";
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(who_presses_the_button_is_on_the_list_and_may_take_it_back),
		TEST(what_a_mailbox_said_is_not_taken_back_on_a_page),
		TEST(a_link_or_a_form_that_is_none_says_so_and_stops_nothing),
		TEST(who_follows_a_link_gets_to_the_basket_and_is_counted_once_a_minute),
		TEST(a_webhook_that_is_the_shops_is_let_in_and_answered_with_its_number),
		TEST(a_delivery_without_an_id_is_known_by_its_topic_and_body),
		TEST(a_webhook_that_is_nobodys_is_refused_and_counted_for_what_it_is),
		TEST(what_is_the_shops_and_cannot_be_read_is_kept_and_never_asked_for_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
