/*
 * sim.c: simulates a whole system in memory, for tests
 *
 * Owns:      the virtual clock, the broker and its store, the instances and their stores.
 * Promises:  those of sim.h: one thing at a time, in an order that the seed decides; time moves only when
 *            nothing is left to do now.
 * Fails by:  die() when the broker stops: a simulated disk does not fail, so that is a bug.
 * Read next: memory_link.c (the link between them)
 */
#include "bus/actor/runtime/turns.h"
#include "bus/actor/sim/sim_inside.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/message.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/*
 * Heartbeats are rarer than in a real system, because a week has two million of those; the times that depend
 * on them keep their proportion. Folded state is flushed rarely too: a kill then falls back a good way.
 */
static const int64_t HEARTBEAT_US = 10 * US_PER_S;
static const int64_t FLUSH_US = 10 * US_PER_MINUTE;
enum { HEARTBEATS_PROMISED = 5 };

static const struct service outside = { .name = "outside", .operator_ = true };

uint64_t sim_random(struct sim *sim) /* splitmix64 */
{
	uint64_t z = sim->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* --- topology: the services' manifests, and a peer that may say everything --- */

static void add_says(struct buffer *ret, struct buffer *seen, const struct topic *topic)
{
	_cleanup_(buffer_free) struct buffer line = { 0 };

	buffer_printf(&line, "says = %s\n", topic->name);
	if (seen->len > 0 && strstr(buffer_text(seen), buffer_text(&line)))
		return;
	buffer_add(seen, line.data, line.len);
	buffer_add(ret, line.data, line.len);
}

static void add_outside(struct buffer *ret, const struct service *const *services)
{
	_cleanup_(buffer_free) struct buffer seen = { 0 };

	buffer_add_text(ret, "[peer outside]\noperator = yes\n");
	for (; *services; services++) {
		const struct remembers *remembered;
		const struct hears *heard;
		const struct topic *said;

		for (size_t i = 0; (heard = service_hears(*services, i)); i++)
			add_says(ret, &seen, heard->topic);
		for (size_t i = 0; (remembered = service_remembers(*services, i)); i++)
			add_says(ret, &seen, remembered->topic);
		for (size_t i = 0; (said = service_says(*services, i)); i++)
			add_says(ret, &seen, said);
	}
}

static void make_topology(struct sim *sim, const struct service *const *services)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	char why[256];

	for (const struct service *const *at = services; *at; at++) {
		if (service_judge(*at, why) < 0)
			die("%s", why);
		service_manifest(*at, &text);
	}
	add_outside(&text, services);
	if (topology_parse(buffer_text(&text), "simulated topology", &sim->topology, &error) < 0)
		die("%s", error.text);
}

/* --- life and death --- */

static void open_broker(struct sim *sim)
{
	struct broker_out out = sim_broker_out(sim);
	struct store *store = store_share_memory(sim->log_kept);
	char why[512] = "";

	if (broker_open(&store, &sim->topology, &sim->settings, &sim->clock, &out, &sim->broker, why) < 0)
		die("the simulated broker does not open: %s", why);
	sim->broker_wake_us = sim->clock.virtual_us;
}

struct sim *sim_new(const struct service *const *services, int64_t start_us, uint64_t seed)
{
	struct sim *sim = memory_new(sizeof(*sim));

	sim->clock = clock_virtual(start_us);
	sim->random = seed;
	sim->hash = UINT64_C(0xcbf29ce484222325);
	sim->settings = broker_settings_default;
	sim->settings.heartbeat_us = HEARTBEAT_US;
	sim->settings.gateway_promise_us = HEARTBEATS_PROMISED * HEARTBEAT_US;
	list_init(&sim->instances);
	list_init(&sim->mailboxes);
	make_topology(sim, services);
	if (store_open_memory(&broker_store_options, &sim->log_kept) < 0)
		die("the store in memory does not open");
	open_broker(sim);
	sim_start(sim, "outside", &outside, NULL);
	sim->outside = LIST_ENTRY(sim->instances.next, struct instance, hook);
	return sim;
}

