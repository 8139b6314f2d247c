/*
 * rocks_open.c: the settings of RocksDB, and the checks of a store on disk before it is opened
 *
 * Promises:  a store is not opened if a write-ahead log is damaged anywhere but in its last, unfinished
 *            record, if a log ends before the point that was synced, or if a log is missing; a record that a
 *            kill or a power cut left unfinished is reported in ret_why (it cannot have been confirmed: its
 *            sync had not returned). A folder whose CURRENT is gone is not taken for a new one. The content
 *            of the log is rewritten and synced while opening, unless the store is only read.
 * Fails by:  -EUCLEAN with the file and the place.
 * Read next: wals.c (traces of a power cut, missing logs), witness.c (losses that RocksDB does not notice)
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/store/disk.h"
#include "bus/store/rocks/rocks.h"
#include "bus/store/rocks/wals.h"
#include "bus/store/rocks/witness.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	OPEN_FILES_MAX = 128, /* of one store; the process's limit is 1024 by default and mailboxes need most of them */
	OPEN_FILES_SHARD_BITS = 0, /* one list of them: 64 lists of two each close most files, to open them again */
	/*
	 * RocksDB's own log, the file LOG: only its head, and two files of it. Where a disk fails while a line is
	 * written there, RocksDB 7.8 runs into an assertion: the process aborts, where it should report the failure.
	 * Later failures are returned by the calls themselves.
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
	 * A compaction takes in all of the next level that it touches, and while one runs for seconds new
	 * files pile up until RocksDB stops all writes. So levels and files are small, in write buffers: the
	 * first level holds no more than comes into it at once.
	 */
	LEVEL_BUFFERS = 4,
	FILE_BUFFERS = 2,
	BACKGROUND_JOBS = 4, /* one of them flushes; the others compact side by side only when writes pile up */
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
	/*
	 * In partitions: the filter of a whole file is larger than a shard of the cache, and was read and
	 * checked for every get.
	 */
	rocksdb_block_based_options_set_index_type(table, rocksdb_block_based_table_index_type_two_level_index_search);
	rocksdb_block_based_options_set_partition_filters(table, 1);
	rocksdb_block_based_options_set_metadata_block_size(table, METADATA_BLOCK_BYTES);
	rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
	rocksdb_options_set_block_based_table_factory(options, table);
	rocksdb_block_based_options_destroy(table);
}

/* The cache is shared. How a damaged write-ahead log is opened (the recovery mode) is left to the caller.
 * wal_compression, recycled logs and manual WAL flushes stay off: each had bugs in 7.8 that lose or reorder records. */
static rocksdb_options_t *rocks_options_new(const struct store_options *asked, rocksdb_cache_t *cache)
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

/* A copy of the options for the families that are `asked_in_vain` (store.h). */
static rocksdb_options_t *rocks_options_asked_in_vain(const rocksdb_options_t *options)
{
	rocksdb_options_t *filtering = rocksdb_options_create_copy((rocksdb_options_t *)options);
	rocksdb_options_set_memtable_prefix_bloom_size_ratio(filtering, 1.0 / MEMORY_BLOOM_PART);
	rocksdb_options_set_memtable_whole_key_filtering(filtering, 1);
	return filtering;
}

DEFINE_CLEANUP(DIR *, closedir)

/* Does the folder hold rows, in a write-ahead log or a sorted file? */
static bool holds_rows(const char *folder)
{
	_cleanup_(closedirp) DIR *listing = opendir(folder);
	struct dirent *entry;
	struct wals logs;
	bool holds;

	wals_list(folder, &logs);
	holds = logs.count > 0;
	while (listing && !holds && (entry = readdir(listing))) {
		const char *end = strrchr(entry->d_name, '.');

		holds = end && strcmp(end, ".sst") == 0;
	}
	return holds;
}

