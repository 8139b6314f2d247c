/*
 * test_rocks.c: what only a disk can do to a store: crash, damage, a full disk, a second process
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "bus/store/rocks/wals.h"
#include "bus/store/store.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include "tests/unit/store/numbers.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

DEFINE_CLEANUP(struct store_cursor *, store_cursor_free)
DEFINE_CLEANUP(struct store *, store_close)

static void what_was_synced_outlives_any_number_of_kills(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	uint64_t there = 0;
	for (int bout = 0; bout < 5; bout++) {
		uint64_t confirmed = commit_until_killed(folder.path, there, 20 + (uint64_t)bout * 37);
		_cleanup_(store_closep) struct store *store = opened(folder.path);
		there = count_numbers(store);
		assert_in_range(there, confirmed, confirmed + 1); /* one may have been on its way */
	}
}

static void a_record_cut_short_is_left_out_with_a_word_about_it(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char log[256], why[512] = "";
	commit_and_die(folder.path);
	find_log(&folder, log);
	assert_int_equal(truncate(log, size_of(log) - 100), 0);
	_cleanup_(store_closep) struct store *store = NULL;
	assert_int_equal(store_open(folder.path, &options, &store, why), 0);
	assert_true(text_starts(why, "the last record was cut short and left out: Corruption"));
	assert_int_equal(count_numbers(store), 5);
}

/* Their names have six digits for the first million alone. */
static void the_last_log_is_the_one_with_the_highest_number(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new(), logs = folder_new();
	_cleanup_(buffer_free) struct buffer bytes = { 0 };
	char log[256], before[256], last[256], where[128];
	commit_and_die(folder.path);
	find_log(&folder, log);
	assert_int_equal(file_read(log, 1 << 20, &bytes), 0);
	FOLDER_PATH(before, logs, "999999.log");
	FOLDER_PATH(last, logs, "1000000.log");
	assert_int_equal(file_write_new(before, buffer_bytes(&bytes), 0600), 0);
	assert_int_equal(file_write_new(last, BYTES(bytes.data, bytes.len - 100), 0600), 0);
	assert_true(torn_tail(logs.path, where));
	assert_true(text_starts(where, "1000000.log"));
}

static void a_clean_start_has_nothing_to_tell(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char why[512] = "something";
	struct store *store = NULL;
	commit_until_killed(folder.path, 0, 10);
	store_close(opened(folder.path));
	assert_int_equal(store_open(folder.path, &options, &store, why), 0);
	assert_string_equal(why, "");
	store_close(store);
}

static void damage_in_the_middle_of_the_log_is_refused(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char log[256], why[512] = "";
	struct store *store = NULL;
	commit_until_killed(folder.path, 0, 20);
	find_log(&folder, log);
	flip_byte(log, size_of(log) / 2);
	assert_int_equal(store_open(folder.path, &options, &store, why), -EUCLEAN);
	assert_null(store);
	assert_true(text_starts(why, "Corruption"));
	assert_int_equal(store_open(folder.path, &options, &store, why), -EUCLEAN); /* and again: it repaired nothing */
}

static void a_whole_last_record_that_is_wrong_is_refused(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char log[256], why[512] = "";
	struct store *store = NULL;
	commit_until_killed(folder.path, 0, 10);
	find_log(&folder, log);
	flip_byte(log, size_of(log) - 50);
	assert_int_equal(store_open(folder.path, &options, &store, why), -EUCLEAN);
	assert_null(store);
}

enum { SECTOR = 512 };

/* A sector that the power left unwritten: the one that holds the byte. */
static void unwrite_sector(const char *path, off_t at)
{
	static const uint8_t zeros[SECTOR];
	_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, zeros, SECTOR, at - at % SECTOR), SECTOR);
}

static void a_last_record_with_holes_is_left_out_with_its_place(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char log[256], why[512] = "";
	uint64_t confirmed = commit_until_killed(folder.path, 0, 30);
	struct store_options accepting = options;
	accepting.accepts_loss = true; /* before its sync returned, nobody had been told of it */
	find_log(&folder, log);
	unwrite_sector(log, size_of(log) - VALUE_BYTES / 2);
	_cleanup_(store_closep) struct store *store = NULL;
	assert_int_equal(store_open(folder.path, &accepting, &store, why), 0);
	assert_true(text_starts(why, "the last record was cut short and left out: Corruption"));
	assert_non_null(strstr(why, strrchr(log, '/') + 1));
	assert_non_null(strstr(why, ", byte "));
	assert_in_range(count_numbers(store), confirmed - 1, confirmed);
}

