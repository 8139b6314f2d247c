/*
 * deliver.c: hands ready items to sessions, in runs, within the sessions' credit
 *
 * Promises:  a session never gets more than it granted; after a restart, items that a session may still hold
 *            wait for the grace period; a suspect item goes alone to a session that holds nothing, and while
 *            it waits one session is drained for it. From a paused queue one item at a time is tried.
 * Read next: lease.c, project.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/queue/queue.h"
#include "bus/broker/session/session.h"
#include <errno.h>
#include <stdlib.h>

enum {
	RUN_LEAST = 16,
	RUNS = 4, /* each run wakes a process: so it gets a share of its credit, and of the ready items, at a time */
	SESSIONS_PER_QUEUE_MAX =
		1024 /* a user may have 512 connections (accept.c), so a queue meets fewer sessions; more would get nothing */
};

static bool in_grace(const struct broker *broker, const struct queue_item *item)
{
	return item->seq <= broker->opened_head &&
		broker_boot_us(broker) - broker->opened_boot_us < broker->settings.grace_us;
}

static bool has_credit(const struct session *session)
{
	return session->delivered_messages < session->credit.delivery_messages &&
		session->delivered_bytes < session->credit.delivery_bytes;
}

static int read_item(struct broker *broker, const struct queue *queue, const struct queue_item *item,
	struct buffer *copy, Delivery *ret, struct bytes *ret_message)
{
	struct logged logged;
	Trouble *retry;
	int r;

	if (!item->redriven) {
		r = log_read(broker->log, item->seq, &logged);
		if (r < 0)
			return r;
		ret->time_us = logged.time_us;
		TEXT_COPY(ret->said_by, logged.said_by);
		*ret_message = logged.message;
		return 0;
	}
	retry = memory_new(sizeof(*retry));
	r = dead_read(broker, queue, item->seq, retry, copy);
	ret->time_us = retry->time_us;
	ret->redriven_from = item->seq;
	ret->replayed = retry->replayed;
	TEXT_COPY(ret->said_by, retry->said_by);
	*ret_message = buffer_bytes(copy);
	free(retry);
	return r;
}

static uint64_t must_have_passed(const struct broker *broker, const struct queue *queue)
{
	return broker->remembered_last[queue->index];
}

static void hand_out(struct broker *broker, struct queue *queue, struct queue_item *item, struct session *session)
{
	_cleanup_(buffer_free) struct buffer copy = { 0 };
	Down down = { .which_what = Down_delivery_tag };
	Delivery *delivery = &down.what.delivery;
	struct bytes message = { 0 };
	int r = read_item(broker, queue, item, &copy, delivery, &message);

	if (r < 0) {
		broker->broken = r;
		return;
	}
	lease_grant(broker, queue, item, session);
	TEXT_COPY(delivery->receipt.queue, queue->peer->name);
	delivery->has_receipt = true;
	delivery->receipt.seq = item->seq;
	delivery->receipt.attempt = item->attempt;
	delivery->receipt.epoch = session->epoch;
	delivery->failures = item->retry ? item->retry->failures : 0;
	delivery->after_seq = must_have_passed(broker, queue);
	session->delivered_messages++;
	session->delivered_bytes += message.len;
	session_put(broker, session, &down, message);
}

static struct queue_item *first_ready(const struct broker *broker, const struct queue *queue, bool suspect)
{
	LIST_EACH (hook, &queue->ready) {
		struct queue_item *item = LIST_ENTRY(hook, struct queue_item, in_state);

		if (item->suspect != suspect) {
			if (suspect)
				return NULL; /* suspects come first in the list */
			continue;
		}
		if (!in_grace(broker, item))
			return item;
	}
	return NULL;
}

static bool may_take(const struct queue *queue, const struct session *session)
{
	return has_credit(session) && !session->alone && !session->failing && queue->draining != session;
}

