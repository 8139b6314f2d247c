/*
 * damages.c: each way a log can be damaged that verifying it tells, planted behind the broker's back
 */
#include "damages.h"
#include "bus/broker/log/block.h"
#include "bus/broker/queue/queue.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void put(struct desk *desk, int family, struct bytes key, struct bytes value)
{
	struct store_batch *batch = store_batch_new(desk->store);

	store_batch_put(batch, family, key, value);
	assert_int_equal(store_commit(desk->store, batch, true), 0);
	store_batch_free(batch);
}

static void erase(struct desk *desk, int family, struct bytes key)
{
	struct store_batch *batch = store_batch_new(desk->store);

	store_batch_delete(batch, family, key);
	assert_int_equal(store_commit(desk->store, batch, true), 0);
	store_batch_free(batch);
}

static void put_number(struct desk *desk, int family, struct bytes key, uint64_t value)
{
	uint8_t bytes[8];

	put_be64(bytes, value);
	put(desk, family, key, BYTES(bytes, 8));
}

/* A byte of a row is another: at `at`, or counted from its end. */
static void flip(struct desk *desk, int family, struct bytes key, int at)
{
	struct buffer value = { 0 };

	assert_int_equal(store_get(desk->store, family, key, &value), 0);
	value.data[at < 0 ? (int)value.len + at : at] ^= 1;
	put(desk, family, key, buffer_bytes(&value));
	buffer_free(&value);
}

static struct bytes first_key(struct desk *desk, int family, struct buffer *ret)
{
	struct store_cursor *cursor = store_cursor_new(desk->store, family);

	assert_true(store_cursor_seek(cursor, BYTES("", 0)));
	buffer_add(ret, store_cursor_key(cursor).data, store_cursor_key(cursor).len);
	store_cursor_free(cursor);
	return buffer_bytes(ret);
}

static struct bytes seq_key(uint64_t seq)
{
	static uint8_t key[8];

	put_be64(key, seq);
	return BYTES(key, 8);
}

static struct bytes queue_key(struct desk *desk, char kind, uint64_t at)
{
	static struct buffer key;
	const struct topology_peer *peer = &desk->topology.peers[topology_peer(&desk->topology, "worker")];

	queue_row_key(&(struct queue){ .peer = peer }, kind, at, &key);
	return buffer_bytes(&key);
}

static struct bytes letter_key(uint64_t seq)
{
	static uint8_t key[15] = "worker";

	put_be64(key + 7, seq);
	return BYTES(key, sizeof(key));
}

static void copy_row(struct desk *desk, int family, struct bytes from, struct bytes to)
{
	struct buffer key = { 0 }, value = { 0 };

	buffer_add(&key, to.data, to.len);
	assert_int_equal(store_get(desk->store, family, from, &value), 0);
	put(desk, family, buffer_bytes(&key), buffer_bytes(&value));
	buffer_free(&key);
	buffer_free(&value);
}

static struct block *read_block(struct desk *desk, uint64_t seq)
{
	struct buffer column = { 0 };
	struct block *block;

	assert_int_equal(store_get(desk->store, FAMILY_COLUMN, seq_key(seq), &column), 0);
	assert_int_equal(block_parse(seq_key(seq), buffer_bytes(&column), &block), 0);
	for (uint8_t i = 0; i < RETENTION_CLASSES; i++)
		if (block->entries[0].retention == i)
			assert_int_equal(block_load(block, desk->store, i), 0);
	buffer_free(&column);
	return block;
}

static uint16_t read_topic_id(struct desk *desk, uint64_t seq)
{
	struct block *block = read_block(desk, seq);
	uint16_t id = block->entries[0].topic_id;

	block_free(block);
	return id;
}

/* With right checksums: as a bug would write it. */
static void write_block(struct desk *desk, struct block *block)
{
	struct store_batch *batch = store_batch_new(desk->store);

	block_write(block, batch);
	assert_int_equal(store_commit(desk->store, batch, true), 0);
	store_batch_free(batch);
	block_free(block);
}

