/* test_action.c: the owner's links: each is counted for what it is, and a used one acts never again */
#include "bus/actor/runtime/state_layers.h"
#include "bus/actor/sim/sim.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"
#include "given.h"
#include "services/carts/intake/intake.h"
#include "services/kit/web/admin_link.h"
#include "services/platform/gateway/dispatch.h"
#include "services/platform/gateway/gateway.h"
#include "services/platform/unsub/unsub.h"
#include <stdio.h>

#define START_US (INT64_C(20000) * US_PER_DAY)
static const char KEY[] = "0123456789abcdef0123456789abcdef", HASH[] = "00112233445566778899aabbccddeeff";
static const struct service *const services[] = { &gateway, &unsub, &intake, NULL };

static struct scene {
	char folder[64], shops[128];
	struct secrets *secrets;
	struct counters counters;
	struct sim *sim;
	struct endpoint_context context;
	struct answer answer; /* the last one */
	struct submission *submission;
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
	write_file("secrets/link.key", "fedcba9876543210fedcba9876543210");
	write_file("secrets/admin.key", KEY);
	write_file("secrets/demo/webhook", KEY);
	write_file("shops/demo/shop.conf", "[shop]\ntitle = Demo\n");
	snprintf(scene.shops, sizeof(scene.shops), "%s/shops", scene.folder);
	snprintf(keys, sizeof(keys), "%s/secrets", scene.folder);
	scene.secrets = secrets_open(scene.shops, keys);
	scene.sim = sim_new(services, START_US, 1);
	for (int i = 0; services[i]; i++)
		sim_start(scene.sim, services[i]->name, services[i], NULL);
	sim_run_until_idle(scene.sim);
	return 0;
}

static void forget_submission(void)
{
	buffer_free(&scene.answer.body);
	scene.answer = (struct answer){ 0 };
	if (scene.submission)
		submission_clear(scene.submission);
	free(scene.submission);
	scene.submission = NULL;
}

static int teardown(void **state)
{
	(void)state;
	forget_submission();
	sim_free(scene.sim);
	secrets_close(scene.secrets);
	remove_folder(scene.folder);
	return 0;
}

static void make_link(AdminVerb verb, int64_t lasts_us, const char *key, char ret[SIGNED_TOKEN_MAX + 1])
{
	struct admin_link link = { .verb = verb, .shop = "demo", .expires_us = sim_now_us(scene.sim) + lasts_us };

	TEXT_COPY(link.address_hash, HASH);
	assert_int_equal(admin_link_make(bytes_of(key), &link, ret), 0);
}

/* true: the first message of the submission is to be said. */
static bool come(
	const struct runtime *runtime, const char *method, const char *token, const char *body, unsigned *ret_status)
{
	static struct request request;
	char path[SIGNED_TOKEN_MAX + 8];
	size_t body_most = 1 << 20;

	forget_submission();
	snprintf(path, sizeof(path), "/a/%s", token);
	request = (struct request){ .method = method, .path = path, .body = bytes_of(body) };
	scene.context = (struct endpoint_context){ .secrets = scene.secrets,
		.clock = sim_clock(scene.sim),
		.counters = &scene.counters,
		.shops_folder = scene.shops,
		.runtime = runtime };
	scene.submission = dispatch_begin(&scene.context, &request, &scene.answer, &body_most);
	bool let_in = dispatch_prove(scene.submission) && dispatch_read(scene.submission);
	*ret_status = scene.answer.status;
	return let_in;
}

static AdminAction said_action(void)
{
	static Envelope envelope;
	static AdminAction action;
	struct bytes payload;

	assert_int_equal(message_read(buffer_bytes(&scene.submission->messages[0]), &envelope, &payload), 0);
	assert_string_equal(envelope.topic, "admin.action");
	assert_true(state_row(payload, &AdminAction_msg, &action));
	return action;
}

static void note_end(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)seq, (void)reason;
	*(enum said_result *)context = result;
}

static enum said_result say(struct bytes message)
{
	enum said_result result = SAID_UNKNOWN;

	assert_int_equal(runtime_publish_encoded(sim_runtime(scene.sim, "gateway"), message, note_end, &result), 0);
	sim_run_until_idle(scene.sim);
	return result;
}

static void ignore_end(struct submission *submission)
{
	(void)submission;
}

static unsigned finish(enum submission_end end)
{
	scene.submission->on_end = ignore_end;
	scene.submission->end = SUBMISSION_DUPLICATE;
	scene.submission->unanswered = 1;
	dispatch_end(scene.submission, end, 1, NULL);
	return scene.answer.status;
}

/* It does nothing when it is used again, and says so. */
static void assert_used(const char *token)
{
	uint64_t before = scene.counters.links_used;
	unsigned status;

	assert_false(come(sim_runtime(scene.sim, "gateway"), "POST", token, "act=yes", &status));
	assert_int_equal(status, 409);
	assert_false(come(sim_runtime(scene.sim, "gateway"), "GET", token, "", &status));
	assert_int_equal(status, 200);
	assert_int_equal(scene.counters.links_used, before + 2);
	assert_int_equal(scene.counters.actions, 1);
}