static void deliver_suspects(struct broker *broker, struct queue *queue, struct session *const *sessions, size_t count)
{
	struct queue_item *suspect = first_ready(broker, queue, true);

	for (size_t i = 0; suspect && i < count && broker->broken == 0; i++) {
		if (sessions[i]->leased_count > 0 || !has_credit(sessions[i]) || sessions[i]->failing)
			continue;
		hand_out(broker, queue, suspect, sessions[i]);
		suspect = first_ready(broker, queue, true);
	}
	queue->draining = suspect && count > 0 ? sessions[0] : NULL;
}

/*
 * Prefers items that never failed, as those tell more; of these in turn the oldest and the newest, so that no
 * item waits for all others.
 */
static struct queue_item *next_to_try(const struct broker *broker, const struct queue *queue)
{
	bool newest = queue->breaker.probes % 2 != 0;
	struct queue_item *found = NULL;

	LIST_EACH (hook, &queue->ready) {
		struct queue_item *item = LIST_ENTRY(hook, struct queue_item, in_state);

		if (in_grace(broker, item))
			continue;
		if (!found || (found->retry && !item->retry) || (newest && !item->retry))
			found = item;
	}
	return found;
}

static void try_one(struct broker *broker, struct queue *queue, struct session *const *sessions, size_t count)
{
	struct queue_item *item = NULL;

	if (breaker_may_try(&queue->breaker, queue->leased_count, broker_boot_us(broker)))
		item = next_to_try(broker, queue);
	for (size_t i = 0; item && i < count; i++) {
		if (!has_credit(sessions[i]) || sessions[i]->failing)
			continue;
		queue->breaker.probing = true;
		hand_out(broker, queue, item, sessions[i]);
		return;
	}
}

static uint64_t run_of(const struct session *session, uint64_t most)
{
	uint64_t run = (session->credit.delivery_messages - session->delivered_messages) / RUNS;

	if (run > most)
		run = most;
	return run > RUN_LEAST ? run : RUN_LEAST;
}

/* Delivers one run to one session; false: the session got nothing. */
static bool deliver_run(struct broker *broker, struct queue *queue, struct session *session, uint64_t most)
{
	uint64_t given = 0, run = run_of(session, most);

	while (given < run && may_take(queue, session) && broker->broken == 0) {
		struct queue_item *item = first_ready(broker, queue, false);

		if (!item)
			break;
		hand_out(broker, queue, item, session);
		given++;
	}
	return given > 0;
}

/*
 * Lists the queue's sessions, from the one behind the last served, so that few items do not always go to the
 * same session.
 */
static size_t list_sessions(struct broker *broker, struct queue *queue, struct session **ret)
{
	size_t count = 0, behind = 0;
	struct session *first[SESSIONS_PER_QUEUE_MAX];

	LIST_EACH (hook, &broker->sessions->all) {
		struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (session->peer != queue->index || !session_may(session, RIGHT_HEAR) ||
			count == SESSIONS_PER_QUEUE_MAX)
			continue;
		if (session->order <= queue->served_order)
			behind = count + 1;
		first[count++] = session;
	}
	for (size_t i = 0; i < count; i++)
		ret[i] = first[(i + behind) % count];
	return count;
}

static void deliver(struct broker *broker, struct queue *queue)
{
	struct session *sessions[SESSIONS_PER_QUEUE_MAX];
	size_t count = list_sessions(broker, queue, sessions);
	uint64_t run_most = queue->ready_count / RUNS;
	bool more = true;

	if (breaker_is_open(&queue->breaker)) {
		try_one(broker, queue, sessions, count);
		return;
	}
	deliver_suspects(broker, queue, sessions, count);
	while (more && broker->broken == 0) {
		more = false;
		for (size_t i = 0; i < count; i++) {
			if (!deliver_run(broker, queue, sessions[i], run_most))
				continue;
			queue->served_order = sessions[i]->order;
			more = true;
		}
	}
}

void deliver_all(struct broker *broker)
{
	for (int i = 0; i < broker->topology.peer_count; i++) {
		struct queue *queue = broker->queues[i];

		if (!queue)
			continue;
		if (queue_refill(broker, queue))
			broker->needs_dispatch = true; /* the rest of the queue comes after the other queues */
		if (queue->ready_count > 0)
			deliver(broker, queue);
	}
}