static void settle(struct desk *desk, uint64_t seq)
{
	struct buffer row = { 0 };

	if (store_get(desk->store, FAMILY_QUEUE, queue_key(desk, 'a', 0), &row) < 0)
		memset(buffer_grow(&row, ACKS_PER_ROW / 8), 0, ACKS_PER_ROW / 8);
	row.len = ACKS_PER_ROW / 8;
	row.data[seq / 8] ^= (uint8_t)(1 << (seq % 8));
	put(desk, FAMILY_QUEUE, queue_key(desk, 'a', 0), buffer_bytes(&row));
	buffer_free(&row);
}

static void no_identity(struct desk *desk)
{
	erase(desk, FAMILY_META, bytes_of("log"));
}

static void no_format(struct desk *desk)
{
	erase(desk, FAMILY_META, bytes_of("format"));
}

static void odd_head(struct desk *desk)
{
	put(desk, FAMILY_META, bytes_of("head"), bytes_of("8"));
}

static void head_too_high(struct desk *desk)
{
	put_number(desk, FAMILY_META, bytes_of("head"), HEAD + 2);
}

static void head_too_low(struct desk *desk)
{
	put_number(desk, FAMILY_META, bytes_of("head"), HEAD - 1);
}

static void folded_too_far(struct desk *desk)
{
	put_number(desk, FAMILY_META, bytes_of("folded"), HEAD + 1);
}

static void forgotten_damaged(struct desk *desk)
{
	put(desk, FAMILY_META, bytes_of(LATEST_FORGOTTEN), bytes_of("?"));
}

static void topic_name(struct desk *desk)
{
	static const uint8_t key[14] = "topic/\0\0\0\0\0\0\xff\xff";

	put(desk, FAMILY_META, BYTES(key, sizeof(key)), bytes_of("far"));
}

static void hole(struct desk *desk)
{
	erase(desk, FAMILY_COLUMN, seq_key(DEAD));
}

static void column_flipped(struct desk *desk)
{
	flip(desk, FAMILY_COLUMN, seq_key(FACT), -1);
}

static void frame_gone(struct desk *desk)
{
	erase(desk, FAMILY_FACT, seq_key(FACT));
}

static void frame_flipped(struct desk *desk)
{
	flip(desk, FAMILY_FACT, seq_key(FACT), -1);
}

static void frame_of_nobody(struct desk *desk)
{
	uint8_t beyond[8];

	put_be64(beyond, HEAD + 5);
	copy_row(desk, FAMILY_FACT, seq_key(FACT), BYTES(beyond, 8));
}

static void time_backwards(struct desk *desk)
{
	struct block *block = read_block(desk, FACT);

	block->time_us -= US_PER_DAY;
	write_block(desk, block);
}

static void garbled_envelope(struct desk *desk)
{
	struct block *block = read_block(desk, FACT), *other = block_new(FACT);

	other->time_us = block->time_us;
	block_add(other, &block->entries[0], bytes_of("?"));
	block_free(block);
	write_block(desk, other);
}

static void other_key(struct desk *desk)
{
	struct block *block = read_block(desk, FACT);

	block->entries[0].key_hash++;
	write_block(desk, block);
}

static void other_topic(struct desk *desk)
{
	struct block *block = read_block(desk, FACT), *claim = read_block(desk, ROW);

	block->entries[0].topic_id = claim->entries[0].topic_id;
	block_free(claim);
	write_block(desk, block);
}

static void forgotten_key(struct desk *desk)
{
	struct buffer key = { 0 };

	erase(desk, FAMILY_IDEM, first_key(desk, FAMILY_IDEM, &key));
	buffer_free(&key);
}

static void key_of_other_bytes(struct desk *desk)
{
	struct buffer key = { 0 };

	flip(desk, FAMILY_IDEM, first_key(desk, FAMILY_IDEM, &key), 23);
	buffer_free(&key);
}

static void key_of_another_kind(struct desk *desk)
{
	struct buffer key = { 0 };

	flip(desk, FAMILY_IDEM, first_key(desk, FAMILY_IDEM, &key), 24);
	buffer_free(&key);
}

static void key_of_a_later_message(struct desk *desk)
{
	struct buffer key = { 0 };

	flip(desk, FAMILY_IDEM, first_key(desk, FAMILY_IDEM, &key), 6); /* + 256 */
	buffer_free(&key);
}

