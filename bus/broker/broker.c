/*
 * broker.c: opens the broker's parts, hears control messages, ticks, closes
 *
 * Owns:      struct broker.
 * Promises:  the tick changes the store only between commits.
 * Read next: core.h (the structs), commit.c, ingress.c, session.c
 */
#include "bus/broker/broker.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/admin/erase.h"
#include "bus/broker/commit.h"
#include "bus/broker/log/idem.h"
#include "bus/broker/log/latest.h"
#include "bus/broker/log/retain.h"
#include "bus/broker/log/sidelog.h"
#include "bus/broker/queue/claim.h"
#include "bus/broker/queue/queue.h"
#include "bus/broker/queue/redrive.h"
#include "bus/broker/session/refused.h"
#include "bus/broker/session/session.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	CACHE_BYTES = 8 << 20,
	WRITE_BUFFER_BYTES = 16 << 20, /* each time one is full, its file and the old logs cost commits milliseconds */
	FOLD_AT_ONCE = 4096,
};

static const int64_t LEASE_LOOK_US = 100 * US_PER_MS; /* a lease may run out this much late */

static const char *const families[] = { "meta", "log.raw", "log.fact", "log.keep", "col", "queue", "dead", "idem",
	"latest", NULL };

const struct store_options broker_store_options = {
	.families = families,
	.cache_bytes = CACHE_BYTES,
	.write_buffer_bytes = WRITE_BUFFER_BYTES,
	.asked_in_vain = 1 << FAMILY_IDEM | 1 << FAMILY_LATEST, /* each new key is looked for before it is there */
};

const struct broker_settings broker_settings_default = {
	.heartbeat_us = 300 * US_PER_MS,
	.gateway_promise_us = 1500 * US_PER_MS,
	.grace_us = 3 * US_PER_S,
	.idem_window_us = 8 * US_PER_DAY,
	.retention = { .raw_us = 30 * US_PER_DAY, .facts_us = 400 * US_PER_DAY },
	.headroom_bytes = 64 << 20,
	.headroom_percent = 1,
	.backfill_bytes = 16 << 20,
};

struct broker_settings broker_settings_read(const struct config *config)
{
	struct broker_settings settings = broker_settings_default;

	settings.headroom_bytes = (uint64_t)config_number(config, "broker", NULL, "headroom") << 20;
	settings.headroom_percent = (uint32_t)config_number(config, "broker", NULL, "headroom-percent");
	settings.heartbeat_us = config_number(config, "broker", NULL, "heartbeat") * US_PER_MS;
	settings.retention = retention_read(config);
	return settings;
}

static struct broker *broker_new(const struct topology *topology, const struct broker_settings *settings,
	const struct clock *clock, const struct broker_out *out)
{
	struct broker *broker = memory_new(sizeof(*broker));

	broker->topology = *topology;
	broker->queues = memory_new((size_t)topology->peer_count * sizeof(struct queue *));
	broker->remembered_last = memory_new((size_t)topology->peer_count * sizeof(uint64_t));
	broker->erasure = erasure_new(topology->topic_count);
	broker->settings = *settings;
	broker->clock = clock;
	broker->out = *out;
	broker->opened_boot_us = clock_boot_us(clock);
	broker->sessions = sessions_new(broker->opened_boot_us);
	broker->idem = idem_new();
	broker->claims = claims_new();
	broker->commit = commit_new();
	broker->admission = memory_new(sizeof(*broker->admission));
	return broker;
}

/*
 * The operator's command reads the log: so each topic kept there (audits) has a reader, though no service
 * asks for it.
 */
static void hear_for_operators(struct broker *broker)
{
	bool operated = false;

	for (int i = 0; i < broker->topology.peer_count; i++)
		operated = operated || broker->topology.peers[i].operator_;
	for (int i = 0; operated && i < broker->topology.topic_count; i++) {
		if (broker->topology.topics[i].retention != 0)
			topic_set_add(&broker->heard, i);
	}
}

