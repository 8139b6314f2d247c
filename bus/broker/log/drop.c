/*
 * drop.c: removes old messages from the log, in whole frames of one retention class, and erased ones one by
 * one
 *
 * Owns:      the rows kept/<class> of family meta.
 * Promises:  a dropped message stays dropped: the number from which the log keeps a class is on the disk
 *            before a frame below it goes. The columns stay, so numbers stay unbroken and nothing is
 *            renumbered.
 * Read next: retain.c (when, and what must stay)
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "bus/broker/log/log_state.h"
#include "bus/wire/message.h"
#include <errno.h>
#include <stdio.h>

DEFINE_CLEANUP(struct store_batch *, store_batch_free)
DEFINE_CLEANUP(struct store_cursor *, store_cursor_free)

enum { NAME_MAX_BYTES = 16 };

static struct bytes row_name(uint8_t retention, char ret[NAME_MAX_BYTES])
{
	snprintf(ret, NAME_MAX_BYTES, "kept/%u", (unsigned)retention);
	return bytes_of(ret);
}

int drop_open(struct log *log)
{
	for (uint8_t i = 0; i < RETENTION_CLASSES; i++) {
		_cleanup_(buffer_free) struct buffer value = { 0 };
		char name[NAME_MAX_BYTES];
		int r = store_get(log->store, FAMILY_META, row_name(i, name), &value);

		if (r < 0 && r != -ENOENT)
			return r;
		log->kept_from[i] = r == 0 && value.len == 8 ? get_be64(value.data) : 1;
	}
	return 0;
}

uint64_t log_kept_from(const struct log *log, uint8_t retention)
{
	return log->kept_from[retention];
}

int64_t log_kept_from_us(struct log *log, uint8_t retention)
{
	struct block *block;

	if (log->kept_from[retention] <= 1)
		return 0;
	if (log->kept_from[retention] > log->head)
		return log->time_us;
	return log_find_block(log, log->kept_from[retention], &block) == 0 ? block->time_us : 0;
}

/* Finds the block at or before a number, by its column alone, without touching the cached blocks. */
static int look_at(struct store_cursor *cursor, uint64_t seq, struct block **ret)
{
	uint8_t key[8];

	put_be64(key, seq);
	if (!store_cursor_seek_before(cursor, BYTES(key, sizeof(key))))
		return store_cursor_status(cursor) < 0 ? store_cursor_status(cursor) : -ENOENT;
	return block_parse(store_cursor_key(cursor), store_cursor_value(cursor), ret);
}

/* Log time never goes backwards, so a binary search finds it. */
int log_seek_time(struct log *log, int64_t us, uint64_t *ret_seq)
{
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(log->store, FAMILY_COLUMN);
	uint64_t low = 1, high = log->head + 1;

	while (low < high) {
		struct block *block;
		int r = look_at(cursor, low + (high - low) / 2, &block);

		if (r < 0)
			return r;
		if (block->time_us < us)
			low = block_last(block) + 1;
		else
			high = block->first;
		block_free(block);
	}
	*ret_seq = low;
	return 0;
}