static void key_said_before(struct desk *desk)
{
	struct buffer key = { 0 }, value = { 0 };

	/* the last one is the claim's */
	struct store_cursor *cursor = store_cursor_new(desk->store, FAMILY_IDEM);
	assert_true(store_cursor_last(cursor));
	buffer_add(&key, store_cursor_key(cursor).data, store_cursor_key(cursor).len);
	buffer_add(&value, store_cursor_value(cursor).data, store_cursor_value(cursor).len);
	store_cursor_free(cursor);
	put_be64(value.data, get_be64(value.data) - 1);
	put(desk, FAMILY_IDEM, buffer_bytes(&key), buffer_bytes(&value));
	buffer_free(&key);
	buffer_free(&value);
}

static void key_of_nobody(struct desk *desk)
{
	struct buffer key = { 0 }, other = { 0 };

	first_key(desk, FAMILY_IDEM, &key);
	buffer_add(&other, key.data, key.len);
	buffer_add(&other, "x", 1);
	copy_row(desk, FAMILY_IDEM, buffer_bytes(&key), buffer_bytes(&other));
	buffer_free(&key);
	buffer_free(&other);
}

/* Of the broker's own topic, which has the number 0 in every topology. */
static void key_of_nobody_of_the_brokers_topic(struct desk *desk)
{
	struct buffer key = { 0 }, other = { 0 };
	uint16_t first = read_topic_id(desk, DEAD_TOLD);

	first_key(desk, FAMILY_IDEM, &key);
	buffer_add(&other, key.data, key.len);
	other.data[0] = (uint8_t)first; /* little endian */
	other.data[1] = (uint8_t)(first >> 8);
	copy_row(desk, FAMILY_IDEM, buffer_bytes(&key), buffer_bytes(&other));
	buffer_free(&key);
	buffer_free(&other);
}

static void short_key(struct desk *desk)
{
	struct buffer key = { 0 };

	put(desk, FAMILY_IDEM, first_key(desk, FAMILY_IDEM, &key), bytes_of("?"));
	buffer_free(&key);
}

static void no_row(struct desk *desk)
{
	struct buffer key = { 0 };

	erase(desk, FAMILY_LATEST, first_key(desk, FAMILY_LATEST, &key));
	buffer_free(&key);
}

static void row_of_an_older_version(struct desk *desk)
{
	struct buffer key = { 0 };

	flip(desk, FAMILY_LATEST, first_key(desk, FAMILY_LATEST, &key), 15);
	buffer_free(&key);
}

static void row_of_other_bytes(struct desk *desk)
{
	struct buffer key = { 0 };

	flip(desk, FAMILY_LATEST, first_key(desk, FAMILY_LATEST, &key), -1);
	buffer_free(&key);
}

static void row_of_nobody(struct desk *desk)
{
	struct buffer key = { 0 }, other = { 0 };

	first_key(desk, FAMILY_LATEST, &key);
	buffer_add(&other, key.data, key.len);
	buffer_add(&other, "x", 1);
	copy_row(desk, FAMILY_LATEST, buffer_bytes(&key), buffer_bytes(&other));
	buffer_free(&key);
	buffer_free(&other);
}

static void floor_too_high(struct desk *desk)
{
	put_number(desk, FAMILY_QUEUE, queue_key(desk, 'f', 0), HEAD + 1);
}

static void floor_damaged(struct desk *desk)
{
	put(desk, FAMILY_QUEUE, queue_key(desk, 'f', 0), bytes_of("?"));
}

static void ack_bitmap_damaged(struct desk *desk)
{
	put(desk, FAMILY_QUEUE, queue_key(desk, 'a', 0), bytes_of("?"));
}

static void settled_beyond_the_head(struct desk *desk)
{
	settle(desk, HEAD + 3);
}

static void settled_and_never_heard(struct desk *desk)
{
	settle(desk, FACT);
}

static void dead_and_pending(struct desk *desk)
{
	put_number(desk, FAMILY_QUEUE, queue_key(desk, 'f', 0), DEAD - 1);
}

static void done_and_failing(struct desk *desk)
{
	settle(desk, FAILED);
}

static void failures_damaged(struct desk *desk)
{
	put(desk, FAMILY_QUEUE, queue_key(desk, 'x', FAILED), bytes_of("\xff\xff"));
}

static void failures_of_nothing(struct desk *desk)
{
	struct buffer value = { 0 };

	assert_int_equal(store_get(desk->store, FAMILY_QUEUE, queue_key(desk, 'x', FAILED), &value), 0);
	put(desk, FAMILY_QUEUE, queue_key(desk, 'x', HEAD + 7), buffer_bytes(&value));
	buffer_free(&value);
}