static int open_queues(struct broker *broker)
{
	int r = 0;

	for (int i = 0; i < broker->topology.topic_count; i++)
		topic_set_add(&broker->every, i);
	for (int i = 0; r == 0 && i < broker->topology.peer_count; i++) {
		const struct topology_peer *peer = &broker->topology.peers[i];

		topic_set_add_all(&broker->heard, &peer->hears);
		topic_set_add_all(&broker->heard, &peer->remembers);
		broker->remembered_last[i] = log_head(broker->log);
		if (topic_set_any(&peer->hears))
			r = queue_open(broker, i, &broker->queues[i]);
		while (r == 0 && broker->queues[i] && queue_refill(broker, broker->queues[i]))
			; /* fills the window: leases that are still held are found in it */
	}
	hear_for_operators(broker);
	return r;
}

static void say_unread_state(const struct broker *broker, int error, char ret_why[512])
{
	const char *why = store_why(broker->store);

	snprintf(ret_why, 512, "the broker's state could not be read: %.280s. %s", why[0] ? why : "a row is damaged",
		error == -EUCLEAN ? BROKER_REMEDY : "Check the disk, then start again.");
}

static int open_all(struct broker *broker, char ret_why[512])
{
	int r = log_start(broker->store, &broker->topology, &broker->log, ret_why);

	if (r < 0)
		return r;
	broker->batch = store_batch_new(broker->store);
	broker->sealed_batch = store_batch_new(broker->store);
	broker->opened_head = log_head(broker->log);
	if ((r = clocks_open(broker)) < 0 || (r = open_queues(broker)) < 0 || (r = dead_open(broker)) < 0 ||
		(r = gateways_open(broker)) < 0 || (r = latest_open(broker)) < 0 || (r = erase_open(broker)) < 0) {
		say_unread_state(broker, r, ret_why);
		return r;
	}
	if ((r = store_commit(broker->store, broker->batch, true)) < 0)
		commit_failed(broker, r);
	if (check_unbroken(broker) < 0) {
		text_copy(ret_why, 512, broker->why);
		return broker->broken;
	}
	retain_open(broker);
	disk_space_look(broker);
	return sidelog_open(broker, ret_why);
}

int broker_open(struct store **store, const struct topology *topology, const struct broker_settings *settings,
	const struct clock *clock, const struct broker_out *out, struct broker **ret, char ret_why[512])
{
	struct broker *broker = broker_new(topology, settings, clock, out);
	int r;

	broker->store = *store;
	*store = NULL;
	r = open_all(broker, ret_why);
	if (r < 0) {
		broker_close(broker);
		return r;
	}
	*ret = broker;
	return 0;
}

void broker_close(struct broker *broker)
{
	if (!broker)
		return;
	LIST_EACH_SAFE (hook, &broker->sessions->all)
		session_end(broker, LIST_ENTRY(hook, struct session, hook), PARTING_GOODBYE);
	put_off_drop(broker);
	claims_free(broker->claims);
	commit_free(broker->commit);
	free(broker->admission);
	control_free(broker);
	for (int i = 0; i < broker->topology.peer_count; i++)
		queue_free(broker->queues[i]);
	free(broker->queues);
	free(broker->remembered_last);
	topic_set_clear(&broker->heard);
	topic_set_clear(&broker->every);
	erasure_free(broker->erasure);
	idem_free(broker->idem);
	sessions_free(broker->sessions);
	latest_close(broker);
	retain_close(broker);
	sidelog_close(broker->sidelog);
	log_free(broker->log);
	store_batch_free(broker->batch);
	store_batch_free(broker->sealed_batch);
	store_close(broker->store);
	free(broker);
}

void broker_hear_control(struct broker *broker, struct bytes peer, const char *who, struct bytes message)
{
	Control *control = broker->sessions->control_heard;

	assert(!broker->commit
			->is_committing); /* these change memory at once: no answer of such a commit may rest on it */
	hear_put_off(broker);
	if (control_decode(message, control) < 0)
		refused(broker, REFUSED_CONTROL, who, NULL, "its %zu bytes are none that this version knows",
			message.len);
	else if (control->which_what == Control_hello_tag)
		hear_hello(broker, peer, who, &control->what.hello);
	else if (control->which_what == Control_heartbeat_tag)
		hear_heartbeat(broker, peer, who, &control->what.heartbeat);
	else if (control->which_what == Control_question_tag)
		hear_question(broker, peer, who, &control->what.question);
	else
		refused(broker, REFUSED_CONTROL, who, NULL, "kind %d is none that a peer says",
			(int)control->which_what);
}

