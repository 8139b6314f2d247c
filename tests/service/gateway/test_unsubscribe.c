/* test_unsubscribe.c: what is told of who unsubscribes or takes that back, and what the page then offers */
#include "bus/wire/codec.h"
#include "proto/platform_topics.h"
#include "scene.h"
#include "services/kit/web/signed_link.h"

static const char FORM[] = "application/x-www-form-urlencoded", HASH[] = "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh";

static const char *path_of(const char *shop, enum link_purpose purpose)
{
	static char path[420];
	struct signed_link link = { .purpose = purpose, .cart_id = "c1", .step = 1 };
	char token[400];

	TEXT_COPY(link.shop, shop);
	TEXT_COPY(link.address_hash, HASH);
	assert_int_equal(signed_link_make(bytes_of(KEY_OF_LINKS), &link, token), 0);
	snprintf(path, sizeof(path), "/u/%s", token);
	return path;
}

static bool look(const char *shop, const char *language)
{
	return come((struct request){ .method = "GET",
		.path = path_of(shop, LINK_UNSUBSCRIBE),
		.headers = { { "Accept-Language", language } } });
}

static bool post(const char *shop, const char *body)
{
	return come((struct request){ .method = "POST",
		.path = path_of(shop, LINK_UNSUBSCRIBE),
		.headers = { { "Content-Type", FORM } },
		.body = bytes_of(body) });
}

static const Envelope *wished(const pb_msgdesc_t *fields, void *ret)
{
	static Envelope envelope;
	struct bytes payload;

	assert_int_equal(message_read(said(), &envelope, &payload), 0);
	assert_int_equal(codec_read(codec_of(fields), payload, ret), 0);
	assert_string_equal(envelope.shop, "ses");
	assert_string_equal(envelope.key, HASH);
	assert_int_equal(envelope.said_us, START_US);
	assert_int_equal(strlen(envelope.trace), 55);
	return &envelope;
}

static void given_listed(OptoutSource source, bool lifted)
{
	Suppression row = { .source = source, .since_us = START_US, .lifted = lifted };

	TEXT_COPY(row.address_hash, HASH);
	enum said_result result = SAID_UNKNOWN;
	struct buffer message = { 0 };
	struct publish_options how = { .shop = "ses", .key = HASH, .version = 1 };
	assert_int_equal(message_encode(&topic_suppression, &how, "", START_US, &row, &message), 0);
	assert_int_equal(
		runtime_publish_encoded(sim_runtime(scene.sim, "unsub"), buffer_bytes(&message), note_end, &result), 0);
	sim_run_until_idle(scene.sim);
	assert_int_equal(result, SAID_FRESH);
	buffer_free(&message);
}

static bool offers_undo(int64_t undo_us)
{
	char field[80];

	snprintf(field, sizeof(field), "name=\"undo\" value=\"%lld\"", (long long)undo_us);
	return strstr(buffer_text(&scene.answer.body), field) != NULL;
}

static bool offers_any_undo(void)
{
	return strstr(buffer_text(&scene.answer.body), "name=\"undo\"") != NULL;
}

/* A page's own button may be taken back on the page; what a mailbox asked for is nobody's mistake. */
static void a_no_is_told_with_whose_it_is_and_where_it_was_said(void **state)
{
	static const struct {
		const char *body;
		OptoutSource source;
		bool may_be_undone;
	} cases[] = { { "unsubscribe=yes", OPTOUT_PAGE, true },
		{ "List-Unsubscribe=One-Click", OPTOUT_ONE_CLICK, false } };
	char idem[200] = "";

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		OptoutRequest asked;
		assert_true(post("ses", cases[i / 2].body));
		assert_true(scene.answer.proven);
		assert_true(scene.submission->stop); /* it waits for no webhooks */
		const Envelope *envelope = wished(&OptoutRequest_msg, &asked);
		assert_string_equal(envelope->topic, "optout.request");
		assert_ptr_equal(strstr(envelope->idem, "optout:"), envelope->idem);
		assert_string_not_equal(envelope->idem, idem); /* the same link works again */
		TEXT_COPY(idem, envelope->idem);
		assert_string_equal(asked.address_hash, HASH);
		assert_string_equal(asked.cart_id, "c1");
		assert_int_equal(asked.source, cases[i / 2].source);
		assert_int_equal(asked.heard_us, START_US);
		finish(SUBMISSION_ACCEPTED, 7, NULL);
		assert_answer(200, "Sie sind abgemeldet");
		assert_int_equal(offers_undo(START_US), cases[i / 2].may_be_undone);
		assert_int_equal(offers_any_undo(), cases[i / 2].may_be_undone);
		assert_int_equal(scene.counters.optouts, i + 1);
	}
	assert_int_equal(scene.counters.malformed, 0);
}

