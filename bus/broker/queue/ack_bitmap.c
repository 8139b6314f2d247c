/*
 * ack_bitmap.c: the messages that a queue has settled: all up to the floor, and above it a bit each, in rows
 * of 4,096
 *
 * Owns:      the rows (queue, 'a', number / 4096) of family queue, and (queue, 'f', 0): the floor.
 * Promises:  each change is written with the commit that caused it: the floor, 8 bytes, where that is enough;
 *            else the row, 512. A row is deleted only in the batch that writes a floor above it.
 * Read next: queue.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/broker/queue/queue.h"
#include <errno.h>
#include <stdlib.h>

enum { ACKS_BYTES = ACKS_PER_ROW / 8 };

struct ack_bitmap {
	uint64_t row;
	bool dirty;
	uint8_t bits[ACKS_BYTES];
};

void queue_row_key(const struct queue *queue, char kind, uint64_t number, struct buffer *ret)
{
	buffer_clear(ret);
	buffer_add(ret, queue->peer->name, strlen(queue->peer->name) + 1);
	buffer_add(ret, &kind, 1);
	buffer_add_be64(ret, number);
}

/* Finds the bitmap of a row: nearly always the one that was looked for last. */
static struct ack_bitmap *find(struct queue *queue, uint64_t row)
{
	struct ack_bitmap *ack_bitmaps = queue->ack_bitmap_last;

	if (!ack_bitmaps || ack_bitmaps->row != row)
		ack_bitmaps = map_get(queue->ack_bitmaps, map_number(&row));
	if (ack_bitmaps)
		queue->ack_bitmap_last = ack_bitmaps;
	return ack_bitmaps;
}

bool ack_bitmap_has(struct queue *queue, uint64_t seq)
{
	uint64_t row = seq / ACKS_PER_ROW, bit = seq % ACKS_PER_ROW;
	const struct ack_bitmap *ack_bitmaps;

	if (seq <= queue->floor)
		return true;
	ack_bitmaps = find(queue, row);
	return ack_bitmaps && (ack_bitmaps->bits[bit / 8] >> (bit % 8) & 1);
}

void ack_bitmap_set(struct queue *queue, uint64_t seq)
{
	uint64_t row = seq / ACKS_PER_ROW, bit = seq % ACKS_PER_ROW;
	struct ack_bitmap *ack_bitmaps = find(queue, row);

	if (!ack_bitmaps) {
		ack_bitmaps = memory_new(sizeof(*ack_bitmaps));
		ack_bitmaps->row = row;
		map_put(queue->ack_bitmaps, map_number(&row), ack_bitmaps);
	}
	ack_bitmaps->bits[bit / 8] |= (uint8_t)(1 << (bit % 8));
	ack_bitmaps->dirty = true;
}

static int read_floor(struct broker *broker, struct queue *queue, struct buffer *key)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };
	int r;

	queue_row_key(queue, 'f', 0, key);
	r = store_get(broker->store, FAMILY_QUEUE, buffer_bytes(key), &value);
	if (r == -ENOENT)
		return -ENOENT;
	if (r < 0 || value.len != 8)
		return r < 0 ? r : -EUCLEAN;
	queue->floor = queue->floor_written = get_be64(value.data);
	return 0;
}

static int read_rows(struct broker *broker, struct queue *queue, struct buffer *key)
{
	struct store_cursor *cursor = store_cursor_new(broker->store, FAMILY_QUEUE);
	size_t prefix;
	bool more;
	int r = 0;

	queue_row_key(queue, 'a', 0, key);
	prefix = key->len - 8;
	for (more = store_cursor_seek(cursor, buffer_bytes(key)); more; more = store_cursor_next(cursor)) {
		struct bytes found = store_cursor_key(cursor), value = store_cursor_value(cursor);
		struct ack_bitmap *ack_bitmaps;

		if (found.len != key->len || memcmp(found.data, key->data, prefix) != 0)
			break;
		if (value.len != ACKS_BYTES) {
			r = -EUCLEAN;
			break;
		}
		ack_bitmaps = memory_new(sizeof(*ack_bitmaps));
		ack_bitmaps->row = get_be64((const uint8_t *)found.data + prefix);
		memcpy(ack_bitmaps->bits, value.data, ACKS_BYTES);
		map_put(queue->ack_bitmaps, map_number(&ack_bitmaps->row), ack_bitmaps);
	}
	if (r == 0)
		r = store_cursor_status(cursor);
	store_cursor_free(cursor);
	return r;
}