static bool has_staged(const struct broker *broker)
{
	return broker->needs_dispatch || log_staged(broker->log) > 0 || store_batch_count(broker->batch) > 0 ||
		!list_empty(&broker->commit->answers) || !list_empty(&broker->sessions->control) ||
		!list_empty(&broker->sessions->put_off);
}

static bool anything_is_leased(const struct broker *broker)
{
	LIST_EACH (hook, &broker->sessions->all)
		if (LIST_ENTRY(hook, struct session, hook)->leased_count > 0)
			return true;
	return false;
}

static int64_t queue_wait_us(const struct broker *broker, const struct queue *queue, int64_t most_us)
{
	int64_t due_us = queue_next_due_us(queue);
	int64_t try_us = queue->breaker.probe_boot_us - broker_boot_us(broker);

	if (due_us != INT64_MAX && monotonic_wall_until_us(&broker->monotonic_wall, due_us) < most_us)
		most_us = monotonic_wall_until_us(&broker->monotonic_wall, due_us);
	if (redrive_wait_us(broker, queue) < most_us)
		most_us = redrive_wait_us(broker, queue);
	if (breaker_is_open(&queue->breaker) && try_us > 0 && try_us < most_us)
		most_us = try_us;
	return most_us;
}

static int64_t writer_wait_us(const struct broker *broker, const struct session *session, int64_t most_us)
{
	int64_t gathers_us = session->writer.count > 0 ? session_gathers_us(broker, session) : most_us;

	return gathers_us < most_us ? gathers_us : most_us;
}

/* The longest time until the next tick has something to do, in boot time from now. */
static int64_t next_wait_us(const struct broker *broker)
{
	int64_t wait_us = broker->settings.heartbeat_us;
	int64_t grace_us = broker->opened_boot_us + broker->settings.grace_us - broker_boot_us(broker);
	int64_t lease_us = broker->leases_look_us - broker_boot_us(broker);

	if (has_staged(broker))
		return 0;
	if (grace_us > 0 && grace_us < wait_us)
		wait_us = grace_us;
	if (anything_is_leased(broker) && lease_us < wait_us)
		wait_us = lease_us;
	for (int i = 0; i < broker->topology.peer_count; i++)
		if (broker->queues[i])
			wait_us = queue_wait_us(broker, broker->queues[i], wait_us);
	LIST_EACH (hook, &broker->sessions->all)
		wait_us = writer_wait_us(broker, LIST_ENTRY(hook, struct session, hook), wait_us);
	return wait_us > 0 ? wait_us : 0;
}

static void tick_queues(struct broker *broker)
{
	bool look = broker_boot_us(broker) >= broker->leases_look_us;

	for (int i = 0; i < broker->topology.peer_count; i++) {
		struct queue *queue = broker->queues[i];

		if (!queue)
			continue;
		if (look)
			leases_expire(broker, queue);
		if (queue_next_due_us(queue) <= broker_wall_us(broker)) {
			queue_wake(queue, broker_wall_us(broker));
			broker->needs_dispatch = true;
		}
	}
	if (look)
		broker->leases_look_us = broker_boot_us(broker) + LEASE_LOOK_US;
}

static void tick_grace(struct broker *broker)
{
	if (broker->grace_over || broker_boot_us(broker) - broker->opened_boot_us < broker->settings.grace_us)
		return;
	broker->grace_over = true;
	broker->needs_dispatch = true;
}

int64_t broker_tick(struct broker *broker)
{
	clocks_look(broker);
	redrives_tick(broker); /* before the queues: the dead letters of this tick are not in the store yet */
	sessions_expire(broker);
	tick_queues(broker);
	tick_grace(broker);
	LIST_EACH (hook, &broker->sessions->all)
		progress_due(broker, LIST_ENTRY(hook, struct session, hook));
	claims_stir(broker);
	disk_space_look(broker);
	latest_fold_lazily(broker, FOLD_AT_ONCE);
	idem_sweep(broker);
	retain(broker);
	latest_sweep(broker);
	erase_tick(broker);
	return next_wait_us(broker);
}

uint64_t broker_head(const struct broker *broker)
{
	return log_head(broker->log);
}

const char *broker_log_id(const struct broker *broker)
{
	return log_id(broker->log);
}

const char *broker_why(const struct broker *broker)
{
	return broker->why;
}
