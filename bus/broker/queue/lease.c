/*
 * lease.c: which session holds which item, and for how long
 *
 * Owns:      leases: in memory, counted in boot time, each belonging to one attempt of one session.
 * Promises:  a receipt of another attempt or session finds nothing. Leases of a dead session are free at
 *            once; all items of a crashed session are suspects and are next handed out alone, so that a crash
 *            costs the items that only lay beside its cause one restart, and no more.
 *
 * The death of a session is no evidence against an item, unless the item was handed out alone. Then it is a
 * failure, and the item waits, which lets its neighbours on and lets deaths of another cause show themselves;
 * the death before it, which the item shared with its neighbours, is then counted against it too. It is no
 * failure if a session of the service died shortly before without that item: then the item waits until that
 * has calmed down, longer each time. So an item that kills each process that takes it is dead after its limit
 * of deaths; an item that happened to be in flight while processes were killed at random is not.
 *
 * Read next: deliver.c
 */
#include "bus/base/text.h"
#include "bus/broker/session/refused.h"
#include "bus/broker/session/session.h"

static const char DIED[] = "the process that worked on it alone ended without a word";
static const int64_t CALM_US = 10 * US_PER_S; /* a death without an item excuses its deaths up to so much later */
static const int64_t EXCUSED_MOST_US = 5 * US_PER_MINUTE; /* as long as the longest backoff after a failure */

void lease_grant(struct broker *broker, struct queue *queue, struct queue_item *item, struct session *session)
{
	list_remove(&item->in_state);
	queue->ready_count--;
	queue->leased_count++;
	item->state = ITEM_LEASED;
	item->holder = session;
	item->attempt++;
	item->alone = item->suspect || queue->breaker.probing;
	item->lease_until_us = broker_boot_us(broker) + queue->peer->lease_us;
	list_append(&session->leased, &item->in_state);
	session->leased_count++;
	session->alone = item->alone;
}

void lease_end(struct queue *queue, struct queue_item *item)
{
	struct session *session = item->holder;

	queue->leased_count--;
	list_remove(&item->in_state);
	item->holder = NULL;
	session->leased_count--;
	if (session->leased_count == 0)
		session->alone = false;
}

struct queue_item *lease_find(
	struct broker *broker, struct session *session, const Receipt *receipt, struct queue **ret_queue)
{
	struct queue *queue = broker->queues[session->peer];
	struct queue_item *item;

	if (!queue || strcmp(receipt->queue, queue->peer->name) != 0 || receipt->epoch != session->epoch)
		return NULL;
	item = queue_find(queue, receipt->seq);
	if (!item || item->holder != session || item->attempt != receipt->attempt)
		return NULL;
	*ret_queue = queue;
	return item;
}

void lease_renew(struct broker *broker, struct session *session, const UpRenew *renew)
{
	struct queue *queue = broker->queues[session->peer];
	struct queue_item *item;

	if (!queue || strcmp(renew->queue, queue->peer->name) != 0) {
		refused(broker, REFUSED_RECEIPT, session->who, session, "it renews in queue %s, which is not its own",
			renew->queue);
		return;
	}
	item = queue_find(queue, renew->seq);
	if (item && item->holder == session)
		item->lease_until_us = broker_boot_us(broker) + queue->peer->lease_us;
	else
		refused(broker, REFUSED_RECEIPT, session->who, session,
			"message %llu of queue %s is not leased to this session", (unsigned long long)renew->seq,
			renew->queue);
}

static void accuse(struct broker *broker, struct queue *queue, struct queue_item *item)
{
	item->suspected_at_us = broker_wall_us(broker);
	queue_unlease(queue, item);
}

static void failed_alone(struct broker *broker, struct queue *queue, struct queue_item *item, const char *reason)
{
	char by[64];

	TEXT_COPY(by, item->holder->instance);
	if (item->suspected_at_us > 0 && !breaker_is_open(&queue->breaker))
		retry_counted(queue, item, item->suspected_at_us, "the same, handed out beside others", by);
	item->suspected_at_us = 0;
	retry_failed(broker, queue, item, 0, reason, by);
}