/* What lies behind a record was begun only when that record was on the disk: whatever happened to it, no power cut did it. */
static void a_hole_before_the_last_record_is_refused_with_its_place(void **state)
{
	(void)state;
	for (int behind = 1; behind < 25; behind += 5) {
		_cleanup_(folder_remove) struct folder folder = folder_new();
		char log[256], why[512] = "";
		struct store *store = NULL;
		commit_until_killed(folder.path, 0, 30);
		find_log(&folder, log);
		unwrite_sector(log, size_of(log) - behind * (VALUE_BYTES + 50) - VALUE_BYTES / 2);
		assert_int_equal(store_open(folder.path, &options, &store, why), -EUCLEAN);
		assert_null(store);
		assert_true(text_starts(why, "Corruption"));
		assert_non_null(strstr(why, ", byte "));
	}
}

static void a_store_that_may_fall_back_does(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	const struct store_options folded = {
		.families = options.families, .cache_bytes = 1 << 20, .write_buffer_bytes = 1 << 20, .falls_back = true
	};
	char log[256], why[512] = "";
	commit_until_killed(folder.path, 0, 30);
	find_log(&folder, log);
	long hole = size_of(log) / 2; /* so many records at most lie before it, however many the child came to */
	unwrite_sector(log, hole);
	_cleanup_(store_closep) struct store *store = NULL;
	assert_int_equal(store_open(folder.path, &folded, &store, why), 0);
	assert_in_range(count_numbers(store), 1, hole / VALUE_BYTES);
}

static int open_as_the_second(const char *path)
{
	struct store *second = NULL;
	return store_open(path, &options, &second, NULL) == -EBUSY ? 0 : 1;
}

