/*
 * scene.h: a gateway's endpoints in front of a simulated bus, with three shops, and one request at a time
 */
#ifndef TESTS_SERVICE_GATEWAY_SCENE_H
#define TESTS_SERVICE_GATEWAY_SCENE_H

#include "bus/actor/sim/sim.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"
#include "given.h"
#include "services/carts/intake/intake.h"
#include "services/platform/gateway/dispatch.h"
#include "services/platform/gateway/gateway.h"
#include "services/platform/unsub/unsub.h"
#include <stdio.h>
#include <string.h>

#define SHOP_CONF(storefront)                                                                                          \
	"[shop]\ntime-zone = UTC\ncurrency = EUR\nlocale = de-DE\ntitle = T\nurl = https://s.example\n[mail]\n"        \
	"from = shop@s.example\n" storefront

#define START_US (INT64_C(20000) * US_PER_DAY)
static const char KEY[] = "0123456789abcdef0123456789abcdef", KEY_OF_LINKS[] = "fedcba9876543210fedcba9876543210";
#define TOPIC "arn:aws:sns:eu-central-1:123456789012:bounces"
static const struct service *const services[] = { &gateway, &unsub, &intake, NULL };

static struct scene {
	char folder[64], shops[128], rejected[128];
	struct secrets *secrets;
	struct counters counters;
	struct sim *sim;
	struct endpoint_context context;
	struct request request; /* the last one */
	struct answer answer;
	struct submission *submission;
} scene;

static inline void write_file(const char *name, const char *text)
{
	write_below(scene.folder, name, text, 0600);
}

static inline int setup(void **state)
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
	scene.context = (struct endpoint_context){ .secrets = scene.secrets,
		.clock = sim_clock(scene.sim),
		.counters = &scene.counters,
		.shops_folder = scene.shops,
		.rejected_folder = scene.rejected,
		.runtime = sim_runtime(scene.sim, "gateway") };
	return 0;
}

static inline void forget_submission(void)
{
	buffer_free(&scene.answer.body);
	scene.answer = (struct answer){ 0 };
	if (scene.submission)
		submission_clear(scene.submission);
	free(scene.submission);
	scene.submission = NULL;
}

static inline int teardown(void **state)
{
	(void)state;
	forget_submission();
	sim_free(scene.sim);
	secrets_close(scene.secrets);
	remove_folder(scene.folder);
	return 0;
}

/* --- requests --- */

/* true: it is to be let in. */
static inline bool come(struct request request)
{
	size_t body_most = 1 << 20;

	forget_submission();
	for (request.header_count = 0; request.headers[request.header_count].name;)
		request.header_count++;
	scene.request = request;
	scene.submission = dispatch_begin(&scene.context, &scene.request, &scene.answer, &body_most);
	if (!dispatch_prove(scene.submission))
		return false;
	assert_true(request.body.len <= body_most);
	return dispatch_read(scene.submission);
}

static inline void note_end(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)seq, (void)reason;
	*(enum said_result *)context = result;
}

static inline void ignore_end(struct submission *submission)
{
	(void)submission;
}

/* What became of all its messages. */
static inline void finish(enum submission_end end, uint64_t seq, const char *why)
{
	scene.submission->on_end = ignore_end;
	scene.submission->end = SUBMISSION_DUPLICATE;
	scene.submission->unanswered = scene.submission->message_count;
	for (int i = scene.submission->message_count; i > 0; i--)
		dispatch_end(scene.submission, end, seq, why);
}

static inline struct bytes said(void)
{
	return buffer_bytes(&scene.submission->messages[0]);
}

/* What was to be let in is said, and everybody hears it. */
static inline void let_in(void)
{
	enum said_result result = SAID_UNKNOWN;

	assert_int_equal(runtime_publish_encoded(sim_runtime(scene.sim, "gateway"), said(), note_end, &result), 0);
	sim_run_until_idle(scene.sim);
	assert_int_equal(result, SAID_FRESH);
	finish(SUBMISSION_ACCEPTED, 7, NULL);
}

#define assert_answer(code, words)                                                                                     \
	do {                                                                                                           \
		assert_int_equal(scene.answer.status, code);                                                           \
		if (!strstr(buffer_text(&scene.answer.body), words))                                                   \
			fail_msg("no \"%s\" in %s", words, buffer_text(&scene.answer.body));                           \
	} while (0)

static inline const Envelope *said_envelope(void)
{
	static Envelope envelope;
	struct bytes payload;

	assert_int_equal(message_read(said(), &envelope, &payload), 0);
	return &envelope;
}

#endif