static int open_database(
	struct rocks_store *rocks, const char *path, const struct store_options *asked, int recovery_mode)
{
	const char *names[STORE_FAMILIES_MAX + 1];
	const rocksdb_options_t *each[STORE_FAMILIES_MAX + 1];
	int count = rocks->store.family_count;
	for (int i = 0; i <= count; i++) {
		names[i] = i < count ? asked->families[i] : "default";
		each[i] = i < count && (asked->asked_in_vain >> i & 1) ? rocks->options_asked_in_vain : rocks->options;
	}
	char *words = NULL;
	rocksdb_options_set_wal_recovery_mode(rocks->options, recovery_mode);
	if (rocks->read_only)
		rocks->db = rocksdb_open_for_read_only_column_families(
			rocks->options, path, count + 1, names, each, rocks->families, 0, &words);
	else
		rocks->db = rocksdb_open_column_families(
			rocks->options, path, count + 1, names, each, rocks->families, &words);
	int r = rocks_take_error(&rocks->store, words);

	/* A file that RocksDB looks for is one that it made: without it the folder is damaged, not the disk. */
	if (r == -EIO && strstr(rocks->store.why, "No such file"))
		return -EUCLEAN;
	if (!rocks->read_only || !strstr(rocks->store.why, "Column family not found"))
		return r;
	/*
	 * Either the process that made the store was killed before it had made all families, or the MANIFEST
	 * lost its end.
	 */
	return holds_rows(path) ? -EUCLEAN : -ENOENT;
}

/*
 * A kill or a power cut may leave the last record of the write-ahead log unfinished. That record was never
 * confirmed, so it may go, but not unreported: the first opening allows no loss. If only the last record of
 * the newest log is in question (RocksDB would forgive an older one too), the second allows a tail that ends
 * too early, and the last, if the power cut left holes in the tail, opens up to the first hole. Damage before
 * the tail, and a record that is whole but wrong, are refused.
 */
static int open_strictly(struct rocks_store *rocks, const char *path, const struct store_options *asked)
{
	char *why = rocks->store.why, strict_why[STORE_WHY_BYTES / 2], where[128] = "";
	int r = open_database(rocks, path, asked, rocksdb_absolute_consistency_recovery);

	if (r != -EUCLEAN)
		return r;
	text_copy(strict_why, sizeof(strict_why), why);
	if (torn_tail(path, where) || asked->falls_back) {
		r = open_database(rocks, path, asked, rocksdb_tolerate_corrupted_tail_records_recovery);
		if (r == -EUCLEAN)
			r = open_database(rocks, path, asked, rocksdb_point_in_time_recovery);
		if (r == 0 && !rocks->read_only)
			r = wals_empty_unfinished(path, why);
	}
	if (r == 0)
		snprintf(why, STORE_WHY_BYTES, "the last record was cut short and left out: %s%s%s", strict_why,
			where[0] ? ", " : "", where);
	else if (r == -EUCLEAN && where[0])
		snprintf(why, STORE_WHY_BYTES, "%s (in %s)", strict_why, where);
	return r;
}

/*
 * The first write-ahead log that RocksDB's manifest needs. The manifest can be opened with any of its
 * families.
 */
static uint64_t needed_from(struct rocks_store *rocks, const char *path)
{
	uint64_t number = 0;
	char *words = NULL;
	rocksdb_t *db;

	rocksdb_options_set_wal_recovery_mode(rocks->options, rocksdb_skip_any_corrupted_records_recovery);
	db = rocksdb_open_for_read_only(rocks->options, path, 0, &words);
	if (!db) {
		rocksdb_free(words); /* the real opening will report the same */
		return 0;
	}
	if (rocksdb_property_int(db, "rocksdb.min-log-number-to-keep", &number) != 0)
		number = 0;
	rocksdb_close(db);
	return number;
}

/* RocksDB opens without an error when a write-ahead log is missing: it takes the logs that it finds. */
static int check_wals(struct rocks_store *rocks, const char *path, const struct store_options *asked)
{
	struct wals known = { 0 };
	int r;

	if (!asked->accepts_loss)
		witness_read(path, &known);
	if (wals_check(path, &known, 0, rocks->store.why) == 0)
		return 0;
	r = wals_check(path, &known, needed_from(rocks, path), rocks->store.why);
	if (r == 0)
		rocks->store.why[0] = '\0';
	return r;
}

/*
 * RocksDB would begin a new database in a folder that lost its CURRENT, and delete the files that it finds
 * there.
 */
