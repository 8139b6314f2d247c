/*
 * rocks.c: the store on disk: the calls on an open store, the purge included
 *
 * Owns:      the database, and beside it the witness, which notes how far the store was synced.
 * Promises:  a commit with `sync` is on the disk when it returns.
 * Fails by:  the errno that classify_error finds in RocksDB's message, which store_why keeps.
 * Read next: rocks_open.c (the checks at the opening), memory.c (its twin)
 */
#include "bus/store/rocks/rocks.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/store/disk.h"
#include "bus/store/rocks/witness.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rocks_batch {
	struct store_batch batch;
	rocksdb_writebatch_t *writes;
};

struct rocks_cursor {
	struct store_cursor cursor;
	rocksdb_iterator_t *iterator;
	rocksdb_readoptions_t *reading; /* read options with an upper bound of their own; NULL: the store's */
	struct buffer until;
};

static struct rocks_store *rocks_of(struct store *store)
{
	return (struct rocks_store *)store;
}

static int classify_error(const char *words)
{
	if (strstr(words, "While lock file") || strstr(words, "lock hold by current process"))
		return -EBUSY;
	if (text_starts(words, "Corruption"))
		return -EUCLEAN;
	if (strstr(words, "No space left"))
		return -ENOSPC;
	if (strstr(words, "Permission denied"))
		return -EACCES;
	if (text_starts(words, "Invalid argument"))
		return -EINVAL;
	return -EIO;
}

static void keep_why(struct store *store, const char *words)
{
	pthread_mutex_lock(&rocks_of(store)->telling);
	text_copy(store->why, sizeof(store->why), words);
	pthread_mutex_unlock(&rocks_of(store)->telling);
}

int rocks_take_error(struct store *store, char *words)
{
	if (!words)
		return 0;
	int r = classify_error(words);
	keep_why(store, words);
	rocksdb_free(words);
	return r;
}

void rocks_close_database(struct rocks_store *rocks)
{
	if (rocks->db) {
		for (int i = 0; i <= rocks->store.family_count; i++)
			rocksdb_column_family_handle_destroy(rocks->families[i]);
		rocksdb_close(rocks->db);
	}
	witness_close(rocks->witness);
	rocks->db = NULL;
	rocks->witness = NULL;
}

void rocks_close(struct store *store)
{
	struct rocks_store *rocks = rocks_of(store);
	rocks_close_database(rocks);
	rocksdb_writeoptions_destroy(rocks->writing);
	rocksdb_writeoptions_destroy(rocks->writing_synced);
	rocksdb_readoptions_destroy(rocks->reading);
	rocksdb_options_destroy(rocks->options);
	rocksdb_options_destroy(rocks->options_asked_in_vain);
	rocksdb_cache_destroy(rocks->cache);
	pthread_mutex_destroy(&rocks->telling);
	free(rocks->path);
	free(rocks);
}

static int rocks_get(struct store *store, int family, struct bytes key, struct buffer *ret)
{
	struct rocks_store *rocks = rocks_of(store);
	char *words = NULL;
	rocksdb_pinnableslice_t *found =
		rocksdb_get_pinned_cf(rocks->db, rocks->reading, rocks->families[family], key.data, key.len, &words);
	int r = rocks_take_error(store, words);
	if (r == 0 && !found)
		return -ENOENT;
	if (r == 0) {
		size_t len;
		const char *value = rocksdb_pinnableslice_value(found, &len);
		buffer_add(ret, value, len);
	}
	if (found)
		rocksdb_pinnableslice_destroy(found);
	return r;
}

static struct store_batch *rocks_batch_new(struct store *store)
{
	struct rocks_batch *batch = memory_new(sizeof(*batch));
	batch->batch.store = store;
	batch->writes = rocksdb_writebatch_create();
	return &batch->batch;
}

static rocksdb_writebatch_t *writes_of(struct store_batch *batch)
{
	return ((struct rocks_batch *)batch)->writes;
}

static void rocks_batch_put(struct store_batch *batch, int family, struct bytes key, struct bytes value)
{
	rocksdb_writebatch_put_cf(
		writes_of(batch), rocks_of(batch->store)->families[family], key.data, key.len, value.data, value.len);
}

