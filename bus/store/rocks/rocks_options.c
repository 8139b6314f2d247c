/*
 * rocks_options.c: how RocksDB is set
 *
 * Read next: rocks_open.c
 */
#include "bus/store/rocks/rocks_options.h"

enum {
	OPEN_FILES_MAX = 128, /* of one store; the process's limit is 1024 by default and lanes need most of them */
	OPEN_FILES_SHARD_BITS = 0, /* one list of them: 64 lists of two each close most files, to open them again */
	/*
	 * RocksDB's diary, the file LOG: only its head, and two files of it. Where a disk fails while a line is written there, the next line
	 * is an assertion in 7.8: the process aborts, where it should say what failed. What goes wrong later is told by the calls themselves.
	 */
	DIARY_LEVEL = 5,
	DIARY_BYTES = 256 * 1024,
	DIARY_FILES = 2,
	MANIFEST_BYTES = 4 * 1024 * 1024,
	ARENA_BLOCK_BYTES = 64 * 1024, /* an idle family costs this much, not an eighth of its write buffer */
	WAL_BUFFERS = 4,               /* the write-ahead logs together: at most so many write buffers */
	WAL_LEAST_BYTES = 16 * 1024 * 1024,
	METADATA_BLOCK_BYTES = 4096,
	BLOOM_BITS = 10,         /* one get in a hundred for an absent key reads a block */
	MEMORY_BLOOM_PART = 100, /* of a write buffer, touched at once: eight bits for each row of 100 bytes in it */
	/*
	 * A compaction takes in all of the next level that it touches, and while one runs for seconds what is written piles up until
	 * RocksDB stops all writes. So levels and files are small, in write buffers: the first level is no more than what comes into it at once.
	 */
	LEVEL_BUFFERS = 4,
	FILE_BUFFERS = 2,
	BACKGROUND_JOBS = 4, /* of them one flushes; the others compact beside one another only when writes pile up */
	DELETION_WINDOW = 4096,
	DELETION_TRIGGER = 1024, /* a file with a quarter of tombstones is compacted */
};

static void set_table_options(rocksdb_options_t *options, rocksdb_cache_t *cache)
{
	rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
	rocksdb_block_based_options_set_block_cache(table, cache);
	rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1); /* so that the cache bounds them too */
	rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1);
	rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS));
	rocksdb_block_based_options_set_whole_key_filtering(table, 1);
	/* In pieces: the filter of a whole file is larger than a shard of the cache, and was read and checked for every get. */
	rocksdb_block_based_options_set_index_type(table, rocksdb_block_based_table_index_type_two_level_index_search);
	rocksdb_block_based_options_set_partition_filters(table, 1);
	rocksdb_block_based_options_set_metadata_block_size(table, METADATA_BLOCK_BYTES);
	rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
	rocksdb_options_set_block_based_table_factory(options, table);
	rocksdb_block_based_options_destroy(table);
}

/* wal_compression, recycled logs and manual WAL flushes stay off: each had bugs in 7.8 that lose or reorder records. */
rocksdb_options_t *rocks_options_new(const struct store_options *asked, rocksdb_cache_t *cache)
{
	rocksdb_options_t *options = rocksdb_options_create();
	uint64_t wal_bytes = (uint64_t)asked->write_buffer_bytes * WAL_BUFFERS;
	rocksdb_options_set_create_if_missing(options, 1);
	rocksdb_options_set_create_missing_column_families(options, 1);
	rocksdb_options_set_paranoid_checks(options, 1);
	rocksdb_options_set_recycle_log_file_num(options, 0);
	rocksdb_options_set_manual_wal_flush(options, 0);
	rocksdb_options_set_max_open_files(options, OPEN_FILES_MAX);
	rocksdb_options_set_table_cache_numshardbits(options, OPEN_FILES_SHARD_BITS);
	rocksdb_options_set_max_background_jobs(options, BACKGROUND_JOBS);
	rocksdb_options_set_max_manifest_file_size(options, MANIFEST_BYTES);
	rocksdb_options_set_info_log_level(options, DIARY_LEVEL);
	rocksdb_options_set_max_log_file_size(options, DIARY_BYTES);
	rocksdb_options_set_keep_log_file_num(options, DIARY_FILES);
	rocksdb_options_set_stats_dump_period_sec(options, 0);
	rocksdb_options_set_stats_persist_period_sec(options, 0);
	rocksdb_options_set_write_buffer_size(options, asked->write_buffer_bytes);
	rocksdb_options_set_max_bytes_for_level_base(options, (uint64_t)asked->write_buffer_bytes * LEVEL_BUFFERS);
	rocksdb_options_set_target_file_size_base(options, (uint64_t)asked->write_buffer_bytes * FILE_BUFFERS);
	rocksdb_options_set_arena_block_size(options, ARENA_BLOCK_BYTES);
	rocksdb_options_set_max_total_wal_size(options, wal_bytes > WAL_LEAST_BYTES ? wal_bytes : WAL_LEAST_BYTES);
	rocksdb_options_set_compression(options, rocksdb_lz4_compression);
	rocksdb_options_add_compact_on_deletion_collector_factory(options, DELETION_WINDOW, DELETION_TRIGGER);
	set_table_options(options, cache);
	return options;
}

rocksdb_options_t *rocks_options_asked_in_vain(const rocksdb_options_t *options)
{
	rocksdb_options_t *filtering = rocksdb_options_create_copy((rocksdb_options_t *)options);
	rocksdb_options_set_memtable_prefix_bloom_size_ratio(filtering, 1.0 / MEMORY_BLOOM_PART);
	rocksdb_options_set_memtable_whole_key_filtering(filtering, 1);
	return filtering;
}
