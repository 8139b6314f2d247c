/*
 * breaker.c: pauses a queue, tries its items meanwhile, and resumes it
 *
 * Promises:  messages of one key never pause a queue; of the items in flight when it was paused only a
 *            success counts.
 * Read next: breaker.h
 */
#include "bus/broker/queue/breaker.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "bus/broker/queue/queue.h"
#include <errno.h>

static const int64_t TRY_FIRST_US = 1 * US_PER_S;
static const int64_t TRY_MOST_US = 1 * US_PER_MINUTE;

int64_t breaker_interval_us(const struct breaker *breaker)
{
	int64_t wait_us = TRY_FIRST_US;

	for (uint32_t i = 0; i < breaker->probes && wait_us < TRY_MOST_US; i++)
		wait_us *= 2;
	return wait_us < TRY_MOST_US ? wait_us : TRY_MOST_US;
}

static bool is_known(const struct breaker *breaker, uint64_t key_hash)
{
	for (uint32_t i = 0; i < breaker->count; i++)
		if (breaker->keys[i] == key_hash)
			return true;
	return false;
}

void breaker_failed(struct breaker *breaker, uint64_t key_hash, int64_t boot_us, int64_t wall_us)
{
	if (breaker_is_open(breaker)) {
		if (!breaker->probing)
			return;
		breaker->probing = false;
		breaker->probes++;
		breaker->probe_boot_us = boot_us + breaker_interval_us(breaker);
		return;
	}
	if (!is_known(breaker, key_hash))
		breaker->keys[breaker->count++] = key_hash;
	if (breaker->count == PAUSE_KEYS)
		breaker_resume(breaker, wall_us, boot_us);
}

void breaker_worked(struct breaker *breaker)
{
	*breaker = (struct breaker){ 0 };
}

void breaker_resume(struct breaker *breaker, int64_t since_us, int64_t boot_us)
{
	*breaker = (struct breaker){ .since_us = since_us, .probe_boot_us = boot_us + TRY_FIRST_US };
}

bool breaker_may_try(const struct breaker *breaker, uint64_t leased, int64_t boot_us)
{
	return leased == 0 && boot_us >= breaker->probe_boot_us;
}

/*
 * A queue whose every message fails is paused instead of filling the dead letters
 *
 * Owns:      the row (queue, 'b', 0) of family queue: since when it is paused.
 * Promises:  while the queue is paused no failure is counted against a message, and no message becomes a dead
 *            letter; the pause outlives a restart of the broker.
 */

static void write_row(struct broker *broker, const struct queue *queue)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	uint8_t since[8];

	queue_row_key(queue, 'b', 0, &key);
	put_be64(since, (uint64_t)queue->breaker.since_us);
	if (breaker_is_open(&queue->breaker))
		store_batch_put(broker->batch, FAMILY_QUEUE, buffer_bytes(&key), BYTES(since, sizeof(since)));
	else
		store_batch_delete(broker->batch, FAMILY_QUEUE, buffer_bytes(&key));
}

int queue_pause_open(struct broker *broker, struct queue *queue)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer since = { 0 };
	int r;

	queue_row_key(queue, 'b', 0, &key);
	r = store_get(broker->store, FAMILY_QUEUE, buffer_bytes(&key), &since);
	if (r == 0 && since.len == 8)
		breaker_resume(&queue->breaker, (int64_t)get_be64(since.data), broker_boot_us(broker));
	return r == -ENOENT ? 0 : r;
}

bool queue_pause_failed(struct broker *broker, struct queue *queue, const struct queue_item *item, const char *reason)
{
	bool was_open = breaker_is_open(&queue->breaker);

	breaker_failed(&queue->breaker, item->key_hash, broker_boot_us(broker), broker_wall_us(broker));
	if (breaker_is_open(&queue->breaker))
		TEXT_COPY(queue->pause_reason, reason);
	if (breaker_is_open(&queue->breaker) && !was_open)
		write_row(broker, queue);
	return breaker_is_open(&queue->breaker);
}

void queue_pause_worked(struct broker *broker, struct queue *queue)
{
	bool was_open = breaker_is_open(&queue->breaker);

	breaker_worked(&queue->breaker);
	if (!was_open)
		return;
	write_row(broker, queue);
	broker->needs_dispatch = true;
}

bool queue_pause_end(struct broker *broker, struct queue *queue)
{
	bool was_open = breaker_is_open(&queue->breaker);

	if (was_open)
		queue_pause_worked(broker, queue);
	return was_open;
}
