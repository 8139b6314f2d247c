/*
 * verify_queue.c: promise 6: no message vanishes
 *
 * Promises:  every message is counted once for each queue that hears it: done (or cancelled, which ends it
 *            alike), among the dead letters, redriven from there, or pending. A message that is two of these
 *            at once, or settled though the queue never heard it, is a problem. No dead letter and no failure
 *            of a queue is of a message that the log never held.
 * Read next: ack_bitmap.c, dead.c, retry.c (which own these rows)
 */
#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/queue/queue.h"
#include "bus/broker/verify/verify.h"
#include <errno.h>
#include <stdlib.h>

enum { ACKS_BYTES = ACKS_PER_ROW / 8 };

struct dead {
	uint64_t seq;
	bool redriven, met;
	struct buffer message;
};

struct retry {
	uint64_t seq;
	bool met;
};

struct verify_queue {
	const struct topology_peer *peer;
	uint64_t floor;
	uint64_t *since; /* by the topic's index: the queue hears the topic from this number on; 0: never */
	struct map *dead, *retries;
	uint64_t row; /* the row in bits; UINT64_MAX: none */
	uint8_t bits[ACKS_BYTES];
	uint64_t done, dead_count, redriven, pending, before;
};

DEFINE_CLEANUP(struct store_cursor *, store_cursor_free)

/* --- the rows of a queue in the store --- */

static void make_key(const struct verify_queue *queue, const char *kind, uint64_t number, struct buffer *ret)
{
	buffer_clear(ret);
	buffer_add(ret, queue->peer->name, strlen(queue->peer->name) + 1);
	buffer_add_text(ret, kind);
	buffer_add_be64(ret, number);
}

/* Calls each() for the rows of this kind. */
static int each_row(struct verify *verify, struct verify_queue *queue, int family, const char *kind,
	void (*each)(struct verify *, struct verify_queue *, uint64_t, struct bytes))
{
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(verify->store, family);
	_cleanup_(buffer_free) struct buffer key = { 0 };

	make_key(queue, kind, 0, &key);
	for (bool more = store_cursor_seek(cursor, buffer_bytes(&key)); more; more = store_cursor_next(cursor)) {
		struct bytes found = store_cursor_key(cursor);

		if (found.len != key.len || memcmp(found.data, key.data, key.len - 8) != 0)
			break;
		each(verify, queue, get_be64((const uint8_t *)found.data + key.len - 8), store_cursor_value(cursor));
	}
	return store_cursor_status(cursor);
}

static void note_dead(struct verify *verify, struct verify_queue *queue, uint64_t seq, struct bytes value)
{
	struct dead *dead = memory_new(sizeof(*dead));
	_cleanup_free_ Trouble *retry = memory_new(sizeof(*retry));
	size_t len = value.len >= 4 ? get_u32(value.data) : SIZE_MAX;

	dead->seq = seq;
	if (value.len < 4 || len > value.len - 4 || !retry_decode(BYTES((const uint8_t *)value.data + 4, len), retry))
		verify_problem(verify, seq, "its dead letter of queue %s is damaged", queue->peer->name);
	else
		buffer_add(&dead->message, (const uint8_t *)value.data + 4 + len, value.len - 4 - len);
	dead->redriven = retry->redriven;
	map_put(queue->dead, map_number(&dead->seq), dead);
}

static void note_retry(struct verify *verify, struct verify_queue *queue, uint64_t seq, struct bytes value)
{
	struct retry *row = memory_new(sizeof(*row));
	_cleanup_free_ Trouble *retry = memory_new(sizeof(*retry));

	row->seq = seq;
	if (!retry_decode(value, retry))
		verify_problem(verify, seq, "its failures in queue %s are damaged", queue->peer->name);
	map_put(queue->retries, map_number(&row->seq), row);
}

static void note_since(struct verify *verify, struct verify_queue *queue, uint64_t id, struct bytes value)
{
	int topic = id <= UINT16_MAX ? verify_topic(verify, (uint16_t)id) : -1;

	if (topic >= 0 && value.len == 8)
		queue->since[topic] = get_be64(value.data);
}