void sim_listen(struct sim *sim, tell_fn *tell)
{
	sim->tell = tell;
}

static void run(struct instance *instance)
{
	struct sim *sim = instance->sim;
	struct runtime_settings settings = { .instance = instance->name,
		.flush_us = FLUSH_US,
		.gateway_promise_us = sim->settings.gateway_promise_us,
		.run = instance->run,
		.notes = instance->notes,
		.context = instance->context,
		.tell = sim->tell };
	struct store *store = store_share_memory(instance->kept);

	snprintf(instance->run, sizeof(instance->run), "run-%llu-of-%.20s", (unsigned long long)++instance->runs,
		instance->name);
	instance->peer = ++sim->peers;
	if (runtime_new(instance->service, &settings, memory_link_new(instance), &store, &sim->clock, instance->drivers,
		    &instance->runtime) < 0)
		die("the simulated runtime does not start");
	instance->wake_us = sim->clock.virtual_us;
	instance->paused = false;
}

static struct instance *find(const struct sim *sim, const char *name)
{
	LIST_EACH (hook, &sim->instances) {
		struct instance *instance = LIST_ENTRY(hook, struct instance, hook);

		if (strcmp(instance->name, name) == 0)
			return instance;
	}
	return NULL;
}

static struct store *new_store(void)
{
	struct store *store = NULL;

	if (store_open_memory(&runtime_store_options, &store) < 0)
		die("the store in memory does not open");
	return store;
}

void sim_start(struct sim *sim, const char *name, const struct service *service, struct effect_driver *const *drivers)
{
	sim_start_in(sim, name, (struct service_context){ .service = service }, drivers);
}

void sim_start_in(
	struct sim *sim, const char *name, struct service_context context, struct effect_driver *const *drivers)
{
	struct instance *instance = memory_new(sizeof(*instance));

	assert(!find(sim, name));
	instance->sim = sim;
	instance->service = context.service;
	instance->context = context;
	instance->drivers = drivers;
	TEXT_COPY(instance->name, name);
	instance->kept = new_store();
	instance->notes = claim_notes_new_in_memory();
	pipe_init(&instance->said);
	pipe_init(&instance->asked);
	pipe_init(&instance->told);
	list_append(&sim->instances, &instance->hook);
	run(instance);
}

void sim_kill(struct sim *sim, const char *name)
{
	struct instance *instance = find(sim, name);

	assert(instance && instance->runtime);
	instance_cut_off(instance);
	runtime_free(instance->runtime);
	instance->runtime = NULL;
}

void sim_pause(struct sim *sim, const char *name)
{
	find(sim, name)->paused = true;
}

void sim_restart(struct sim *sim, const char *name)
{
	struct instance *instance = find(sim, name);

	assert(instance && !instance->runtime);
	run(instance);
}

void sim_forget(struct sim *sim, const char *name)
{
	struct instance *instance = find(sim, name);

	assert(instance && !instance->runtime);
	store_close(instance->kept);
	instance->kept = new_store();
	claim_notes_free(instance->notes);
	instance->notes = claim_notes_new_in_memory();
}

void sim_kill_broker(struct sim *sim)
{
	assert(sim->broker);
	broker_close(sim->broker);
	sim->broker = NULL;
	mailboxes_free(sim);
	LIST_EACH (hook, &sim->instances) {
		struct instance *instance = LIST_ENTRY(hook, struct instance, hook);

		pipe_cut(&instance->said, 0);
		pipe_cut(&instance->asked, 0);
		pipe_cut(&instance->told, 0);
	}
}

void sim_restart_broker(struct sim *sim)
{
	assert(!sim->broker);
	LIST_EACH (hook, &sim->instances)
		LIST_ENTRY(hook, struct instance, hook)->peer = ++sim->peers; /* the instances connect anew */
	open_broker(sim);
}

