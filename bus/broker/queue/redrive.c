/*
 * redrive.c: a redrive of many letters, or a replay, in small steps
 *
 * Owns:      the row (queue, 'r', 0) of family queue: the request, and its progress.
 * Promises:  a step and its progress are one commit: no letter is handed out twice for one request, none is
 *            left out. A letter that dies again meanwhile is left alone. Nothing is fed faster than the queue
 *            takes it, so memory stays small.
 * Read next: dead.c (redrive and replay of one letter)
 */
#include "bus/broker/queue/redrive.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/broker/queue/queue.h"
#include <errno.h>
#include <pb_decode.h>
#include <pb_encode.h>
#include <stdlib.h>

enum {
	LOOK_AT_ONCE = 256, /* per tick */
	ROOM = 1000,        /* items of a redrive in the queue */
};

static void write_row(struct broker *broker, const struct queue *queue)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	uint8_t row[Feed_size];
	pb_ostream_t stream = pb_ostream_from_buffer(row, sizeof(row));

	queue_row_key(queue, 'r', 0, &key);
	if (queue->redrive->finished)
		store_batch_delete(broker->batch, FAMILY_QUEUE, buffer_bytes(&key));
	else if (pb_encode(&stream, Feed_fields, &queue->redrive->what))
		store_batch_put(broker->batch, FAMILY_QUEUE, buffer_bytes(&key), BYTES(row, stream.bytes_written));
}

int redrive_open(struct broker *broker, struct queue *queue)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	_cleanup_(buffer_free) struct buffer row = { 0 };
	pb_istream_t stream;
	int r;

	queue_row_key(queue, 'r', 0, &key);
	r = store_get(broker->store, FAMILY_QUEUE, buffer_bytes(&key), &row);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	queue->redrive = memory_new(sizeof(*queue->redrive));
	stream = pb_istream_from_buffer(row.data, row.len);
	return pb_decode(&stream, Feed_fields, &queue->redrive->what) ? 0 : -EUCLEAN;
}

void redrive_free(struct redrive *redrive)
{
	free(redrive);
}

bool redrive_is_running(const struct queue *queue)
{
	return queue->redrive && !queue->redrive->finished && !queue->redrive->what.cancelled;
}

void redrive_begin(struct broker *broker, struct queue *queue, const Feed *what)
{
	redrive_free(queue->redrive);
	queue->redrive = memory_new(sizeof(*queue->redrive));
	queue->redrive->what = *what;
	write_row(broker, queue);
	broker->needs_dispatch = true;
}

bool redrive_cancel(struct broker *broker, struct queue *queue, bool cancel)
{
	if (!queue->redrive || queue->redrive->finished)
		return false;
	queue->redrive->what.cancelled = cancel;
	write_row(broker, queue);
	broker->needs_dispatch = true;
	return true;
}

/* --- the request --- */

static bool is_or_any(const char *wanted, const char *is)
{
	return wanted[0] == '\0' || strcmp(wanted, is) == 0;
}

bool redrive_wants_dead(const Feed *what, const Envelope *envelope, const Trouble *retry)
{
	return is_or_any(what->topic, envelope->topic) && is_or_any(what->shop, envelope->shop) &&
		strcasestr(retry->reason, what->reason) && retry->died_us >= what->died_after_us &&
		(what->died_before_us == 0 || retry->died_us <= what->died_before_us);
}

int redrive_find(struct broker *broker, const struct queue *queue, const Feed *what, struct logged *ret)
{
	int topic = what->topic[0] != '\0' ? topology_topic(&broker->topology, what->topic) : -1;
	_cleanup_(topic_set_clear) struct topic_set one = { 0 };
	int r;

	if (topic >= 0 && topic_set_has(&queue->peer->hears, topic))
		topic_set_add(&one, topic);
	r = log_find(broker->log, what->next, what->topic[0] != '\0' ? &one : &queue->peer->hears, ret);
	return r == 0 && ret->seq > what->to ? -ENOENT : r;
}

