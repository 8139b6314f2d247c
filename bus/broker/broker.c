/*
 * broker.c: the conductor: open, commit, tick
 *
 * Owns:      struct broker.
 * Promises:  nothing leaves (confirm, delivery, projection, welcome, tap) before the sync that covers everything it refers to.
 * Fails by:  broker_commit answers -EIO or -ENOSPC after a failed sync and -EUCLEAN when the log cannot be trusted; the process
 *            then says broker_why and exits. Whether that last batch is on the disk is unknown: its sayers repeat it.
 * Read next: core.h (what there is), ingress.c, session.c
 */
#include "bus/broker/broker.h"
#include "bus/base/text.h"
#include "bus/broker/feed.h"
#include "bus/broker/session.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { CACHE_BYTES = 8 << 20, WRITE_BUFFER_BYTES = 4 << 20, FOLD_AT_ONCE = 4096 };

static const int64_t LEASE_LOOK_US = 100 * US_PER_MS; /* a lease may run out this much late */

static const char *const families[] = { "meta", "log.raw", "log.fact", "log.keep", "col", "queue", "dead", "idem",
	"latest", NULL };

const struct store_options broker_store_options = {
	.families = families,
	.cache_bytes = CACHE_BYTES,
	.write_buffer_bytes = WRITE_BUFFER_BYTES,
};

const struct broker_settings broker_settings_default = {
	.heartbeat_us = 300 * US_PER_MS,
	.gateway_promise_us = 1500 * US_PER_MS,
	.grace_us = 3 * US_PER_S,
	.idem_window_us = 8 * US_PER_DAY,
	.retention = { .raw_us = 30 * US_PER_DAY, .facts_us = 400 * US_PER_DAY },
	.headroom_bytes = 64 << 20,
	.headroom_percent = 1,
};

static struct broker *broker_new(const struct topology *topology, const struct broker_settings *settings,
	const struct clock *clock, const struct broker_out *out)
{
	struct broker *broker = calloc(1, sizeof(*broker));

	broker->topology = *topology;
	broker->settings = *settings;
	broker->clock = clock;
	broker->out = *out;
	broker->opened_boot_us = clock_boot_us(clock);
	broker->ticked_boot_us = broker->opened_boot_us;
	broker->by_epoch = map_new();
	broker->by_peer = map_new();
	broker->idem_staged = map_new();
	broker->gateways = map_new();
	broker->rebuilding = map_new();
	list_init(&broker->sessions);
	list_init(&broker->answers);
	list_init(&broker->parked);
	list_init(&broker->held);
	list_init(&broker->control);
	return broker;
}

/* The operator's command reads the log: what is kept there (audits) has a reader, though no service asks for it. */
static void hear_for_operators(struct broker *broker)
{
	bool operated = false;

	for (int i = 0; i < broker->topology.peer_count; i++)
		operated = operated || broker->topology.peers[i].operator_;
	for (int i = 0; operated && i < broker->topology.topic_count; i++) {
		if (broker->topology.topics[i].retention != 0)
			broker->heard[i / 64] |= UINT64_C(1) << (i % 64);
	}
}

static int open_queues(struct broker *broker)
{
	int r = 0;

	for (int i = 0; r == 0 && i < broker->topology.peer_count; i++) {
		const struct topology_peer *peer = &broker->topology.peers[i];

		for (int j = 0; j < 2; j++)
			broker->heard[j] |= peer->hears[j] | peer->remembers[j];
		broker->remembered_last[i] = log_head(broker->log);
		if (peer->hears[0] != 0 || peer->hears[1] != 0)
			r = queue_open(broker, i, &broker->queues[i]);
		if (r == 0 && broker->queues[i])
			queue_refill(broker, broker->queues[i]);
	}
	hear_for_operators(broker);
	return r;
}

static void say_unreadable(struct broker *broker)
{
	const char *why = store_why(broker->store);

	snprintf(broker->why, sizeof(broker->why),
		"the log or what lies beside it could not be read back as it was written: %s. Nothing was changed; "
		"check the "
		"disk, and restore the state folder from a backup if this comes again.",
		why && why[0] ? why : "a checksum is wrong");
}