static void note_floor(struct verify *verify, struct verify_queue *queue, uint64_t number, struct bytes value)
{
	(void)number;
	if (value.len == 8)
		queue->floor = get_be64(value.data);
	else
		verify_problem(verify, 0, "the floor of queue %s is damaged", queue->peer->name);
	if (queue->floor > verify->head)
		verify_problem(verify, queue->floor, "queue %s is settled up to it, and the log ends at message %llu",
			queue->peer->name, (unsigned long long)verify->head);
}

/* Above the head no message can be settled; a row of another length is damaged. */
static void note_acks(struct verify *verify, struct verify_queue *queue, uint64_t row, struct bytes value)
{
	const uint8_t *bits = value.data;

	if (value.len != ACKS_BYTES) {
		verify_problem(verify, row * ACKS_PER_ROW, "a row of acknowledgements of queue %s is damaged",
			queue->peer->name);
		return;
	}
	for (uint64_t i = 0; i < ACKS_PER_ROW; i++)
		if ((bits[i / 8] >> (i % 8) & 1) && row * ACKS_PER_ROW + i > verify->head)
			verify_problem(verify, row * ACKS_PER_ROW + i,
				"queue %s has settled it, and the log ends at message %llu", queue->peer->name,
				(unsigned long long)verify->head);
}

static int open_queue(struct verify *verify, struct verify_queue *queue)
{
	int r = each_row(verify, queue, FAMILY_QUEUE, "f", note_floor);

	r = r ? r : each_row(verify, queue, FAMILY_QUEUE, "t", note_since);
	r = r ? r : each_row(verify, queue, FAMILY_QUEUE, "x", note_retry);
	r = r ? r : each_row(verify, queue, FAMILY_QUEUE, "a", note_acks);
	return r ? r : each_row(verify, queue, FAMILY_DEAD, "", note_dead);
}

int verify_queues_open(struct verify *verify)
{
	int r = 0;

	verify->queues = memory_new((size_t)verify->topology->peer_count * sizeof(struct verify_queue *));
	for (int i = 0; r == 0 && i < verify->topology->peer_count; i++) {
		const struct topology_peer *peer = &verify->topology->peers[i];
		struct verify_queue *queue;

		if (!topic_set_any(&peer->hears))
			continue;
		verify->queues[i] = queue = memory_new(sizeof(*queue));
		queue->peer = peer;
		queue->since = memory_new((size_t)verify->topology->topic_count * sizeof(uint64_t));
		queue->row = UINT64_MAX;
		queue->dead = map_new();
		queue->retries = map_new();
		r = open_queue(verify, queue);
	}
	return r;
}

/* --- each message --- */

static bool is_settled(struct verify *verify, struct verify_queue *queue, uint64_t seq)
{
	uint64_t row = seq / ACKS_PER_ROW, bit = seq % ACKS_PER_ROW;

	if (seq <= queue->floor)
		return true;
	if (row != queue->row) {
		_cleanup_(buffer_free) struct buffer key = { 0 };
		_cleanup_(buffer_free) struct buffer value = { 0 };

		make_key(queue, "a", row, &key);
		memset(queue->bits, 0, sizeof(queue->bits));
		if (store_get(verify->store, FAMILY_QUEUE, buffer_bytes(&key), &value) == 0 && value.len == ACKS_BYTES)
			memcpy(queue->bits, value.data, ACKS_BYTES);
		queue->row = row;
	}
	return queue->bits[bit / 8] >> (bit % 8) & 1;
}

static void count_heard(struct verify *verify, struct verify_queue *queue, const struct verify_message *message)
{
	const char *name = queue->peer->name;
	bool settled = is_settled(verify, queue, message->seq);
	struct dead *dead = map_get(queue->dead, map_number(&message->seq));
	struct retry *retry = map_get(queue->retries, map_number(&message->seq));

	if (dead && !settled)
		verify_problem(verify, message->seq, "it is pending in queue %s and among its dead letters", name);
	if (!message->message.data && !settled)
		verify_problem(
			verify, message->seq, "it is pending in queue %s and has been dropped from the log", name);
	if (dead && message->message.data && !bytes_equal(buffer_bytes(&dead->message), message->message))
		verify_problem(verify, message->seq, "its dead letter of queue %s holds other bytes", name);
	if (retry && settled && !(dead && dead->redriven))
		verify_problem(verify, message->seq, "queue %s is done with it and still counts its failures", name);
	if (dead)
		dead->met = true;
	if (dead)
		*(dead->redriven ? &queue->redriven : &queue->dead_count) += 1;
	else
		*(settled ? &queue->done : &queue->pending) += 1;
}