/* No page can take back what is listed after it was shown: its moment never lies ahead. */
static void taking_back_reaches_as_far_as_the_page_that_offered_it(void **state)
{
	static const struct {
		int64_t undo_us, by_us;
	} cases[] = { { 1, 1 }, { START_US - 1, START_US - 1 }, { START_US, START_US }, { START_US + 1, START_US } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AdminAction action;
		char body[64];
		snprintf(body, sizeof(body), "undo=%lld", (long long)cases[i].undo_us);
		assert_true(post("ses", body));
		assert_false(scene.submission->stop);
		const Envelope *envelope = wished(&AdminAction_msg, &action);
		assert_string_equal(envelope->topic, "admin.action");
		assert_ptr_equal(strstr(envelope->idem, "undo:"), envelope->idem);
		assert_int_equal(action.verb, ADMIN_TAKE_BACK);
		assert_string_equal(action.who, "shopper");
		assert_string_equal(action.reason, "the shopper took it back");
		assert_string_equal(action.address_hash, HASH);
		assert_string_equal(action.cart_id, "c1");
		assert_int_equal(action.at_us, START_US);
		assert_int_equal(action.listed_by_us, cases[i].by_us);
		finish(SUBMISSION_ACCEPTED, 7, NULL);
		assert_answer(200, "Erinnerungen sind wieder an");
		assert_int_equal(scene.counters.taken_back, i + 1);
	}
	assert_int_equal(scene.counters.optouts, 0);
}

/* Its button does once more what was asked for. */
static void what_was_not_recorded_is_offered_again(void **state)
{
	(void)state;
	assert_true(post("ses", "unsubscribe=yes"));
	finish(SUBMISSION_REFUSED, 0, "away");
	assert_answer(503, "Noch einmal versuchen");
	assert_non_null(strstr(buffer_text(&scene.answer.body), "name=\"unsubscribe\""));
	assert_false(offers_any_undo());
	assert_true(post("ses", "undo=5"));
	finish(SUBMISSION_REFUSED, 0, "away");
	assert_answer(503, "Noch einmal versuchen");
	assert_true(offers_undo(5));
	assert_int_equal(scene.counters.optouts + scene.counters.taken_back, 0);
}

static void a_page_shows_what_the_list_says(void **state)
{
	static const struct {
		OptoutSource source;
		bool lifted;
		const char *words;
		bool may_be_undone;
	} cases[] = { { OPTOUT_PAGE, false, "Sie sind abgemeldet", true },
		{ OPTOUT_ONE_CLICK, false, "Sie sind abgemeldet", false },
		{ OPTOUT_PAGE, true, "Keine Erinnerungen mehr?", false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (i > 0) {
			teardown(NULL);
			setup(NULL);
		}
		assert_false(look("ses", NULL));
		assert_answer(200, "Keine Erinnerungen mehr?");
		assert_false(offers_any_undo());
		given_listed(cases[i].source, cases[i].lifted);
		assert_false(look("ses", NULL));
		assert_answer(200, cases[i].words);
		assert_int_equal(offers_undo(START_US), cases[i].may_be_undone);
		assert_int_equal(offers_any_undo(), cases[i].may_be_undone);
		/* only what was said on the page is taken back there */
		bool stays = !cases[i].lifted && !cases[i].may_be_undone;
		assert_int_equal(post("ses", "undo=5"), !stays);
		assert_int_equal(scene.answer.status, stays ? 409 : 0);
		assert_true(post("ses", "unsubscribe=yes"));
		finish(SUBMISSION_ACCEPTED, 7, NULL);
		assert_int_equal(offers_any_undo(), !stays);
	}
	assert_int_equal(scene.counters.malformed, 0);
}

static void the_page_speaks_the_readers_language_else_the_shops(void **state)
{
	static const struct {
		const char *shop, *language, *head;
	} cases[] = { { "ses", NULL, "Keine Erinnerungen mehr?" }, { "ses", "en", "No more cart reminders?" },
		{ "ses", "ko", "Keine Erinnerungen mehr?" }, { "demo", NULL, "No more cart reminders?" } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(look(cases[i].shop, cases[i].language));
		assert_answer(200, cases[i].head);
		assert_string_equal(scene.answer.content_type, "text/html; charset=utf-8");
	}
	assert_non_null(strstr(buffer_text(&scene.answer.body), "demo")); /* its shop.conf cannot be read: its name */
}

static void a_link_for_something_else_unsubscribes_nobody(void **state)
{
	(void)state;
	assert_false(come((struct request){ .method = "POST",
		.path = path_of("ses", LINK_RETURN),
		.headers = { { "Content-Type", FORM }, { "Accept-Language", "de" } },
		.body = bytes_of("unsubscribe=yes") }));
	assert_answer(404, "Dieser Link funktioniert nicht");
	assert_false(scene.answer.proven);
	assert_int_equal(scene.counters.malformed, 1);
	assert_false(post("ses", "unsubscribe=no"));
	assert_answer(400, "Keine Erinnerungen mehr?"); /* with the button that was meant */
	assert_true(scene.answer.proven);
	assert_int_equal(scene.counters.malformed, 2);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(a_no_is_told_with_whose_it_is_and_where_it_was_said),
		SCENE(taking_back_reaches_as_far_as_the_page_that_offered_it),
		SCENE(what_was_not_recorded_is_offered_again),
		SCENE(a_page_shows_what_the_list_says),
		SCENE(the_page_speaks_the_readers_language_else_the_shops),
		SCENE(a_link_for_something_else_unsubscribes_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
