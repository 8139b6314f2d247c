/*
 * lease.c: who has which letter, and for how long
 *
 * Owns:      leases: in memory, counted in boot time, each belonging to one attempt of one session.
 * Promises:  a receipt of another attempt or session finds nothing. Leases of a dead session are free at once; all letters of a
 *            crashed one are suspects and are next handed out alone, so that a crash costs those that only lay beside its cause
 *            one restart, and no more.
 *
 * What a death says about a letter: nothing, unless the letter was handed out alone. Then it is a failure, and the letter waits,
 * which lets its neighbours on and lets deaths of another cause show themselves; the death before it, which it shared with its
 * neighbours, turns out to have been its own and is counted too. It is no failure if a session of the service died shortly
 * before without that letter: then the letter waits until that has calmed down, longer each time. So a letter that kills
 * each process that takes it is dead after its limit of deaths; a letter that happened to be in flight while processes were killed
 * at random is not.
 *
 * Read next: deliver.c
 */
#include "bus/base/text.h"
#include "bus/broker/session/refused.h"
#include "bus/broker/session/session.h"

static const char DIED[] = "the process that worked on it alone ended without a word";
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
	letter->alone = letter->suspect || queue->breaker.probing;
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
		refused(broker, REFUSED_RECEIPT, session->who, session, "it renews in queue %s, which is not its own",
			renew->queue);
		return;
	}
	letter = queue_find(queue, renew->seq);
	if (letter && letter->holder == session)
		letter->lease_until_us = broker_boot_us(broker) + queue->peer->lease_us;
	else
		refused(broker, REFUSED_RECEIPT, session->who, session,
			"message %llu of queue %s is not leased to this session", (unsigned long long)renew->seq,
			renew->queue);
}

static void accuse(struct broker *broker, struct queue *queue, struct letter *letter)
{
	letter->accused_us = broker_wall_us(broker);
	queue_unlease(queue, letter);
}

static void failed_alone(struct broker *broker, struct queue *queue, struct letter *letter, const char *reason)
{
	char by[64];

	TEXT_COPY(by, letter->holder->instance);
	if (letter->accused_us > 0 && !breaker_is_open(&queue->breaker))
		trouble_counted(queue, letter, letter->accused_us, "the same, handed out beside others", by);
	letter->accused_us = 0;
	trouble_failed(broker, queue, letter, 0, reason, by);
}

/*
 * A lease that ran out is no failure by itself: a neighbour may have kept its holder busy. Handed out alone, there is no neighbour.
 */
static void expire(struct broker *broker, struct queue *queue, struct letter *letter)
{
	letter->suspect = true;
	if (letter->alone)
		failed_alone(broker, queue, letter, "its lease ran out, handed out alone");
	else
		accuse(broker, queue, letter);
}

void leases_expire(struct broker *broker, struct queue *queue)
{
	int64_t now_us = broker_boot_us(broker);

	LIST_EACH (hook, &broker->sessions->all) {
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
	letter = queue_find(queue, held->seq);
	if (letter)
		queue_bring_forward(queue, letter); /* a redriven one was read behind what is newer */
	queue_wake(queue, broker_wall_us(broker));  /* after a restart what was put off once is delayed until now */
	if (!letter || letter->state != LETTER_READY)
		return;
	letter->attempt = held->attempt - 1;
	lease_grant(broker, queue, letter, session);
}

static uint64_t note_death(struct queue *queue, int64_t now_us, uint64_t seq)
{
	uint64_t id = ++queue->deaths_counted;

	queue->deaths[id % DEATHS_REMEMBERED] = (struct death){ .boot_us = now_us, .id = id, .seq = seq };
	return id;
}

/* Did somebody die lately without this letter in hand? Its own deaths excuse nothing. */
static bool others_died(const struct queue *queue, int64_t now_us, const struct letter *letter)
{
	for (int i = 0; i < DEATHS_REMEMBERED; i++) {
		const struct death *death = &queue->deaths[i];

		if (death->id > 0 && now_us - death->boot_us < CALM_US && death->seq != letter->seq &&
			death->id != letter->shared_death)
			return true;
	}
	return false;
}

static int64_t excused_us(uint32_t times)
{
	int64_t wait_us = CALM_US;

	for (uint32_t i = 1; i < times && wait_us < EXCUSED_MOST_US; i++)
		wait_us *= 2;
	return wait_us < EXCUSED_MOST_US ? wait_us : EXCUSED_MOST_US;
}

static void died_alone(struct broker *broker, struct queue *queue, struct letter *letter)
{
	int64_t now_us = broker_boot_us(broker);
	bool excused = others_died(queue, now_us, letter);

	note_death(queue, now_us, letter->seq);
	letter->suspect = true;
	if (excused && !outage_failed(broker, queue, letter, DIED))
		trouble_waits(broker, queue, letter, excused_us(++letter->excused));
	else
		failed_alone(broker, queue, letter, DIED);
}

static struct letter *newest_of(const struct session *session)
{
	return LIST_ENTRY(session->leased.prev, struct letter, in_state);
}

static void died_beside(struct broker *broker, struct queue *queue, struct session *session)
{
	int64_t now_us = broker_boot_us(broker);
	uint64_t id = note_death(queue, now_us, 0);

	while (!list_empty(&session->leased)) {
		struct letter *letter = newest_of(session);
		uint64_t before = letter->shared_death;

		letter->suspect = true;
		letter->shared_death = id;
		if (before == 0 && !others_died(queue, now_us, letter))
			accuse(broker, queue, letter);
		else
			queue_unlease(queue, letter);
	}
}

void leases_free(struct broker *broker, struct session *session, enum parting how)
{
	struct queue *queue = broker->queues[session->peer];

	if (queue && how == PARTING_CRASH) {
		if (session->alone)
			died_alone(broker, queue, newest_of(session));
		else
			died_beside(broker, queue, session);
	}
	while (!list_empty(&session->leased)) {
		struct letter *letter = newest_of(session);

		letter->suspect = false;
		queue_unlease(queue, letter);
	}
	if (queue && queue->draining == session)
		queue->draining = NULL;
}