static int check_current(struct rocks_store *rocks, const char *path)
{
	char current[600];
	struct wals logs;

	snprintf(current, sizeof(current), "%.580s/CURRENT", path);
	if (access(current, F_OK) == 0)
		return 0;
	wals_list(path, &logs);
	if (logs.count == 0 && !rocks->read_only)
		return 0;
	snprintf(rocks->store.why, STORE_WHY_BYTES, "%.300s is missing%s", current,
		logs.count > 0 ? ", and what it belongs to is there" : "");
	return -EUCLEAN;
}

static int check_and_open(struct rocks_store *rocks, const char *path, const struct store_options *asked)
{
	uint64_t found;
	int r = asked->falls_back ? 0 : check_current(rocks, path);

	/* before RocksDB opens the store: it deletes files that the manifest does not name any more */
	if (r == 0 && !asked->falls_back && !asked->accepts_loss)
		r = witness_check_manifest(path, rocks->store.why);
	if (r == 0 && !asked->falls_back)
		r = check_wals(rocks, path, asked);
	if (r == 0)
		r = open_strictly(rocks, path, asked);
	if (r < 0 || asked->falls_back)
		return r;
	found = rocksdb_get_latest_sequence_number(rocks->db);
	r = asked->accepts_loss ? 0 : witness_check(path, found, rocks->store.why);
	if (r == 0 && !rocks->read_only)
		r = witness_open(path, &rocks->witness, rocks->store.why);
	return r;
}

static struct rocks_store *new_store(const char *path, const struct store_options *options, bool read_only)
{
	struct rocks_store *rocks = memory_new(sizeof(*rocks));
	rocksdb_set_perf_level(rocksdb_disable); /* for this thread: its counters are never read */
	rocks->store.engine = &rocks_engine;
	rocks->store.family_count = store_count_families(options);
	rocks->path = memory_copy_text(path);
	rocks->write_buffer_bytes = options->write_buffer_bytes;
	rocks->read_only = read_only;
	rocks->asked = *options;
	pthread_mutex_init(&rocks->telling, NULL);
	rocks->cache = rocksdb_cache_create_lru(options->cache_bytes);
	rocks->options = rocks_options_new(options, rocks->cache);
	rocks->options_asked_in_vain = rocks_options_asked_in_vain(rocks->options);
	rocks->reading = rocksdb_readoptions_create();
	rocks->writing = rocksdb_writeoptions_create();
	rocks->writing_synced = rocksdb_writeoptions_create();
	rocksdb_writeoptions_set_sync(rocks->writing_synced, 1);
	return rocks;
}

int rocks_reopen(struct store *store)
{
	struct rocks_store *rocks = (struct rocks_store *)store;

	rocks_close_database(rocks);
	store->why[0] = '\0';
	return check_and_open(rocks, rocks->path, &rocks->asked);
}

/* Returns the store that was opened, or the error and its reason. */
static int hand_over(struct rocks_store *rocks, int r, struct store **ret, char ret_why[512])
{
	if (ret_why)
		text_copy(ret_why, STORE_WHY_BYTES, rocks->store.why);
	if (r < 0)
		rocks_close(&rocks->store);
	else
		*ret = &rocks->store;
	return r;
}

int store_open(const char *path, const struct store_options *options, struct store **ret, char ret_why[512])
{
	struct rocks_store *rocks = new_store(path, options, false);
	int r = file_make_folders(path, 0700);

	if (r < 0)
		snprintf(rocks->store.why, STORE_WHY_BYTES, "%.300s: %s", path, strerror(-r));
	else if ((r = disk_check(path, options->write_buffer_bytes, rocks->store.why)) == 0)
		r = check_and_open(rocks, path, options);
	return hand_over(rocks, r, ret, ret_why);
}

bool store_is_in_use(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char name[600];

	snprintf(name, sizeof(name), "%.580s/LOCK", path); /* RocksDB's */

	_cleanup_close_ int fd = open(name, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int store_open_read_only(const char *path, const struct store_options *options, struct store **ret, char ret_why[512])
{
	struct rocks_store *rocks = new_store(path, options, true);

	return hand_over(rocks, check_and_open(rocks, path, options), ret, ret_why);
}