/*
 * A lease that ran out is no failure by itself: a neighbour may have kept its session busy. An item that was
 * handed out alone has no neighbour.
 */
static void expire(struct broker *broker, struct queue *queue, struct queue_item *item)
{
	item->suspect = true;
	if (item->alone)
		failed_alone(broker, queue, item, "its lease ran out, handed out alone");
	else
		accuse(broker, queue, item);
}

void leases_expire(struct broker *broker, struct queue *queue)
{
	int64_t now_us = broker_boot_us(broker);

	LIST_EACH (hook, &broker->sessions->all) {
		struct session *session = LIST_ENTRY(hook, struct session, hook);

		if (session->peer != queue->index)
			continue;
		LIST_EACH_SAFE (held, &session->leased) {
			struct queue_item *item = LIST_ENTRY(held, struct queue_item, in_state);

			if (item->lease_until_us > now_us)
				continue;
			expire(broker, queue, item);
			broker->needs_dispatch = true;
		}
	}
}

void lease_adopt(struct broker *broker, struct session *session, const HeldLease *held)
{
	struct queue *queue = broker->queues[session->peer];
	struct queue_item *item;

	if (!queue || strcmp(held->queue, queue->peer->name) != 0)
		return;
	item = queue_find(queue, held->seq);
	if (item)
		queue_bring_forward(queue, item);  /* a redriven item was read in behind newer ones */
	queue_wake(queue, broker_wall_us(broker)); /* after a restart, items once put off are delayed until now */
	if (!item || item->state != ITEM_READY)
		return;
	item->attempt = held->attempt - 1;
	lease_grant(broker, queue, item, session);
}

static uint64_t note_death(struct queue *queue, int64_t now_us, uint64_t seq)
{
	uint64_t id = ++queue->deaths_counted;

	queue->deaths[id % DEATHS_REMEMBERED] = (struct death){ .boot_us = now_us, .id = id, .seq = seq };
	return id;
}

/* Did a session die lately without this item in hand? The item's own deaths excuse nothing. */
static bool others_died(const struct queue *queue, int64_t now_us, const struct queue_item *item)
{
	for (int i = 0; i < DEATHS_REMEMBERED; i++) {
		const struct death *death = &queue->deaths[i];

		if (death->id > 0 && now_us - death->boot_us < CALM_US && death->seq != item->seq &&
			death->id != item->shared_crash_id)
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

static void died_alone(struct broker *broker, struct queue *queue, struct queue_item *item)
{
	int64_t now_us = broker_boot_us(broker);
	bool uncounted_crashes = others_died(queue, now_us, item);

	note_death(queue, now_us, item->seq);
	item->suspect = true;
	if (uncounted_crashes && !queue_pause_failed(broker, queue, item, DIED))
		retry_waits(broker, queue, item, excused_us(++item->uncounted_crashes));
	else
		failed_alone(broker, queue, item, DIED);
}

static struct queue_item *newest_of(const struct session *session)
{
	return LIST_ENTRY(session->leased.prev, struct queue_item, in_state);
}

static void died_beside(struct broker *broker, struct queue *queue, struct session *session)
{
	int64_t now_us = broker_boot_us(broker);
	uint64_t id = note_death(queue, now_us, 0);

	while (!list_empty(&session->leased)) {
		struct queue_item *item = newest_of(session);
		uint64_t before = item->shared_crash_id;

		item->suspect = true;
		item->shared_crash_id = id;
		if (before == 0 && !others_died(queue, now_us, item))
			accuse(broker, queue, item);
		else
			queue_unlease(queue, item);
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
		struct queue_item *item = newest_of(session);

		item->suspect = false;
		queue_unlease(queue, item);
	}
	if (queue && queue->draining == session)
		queue->draining = NULL;
}
