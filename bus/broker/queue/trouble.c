/*
 * trouble.c: messages that failed or wait: sparse rows beside the bitmaps
 *
 * Owns:      the rows (queue, 'x', number) of family queue.
 * Promises:  failures and delays outlive a restart; only failures count towards the limit, and not while everything fails.
 * Read next: dead.c (what is past the limit), breaker.c
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

void trouble_encode(const Trouble *trouble, struct buffer *ret)
{
	uint8_t *at = buffer_grow(ret, Trouble_size);
	pb_ostream_t stream = pb_ostream_from_buffer(at, Trouble_size);
	bool fits = pb_encode(&stream, Trouble_fields, trouble);

	assert(fits);
	(void)fits;
	ret->len += stream.bytes_written;
}

bool trouble_decode(struct bytes bytes, Trouble *ret)
{
	pb_istream_t stream = pb_istream_from_buffer(bytes.data, bytes.len);

	return pb_decode(&stream, Trouble_fields, ret);
}

void trouble_write(struct broker *broker, struct queue *queue, const struct letter *letter)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer value = { 0 };

	queue_row_key(queue, 'x', letter->seq, &key);
	trouble_encode(letter->trouble, &value);
	store_batch_put(broker->batch, FAMILY_QUEUE, buffer_bytes(&key), buffer_bytes(&value));
}

void trouble_forget(struct broker *broker, struct queue *queue, struct letter *letter)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };

	if (!letter->trouble)
		return;
	queue_row_key(queue, 'x', letter->seq, &key);
	store_batch_delete(broker->batch, FAMILY_QUEUE, buffer_bytes(&key));
	free(TAKE(letter->trouble));
}

int troubles_open(struct broker *broker, struct queue *queue)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	struct store_cursor *cursor = store_cursor_new(broker->store, FAMILY_QUEUE);
	size_t prefix;
	int r;

	queue_row_key(queue, 'x', 0, &key);
	prefix = key.len - 8;
	for (bool more = store_cursor_seek(cursor, buffer_bytes(&key)); more; more = store_cursor_next(cursor)) {
		struct bytes found = store_cursor_key(cursor);
		Trouble *trouble;
		uint64_t seq;

		if (found.len != key.len || memcmp(found.data, key.data, prefix) != 0)
			break;
		trouble = memory_new(sizeof(*trouble));
		seq = get_be64((const uint8_t *)found.data + prefix);
		if (trouble_decode(store_cursor_value(cursor), trouble))
			map_put(queue->troubles, map_number(&seq), trouble);
		else
			free(trouble);
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

static void remember_failure(Trouble *trouble, int64_t at_us, const char *reason, const char *by)
{
	Misfortune *last;

	if (trouble->history_count == HISTORY_MAX) {
		memmove(trouble->history, trouble->history + 1, (HISTORY_MAX - 1) * sizeof(trouble->history[0]));
		trouble->history_count--;
	}
	last = &trouble->history[trouble->history_count++];
	last->at_us = at_us;
	TEXT_COPY(last->reason, reason);
	TEXT_COPY(last->by, by);
}

void trouble_counted(struct queue *queue, struct letter *letter, int64_t at_us, const char *reason, const char *by)
{
	if (!letter->trouble)
		letter->trouble = memory_new(sizeof(*letter->trouble));
	letter->trouble->failures++;
	queue->failures++;
	remember_failure(letter->trouble, at_us, reason, by);
}

/* Everything fails: it is not this letter's fault. It waits longer than the next try, which so falls to another. */
static void fail_in_outage(
	struct broker *broker, struct queue *queue, struct letter *letter, const char *reason, const char *by)
{
	int64_t now_us = broker_wall_us(broker);

	if (!letter->trouble)
		letter->trouble = memory_new(sizeof(*letter->trouble));
	queue->failures++;
	remember_failure(letter->trouble, now_us, reason, by);
	queue_delay(broker, queue, letter, now_us + 2 * breaker_interval_us(&queue->breaker));
}

void trouble_failed(struct broker *broker, struct queue *queue, struct letter *letter, int64_t delay_us,
	const char *reason, const char *by)
{
	int64_t now_us = broker_wall_us(broker);

	if (outage_failed(broker, queue, letter, reason)) {
		fail_in_outage(broker, queue, letter, reason, by);
		return;
	}
	trouble_counted(queue, letter, now_us, reason, by);
	if (letter->trouble->failures >= queue->peer->failure_limit) {
		dead_letter(broker, queue, letter, reason, by);
	} else {
		queue_delay(broker, queue, letter,
			now_us + (delay_us > 0 ? delay_us : backoff_us(letter->trouble->failures)));
	}
}

void trouble_refused(
	struct broker *broker, struct queue *queue, struct letter *letter, const char *reason, const char *by)
{
	if (outage_failed(broker, queue, letter, reason)) {
		fail_in_outage(broker, queue, letter, reason, by);
		return;
	}
	if (!letter->trouble)
		letter->trouble = memory_new(sizeof(*letter->trouble));
	remember_failure(letter->trouble, broker_wall_us(broker), reason, by);
	dead_letter(broker, queue, letter, reason, by);
}

void trouble_waits(struct broker *broker, struct queue *queue, struct letter *letter, int64_t delay_us)
{
	if (delay_us > 0)
		queue_delay(broker, queue, letter, broker_wall_us(broker) + delay_us);
	else
		queue_unlease(queue, letter);
}