int log_seek_size(struct log *log, uint8_t retention, uint64_t bytes, uint64_t *ret_seq)
{
	uint64_t low = log->kept_from[retention], high = log->head + 1;
	uint8_t from[8], to[8];

	put_be64(to, high);
	while (low < high) {
		uint64_t middle = low + (high - low) / 2, size = 0;
		int r;

		put_be64(from, middle);
		r = store_size(log->store, FAMILY_RAW + retention, BYTES(from, 8), BYTES(to, 8), &size);
		if (r < 0)
			return r;
		if (size > bytes)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_seq = low;
	return 0;
}

static int write_kept(struct log *log, uint8_t retention, uint64_t from)
{
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(log->store);
	char name[NAME_MAX_BYTES];
	uint8_t value[8];

	put_be64(value, from);
	store_batch_put(batch, FAMILY_META, row_name(retention, name), BYTES(value, sizeof(value)));
	return store_commit(log->store, batch, true);
}

int log_drop(struct log *log, uint8_t retention, uint64_t before)
{
	struct block *block;
	uint8_t from[8], to[8];
	int r = 0;

	if (before <= log->head) {
		r = log_find_block(log, before, &block);
		if (r == 0)
			before = block->first;
	}
	if (r < 0 || before <= log->kept_from[retention])
		return r;
	r = write_kept(log, retention, before);
	if (r < 0)
		return r;
	put_be64(from, log->kept_from[retention]);
	put_be64(to, before);
	log->kept_from[retention] = before;
	return store_delete_range(log->store, FAMILY_RAW + retention, BYTES(from, 8), BYTES(to, 8));
}

/*
 * A block written anew without some of its messages
 *
 * Promises:  numbers, times, topics, classes and senders stay as they were, and so do all other messages,
 *            byte for byte. Of an erased message an envelope without key stays; its flag in the column tells
 *            every reader to pass over it. Column and frames go into one batch. A second rewrite changes
 *            nothing.
 */

int message_erase(struct bytes message, bool with_idem, struct buffer *ret)
{
	Envelope envelope;
	struct bytes payload;
	int r = message_read(message, &envelope, &payload);

	if (r < 0)
		return -EUCLEAN;
	envelope.key[0] = '\0';
	envelope.trace[0] = '\0';
	if (with_idem)
		envelope.idem[0] = '\0';
	return message_write(&envelope, BYTES(NULL, 0), ret);
}

int log_look(struct log *log, uint64_t seq, struct logged *ret)
{
	struct block *block;
	int r = log_find_block(log, seq, &block);

	if (r == 0)
		log_describe(log, block, (uint32_t)(seq - block->first), ret);
	return r;
}

uint64_t log_block_first(struct log *log, uint64_t seq)
{
	struct block *block;

	return log_find_block(log, seq, &block) == 0 ? block->first : seq;
}

static bool is_kept(const struct log *log, const struct block *block, uint32_t i)
{
	return block->first + i >= log->kept_from[block->entries[i].retention];
}

static int load(struct log *log, struct block *block)
{
	int r = 0;

	for (uint32_t i = 0; i < block->count && r == 0; i++)
		if (is_kept(log, block, i))
			r = block_load(block, log->store, block->entries[i].retention);
	return r;
}

/* Copies one message; 1: it is erased in the copy. */
static int copy_one(
	const struct log *log, const struct block *block, uint32_t i, struct picked picked, struct block *copy)
{
	struct block_entry entry = block->entries[i];
	struct buffer erased = { 0 };
	int r;

	if (entry.offset == BLOCK_ABSENT || !is_kept(log, block, i)) {
		block_add_absent(copy, &entry);
		return 0;
	}
	if (!picked.erase || entry.flags & FLAG_ERASED) {
		block_add(copy, &entry, block_message(block, &entry));
		return 0;
	}
	r = message_erase(block_message(block, &entry), picked.with_idem, &erased);
	entry.flags |= FLAG_ERASED;
	if (r == 0)
		block_add(copy, &entry, buffer_bytes(&erased));
	buffer_free(&erased);
	return r < 0 ? r : 1;
}

static int copy_all(
	const struct log *log, const struct block *block, picked_fn *picked, void *context, struct block *copy)
{
	int erased = 0, r = 0;

	copy->time_us = block->time_us;
	for (uint32_t i = 0; i < block->count && r >= 0; i++) {
		struct picked what = { 0 };
		struct logged logged;

		log_describe(log, block, i, &logged);
		if (logged.message.data && is_kept(log, block, i) && !(logged.flags & FLAG_ERASED))
			what = picked(&logged, context);
		r = copy_one(log, block, i, what, copy);
		erased += r > 0;
	}
	return r < 0 ? r : erased;
}

int log_erase(struct log *log, uint64_t seq, picked_fn *picked, void *context, struct store_batch *batch,
	struct block **ret_block, uint64_t *ret_last)
{
	struct block *block, *copy;
	int r = log_find_block(log, seq, &block);

	*ret_block = NULL;
	if (r < 0)
		return r;
	*ret_last = block_last(block);
	r = load(log, block);
	if (r < 0)
		return r;
	copy = block_new(block->first);
	r = copy_all(log, block, picked, context, copy);
	if (r <= 0) {
		block_free(copy);
		return r;
	}
	block_write(copy, batch);
	*ret_block = copy;
	return 0;
}

void log_erased(struct log *log, struct block *block)
{
	for (uint32_t i = 0; i < LOADED_BLOCKS; i++)
		if (log->loaded[i] && log->loaded[i]->first == block->first) {
			block_free(log->loaded[i]);
			log->loaded[i] = NULL;
		}
	for (uint32_t i = 0; i < log->ring_count; i++) {
		struct block **at = &log->ring[(log->ring_first + i) % RING_BLOCKS];

		if ((*at)->first != block->first)
			continue;
		log->ring_bytes -= block_bytes(*at);
		log->ring_bytes += block_bytes(block);
		block_free(*at);
		*at = block;
		return;
	}
	block_free(block);
}
