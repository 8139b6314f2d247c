/*
 * erase_rows.c: the rows of an erasure on the disk
 *
 * Owns:      rows of family meta: "erase/" and a number: the messages to erase; "erasing": the erasure has
 *            begun; "erased/" and a topic: a service's store that stopped before this message may still hold
 *            content that was erased.
 * Promises:  an erasure that has begun goes on after any end of the process.
 * Read next: erase.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/broker/admin/erase.h"
#include <errno.h>

enum { CHUNK = 4096 /* messages of one row */, ENTRY_LEN = 9 };

static const char CHUNKS[] = "erase/", ERASING[] = "erasing", BOUNDARY[] = "erased/";

static void chunk_key(uint64_t number, struct buffer *ret)
{
	buffer_clear(ret);
	buffer_add(ret, CHUNKS, sizeof(CHUNKS) - 1);
	buffer_add_be64(ret, number);
}

void erase_rows_write(struct broker *broker, const struct erasing *erasing)
{
	_cleanup_(buffer_free) struct buffer key = { 0 }, value = { 0 };

	for (size_t i = 0; i < erasing->count;) {
		uint64_t number = i / CHUNK;

		buffer_clear(&value);
		for (; i < erasing->count && i / CHUNK == number; i++) {
			uint8_t with_idem = erasing->entries[i].with_idem;

			buffer_add_be64(&value, erasing->entries[i].seq);
			buffer_add(&value, &with_idem, 1);
		}
		chunk_key(number, &key);
		store_batch_put(broker->batch, FAMILY_META, buffer_bytes(&key), buffer_bytes(&value));
	}
	store_batch_put(broker->batch, FAMILY_META, bytes_of(ERASING), bytes_of("1"));
}

void erase_rows_delete(struct broker *broker, const struct erasing *erasing)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };

	for (uint64_t number = 0; number * CHUNK < erasing->count; number++) {
		chunk_key(number, &key);
		store_batch_delete(broker->batch, FAMILY_META, buffer_bytes(&key));
	}
	store_batch_delete(broker->batch, FAMILY_META, bytes_of(ERASING));
}

static void boundary_key(const struct broker *broker, int topic, struct buffer *ret)
{
	buffer_clear(ret);
	buffer_add(ret, BOUNDARY, sizeof(BOUNDARY) - 1);
	buffer_add_be64(ret, log_topic_id(broker->log, topic));
}

void erase_rows_bound(struct broker *broker, int topic, uint64_t boundary)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	uint8_t value[8];

	broker->erasure->before[topic] = boundary;
	put_be64(value, boundary);
	boundary_key(broker, topic, &key);
	store_batch_put(broker->batch, FAMILY_META, buffer_bytes(&key), BYTES(value, sizeof(value)));
}

static int read_boundaries(struct broker *broker)
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	int r = 0;

	for (int i = 0; i < broker->topology.topic_count && (r == 0 || r == -ENOENT); i++) {
		_cleanup_(buffer_free) struct buffer value = { 0 };

		boundary_key(broker, i, &key);
		r = store_get(broker->store, FAMILY_META, buffer_bytes(&key), &value);
		if (r == 0 && value.len != 8)
			r = -EUCLEAN;
		if (r == 0)
			broker->erasure->before[i] = get_be64(value.data);
	}
	return r == -ENOENT ? 0 : r;
}

static int read_chunk(struct erasing *erasing, struct bytes value)
{
	const uint8_t *at = value.data;

	if (value.len % ENTRY_LEN != 0)
		return -EUCLEAN;
	for (size_t i = 0; i < value.len; i += ENTRY_LEN)
		erase_add_entry(erasing, get_be64(at + i), at[i + 8]);
	return 0;
}

static int read_chunks(struct broker *broker, struct erasing *erasing)
{
	struct store_cursor *cursor = store_cursor_new(broker->store, FAMILY_META);
	const size_t prefix = sizeof(CHUNKS) - 1;
	int r = 0;

	for (bool more = store_cursor_seek(cursor, bytes_of(CHUNKS)); more && r == 0;
		more = store_cursor_next(cursor)) {
		struct bytes key = store_cursor_key(cursor);

		if (key.len != prefix + 8 || memcmp(key.data, CHUNKS, prefix) != 0)
			break;
		r = read_chunk(erasing, store_cursor_value(cursor));
	}
	r = r ? r : store_cursor_status(cursor);
	store_cursor_free(cursor);
	return r;
}

int erase_open(struct broker *broker)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };
	int r = read_boundaries(broker);

	if (r < 0)
		return r;
	r = store_get(broker->store, FAMILY_META, bytes_of(ERASING), &value);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	broker->erasure->erasing = memory_new(sizeof(struct erasing));
	broker->erasure->erasing->phase = ERASE_SETTLING;
	broker->erasure->erasing->is_resumed = true;
	return read_chunks(broker, broker->erasure->erasing);
}
