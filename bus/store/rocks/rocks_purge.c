/*
 * rocks_purge.c: what was overwritten or deleted leaves the files
 *
 * RocksDB keeps older values in its write-ahead logs until every family is written out, and in its tables until they are compacted
 * down to the last level.
 *
 * Fails by:  what writing out says. Of a compaction that fails the C API says nothing, and RocksDB goes on with the old tables, in which
 *            everything still is: its count of background errors tells.
 * Read next: rocks.c
 */
#include "bus/store/rocks/rocks.h"
#include <string.h>

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

	rocksdb_compactoptions_set_exclusive_manual_compaction(how, 0); /* others need theirs meanwhile */
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