static void rocks_batch_delete(struct store_batch *batch, int family, struct bytes key)
{
	rocksdb_writebatch_delete_cf(writes_of(batch), rocks_of(batch->store)->families[family], key.data, key.len);
}

static void rocks_batch_clear(struct store_batch *batch)
{
	rocksdb_writebatch_clear(writes_of(batch));
}

static void rocks_batch_free(struct store_batch *batch)
{
	rocksdb_writebatch_destroy(writes_of(batch));
	free(batch);
}

static int rocks_disk_space(const struct store *store, uint64_t *ret_free, uint64_t *ret_total)
{
	return disk_space(((const struct rocks_store *)store)->path, ret_free, ret_total);
}

static int write_and_sync(struct rocks_store *rocks, struct store_batch *batch, bool sync, char why[STORE_WHY_BYTES])
{
	char *words = NULL;
	int r = sync ? disk_check(rocks->path, rocks->write_buffer_bytes, why) : 0;
	if (r < 0)
		return r;
	rocksdb_write(rocks->db, sync ? rocks->writing_synced : rocks->writing, writes_of(batch), &words);
	if (words) {
		r = classify_error(words);
		text_copy(why, STORE_WHY_BYTES, words);
		rocksdb_free(words);
		return r;
	}
	if (!sync || !rocks->witness)
		return 0;
	return witness_write(rocks->witness, rocksdb_get_latest_sequence_number(rocks->db), why);
}

static int rocks_commit(struct store *store, struct store_batch *batch, bool sync)
{
	struct rocks_store *rocks = rocks_of(store);
	char why[STORE_WHY_BYTES];
	int r = write_and_sync(rocks, batch, sync, why);
	if (r == 0)
		return 0;
	if (!strstr(why, rocks->path)) { /* about a folder's sync RocksDB says only "a directory" */
		size_t len = strlen(why);
		snprintf(why + len, sizeof(why) - len, " (in %s)", rocks->path);
	}
	keep_why(store, why);
	return r;
}

static int rocks_flush(struct store *store)
{
	char *words = NULL;
	rocksdb_flush_wal(rocks_of(store)->db, 1, &words);
	return rocks_take_error(store, words);
}

/*
 * Writes the tombstone first, synced: files deleted one by one could uncover older values if the power failed
 * in between. Then deletes the files that lie wholly inside. RocksDB includes the end of the range there, so
 * it gets a key just before `to`.
 */
