/*
 * lease.c: who has which letter, and for how long
 *
 * Owns:      leases: in memory, counted in boot time, each belonging to one attempt of one session.
 * Promises:  a receipt of another attempt or session finds nothing. Leases of a dead session are free at once; the oldest of a
 *            crashed one is a suspect and is next handed out alone, so that its neighbours live.
 *
 * What a death says about a letter: nothing, unless the letter was handed out alone. Then it is a failure, and the letter waits,
 * which lets its neighbours on and lets deaths of another cause show themselves. It is no failure if a session of the service
 * died shortly before with something else in hand, or nothing: then the letter waits until that has calmed down, longer each
 * time. So a letter that kills whoever takes it is dead after its limit of such deaths, and what happened to be in flight while
 * processes were killed at random is not.
 *
 * Read next: deliver.c
 */
#include "bus/broker/session.h"

static const int64_t CALM_US = 10 * US_PER_S; /* a death for another reason explains those up to so much later */
static const int64_t EXCUSED_MOST_US = 5 * US_PER_MINUTE; /* as long as the longest backoff after a failure */

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

/* The last death, and the last one with another letter in hand: a letter's own deaths do not excuse it. */
static void note_death(struct queue *queue, int64_t now_us, uint64_t seq)
{
	if (queue->died.boot_us > 0 && queue->died.seq != seq)
		queue->died_before = queue->died;
	queue->died.boot_us = now_us;
	queue->died.seq = seq;
}

static bool others_died(const struct queue *queue, int64_t now_us, uint64_t seq)
{
	const struct death *other = queue->died.seq == seq ? &queue->died_before : &queue->died;

	return other->boot_us > 0 && now_us - other->boot_us < CALM_US;
}

static int64_t excused_us(uint32_t times)
{
	int64_t wait_us = CALM_US;

	for (uint32_t i = 1; i < times && wait_us < EXCUSED_MOST_US; i++)
		wait_us *= 2;
	return wait_us < EXCUSED_MOST_US ? wait_us : EXCUSED_MOST_US;
}

static void suspect(struct broker *broker, struct queue *queue, struct letter *letter)
{
	int64_t now_us = broker_boot_us(broker);
	bool excused = others_died(queue, now_us, letter->seq);

	note_death(queue, now_us, letter->seq);
	letter->suspect = true;
	if (!letter->alone)
		queue_unlease(queue, letter);
	else if (excused)
		trouble_waits(broker, queue, letter, excused_us(++letter->excused));
	else
		trouble_failed(broker, queue, letter, 0, "whoever was at work on it alone ended without a word",
			letter->holder->instance);
}

void leases_free(struct broker *broker, struct session *session, enum parting how)
{
	struct queue *queue = broker->queues[session->peer];

	if (queue && how == PARTING_CRASH) {
		if (list_empty(&session->leased))
			note_death(queue, broker_boot_us(broker), 0);
		else
			suspect(broker, queue, LIST_ENTRY(session->leased.next, struct letter, in_state));
	}
	while (!list_empty(&session->leased)) {
		struct letter *letter = LIST_ENTRY(session->leased.next, struct letter, in_state);

		letter->suspect = false;
		queue_unlease(queue, letter);
	}
	if (queue && queue->draining == session)
		queue->draining = NULL;
}