static int open_all(struct broker *broker, char ret_why[512])
{
	int r = log_start(broker->store, &broker->topology, &broker->log, ret_why);

	if (r < 0)
		return r;
	broker->batch = store_batch_new(broker->store);
	broker->opened_head = log_head(broker->log);
	if ((r = open_queues(broker)) < 0 || (r = dead_open(broker)) < 0 || (r = gateways_open(broker)) < 0 ||
		(r = latest_open(broker)) < 0 || (r = store_commit(broker->store, broker->batch, true)) < 0)
		snprintf(ret_why, 512, "the broker's state could not be read: %s", store_why(broker->store));
	if (r == 0 && broker->broken == 0)
		retain_open(broker);
	room_look(broker);
	if (r < 0 || broker->broken == 0)
		return r;
	say_unreadable(broker);
	text_copy(ret_why, 512, broker->why);
	return broker->broken;
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

static void free_value(struct bytes key, void *value, void *context)
{
	(void)key;
	(void)context;
	free(value);
}

void broker_close(struct broker *broker)
{
	if (!broker)
		return;
	LIST_EACH_SAFE (hook, &broker->sessions)
		session_end(broker, LIST_ENTRY(hook, struct session, hook), PARTING_GOODBYE);
	LIST_EACH_SAFE (hook, &broker->answers)
		free(LIST_ENTRY(hook, struct answer, hook));
	claims_free(broker);
	control_free(broker);
	for (int i = 0; i < PEERS_MAX; i++)
		queue_free(broker->queues[i]);
	map_each(broker->idem_staged, free_value, NULL);
	map_free(broker->idem_staged);
	map_free(broker->gateways);
	map_free(broker->rebuilding);
	map_free(broker->by_epoch);
	map_free(broker->by_peer);
	buffer_free(&broker->sweep_at);
	buffer_free(&broker->latest_sweep_at);
	log_free(broker->log);
	store_batch_free(broker->batch);
	store_close(broker->store);
	free(broker);
}

void broker_hear_control(struct broker *broker, struct bytes peer, const char *who, struct bytes message)
{
	Control *control = calloc(1, sizeof(*control));

	if (control_decode(message, control) < 0)
		broker->refused[REFUSED_CONTROL]++;
	else if (control->which_what == Control_hello_tag)
		hear_hello(broker, peer, who, &control->what.hello);
	else if (control->which_what == Control_heartbeat_tag)
		hear_heartbeat(broker, peer, who, &control->what.heartbeat);
	else if (control->which_what == Control_question_tag)
		hear_question(broker, peer, who, &control->what.question);
	else
		broker->refused[REFUSED_CONTROL]++;
	free(control);
}

static void show_taps(struct broker *broker, uint64_t from)
{
	static const uint64_t all[2] = { UINT64_MAX, UINT64_MAX };
	struct logged logged;

	if (broker->out.is_tapped && !broker->out.is_tapped(broker->out.context))
		return;
	for (uint64_t at = from; log_find(broker->log, at, all, &logged) == 0; at = logged.seq + 1)
		tap(broker, &logged);
}

/* Of every peer: the last message that its projections must have passed before a decision. And the taps. */
static void notice_committed(struct broker *broker, uint64_t from)
{
	struct logged logged;

	for (int i = 0; i < broker->topology.peer_count; i++) {
		const struct topology_peer *peer = &broker->topology.peers[i];

		for (uint64_t at = from; log_find(broker->log, at, peer->remembers, &logged) == 0; at = logged.seq + 1)
			broker->remembered_last[i] = logged.seq;
	}
	if (broker->out.tap)
		show_taps(broker, from);
	broker->committed += log_head(broker->log) + 1 - from;
}

int commit_failed(struct broker *broker, int error)
{
	snprintf(broker->why, sizeof(broker->why),
		"a commit failed: %s. Nothing of it was confirmed; %s, then start again.", store_why(broker->store),
		error == -ENOSPC ? "make room in the file system of [paths] state" : "check the disk");
	return broker->broken = error;
}

static int write_batch(struct broker *broker)
{
	uint64_t from = log_head(broker->log) + 1;
	int r;

	for (int i = 0; i < broker->topology.peer_count; i++)
		if (broker->queues[i])
			queue_write(broker, broker->queues[i]);
	log_write(broker->log, broker->batch, clock_wall_us(broker->clock));
	if (store_batch_count(broker->batch) == 0)
		return 0;
	r = store_commit(broker->store, broker->batch, true);
	if (r < 0)
		return commit_failed(broker, r);
	log_committed(broker->log);
	idem_committed(broker);
	notice_committed(broker, from);
	return 0;
}

/* A claim's answer leaves only while no gateway can hold a stop that was not seen; else it is held. */
static void let_out_answers(struct broker *broker)
{
	LIST_EACH_SAFE (hook, &broker->answers) {
		struct answer *answer = LIST_ENTRY(hook, struct answer, hook);
		struct session *session = session_by_epoch(broker, answer->epoch);
		Down down = { .which_what = Down_confirm_tag };

		list_remove(&answer->hook);
		if (answer->claim) {
			list_append(&broker->held, &answer->hook);
			continue;
		}
		if (session) {
			down.what.confirm = answer->confirm;
			down.what.confirm.head = log_head(broker->log);
			session_say(broker, session, &down, BYTES(NULL, 0));
		}
		free(answer);
	}
	claims_release(broker);
}

/* Something that was heard could not be looked up, or something to be shown could not be read: nothing may leave any more. */
static int check_unbroken(struct broker *broker)
{
	if (broker->broken < 0 && broker->why[0] == '\0')
		say_unreadable(broker);
	return broker->broken;
}

int broker_commit(struct broker *broker)
{
	int r = check_unbroken(broker);

	if (r == 0) {
		claims_retry(broker);
		r = check_unbroken(broker);
	}
	if (r == 0)
		r = write_batch(broker);
	if (r < 0)
		return r;
	broker->stirred = false;
	let_out_answers(broker);
	control_flush(broker);
	project_all(broker);
	deliver_all(broker);
	sessions_flush(broker);
	return check_unbroken(broker);
}

static bool has_staged(const struct broker *broker)
{
	return broker->stirred || log_staged(broker->log) > 0 || store_batch_count(broker->batch) > 0 ||
		!list_empty(&broker->answers) || !list_empty(&broker->control);
}

static bool anything_is_leased(const struct broker *broker)
{
	LIST_EACH (hook, &broker->sessions)
		if (LIST_ENTRY(hook, struct session, hook)->leased_count > 0)
			return true;
	return false;
}

static int64_t queue_wait_us(const struct broker *broker, const struct queue *queue, int64_t most_us)
{
	int64_t due_us = queue_next_due_us(queue);
	int64_t try_us = queue->breaker.probe_boot_us - broker_boot_us(broker);

	if (due_us != INT64_MAX && clock_until_us(broker->clock, due_us) < most_us)
		most_us = clock_until_us(broker->clock, due_us);
	if (feed_wait_us(broker, queue) < most_us)
		most_us = feed_wait_us(broker, queue);
	if (breaker_is_open(&queue->breaker) && try_us > 0 && try_us < most_us)
		most_us = try_us;
	return most_us;
}

/* When there is something to do at the latest, in boot time from now. */
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
			broker->stirred = true;
		}
	}
	if (look)
		broker->leases_look_us = broker_boot_us(broker) + LEASE_LOOK_US;
}

static void tick_grace(struct broker *broker)
{
	if (broker->graced || broker_boot_us(broker) - broker->opened_boot_us < broker->settings.grace_us)
		return;
	broker->graced = true;
	broker->stirred = true;
}

int64_t broker_tick(struct broker *broker)
{
	feeds_tick(broker); /* first: what this tick makes a dead letter is not in the store yet */
	sessions_expire(broker);
	tick_queues(broker);
	tick_grace(broker);
	LIST_EACH (hook, &broker->sessions)
		progress_due(broker, LIST_ENTRY(hook, struct session, hook));
	claims_stir(broker);
	room_look(broker);
	latest_fold_lazily(broker, FOLD_AT_ONCE);
	idem_sweep(broker);
	retain(broker);
	latest_sweep(broker);
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