static void letter_damaged(struct desk *desk)
{
	put(desk, FAMILY_DEAD, letter_key(DEAD), bytes_of("?"));
}

static void letter_of_other_bytes(struct desk *desk)
{
	flip(desk, FAMILY_DEAD, letter_key(DEAD), -1);
}

static void letter_of_nothing(struct desk *desk)
{
	struct buffer value = { 0 };

	assert_int_equal(store_get(desk->store, FAMILY_DEAD, letter_key(DEAD), &value), 0);
	put(desk, FAMILY_DEAD, letter_key(HEAD + 9), buffer_bytes(&value));
	buffer_free(&value);
}

static void dropped_while_pending(struct desk *desk)
{
	put_number(desk, FAMILY_META, bytes_of("kept/1"), FACT);
}

const struct damage damages[] = {
	{ no_identity, 0, "the log's log is not written down" },
	{ no_format, 0, "the log's format is not written down" },
	{ odd_head, 0, "the log's head is no number" },
	{ head_too_high, HEAD + 1, "messages 9 to 10 are missing" },
	{ head_too_low, HEAD, "it lies behind the head" },
	{ folded_too_far, HEAD + 1, "ahead of the head" },
	{ forgotten_damaged, 0, "the log's latest-forgotten is damaged" },
	{ topic_name, 0, "the name of topic number 65535 is damaged" },
	{ hole, DEAD, "messages 2 to 2 are missing" },
	{ column_flipped, FACT, "a column record is damaged" },
	{ frame_gone, FACT, "a frame of messages 6 to 6 is missing" },
	{ frame_flipped, FACT, "a frame of messages 6 to 6 is damaged" },
	{ frame_of_nobody, 0, "1 frames belong to no commit" },
	{ time_backwards, FACT, "its time lies before" },
	{ garbled_envelope, FACT, "its envelope does not add up" },
	{ other_key, FACT, "its column says another key" },
	{ other_topic, FACT, "its column names another topic" },
	{ forgotten_key, DONE, "its idempotency key is not known" },
	{ key_of_other_bytes, DONE, "its idempotency key belongs to other bytes" },
	{ key_of_another_kind, DONE, "its idempotency key is kept as if it were a claim" },
	{ key_of_a_later_message, 257, "names it, and the log ends at message 8" },
	{ key_said_before, CLAIM, "it was said again under the key of message 6" },
	{ key_of_nobody, 0, "an idempotency key (1 of them) is of no message" },
	{ key_of_nobody_of_the_brokers_topic, 0, "an idempotency key (1 of them) is of no message" },
	{ short_key, 0, "an idempotency key is damaged" },
	{ no_row, ROW, "the compacted row of its key is missing" },
	{ row_of_an_older_version, ROW, "the compacted row of its key is older" },
	{ row_of_other_bytes, ROW, "its compacted row holds other bytes" },
	{ row_of_nobody, 0, "a compacted row (1 of them) is of no message" },
	{ floor_too_high, HEAD + 1, "is settled up to it, and the log ends" },
	{ floor_damaged, 0, "the floor of queue worker is damaged" },
	{ ack_bitmap_damaged, 0, "a row of acknowledgements of queue worker is damaged" },
	{ settled_beyond_the_head, HEAD + 3, "queue worker has settled it, and the log ends" },
	{ settled_and_never_heard, FACT, "queue worker has settled it and does not hear it" },
	{ dead_and_pending, DEAD, "it is pending in queue worker and among its dead letters" },
	{ done_and_failing, FAILED, "queue worker is done with it and still counts its failures" },
	{ failures_damaged, FAILED, "its failures in queue worker are damaged" },
	{ failures_of_nothing, HEAD + 7, "queue worker counts failures of it and does not hear it" },
	{ letter_damaged, DEAD, "its dead letter of queue worker is damaged" },
	{ letter_of_other_bytes, DEAD, "its dead letter of queue worker holds other bytes" },
	{ letter_of_nothing, HEAD + 9, "a dead letter of queue worker is of no message of this log" },
	{ dropped_while_pending, LEASED, "it is pending in queue worker and has been dropped" },
};

const size_t damage_count = sizeof(damages) / sizeof(damages[0]);