bool redrive_wants_logged(const Feed *what, const struct logged *logged)
{
	Envelope envelope;
	struct bytes payload;

	return message_read(logged->message, &envelope, &payload) == 0 && is_or_any(what->shop, envelope.shop);
}

/* --- steps: 1: one message was handed out again; 0: one was looked at; -ENOENT: there are no more --- */

static int redrive_wanted(struct broker *broker, struct queue *queue, const Feed *what, uint64_t seq)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };
	_cleanup_free_ Trouble *retry = memory_new(sizeof(*retry));
	Envelope envelope;
	struct bytes payload;

	if (dead_read(broker, queue, seq, retry, &message) < 0 ||
		message_read(buffer_bytes(&message), &envelope, &payload) < 0 ||
		!redrive_wants_dead(what, &envelope, retry))
		return 0;
	return dead_redrive(broker, queue, seq);
}

static int step_redrive(struct broker *broker, struct queue *queue, Feed *what)
{
	_cleanup_(buffer_free) struct buffer from = { 0 };
	struct store_cursor *cursor = store_cursor_new(broker->store, FAMILY_DEAD);
	struct bytes key;
	uint64_t seq = 0;

	dead_key(queue, what->next, &from);
	if (store_cursor_seek(cursor, buffer_bytes(&from))) {
		key = store_cursor_key(cursor);
		if (key.len == from.len && memcmp(key.data, from.data, key.len - 8) == 0)
			seq = get_be64((const uint8_t *)key.data + key.len - 8);
	}
	store_cursor_free(cursor);
	if (seq == 0 || seq > what->to)
		return -ENOENT;
	what->next = seq + 1;
	return redrive_wanted(broker, queue, what, seq);
}

static int step_replay(struct broker *broker, struct queue *queue, Feed *what)
{
	struct logged logged;
	int r = redrive_find(broker, queue, what, &logged);

	if (r < 0)
		return r;
	what->next = logged.seq + 1;
	r = log_read(broker->log, logged.seq, &logged);
	if (r < 0)
		return r == -ENOENT ? 0 : r; /* dropped: its retention has ended */
	return redrive_wants_logged(what, &logged) && dead_replay(broker, queue, &logged);
}

static bool may_redrive(const struct broker *broker, const struct queue *queue)
{
	return redrive_is_running(queue) && queue->redriven_count < ROOM &&
		broker_boot_us(broker) >= queue->redrive->next_boot_us;
}

/*
 * A queue that was away for a while is not flooded afterwards: a message that was not fed in its second comes
 * later.
 */
static void fed_one(const struct broker *broker, struct redrive *redrive)
{
	int64_t now_us = broker_boot_us(broker);

	redrive->what.fed++;
	if (redrive->what.rate == 0)
		return;
	if (redrive->next_boot_us < now_us - US_PER_S / redrive->what.rate)
		redrive->next_boot_us = now_us;
	redrive->next_boot_us += US_PER_S / redrive->what.rate;
}

static void tick(struct broker *broker, struct queue *queue)
{
	Feed *what = &queue->redrive->what;
	int r = 0;

	for (int i = 0; r >= 0 && i < LOOK_AT_ONCE && may_redrive(broker, queue); i++) {
		r = what->replay ? step_replay(broker, queue, what) : step_redrive(broker, queue, what);
		if (r > 0)
			fed_one(broker, queue->redrive);
	}
	queue->redrive->finished = r == -ENOENT;
	if (r < 0 && r != -ENOENT)
		broker->broken = r;
	write_row(broker, queue);
}

void redrives_tick(struct broker *broker)
{
	for (int i = 0; i < broker->topology.peer_count; i++)
		if (broker->queues[i] && may_redrive(broker, broker->queues[i]))
			tick(broker, broker->queues[i]);
}

int64_t redrive_wait_us(const struct broker *broker, const struct queue *queue)
{
	int64_t wait_us;

	if (!redrive_is_running(queue) || queue->redriven_count >= ROOM)
		return INT64_MAX;
	wait_us = queue->redrive->next_boot_us - broker_boot_us(broker);
	return wait_us > 0 ? wait_us : 0;
}
