/*
 * retry.c: messages that failed or wait: sparse rows beside the bitmaps
 *
 * Owns:      the rows (queue, 'x', number) of family queue.
 * Promises:  failures and delays outlive a restart; only failures count towards the limit, and none while the
 *            queue is paused.
 * Read next: dead.c (messages past the limit), breaker.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/queue/queue.h"
#include <assert.h>
#include <pb_decode.h>
#include <pb_encode.h>
#include <stdlib.h>

static const int64_t BACKOFF_FIRST_US = US_PER_S;
static const int64_t BACKOFF_MOST_US = 5 * US_PER_MINUTE;

enum { HISTORY_MAX = sizeof(((Trouble *)0)->history) / sizeof(((Trouble *)0)->history[0]) };

void retry_encode(const Trouble *retry, struct buffer *ret)
{
	uint8_t *at = buffer_grow(ret, Trouble_size);
	pb_ostream_t stream = pb_ostream_from_buffer(at, Trouble_size);
	bool fits = pb_encode(&stream, Trouble_fields, retry);

	assert(fits);
	(void)fits;
	ret->len += stream.bytes_written;
}

bool retry_decode(struct bytes bytes, Trouble *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(bytes.data, bytes.len);

	return pb_decode(&stream, Trouble_fields, ret);
}

void retry_write(struct broker *broker, struct queue *queue, const struct queue_item *item)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer value = { 0 };

	queue_row_key(queue, 'x', item->seq, &key);
	retry_encode(item->retry, &value);
	store_batch_put(broker->batch, FAMILY_QUEUE, buffer_bytes(&key), buffer_bytes(&value));
}

void retry_forget(struct broker *broker, struct queue *queue, struct queue_item *item)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };

	if (!item->retry)
		return;
	queue_row_key(queue, 'x', item->seq, &key);
	store_batch_delete(broker->batch, FAMILY_QUEUE, buffer_bytes(&key));
	free(TAKE(item->retry));
}

int retries_open(struct broker *broker, struct queue *queue)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	struct store_cursor *cursor = store_cursor_new(broker->store, FAMILY_QUEUE);
	size_t prefix;
	int r;

	queue_row_key(queue, 'x', 0, &key);
	prefix = key.len - 8;
	for (bool more = store_cursor_seek(cursor, buffer_bytes(&key)); more; more = store_cursor_next(cursor)) {
		struct bytes found = store_cursor_key(cursor);
		Trouble *retry;
		uint64_t seq;

		if (found.len != key.len || memcmp(found.data, key.data, prefix) != 0)
			break;
		retry = memory_new(sizeof(*retry));
		seq = get_be64((const uint8_t *)found.data + prefix);
		if (retry_decode(store_cursor_value(cursor), retry))
			map_put(queue->retries, map_number(&seq), retry);
		else
			free(retry);
	}
	r = store_cursor_status(cursor);
	store_cursor_free(cursor);
	return r;
}

static int64_t backoff_us(uint32_t failures)
{
	int64_t wait_us = BACKOFF_FIRST_US;

	for (uint32_t i = 1; i < failures && wait_us < BACKOFF_MOST_US; i++)
		wait_us *= 2;
	return wait_us < BACKOFF_MOST_US ? wait_us : BACKOFF_MOST_US;
}

static void remember_failure(Trouble *retry, int64_t at_us, const char *reason, const char *by)
{
	Misfortune *last;

	if (retry->history_count == HISTORY_MAX) {
		memmove(retry->history, retry->history + 1, (HISTORY_MAX - 1) * sizeof(retry->history[0]));
		retry->history_count--;
	}
	last = &retry->history[retry->history_count++];
	last->at_us = at_us;
	TEXT_COPY(last->reason, reason);
	TEXT_COPY(last->by, by);
}

void retry_counted(struct queue *queue, struct queue_item *item, int64_t at_us, const char *reason, const char *by)
{
	if (!item->retry)
		item->retry = memory_new(sizeof(*item->retry));
	item->retry->failures++;
	queue->failures++;
	remember_failure(item->retry, at_us, reason, by);
}

/*
 * In a paused queue a failure is not the item's fault. The item waits beyond the next try, so that another
 * item is tried.
 */
static void fail_in_pause(
	struct broker *broker, struct queue *queue, struct queue_item *item, const char *reason, const char *by)
{
	int64_t now_us = broker_wall_us(broker);

	if (!item->retry)
		item->retry = memory_new(sizeof(*item->retry));
	queue->failures++;
	remember_failure(item->retry, now_us, reason, by);
	queue_delay(broker, queue, item, now_us + 2 * breaker_interval_us(&queue->breaker));
}

void retry_failed(struct broker *broker, struct queue *queue, struct queue_item *item, int64_t delay_us,
	const char *reason, const char *by)
{
	int64_t now_us = broker_wall_us(broker);

	if (queue_pause_failed(broker, queue, item, reason)) {
		fail_in_pause(broker, queue, item, reason, by);
		return;
	}
	retry_counted(queue, item, now_us, reason, by);
	if (item->retry->failures >= queue->peer->failure_limit) {
		dead_letter(broker, queue, item, reason, by);
	} else {
		queue_delay(
			broker, queue, item, now_us + (delay_us > 0 ? delay_us : backoff_us(item->retry->failures)));
	}
}

void retry_refused(
	struct broker *broker, struct queue *queue, struct queue_item *item, const char *reason, const char *by)
{
	if (queue_pause_failed(broker, queue, item, reason)) {
		fail_in_pause(broker, queue, item, reason, by);
		return;
	}
	if (!item->retry)
		item->retry = memory_new(sizeof(*item->retry));
	remember_failure(item->retry, broker_wall_us(broker), reason, by);
	dead_letter(broker, queue, item, reason, by);
}

void retry_waits(struct broker *broker, struct queue *queue, struct queue_item *item, int64_t delay_us)
{
	if (delay_us > 0)
		queue_delay(broker, queue, item, broker_wall_us(broker) + delay_us);
	else
		queue_unlease(queue, item);
}