/* A queue that does not hear the topic any more, or did not then, may still have a failure of the message. */
static void allow_retry(struct verify_queue *queue, uint64_t seq)
{
	struct retry *retry = map_get(queue->retries, map_number(&seq));

	if (retry)
		retry->met = true;
}

void verify_heard(struct verify *verify, const struct verify_message *message)
{
	int topic = verify_topic(verify, message->entry->topic_id);

	for (int i = 0; i < verify->topology->peer_count; i++) {
		struct verify_queue *queue = verify->queues[i];
		bool hears = queue && topic >= 0 && topic_set_has(&queue->peer->hears, topic);

		if (hears && queue->since[topic] > 0 && message->seq >= queue->since[topic])
			count_heard(verify, queue, message);
		else if (hears)
			queue->before++;
		else if (queue && topic >= 0 && queue->since[topic] == 0 && message->seq > queue->floor &&
			is_settled(verify, queue, message->seq))
			verify_problem(verify, message->seq, "queue %s has settled it and does not hear it",
				queue->peer->name);
		if (queue && (topic < 0 || queue->since[topic] > 0))
			allow_retry(queue, message->seq);
	}
}

/* --- rows of messages that the log did not hold --- */

struct ending {
	struct verify *verify;
	struct verify_queue *queue;
};

static void end_dead(struct bytes key, void *value, void *context)
{
	const struct ending *ending = context;
	const struct dead *dead = value;

	(void)key;
	if (!dead->met && dead->seq > ending->verify->head)
		verify_problem(ending->verify, dead->seq, "a dead letter of queue %s is of no message of this log",
			ending->queue->peer->name);
}

static void end_retry(struct bytes key, void *value, void *context)
{
	const struct ending *ending = context;
	const struct retry *retry = value;

	(void)key;
	if (!retry->met)
		verify_problem(ending->verify, retry->seq, "queue %s counts failures of it and does not hear it",
			ending->queue->peer->name);
}

int verify_queues_end(struct verify *verify)
{
	for (int i = 0; i < verify->topology->peer_count; i++) {
		struct ending ending = { verify, verify->queues[i] };

		if (!ending.queue)
			continue;
		map_each(ending.queue->dead, end_dead, &ending);
		map_each(ending.queue->retries, end_retry, &ending);
	}
	return 0;
}

json_t *verify_queues_report(const struct verify *verify)
{
	json_t *array = json_array();

	for (int i = 0; i < verify->topology->peer_count; i++) {
		const struct verify_queue *queue = verify->queues[i];

		if (queue)
			json_array_append_new(array,
				json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I}", "name", queue->peer->name, "heard",
					(json_int_t)(queue->done + queue->dead_count + queue->redriven +
						queue->pending),
					"done", (json_int_t)queue->done, "dead", (json_int_t)queue->dead_count,
					"redriven", (json_int_t)queue->redriven, "pending", (json_int_t)queue->pending,
					"before", (json_int_t)queue->before));
	}
	return array;
}

static void free_dead(struct bytes key, void *value, void *context)
{
	struct dead *dead = value;

	(void)key;
	(void)context;
	buffer_free(&dead->message);
	free(dead);
}

static void free_value(struct bytes key, void *value, void *context)
{
	(void)key;
	(void)context;
	free(value);
}

void verify_queues_free(struct verify *verify)
{
	for (int i = 0; verify->queues && i < verify->topology->peer_count; i++) {
		struct verify_queue *queue = verify->queues[i];

		if (!queue)
			continue;
		map_each(queue->dead, free_dead, NULL);
		map_free(queue->dead);
		map_each(queue->retries, free_value, NULL);
		map_free(queue->retries);
		free(queue->since);
		free(queue);
	}
	free(verify->queues);
}
