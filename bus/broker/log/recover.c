/*
 * recover.c: the checks of a log at its opening
 *
 * Promises:  the head that is written down and the last frame agree, the tail is unbroken and every CRC in it
 *            is right; the tail is written and synced once more before anything refers to it, because after a
 *            failed sync the page cache may return data that never reached the disk.
 * Fails by:  -EUCLEAN with what, where and the remedy. It never shortens a log.
 * Read next: log.c
 */
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "bus/broker/broker.h"
#include "bus/broker/log/log_state.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The formats of a log. 1: the first. 2: each opening is written down (log_identity.c). 3: frames of a class may
 * have been dropped (drop.c). 4: a row of idem says whether its key is a claim's (idem.c). 5: the log says what it
 * has forgotten, and tombstones end every row that is at its end (retain.c); for older messages neither is known.
 * 6: a message may be erased (erase.c). The opening of an older log gives it this format; tests/fixtures holds one
 * of each but the first and the last.
 */
static const char FORMAT[] = "6";
static const char ENDS_FROM[] = "ends-from";
static const char *const FORMATS_OLDER[] = { "1", "2", "3", "4", "5" };

DEFINE_CLEANUP(struct store_batch *, store_batch_free)
DEFINE_CLEANUP(struct store_cursor *, store_cursor_free)

static int unclean(char why[512], const char *what, uint64_t where)
{
	snprintf(why, 512, "the log does not add up: %s at message %llu. " BROKER_REMEDY, what,
		(unsigned long long)where);
	return -EUCLEAN;
}

static uint64_t meta_number(struct log *log, const char *name)
{
	_cleanup_(buffer_free) struct buffer value = { 0 };

	if (store_get(log->store, FAMILY_META, bytes_of(name), &value) < 0 || value.len != 8)
		return 0;
	return get_be64(value.data);
}

static void put_meta_number(struct store_batch *batch, const char *name, uint64_t number)
{
	uint8_t value[8];

	put_be64(value, number);
	store_batch_put(batch, FAMILY_META, bytes_of(name), BYTES(value, sizeof(value)));
}

static bool is_older(struct bytes format)
{
	for (size_t i = 0; i < sizeof(FORMATS_OLDER) / sizeof(FORMATS_OLDER[0]); i++)
		if (bytes_equal(format, bytes_of(FORMATS_OLDER[i])))
			return true;
	return false;
}

static int read_meta(struct log *log, char why[512])
{
	_cleanup_(buffer_free) struct buffer format = { 0 };
	int r = store_get(log->store, FAMILY_META, bytes_of("format"), &format);

	if (r == -ENOENT) {
		text_random_name(log->id);
		return 0;
	}
	if (r < 0)
		return r;
	if (!is_older(buffer_bytes(&format)) && !bytes_equal(buffer_bytes(&format), bytes_of(FORMAT))) {
		snprintf(why, 512,
			"the log has format %.16s, this program (%s) reads up to format %s. Nothing was changed: use "
			"the version of cartbus that wrote it, or a newer one",
			buffer_text(&format), CARTBUS_VERSION, FORMAT);
		return -EUCLEAN;
	}
	r = log_identity_read(log, why);
	if (r == -ENOENT || (r == -EUCLEAN && why[0] == '\0'))
		return unclean(why, "its identity is missing", 0);
	if (r < 0)
		return r;
	log->head = meta_number(log, "head");
	log->boots = meta_number(log, "boots");
	log->ends_from = meta_number(log, ENDS_FROM);
	if (log->ends_from == 0 && is_older(buffer_bytes(&format)))
		log->ends_from = log->head + 1;
	return 0;
}

/* Checks one whole commit of the tail: its frames are read with their CRCs and written again. */
static int check_block(struct log *log, struct bytes key, struct bytes column, uint64_t last, struct store_batch *batch,
	uint64_t *ret_first, char why[512])
{
	struct block *block = NULL;
	int r = block_parse(key, column, &block);

	if (r < 0)
		return unclean(why, "a column record is damaged", last);
	if (block_last(block) != last)
		r = unclean(why, "messages are missing", last);
	for (uint32_t i = 0; r == 0 && i < block->count; i++)
		if (block->first + i >= log->kept_from[block->entries[i].retention])
			r = block_load(block, log->store, block->entries[i].retention);
	if (r == -ENOENT || (r == -EUCLEAN && why[0] == '\0'))
		r = unclean(why, "a frame is missing or damaged", block->first);
	if (r == 0) {
		block_write(block, batch);
		*ret_first = block->first;
		if (block->time_us > log->time_us)
			log->time_us = block->time_us;
	}
	block_free(block);
	return r;
}

static int check_tail(struct log *log, struct store_batch *batch, char why[512])
{
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(log->store, FAMILY_COLUMN);
	bool found = store_cursor_last(cursor);
	uint64_t last = log->head;

	if (store_cursor_status(cursor) < 0)
		return store_cursor_status(cursor);
	if (!found)
		return last == 0 ? 0 : unclean(why, "the log is empty but its head is not", last);
	if (last == 0)
		return unclean(why, "there are messages but no head", get_be64(store_cursor_key(cursor).data));
	for (int i = 0; i < TAIL_BLOCKS && found && last > 0; i++) {
		uint64_t first = 0;
		uint8_t before[8];
		int r = check_block(
			log, store_cursor_key(cursor), store_cursor_value(cursor), last, batch, &first, why);

		if (r < 0)
			return r;
		last = first - 1;
		put_be64(before, last);
		found = last > 0 && store_cursor_seek_before(cursor, BYTES(before, sizeof(before)));
	}
	if (!found && last > 0)
		return unclean(why, "messages are missing", last);
	return store_cursor_status(cursor);
}

int log_recover(struct log *log, char why[512])
{
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(log->store);
	int r;

	why[0] = '\0';
	r = read_meta(log, why);
	if (r == 0)
		r = drop_open(log);
	if (r == 0)
		r = check_tail(log, batch, why);
	if (r == 0)
		r = topic_ids_open(log, batch);
	if (r == -ENOSPC && why[0] == '\0')
		snprintf(why, 512,
			"the log has seen %d topics in its life. Their numbers have 16 bits, so it can tell no more of "
			"them apart: declare no new topics in topology.conf",
			TOPIC_ID_NONE);
	if (r == 0) {
		log_identity_open(log);
		store_batch_put(batch, FAMILY_META, bytes_of("format"), bytes_of(FORMAT));
		log_identity_write(log, batch);
		put_meta_number(batch, "head", log->head);
		put_meta_number(batch, "boots", log->boots);
		put_meta_number(batch, ENDS_FROM, log->ends_from);
		r = store_commit(log->store, batch, true);
	}
	if (r < 0 && why[0] == '\0')
		snprintf(why, 512, "the log could not be opened: %.280s. %s", store_why(log->store),
			r == -EUCLEAN ? BROKER_REMEDY : "Check the disk, then start again.");
	return r;
}