static void a_second_process_is_told_that_it_is_busy(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(store_closep) struct store *first = NULL;
	struct store *second = NULL;
	char why[512];
	assert_int_equal(store_open(folder.path, &options, &first, why), 0);
	assert_int_equal(store_open(folder.path, &options, &second, why), -EBUSY); /* also from within the same one */
	pid_t child = start_program("second", folder.path, NULL, -1);
	int status = -1;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void a_path_that_cannot_be_is_told(void **state)
{
	(void)state;
	struct store *store = NULL;
	char why[512];
	assert_int_equal(store_open("/dev/null/state", &options, &store, why), -ENOTDIR);
	assert_string_equal(why, "/dev/null/state: Not a directory");
}

static void a_store_with_families_of_a_newer_version_is_refused(void **state)
{
	(void)state;
	static const char *const fewer[] = { "log", NULL };
	static const struct store_options older = {
		.families = fewer, .cache_bytes = 1 << 20, .write_buffer_bytes = 1 << 20
	};
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct store *store = NULL;
	char why[512];
	store_close(opened(folder.path));
	assert_int_equal(store_open(folder.path, &older, &store, why), -EINVAL);
	assert_non_null(strstr(why, "state"));
}

static void families_that_are_missing_are_made(void **state)
{
	(void)state;
	static const char *const more[] = { "log", "state", "dead", NULL };
	static const struct store_options newer = {
		.families = more, .cache_bytes = 1 << 20, .write_buffer_bytes = 1 << 20
	};
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct store *store = opened(folder.path);
	assert_int_equal(put_number(store, 0, true), 0);
	store_close(store);
	assert_int_equal(store_open(folder.path, &newer, &store, NULL), 0);
	assert_int_equal(count_numbers(store), 1);
	store_close(store);
}

/* A file that may not grow stands for a full disk: the write of the log fails. */
static int commit_past_a_full_disk(const char *path)
{
	struct store *store = opened(path);
	_cleanup_(buffer_free) struct buffer found = { 0 };
	const struct rlimit none = { 64 * 1024, 64 * 1024 };
	uint64_t i = 0;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	while (i < 100 && put_number(store, i, true) == 0)
		i++;
	uint8_t first[8] = { 0 };
	struct store_cursor *cursor = store_cursor_new(store, LOG);
	bool refuses = i > 0 && i < 100 && put_number(store, i, true) == -EIO && *store_why(store) &&
		store_get(store, LOG, BYTES(first, 8), &found) == -EIO && store_flush(store) == -EIO &&
		!store_cursor_seek(cursor, bytes_of("")) && store_cursor_status(cursor) == -EIO &&
		store_checkpoint(store, "/tmp/never-made") == -EIO;
	store_cursor_free(cursor);
	return refuses ? 0 : 1;
}

static void after_one_failed_commit_nothing_works_until_a_restart(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	pid_t child = start_program("full-disk", folder.path, NULL, -1);
	int status = -1;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	_cleanup_(store_closep) struct store *store = opened(folder.path); /* room again: everything synced is there */
	assert_true(count_numbers(store) > 0);
}

enum { DISK_MIB = 24, LEFT_MIB = 3 }; /* left: less than a store wants to see */

static bool leave_little(const char *path, int filler)
{
	struct statvfs room;
	if (statvfs(path, &room) < 0)
		return false;
	off_t more = (off_t)(room.f_bavail * room.f_frsize) - (LEFT_MIB << 20);
	return posix_fallocate(filler, lseek(filler, 0, SEEK_END), more) == 0;
}

/* A disk of its own, in a mount namespace of its own: 77 when that may not be had here. */
static int work_on_a_small_disk(const char *path)
{
	char why[512] = "", filler[256], size[32];
	snprintf(size, sizeof(size), "size=%dm", DISK_MIB);
	if ((unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("disk", path, "tmpfs", 0, size) < 0)
		return 77;
	struct store *store = opened(path);
	if (put_number(store, 0, true) < 0 || put_number(store, 1, true) < 0)
		return 1;
	snprintf(filler, sizeof(filler), "%s/filler", path);
	_cleanup_close_ int fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || !leave_little(path, fd))
		return 2;
	if (put_number(store, 2, true) != -ENOSPC || !strstr(store_why(store), path) ||
		!strstr(store_why(store), "No space left on device: make room"))
		return 3;
	if (put_number(store, 2, true) != -EIO)
		return 4;
	store_close(store); /* gives back what it had reserved for its log */
	if (!leave_little(path, fd) || store_open(path, &options, &store, why) != -ENOSPC || !strstr(why, "make room"))
		return 5;
	if (unlink(filler) < 0 || ftruncate(fd, 0) < 0 || store_open(path, &options, &store, why) != 0)
		return 6;
	if (count_numbers(store) != 2)
		return 7;
	store_close(store);
	return 0;
}

static void room_is_looked_for_before_a_synced_commit_and_before_opening(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	pid_t child = start_program("small-disk", folder.path, NULL, -1);
	int status = -1;
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

/* Of the write-ahead logs in the folder. */
static long logs_bytes(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	struct stat there;
	long bytes = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		if (strstr(entry->d_name, ".log") && fstatat(dirfd(folder), entry->d_name, &there, 0) == 0)
			bytes += there.st_size;
	closedir(folder);
	return bytes;
}

static void a_checkpoint_is_a_store_of_its_own(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128], copy[128];
	FOLDER_PATH(path, folder, "store");
	FOLDER_PATH(copy, folder, "copy");
	_cleanup_(store_closep) struct store *store = opened(path);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(put_number(store, i, false), 0);
	assert_int_equal(store_checkpoint(store, copy), 0);
	assert_int_equal(logs_bytes(copy), 0); /* a log that is linked may be unsynced: all lies in files that are */
	assert_int_equal(put_number(store, 10, true), 0);
	assert_true(store_checkpoint(store, copy) < 0); /* it is there already, and the store goes on */
	assert_int_equal(put_number(store, 11, true), 0);

	_cleanup_(store_closep) struct store *second = opened(copy);
	assert_int_equal(count_numbers(second), 10);
	assert_int_equal(count_numbers(store), 12);
}

static void a_cursor_sees_the_store_as_it_was(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(store_closep) struct store *store = opened(folder.path);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(put_number(store, i, false), 0);
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(store, LOG);
	assert_int_equal(put_number(store, 3, false), 0);
	assert_true(store_cursor_last(cursor));
	assert_int_equal(get_be64(store_cursor_key(cursor).data), 2);
}

static void a_range_that_spans_files_goes_whole(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(store_closep) struct store *store = opened(folder.path);
	uint8_t from[8] = { 0 }, to[8];
	enum { NUMBERS = 4000, KEPT_FROM = 3900 };
	for (uint64_t i = 0; i < NUMBERS; i++)
		assert_int_equal(put_number(store, i, false), 0);
	put_be64(to, KEPT_FROM);
	assert_int_equal(store_delete_range(store, LOG, BYTES(from, 8), BYTES(to, 8)), 0);

	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(store, LOG);
	uint64_t next = KEPT_FROM;
	for (bool more = store_cursor_seek(cursor, bytes_of("")); more; more = store_cursor_next(cursor))
		assert_true(get_be64(store_cursor_key(cursor).data) == next++);
	assert_int_equal(next, NUMBERS);
}

enum { ABSENT_ROWS = 100000, ROWS_AT_ONCE = 1000, ABSENT_GETS = 500 };

/* What this process has read so far, the page cache included. */
static long read_bytes(void)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	long bytes = -1;
	assert_int_equal(file_read("/proc/self/io", 4096, &text), 0);
	assert_int_equal(sscanf(buffer_text(&text), "rchar: %ld", &bytes), 1);
	return bytes;
}

