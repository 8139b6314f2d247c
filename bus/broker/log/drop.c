/*
 * drop.c: how the log lets go of what is old: whole frames of one retention class
 *
 * Owns:      the rows kept/<class> of family meta.
 * Promises:  what was dropped stays dropped: the number a class is kept from is on the disk before a frame of it goes. The columns
 *            stay, so numbers stay unbroken and nothing is renumbered.
 * Read next: retain.c (when, and what must stay)
 */
#include "bus/base/cleanup.h"
#include "bus/broker/log/log_state.h"
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

/* The block at or before a number, by its column alone, and without disturbing the blocks that were read back. */
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