static void instance_free(struct instance *instance)
{
	runtime_free(instance->runtime);
	store_close(instance->kept);
	claim_notes_free(instance->notes);
	pipe_cut(&instance->said, 0);
	pipe_cut(&instance->asked, 0);
	pipe_cut(&instance->told, 0);
	list_remove(&instance->hook);
	free(instance);
}

void sim_free(struct sim *sim)
{
	if (!sim)
		return;
	LIST_EACH_SAFE (hook, &sim->instances)
		instance_free(LIST_ENTRY(hook, struct instance, hook));
	broker_close(sim->broker);
	topology_free(&sim->topology);
	mailboxes_free(sim);
	store_close(sim->log_kept);
	buffer_free(&sim->frame);
	buffer_free(&sim->log);
	free(sim);
}

void sim_freeze(struct sim *sim, int64_t us)
{
	sim->clock.virtual_us += us;
}

struct runtime *sim_runtime(struct sim *sim, const char *name)
{
	struct instance *instance = find(sim, name);

	return instance ? instance->runtime : NULL;
}

/* --- one step: the broker or an instance does its next work --- */

static bool is_ready(const struct instance *instance)
{
	return instance->runtime && !instance->paused &&
		(instance->wake_us <= instance->sim->clock.virtual_us || instance_has_heard(instance));
}

static bool broker_is_ready(const struct sim *sim)
{
	if (!sim->broker)
		return false;
	if (sim->broker_wake_us <= sim->clock.virtual_us)
		return true;
	LIST_EACH (hook, &sim->instances) {
		const struct instance *instance = LIST_ENTRY(hook, struct instance, hook);

		if (instance->said.count > 0 || instance->asked.count > 0)
			return true;
	}
	return false;
}

static int64_t later(const struct sim *sim, int64_t wait_us)
{
	return wait_us > INT64_MAX - sim->clock.virtual_us ? INT64_MAX : sim->clock.virtual_us + wait_us;
}

static void work(struct instance *instance)
{
	instance->wake_us = later(instance->sim, runtime_work(instance->runtime));
}

static void hear(struct sim *sim, struct instance *instance)
{
	struct bytes peer = BYTES(&instance->peer, sizeof(instance->peer));

	while (pipe_take(&instance->asked, &sim->frame))
		broker_hear_control(sim->broker, peer, "uid:0", buffer_bytes(&sim->frame));
	while (pipe_take(&instance->said, &sim->frame))
		broker_hear_frame(sim->broker, "uid:0", buffer_bytes(&sim->frame));
}

/* The broker hears each instance that spoke, beginning with any of them. */
static void work_broker(struct sim *sim)
{
	struct list *start = &sim->instances;
	size_t count = 0;

	LIST_EACH (hook, &sim->instances)
		count++;
	for (size_t skip = sim_random(sim) % (count + 1); skip > 0; skip--)
		start = start->next;
	for (struct list *hook = start->next; hook != start; hook = hook->next)
		if (hook != &sim->instances)
			hear(sim, LIST_ENTRY(hook, struct instance, hook));
	if (start != &sim->instances)
		hear(sim, LIST_ENTRY(start, struct instance, hook));
	if (broker_commit(sim->broker) < 0)
		die("the simulated broker stopped: %s", broker_why(sim->broker));
	sim->broker_wake_us = later(sim, broker_tick(sim->broker));
}

/* true: there was something to do now, and it was done. */
static bool sim_step(struct sim *sim)
{
	size_t ready = broker_is_ready(sim), chosen;

	LIST_EACH (hook, &sim->instances)
		ready += is_ready(LIST_ENTRY(hook, struct instance, hook));
	if (ready == 0)
		return false;
	chosen = sim_random(sim) % ready;
	LIST_EACH (hook, &sim->instances) {
		struct instance *instance = LIST_ENTRY(hook, struct instance, hook);

		if (is_ready(instance) && chosen-- == 0) {
			work(instance);
			return true;
		}
	}
	work_broker(sim);
	return true;
}

/* --- time --- */

static void sim_wake_all(struct sim *sim)
{
	LIST_EACH (hook, &sim->instances)
		LIST_ENTRY(hook, struct instance, hook)->wake_us = sim->clock.virtual_us;
}