static int rocks_delete_range(struct store *store, int family, struct bytes from, struct bytes to)
{
	struct rocks_store *rocks = rocks_of(store);
	_cleanup_(buffer_free) struct buffer last = { 0 };
	char *words = NULL;
	rocksdb_delete_range_cf(rocks->db, rocks->writing_synced, rocks->families[family], from.data, from.len, to.data,
		to.len, &words);
	int r = rocks_take_error(store, words);
	if (r < 0)
		return r;

	buffer_add(&last, to.data, to.len);
	if (last.data[last.len - 1] == 0)
		last.len--;
	else {
		last.data[last.len - 1]--;
		buffer_add(&last, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	}
	if (bytes_compare(from, buffer_bytes(&last)) > 0)
		return 0;
	rocksdb_delete_file_in_range_cf(
		rocks->db, rocks->families[family], from.data, from.len, (char *)last.data, last.len, &words);
	r = rocks_take_error(store, words);
	if (r < 0)
		return r;
	rocksdb_suggest_compact_range_cf(rocks->db, rocks->families[family], from.data, from.len, (char *)last.data,
		last.len, &words); /* rows that share a file with younger rows go in the background */
	return rocks_take_error(store, words);
}

/* The size of the files alone: rows still in memory take little. */
static int rocks_size(struct store *store, int family, struct bytes from, struct bytes to, uint64_t *ret_bytes)
{
	struct rocks_store *rocks = rocks_of(store);
	const char *starts[] = { from.data }, *ends[] = { to.data };
	char *words = NULL;
	rocksdb_approximate_sizes_cf(
		rocks->db, rocks->families[family], 1, starts, &from.len, ends, &to.len, ret_bytes, &words);
	return rocks_take_error(store, words);
}

/* Flushes first (0): the write-ahead log that a checkpoint links may otherwise be unsynced. */
static int rocks_checkpoint(struct store *store, const char *path)
{
	struct rocks_store *rocks = rocks_of(store);
	char *words = NULL;
	rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(rocks->db, &words);
	int r = rocks_take_error(store, words);
	if (r < 0)
		return r;
	rocksdb_checkpoint_create(checkpoint, path, 0, &words);
	r = rocks_take_error(store, words);
	rocksdb_checkpoint_object_destroy(checkpoint);
	return r;
}

/* The first key behind all keys with the prefix; empty: there is none. */
static void end_of_prefix(struct bytes prefix, struct buffer *ret)
{
	buffer_add(ret, prefix.data, prefix.len);
	while (ret->len > 0 && ret->data[ret->len - 1] == 0xff)
		ret->len--;
	if (ret->len > 0)
		ret->data[ret->len - 1]++;
}

/*
 * Without an end a seek walks over all rows that were deleted behind the prefix, to the next row that exists.
 */
static void set_end(struct rocks_cursor *cursor, struct bytes prefix)
{
	buffer_clear(&cursor->until);
	end_of_prefix(prefix, &cursor->until);
	if (cursor->until.len == 0)
		return;
	if (!cursor->reading) {
		cursor->reading = rocksdb_readoptions_create();
		rocksdb_readoptions_set_background_purge_on_iterator_cleanup(cursor->reading, 1);
	}
	rocksdb_readoptions_set_iterate_upper_bound(
		cursor->reading, (const char *)cursor->until.data, cursor->until.len);
}

static struct store_cursor *rocks_cursor_new(struct store *store, int family, struct bytes prefix)
{
	struct rocks_store *rocks = rocks_of(store);
	struct rocks_cursor *cursor = memory_new(sizeof(*cursor));
	cursor->cursor.store = store;
	set_end(cursor, prefix);
	cursor->iterator = rocksdb_create_iterator_cf(
		rocks->db, cursor->reading ? cursor->reading : rocks->reading, rocks->families[family]);
	return &cursor->cursor;
}

/* The iterator points to the bytes of the end, and reads them anew with every seek. */
static void rocks_cursor_confine(struct store_cursor *cursor, struct bytes prefix)
{
	struct rocks_cursor *rocks = (struct rocks_cursor *)cursor;
	assert(rocks->reading);
	set_end(rocks, prefix);
	assert(rocks->until.len > 0);
}

static rocksdb_iterator_t *iterator_of(const struct store_cursor *cursor)
{
	return ((const struct rocks_cursor *)cursor)->iterator;
}

static void rocks_cursor_free(struct store_cursor *cursor)
{
	struct rocks_cursor *rocks = (struct rocks_cursor *)cursor;
	rocksdb_iter_destroy(rocks->iterator);
	if (rocks->reading)
		rocksdb_readoptions_destroy(rocks->reading);
	buffer_free(&rocks->until);
	free(rocks);
}

static bool rocks_cursor_seek(struct store_cursor *cursor, struct bytes key)
{
	rocksdb_iter_seek(iterator_of(cursor), key.data, key.len);
	return rocksdb_iter_valid(iterator_of(cursor));
}

static bool rocks_cursor_seek_before(struct store_cursor *cursor, struct bytes key)
{
	rocksdb_iter_seek_for_prev(iterator_of(cursor), key.data, key.len);
	return rocksdb_iter_valid(iterator_of(cursor));
}

static bool rocks_cursor_last(struct store_cursor *cursor)
{
	rocksdb_iter_seek_to_last(iterator_of(cursor));
	return rocksdb_iter_valid(iterator_of(cursor));
}

static bool rocks_cursor_next(struct store_cursor *cursor)
{
	rocksdb_iter_next(iterator_of(cursor));
	return rocksdb_iter_valid(iterator_of(cursor));
}

static struct bytes rocks_cursor_key(const struct store_cursor *cursor)
{
	size_t len;
	const char *key = rocksdb_iter_key(iterator_of(cursor), &len);
	return BYTES(key, len);
}

static struct bytes rocks_cursor_value(const struct store_cursor *cursor)
{
	size_t len;
	const char *value = rocksdb_iter_value(iterator_of(cursor), &len);
	return BYTES(value, len);
}

static int rocks_cursor_status(const struct store_cursor *cursor)
{
	char *words = NULL;
	rocksdb_iter_get_error(iterator_of(cursor), &words);
	return rocks_take_error(cursor->store, words);
}

const struct store_engine rocks_engine = {
	.close = rocks_close,
	.get = rocks_get,
	.commit = rocks_commit,
	.flush = rocks_flush,
	.delete_range = rocks_delete_range,
	.purge = rocks_purge,
	.reopen = rocks_reopen,
	.size = rocks_size,
	.disk_space = rocks_disk_space,
	.checkpoint = rocks_checkpoint,
	.batch_new = rocks_batch_new,
	.batch_put = rocks_batch_put,
	.batch_delete = rocks_batch_delete,
	.batch_clear = rocks_batch_clear,
	.batch_free = rocks_batch_free,
	.cursor_new = rocks_cursor_new,
	.cursor_confine = rocks_cursor_confine,
	.cursor_free = rocks_cursor_free,
	.cursor_seek = rocks_cursor_seek,
	.cursor_seek_before = rocks_cursor_seek_before,
	.cursor_last = rocks_cursor_last,
	.cursor_next = rocks_cursor_next,
	.cursor_key = rocks_cursor_key,
	.cursor_value = rocks_cursor_value,
	.cursor_status = rocks_cursor_status,
};

/*
 * Removes overwritten and deleted values from the files
 *
 * RocksDB keeps older values in its write-ahead logs until every family is written out, and in its tables
 * until they are compacted down to the last level.
 *
 * Fails by:  the error of the flush. The C API reports no failed compaction, and RocksDB goes on with the old
 *            tables, which still hold everything: its count of background errors shows it.
 */

enum { FORCE_LAST_LEVEL = 2 }; /* rocksdb::BottommostLevelCompaction::kForce */

static int write_out(struct rocks_store *rocks)
{
	rocksdb_flushoptions_t *waiting = rocksdb_flushoptions_create();
	int r = 0;

	rocksdb_flushoptions_set_wait(waiting, 1);
	for (int i = 0; i <= rocks->store.family_count && r == 0; i++) {
		char *words = NULL;

		rocksdb_flush_cf(rocks->db, waiting, rocks->families[i], &words);
		r = rocks_take_error(&rocks->store, words);
	}
	rocksdb_flushoptions_destroy(waiting);
	return r;
}

static uint64_t background_errors(const struct rocks_store *rocks)
{
	uint64_t count = 0;

	rocksdb_property_int(rocks->db, "rocksdb.background-errors", &count);
	return count;
}

int rocks_purge(struct store *store, const struct store_range *ranges, size_t count)
{
	struct rocks_store *rocks = (struct rocks_store *)store;
	rocksdb_compactoptions_t *how = rocksdb_compactoptions_create();
	uint64_t errors_before = background_errors(rocks);
	int r = write_out(rocks);

	rocksdb_compactoptions_set_exclusive_manual_compaction(how, 0); /* other compactions go on meanwhile */
	rocksdb_compactoptions_set_bottommost_level_compaction(how, FORCE_LAST_LEVEL);
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct store_range *range = &ranges[i];

		rocksdb_compact_range_cf_opt(rocks->db, rocks->families[range->family], how,
			range->from.len > 0 ? range->from.data : NULL, range->from.len,
			range->to.len > 0 ? range->to.data : NULL, range->to.len);
	}
	rocksdb_compactoptions_destroy(how);
	if (r == 0 && background_errors(rocks) > errors_before)
		r = rocks_take_error(store, strdup("IO error: a table could not be written anew; its LOG says why"));
	return r;
}