/* A filter that does not fit into the cache whole was read whole for each get. */
static void a_get_reads_little_though_the_cache_is_smaller_than_the_filters(void **state)
{
	static const char *const names[] = { "rows", NULL };
	static const struct store_options small = {
		.families = names, .cache_bytes = 64 << 10, .write_buffer_bytes = 256 << 10
	};
	_cleanup_(folder_remove) struct folder folder = folder_new();
	_cleanup_(buffer_free) struct buffer value = { 0 };
	char why[512] = "", key[32];
	struct store *store = NULL;
	(void)state;
	assert_int_equal(store_open(folder.path, &small, &store, why), 0);
	for (int from = 0; from < ABSENT_ROWS; from += ROWS_AT_ONCE) { /* many small files, which become a large one */
		struct store_batch *batch = store_batch_new(store);
		for (int i = from; i < from + ROWS_AT_ONCE; i++) {
			snprintf(key, sizeof(key), "row %d", 2 * (i * 7919 % ABSENT_ROWS));
			store_batch_put(batch, 0, bytes_of(key), BYTES("x", 1));
		}
		assert_int_equal(store_commit(store, batch, false), 0);
		store_batch_free(batch);
	}
	long before = read_bytes();
	for (int i = 0; i < ABSENT_GETS; i++) {
		snprintf(key, sizeof(key), "row %d", 2 * i * (ABSENT_ROWS / ABSENT_GETS) + 1);
		assert_int_equal(store_get(store, 0, bytes_of(key), &value), -ENOENT);
	}
	assert_true((read_bytes() - before) / ABSENT_GETS <= 16 << 10);
	store_close(store);
}

int main(int argc, char **argv)
{
	int ended = numbers_program(argc, argv);
	if (argc == 3 && strcmp(argv[1], "small-disk") == 0)
		ended = work_on_a_small_disk(argv[2]);
	if (argc == 3 && strcmp(argv[1], "full-disk") == 0)
		ended = commit_past_a_full_disk(argv[2]);
	if (argc == 3 && strcmp(argv[1], "second") == 0)
		ended = open_as_the_second(argv[2]);
	if (ended >= 0)
		_exit(ended);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_synced_outlives_any_number_of_kills),
		cmocka_unit_test(a_record_cut_short_is_left_out_with_a_word_about_it),
		cmocka_unit_test(the_last_log_is_the_one_with_the_highest_number),
		cmocka_unit_test(a_clean_start_has_nothing_to_tell),
		cmocka_unit_test(damage_in_the_middle_of_the_log_is_refused),
		cmocka_unit_test(a_whole_last_record_that_is_wrong_is_refused),
		cmocka_unit_test(a_last_record_with_holes_is_left_out_with_its_place),
		cmocka_unit_test(a_hole_before_the_last_record_is_refused_with_its_place),
		cmocka_unit_test(a_store_that_may_fall_back_does),
		cmocka_unit_test(a_second_process_is_told_that_it_is_busy),
		cmocka_unit_test(a_path_that_cannot_be_is_told),
		cmocka_unit_test(a_store_with_families_of_a_newer_version_is_refused),
		cmocka_unit_test(families_that_are_missing_are_made),
		cmocka_unit_test(after_one_failed_commit_nothing_works_until_a_restart),
		cmocka_unit_test(room_is_looked_for_before_a_synced_commit_and_before_opening),
		cmocka_unit_test(a_checkpoint_is_a_store_of_its_own),
		cmocka_unit_test(a_cursor_sees_the_store_as_it_was),
		cmocka_unit_test(a_range_that_spans_files_goes_whole),
		cmocka_unit_test(a_get_reads_little_though_the_cache_is_smaller_than_the_filters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