/* Longer than any link lasts and than the broker knows a key: what was said is folded, and kept for ever. */
static void a_used_link_acts_never_again_at_any_age(void **state)
{
	static const int days[] = { 1, 7, 9, 13, 100, 401 };
	char token[SIGNED_TOKEN_MAX + 1];
	unsigned status;

	(void)state;
	make_link(ADMIN_UNSUBSCRIBE, 1000 * US_PER_DAY, KEY, token);
	assert_true(come(sim_runtime(scene.sim, "gateway"), "POST", token, "act=yes", &status));
	struct buffer message = scene.submission->messages[0];
	scene.submission->messages[0] = (struct buffer){ 0 };
	assert_int_equal(say(buffer_bytes(&message)), SAID_FRESH);
	assert_int_equal(finish(SUBMISSION_ACCEPTED), 200);
	assert_int_equal(say(buffer_bytes(&message)), SAID_DUPLICATE);
	for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++) {
		int64_t day_us = START_US + days[i] * US_PER_DAY;
		sim_freeze(scene.sim, day_us - sim_now_us(scene.sim));
		sim_run_until(scene.sim, day_us + US_PER_MINUTE);
		assert_used(token);
	}
	sim_kill(scene.sim, "gateway");
	sim_forget(scene.sim, "gateway");
	sim_restart(scene.sim, "gateway");
	sim_run_until(scene.sim, sim_now_us(scene.sim) + US_PER_MINUTE);
	assert_used(token);                                        /* folded anew */
	assert_int_equal(say(buffer_bytes(&message)), SAID_FRESH); /* the broker itself would have let it act again */
	buffer_free(&message);
}

static void who_is_taken_off_the_list_was_asked_for_by_somebody_with_a_reason(void **state)
{
	static const char *const missing[] = { "act=yes", "act=yes&reason=", "act=no&reason=asked+by+phone",
		"reason=asked+by+phone" };
	const struct runtime *folded = sim_runtime(scene.sim, "gateway");
	char token[SIGNED_TOKEN_MAX + 1];
	unsigned status;

	(void)state;
	make_link(ADMIN_LIFT_SUPPRESSION, US_PER_DAY, KEY, token);
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		assert_false(come(folded, "POST", token, missing[i], &status));
		assert_int_equal(status, 400);
		assert_int_equal(scene.counters.malformed, i + 1);
	}
	assert_true(come(folded, "POST", token, "act=yes&reason=asked+by+phone", &status));
	AdminAction action = said_action();
	assert_int_equal(action.verb, ADMIN_LIFT_SUPPRESSION);
	assert_string_equal(action.address_hash, HASH);
	assert_non_null(strstr(action.reason, "asked by phone"));
}

static void each_link_that_does_nothing_is_counted_for_what_it_is(void **state)
{
	char good[SIGNED_TOKEN_MAX + 1], old[SIGNED_TOKEN_MAX + 1], forged[SIGNED_TOKEN_MAX + 1];
	char undo[SIGNED_TOKEN_MAX + 1];
	const struct runtime *folded = sim_runtime(scene.sim, "gateway");
	unsigned status;

	(void)state;
	make_link(ADMIN_UNSUBSCRIBE, US_PER_DAY, KEY, good);
	make_link(ADMIN_UNSUBSCRIBE, -1, KEY, old);
	make_link(ADMIN_UNSUBSCRIBE, US_PER_DAY, "another key of thirty-two letters", forged);
	make_link(ADMIN_LIFT_SUPPRESSION, US_PER_DAY, KEY, undo);
	const struct {
		const char *token, *body;
		const struct runtime *runtime;
		unsigned status;
		const uint64_t *counter;
	} cases[] = {
		{ forged, "act=yes", folded, 404, &scene.counters.links_forged },
		{ "cut", "act=yes", folded, 404, &scene.counters.links_forged },
		{ old, "act=yes", folded, 410, &scene.counters.links_expired },
		{ good, "", folded, 400, &scene.counters.malformed },
		{ undo, "act=yes", folded, 400, &scene.counters.malformed },
		{ good, "act=yes", NULL, 503, &scene.counters.refused }, /* whether it was used cannot be known */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t before = *cases[i].counter;
		assert_false(come(cases[i].runtime, "POST", cases[i].token, cases[i].body, &status));
		assert_int_equal(status, cases[i].status);
		assert_int_equal(*cases[i].counter, before + 1);
	}
	assert_true(come(folded, "POST", good, "act=yes", &status));
	assert_int_equal(finish(SUBMISSION_DUPLICATE), 409);
	assert_int_equal(scene.counters.links_used, 1);
	scene.counters.refused = 0;
	assert_int_equal(finish(SUBMISSION_REFUSED), 503);
	assert_int_equal(scene.counters.refused, 1);
	assert_int_equal(scene.counters.actions, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_used_link_acts_never_again_at_any_age, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_is_taken_off_the_list_was_asked_for_by_somebody_with_a_reason, setup, teardown),
		cmocka_unit_test_setup_teardown(each_link_that_does_nothing_is_counted_for_what_it_is, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