static void put_number(struct broker *broker, struct bytes key, uint64_t number)
{
	uint8_t value[8];

	put_be64(value, number);
	store_batch_put(broker->batch, FAMILY_QUEUE, key, BYTES(value, sizeof(value)));
}

/*
 * A new queue begins here, not at the start of the log: it must not decide on messages settled before it
 * existed.
 */
static void begin(struct broker *broker, struct queue *queue, struct buffer *key)
{
	queue->floor = queue->floor_written = log_head(broker->log);
	put_number(broker, buffer_bytes(key), queue->floor);
}

/* The same for a topic that an existing queue hears from now on. */
static int read_since(struct broker *broker, struct queue *queue, int topic, struct buffer *key)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };
	int r;

	queue_row_key(queue, 't', log_topic_id(broker->log, topic), key);
	r = store_get(broker->store, FAMILY_QUEUE, buffer_bytes(key), &value);
	if (r == 0 && value.len == 8) {
		queue->since_topic[topic] = get_be64(value.data);
	} else if (r == -ENOENT) {
		queue->since_topic[topic] = log_head(broker->log) + 1;
		put_number(broker, buffer_bytes(key), queue->since_topic[topic]);
		r = 0;
	}
	return r;
}

int ack_bitmap_open(struct broker *broker, struct queue *queue)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	int r = read_floor(broker, queue, &key);

	if (r == -ENOENT)
		begin(broker, queue, &key);
	else if (r < 0)
		return r;
	r = read_rows(broker, queue, &key);
	for (TOPIC_SET_EACH(i, &queue->peer->hears))
		if (r == 0)
			r = read_since(broker, queue, i, &key);
	return r;
}

struct writing {
	struct broker *broker;
	struct queue *queue;
	struct buffer key;
	bool changed;
};

static bool reaches_above(const struct ack_bitmap *ack_bitmaps, uint64_t floor)
{
	uint64_t first = ack_bitmaps->row * ACKS_PER_ROW, at = floor < first ? 0 : floor + 1 - first;

	for (; at < ACKS_PER_ROW && at % 8 != 0; at++)
		if (ack_bitmaps->bits[at / 8] >> (at % 8) & 1)
			return true;
	for (size_t byte = at / 8; byte < ACKS_BYTES; byte++)
		if (ack_bitmaps->bits[byte] != 0)
			return true;
	return false;
}

static void write_row(struct bytes number, void *value, void *context)
{
	struct writing *writing = context;
	struct ack_bitmap *ack_bitmaps = value;
	bool below = (ack_bitmaps->row + 1) * ACKS_PER_ROW <= writing->queue->floor;

	(void)number;
	if (!below && !ack_bitmaps->dirty)
		return;
	queue_row_key(writing->queue, 'a', ack_bitmaps->row, &writing->key);
	if (below) {
		uint64_t row = ack_bitmaps->row;

		store_batch_delete(writing->broker->batch, FAMILY_QUEUE, buffer_bytes(&writing->key));
		writing->queue->ack_bitmap_last = NULL;
		free(map_remove(writing->queue->ack_bitmaps, map_number(&row)));
		return;
	}
	if (reaches_above(ack_bitmaps, writing->queue->floor))
		store_batch_put(writing->broker->batch, FAMILY_QUEUE, buffer_bytes(&writing->key),
			BYTES(ack_bitmaps->bits, sizeof(ack_bitmaps->bits)));
	ack_bitmaps->dirty = false;
	writing->changed = true;
}

void ack_bitmap_write(struct broker *broker, struct queue *queue)
{
	struct writing writing = { .broker = broker, .queue = queue };

	map_each(queue->ack_bitmaps, write_row, &writing);
	if (queue->floor != queue->floor_written &&
		(writing.changed || queue->floor / ACKS_PER_ROW != queue->floor_written / ACKS_PER_ROW)) {
		queue_row_key(queue, 'f', 0, &writing.key);
		put_number(broker, buffer_bytes(&writing.key), queue->floor);
		queue->floor_written = queue->floor;
	}
	buffer_free(&writing.key);
}

static void free_row(struct bytes number, void *value, void *context)
{
	(void)number;
	(void)context;
	free(value);
}

void ack_bitmap_free(struct queue *queue)
{
	map_each(queue->ack_bitmaps, free_row, NULL);
	map_free(queue->ack_bitmaps);
}
