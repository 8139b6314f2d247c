/*
 * lease.c: who has which letter, and for how long
 *
 * Owns:      leases: in memory, counted in boot time, each belonging to one attempt of one session.
 * Promises:  a receipt of another attempt or session finds nothing. Leases of a dead session are free at once; the oldest of a
 *            crashed one is a suspect: it counts as a failure and is next handed out alone, so that its neighbours live.
 * Read next: deliver.c
 */
#include "bus/broker/session.h"

void lease_grant(struct broker *broker, struct queue *queue, struct letter *letter, struct session *session)
{
	list_remove(&letter->in_state);
	queue->ready_count--;
	queue->leased_count++;
	letter->state = LETTER_LEASED;
	letter->holder = session;
	letter->attempt++;
	letter->alone = letter->suspect;
	letter->lease_until_us = broker_boot_us(broker) + queue->peer->lease_us;
	list_append(&session->leased, &letter->in_state);
	session->leased_count++;
	session->alone = letter->alone;
}

void lease_end(struct queue *queue, struct letter *letter)
{
	struct session *session = letter->holder;

	queue->leased_count--;
	list_remove(&letter->in_state);
	letter->holder = NULL;
	session->leased_count--;
	if (session->leased_count == 0)
		session->alone = false;
}

struct letter *lease_find(
	struct broker *broker, struct session *session, const Receipt *receipt, struct queue **ret_queue)
{
	struct queue *queue = broker->queues[session->peer];
	struct letter *letter;

	if (!queue || strcmp(receipt->queue, queue->peer->name) != 0 || receipt->epoch != session->epoch)
		return NULL;
	letter = queue_find(queue, receipt->seq);
	if (!letter || letter->holder != session || letter->attempt != receipt->attempt)
		return NULL;
	*ret_queue = queue;
	return letter;
}

void lease_renew(struct broker *broker, struct session *session, const UpRenew *renew)
{
	struct queue *queue = broker->queues[session->peer];
	struct letter *letter;

	if (!queue || strcmp(renew->queue, queue->peer->name) != 0) {
		broker->refused[REFUSED_RECEIPT]++;
		return;
	}
	letter = queue_find(queue, renew->seq);
	if (letter && letter->holder == session)
		letter->lease_until_us = broker_boot_us(broker) + queue->peer->lease_us;
	else
		broker->refused[REFUSED_RECEIPT]++;
}

/*
 * A lease that ran out is no failure by itself: a neighbour may have kept its holder busy. Handed out alone, there is no neighbour.
 */
static void expire(struct broker *broker, struct queue *queue, struct letter *letter)
{
	bool was_alone = letter->alone;

	letter->suspect = true;
	if (was_alone)
		trouble_failed(
			broker, queue, letter, 0, "its lease ran out, handed out alone", letter->holder->instance);
	else
		queue_unlease(queue, letter);
}

void leases_expire(struct broker *broker, struct queue *queue)
{
	int64_t now_us = broker_boot_us(broker);

	LIST_EACH (hook, &broker->sessions) {
		struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (session->peer != queue->index)
			continue;
		LIST_EACH_SAFE (held, &session->leased) {
			struct letter *letter = LIST_ENTRY(held, struct letter, in_state);

			if (letter->lease_until_us > now_us)
				continue;
			expire(broker, queue, letter);
			broker->stirred = true;
		}
	}
}

void lease_adopt(struct broker *broker, struct session *session, const HeldLease *held)
{
	struct queue *queue = broker->queues[session->peer];
	struct letter *letter;

	if (!queue || strcmp(held->queue, queue->peer->name) != 0)
		return;
	queue_wake(queue, broker_wall_us(broker)); /* after a restart what was put off once is delayed until now */
	letter = queue_find(queue, held->seq);
	if (!letter || letter->state != LETTER_READY)
		return;
	letter->attempt = held->attempt - 1;
	lease_grant(broker, queue, letter, session);
}

void leases_free(struct broker *broker, struct session *session, enum parting how)
{
	struct queue *queue = broker->queues[session->peer];
	bool oldest = how == PARTING_CRASH;

	while (!list_empty(&session->leased)) {
		struct letter *letter = LIST_ENTRY(session->leased.next, struct letter, in_state);

		letter->suspect = oldest;
		if (oldest)
			trouble_failed(broker, queue, letter, 0, "whoever was at work on it ended without a word",
				session->instance);
		else
			queue_unlease(queue, letter);
		oldest = false;
	}
	if (queue && queue->draining == session)
		queue->draining = NULL;
}