/* Moves time to the next deadline, not past most_us; false: there is none before. */
static bool sim_jump(struct sim *sim, int64_t most_us)
{
	int64_t next_us = sim->broker ? sim->broker_wake_us : INT64_MAX;

	LIST_EACH (hook, &sim->instances) {
		const struct instance *instance = LIST_ENTRY(hook, struct instance, hook);

		if (instance->runtime && !instance->paused && instance->wake_us < next_us)
			next_us = instance->wake_us;
	}
	if (next_us > most_us)
		return false;
	if (next_us > sim->clock.virtual_us)
		sim->clock.virtual_us = next_us;
	return true;
}

void sim_run_until_idle(struct sim *sim)
{
	sim_wake_all(sim);
	while (sim_step(sim))
		;
}

void sim_run_until(struct sim *sim, int64_t wall_us)
{
	sim_wake_all(sim);
	do {
		while (sim_step(sim))
			;
	} while (sim_jump(sim, wall_us));
	if (wall_us > sim->clock.virtual_us)
		sim->clock.virtual_us = wall_us;
}

int64_t sim_now_us(const struct sim *sim)
{
	return sim->clock.virtual_us;
}

const struct clock *sim_clock(const struct sim *sim)
{
	return &sim->clock;
}

/*
 * A test's calls to the simulated system, and its checks
 *
 * Promises:  a call waits in virtual time for its confirm; only the test itself says the same message again.
 */

static const int64_t PATIENCE_US = 2 * US_PER_MINUTE; /* longer than a broken session takes to heal */

struct waiting {
	bool answered;
	enum said_result result;
	uint64_t seq;
};

static void answered(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct waiting *waiting = context;

	(void)reason;
	*waiting = (struct waiting){ .answered = true, .result = result, .seq = seq };
}

/* One step, or the next moment. false: the patience is over. */
static bool go_on(struct sim *sim, int64_t until_us)
{
	if (sim_step(sim) || sim_jump(sim, until_us))
		return true;
	sim->clock.virtual_us = until_us;
	return false;
}

enum said_result sim_publish(struct sim *sim, const struct topic *topic, const struct publish_options *how,
	const void *message, uint64_t *ret_seq)
{
	int64_t until_us = sim->clock.virtual_us + PATIENCE_US;
	struct waiting waiting = { .answered = false };
	struct runtime *runtime = sim->outside->runtime;
	int r;

	sim_wake_all(sim);
	while ((r = runtime_publish(runtime, topic, how, NULL, message, answered, &waiting)) == -ENOTCONN)
		if (!go_on(sim, until_us))
			return SAID_UNKNOWN;
	if (r < 0)
		die("the message for %s cannot be said: it is too large", topic->name);
	sim->outside->wake_us = sim->clock.virtual_us;
	until_us = sim->clock.virtual_us + PATIENCE_US;
	while (!waiting.answered)
		if (!go_on(sim, until_us))
			die("a message for %s was neither confirmed nor refused", topic->name);
	if (ret_seq)
		*ret_seq = waiting.seq;
	return waiting.result;
}

void sim_log(struct sim *sim, sim_log_fn *each, void *context)
{
	const uint8_t *at = sim->log.data, *end = at + sim->log.len;

	while (at < end) {
		uint64_t seq = get_be64(at);
		int64_t time_us = (int64_t)get_be64(at + 8);
		const char *said_by = (const char *)at + 16;
		const uint8_t *message = at + 16 + strlen(said_by) + 1;
		struct bytes bytes = BYTES(message + 4, get_u32(message)), payload;
		Envelope envelope;

		if (message_read(bytes, &envelope, &payload) == 0) {
			struct message_meta said = said_from(&envelope, seq, time_us, said_by);

			each(&said, payload, context);
		}
		at = message + 4 + bytes.len;
	}
}

uint64_t sim_trace_hash(struct sim *sim)
{
	return sim->hash;
}
