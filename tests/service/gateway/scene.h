/*
 * scene.h: a gateway's reception in front of a simulated bus, with three shops, and one request at a time
 */
#ifndef TESTS_SERVICE_GATEWAY_SCENE_H
#define TESTS_SERVICE_GATEWAY_SCENE_H

#include "bus/actor/sim/sim.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"
#include "given.h"
#include "services/carts/intake/intake.h"
#include "services/platform/gateway/gateway.h"
#include "services/platform/gateway/reception.h"
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
	struct reception reception;
	struct answer answer; /* the last one */
	struct wish wish;
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
	scene.reception = (struct reception){ .secrets = scene.secrets,
		.clock = sim_clock(scene.sim),
		.counters = &scene.counters,
		.shops_folder = scene.shops,
		.rejected_folder = scene.rejected,
		.runtime = sim_runtime(scene.sim, "gateway"),
		.event = fresh_event() };
	return 0;
}

static inline int teardown(void **state)
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

static inline void judge_head(const struct request *request)
{
	size_t body_most = 1 << 20;

	if (reception_judge_head(&scene.reception, request, &scene.answer, &body_most))
		assert_true(request->body.len <= body_most);
}

/* true: it is to be let in. */
static inline bool come(struct request request)
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

static inline void note_end(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	(void)seq, (void)reason;
	*(enum said_result *)context = result;
}

static inline void finish(enum door_end end, uint64_t seq, const char *why)
{
	reception_finish(&scene.reception, &scene.wish, end, seq, why, &scene.answer);
}

/* What was to be let in is said, and everybody hears it. */
static inline void let_in(void)
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

static inline const char *idem_of_wish(void)
{
	static Envelope envelope;
	struct bytes payload;

	assert_int_equal(message_read(buffer_bytes(&scene.wish.message), &envelope, &payload), 0);
	return envelope.idem;
}

#endif
