/*
 * erase_log.c: a block written anew without some of its messages
 *
 * Promises:  numbers, times, topics, classes and sayers stay as they were, and so do all other messages, byte for byte. Of an erased
 *            one an envelope stays that names no key; its flag in the column tells everybody to pass over it. Column and frames go
 *            into one batch. Done twice, it is done once.
 * Read next: erase.c (when), block.c (the records)
 */
#include "bus/base/text.h"
#include "bus/broker/log/log_state.h"
#include "bus/wire/message.h"
#include <errno.h>

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

/* One message of the copy; 1: it is erased there. */
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
