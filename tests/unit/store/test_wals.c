/*
 * test_wals.c: what RocksDB would open without a word: write-ahead logs that are missing or end too early
 */
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "bus/store/rocks/wals.h"
#include "bus/store/store.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/store/numbers.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

DEFINE_CLEANUP(struct store_batch *, store_batch_free)
DEFINE_CLEANUP(struct store *, store_close)

static void copy_file(const char *from, const char *to)
{
	char command[600];

	snprintf(command, sizeof(command), "cp %s %s", from, to);
	assert_int_equal(system(command), 0);
}

/* `off_end` bytes are cut off; 0: the whole file is gone. */
static void refuses_without_its_end(off_t off_end)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char log[256], why[512] = "";
	struct store_options accepting = options;
	struct store *store = NULL;
	uint64_t confirmed = commit_until_killed(folder.path, 0, 10);
	find_log(&folder, log);
	assert_int_equal(off_end ? truncate(log, size_of(log) - off_end) : unlink(log), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(store_open(folder.path, &options, &store, why), -EUCLEAN);
		assert_non_null(strstr(why, folder.path));
		assert_non_null(strstr(why, "were synced"));
	}
	accepting.accepts_loss = true;
	for (int commits = 0; commits < 2; commits++) {
		assert_int_equal(store_open(folder.path, &accepting, &store, why), 0);
		assert_in_range(count_numbers(store), 0, confirmed - 1);
		if (commits)
			assert_int_equal(put_number(store, count_numbers(store), true), 0);
		store_close(store);
		assert_int_equal(store_open(folder.path, &options, &store, why), commits ? 0 : -EUCLEAN);
	}
	store_close(store);
}

static void a_log_without_the_end_that_was_synced_is_refused(void **state)
{
	(void)state;
	refuses_without_its_end(2 * VALUE_BYTES); /* into the middle of a record: one that was confirmed goes with it */
	refuses_without_its_end(2 * (VALUE_BYTES + RECORD_HEAD)); /* between two records, if all lie in one block */
	refuses_without_its_end(0);
}

/* The first record of a log, cut off `left` bytes behind its beginning by a kill, while the witness knows nothing of it. */
static void goes_on_after_a_first_record_of(off_t left)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char log[256], witness[256], before[256], why[512] = "";
	struct store *store = NULL;
	uint64_t count;

	commit_until_killed(folder.path, 0, 10);
	store_close(opened(folder.path)); /* all of it lies in a sorted file now, and no log holds anything */
	FOLDER_PATH(witness, folder, "witness");
	FOLDER_PATH(before, folder, "before");
	copy_file(witness, before);
	store = opened(folder.path);
	count = count_numbers(store);
	store_close(store);
	commit_until_killed(folder.path, count, 1);
	find_log(&folder, log);
	assert_int_equal(truncate(log, left), 0);
	assert_int_equal(rename(before, witness), 0);
	assert_int_equal(store_open(folder.path, &options, &store, why), 0);
	assert_non_null(strstr(why, "the last record was cut short"));
	for (int again = 0; again < 3; again++) {
		assert_int_equal(count_numbers(store), count);
		assert_int_equal(put_number(store, count++, true), 0);
		store_close(store);
		assert_int_equal(store_open(folder.path, &options, &store, why), 0);
		assert_string_equal(why, "");
	}
	store_close(store);
}

static void a_log_whose_only_record_was_cut_short_is_in_nobodys_way_later(void **state)
{
	(void)state;
	goes_on_after_a_first_record_of(5); /* not even its head */
	goes_on_after_a_first_record_of(61);
	goes_on_after_a_first_record_of(VALUE_BYTES);
}

/* Two logs are needed at once: of one family only the first holds anything, and the second began when another family's was full. */
static void fill_two_logs_and_copy(const char *path, const char *copy)
{
	_cleanup_(store_closep) struct store *store = opened(path);
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	char command[600];
	store_batch_put(batch, STATE, bytes_of("key"), bytes_of("value"));
	assert_int_equal(store_commit(store, batch, true), 0);
	for (uint64_t i = 0; i < 500; i++)
		assert_int_equal(put_number(store, i, i % 100 == 99), 0);
	snprintf(command, sizeof(command), "cp -r %s %s", path, copy); /* as if the power went now */
	assert_int_equal(system(command), 0);
}

/* Some of their records lie in two blocks. */
static void two_logs_that_follow_each_other_are_taken(void **state)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128], copy[128], why[512] = "";
	struct store *store = NULL;

	(void)state;
	FOLDER_PATH(path, folder, "store");
	FOLDER_PATH(copy, folder, "copy");
	fill_two_logs_and_copy(path, copy);
	assert_int_equal(store_open_read_only(copy, &options, &store, why), 0);
	assert_int_equal(count_numbers(store), 500);
	store_close(store);
	assert_int_equal(store_open(copy, &options, &store, why), 0);
	assert_string_equal(why, "");
	assert_int_equal(count_numbers(store), 500);
	store_close(store);
}

static void refuses_with_an_older_log(off_t off_end)
{
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128], copy[128], newest[256], older[256], why[512] = "";
	struct store *store = NULL;
	FOLDER_PATH(path, folder, "store");
	FOLDER_PATH(copy, folder, "copy");
	fill_two_logs_and_copy(path, copy);
	find_log_before(copy, NULL, newest);
	find_log_before(copy, newest, older);
	assert_int_equal(off_end == 0 ? unlink(older) : truncate(older, size_of(older) - off_end), 0);
	assert_int_equal(store_open_read_only(copy, &options, &store, why), -EUCLEAN);
	assert_int_equal(store_open(copy, &options, &store, why), -EUCLEAN);
	assert_non_null(strstr(why, strrchr(older, '/') + 1));
}

static void an_older_log_that_lost_its_end_is_refused(void **state)
{
	(void)state;
	for (off_t cut = 10; cut < VALUE_BYTES; cut += VALUE_BYTES / 2)
		refuses_with_an_older_log(cut);
}

static void an_older_log_that_ends_between_two_records_is_refused(void **state)
{
	(void)state;
	refuses_with_an_older_log(VALUE_BYTES + RECORD_HEAD); /* the border, if the last record lies in one block ... */
	refuses_with_an_older_log(VALUE_BYTES + RECORD_HEAD + FRAGMENT_HEAD); /* ... or in two */
}

static void a_missing_older_log_is_refused(void **state)
{
	(void)state;
	refuses_with_an_older_log(0);
}

static void a_log_that_is_not_needed_any_more_is_not_missed(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char witness[256], before[256], why[512] = "";
	struct store *store;
	commit_until_killed(folder.path, 0, 30);
	FOLDER_PATH(witness, folder, "witness");
	FOLDER_PATH(before, folder, "before");
	copy_file(witness, before);
	store_close(opened(folder.path)); /* its log goes into a sorted file, and away */
	assert_int_equal(rename(before, witness), 0);
	store = opened(folder.path);
	assert_in_range(count_numbers(store), 30, 31 + 30);
	store_close(store);
	assert_int_equal(store_open_read_only(folder.path, &options, &store, why), 0);
	store_close(store);
}

static void find_manifest(const char *path, char ret[256])
{
	char command[300];
	snprintf(command, sizeof(command), "ls %s/MANIFEST-*", path);
	FILE *found = popen(command, "r");
	assert_non_null(fgets(ret, 256, found));
	pclose(found);
	ret[strcspn(ret, "\n")] = '\0';
}

/* A store whose MANIFEST has been left alone for longer than its witness asks. */
static void fill_and_copy(const char *path, const char *copy, char ret_manifest[256])
{
	const struct timespec long_ago[] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	char command[600];
	_cleanup_(store_closep) struct store *store = opened(path);
	find_manifest(path, ret_manifest);
	assert_int_equal(utimensat(AT_FDCWD, ret_manifest, long_ago, 0), 0);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(put_number(store, i, true), 0);
	snprintf(command, sizeof(command), "cp -r %s %s", path, copy);
	assert_int_equal(system(command), 0);
	find_manifest(copy, ret_manifest);
}

static void a_manifest_without_its_end_is_refused_before_anything_opens_it(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[128], copy[128], manifest[256], why[512] = "";
	struct store *store = NULL;
	FOLDER_PATH(path, folder, "store");
	FOLDER_PATH(copy, folder, "copy");
	fill_and_copy(path, copy, manifest);
	for (off_t left = size_of(manifest) - 1; left > 0; left -= 1 + left / 8) {
		assert_int_equal(truncate(manifest, left), 0);
		assert_int_equal(store_open_read_only(copy, &options, &store, why), -EUCLEAN);
		assert_int_equal(store_open(copy, &options, &store, why), -EUCLEAN);
		assert_non_null(strstr(why, strrchr(manifest, '/') + 1));
		assert_non_null(strstr(why, "its end is cut off"));
	}
	store = opened(path);
	assert_int_equal(count_numbers(store), 5);
	store_close(store);
}

static void a_store_that_lost_its_current_is_not_taken_for_a_new_one(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[256], why[512] = "";
	struct store *store = NULL;
	commit_until_killed(folder.path, 0, 10);
	FOLDER_PATH(path, folder, "CURRENT");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(store_open(folder.path, &options, &store, why), -EUCLEAN);
	assert_non_null(strstr(why, "CURRENT is missing"));
}

static void what_is_only_read_is_left_as_it_is(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char command[600], why[512] = "";
	struct store *store = NULL;
	uint64_t confirmed = commit_until_killed(folder.path, 0, 30);
	snprintf(command, sizeof(command), "cd %s && rm -f LOG* && sha256sum * >../%s.sums", folder.path,
		strrchr(folder.path, '/') + 1);
	assert_int_equal(system(command), 0);
	assert_int_equal(store_open_read_only(folder.path, &options, &store, why), 0);
	assert_in_range(count_numbers(store), confirmed, confirmed + 1);
	assert_true(put_number(store, confirmed, true) < 0);
	store_close(store);
	snprintf(command, sizeof(command), "cd %s && sha256sum --quiet -c ../%s.sums && rm ../%s.sums", folder.path,
		strrchr(folder.path, '/') + 1, strrchr(folder.path, '/') + 1);
	assert_int_equal(system(command), 0);
}

static void a_damaged_witness_is_told_and_written_anew(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[256], why[512] = "";
	struct store *store = NULL;
	commit_until_killed(folder.path, 0, 10);
	FOLDER_PATH(path, folder, "witness");
	flip_byte(path, 9);
	assert_int_equal(store_open(folder.path, &options, &store, why), 0);
	assert_non_null(strstr(why, "witness was damaged"));
	assert_int_equal(put_number(store, count_numbers(store), true), 0);
	store_close(store);
	assert_int_equal(store_open(folder.path, &options, &store, why), 0);
	assert_string_equal(why, "");
	store_close(store);
}

static void a_log_cut_short_and_a_damaged_witness_are_both_told(void **state)
{
	(void)state;
	_cleanup_(folder_remove) struct folder folder = folder_new();
	char path[256], why[512] = "";
	commit_until_killed(folder.path, 0, 10);
	find_log(&folder, path);
	assert_int_equal(truncate(path, size_of(path) - 100), 0);
	FOLDER_PATH(path, folder, "witness");
	flip_byte(path, 9);
	_cleanup_(store_closep) struct store *store = NULL;
	assert_int_equal(store_open(folder.path, &options, &store, why), 0);
	assert_non_null(strstr(why, "the last record was cut short"));
	assert_non_null(strstr(why, "witness was damaged"));
}

static void of_many_logs_the_newest_are_known_and_of_them_those_that_hold_something(void **state)
{
	enum { LOGS = WALS_MAX + 3 };
	_cleanup_(folder_remove) struct folder folder = folder_new();
	struct wals found = { .count = 1 };
	char path[128], name[32];

	(void)state;
	for (int number = LOGS; number > 0; number--) {
		snprintf(name, sizeof(name), "%06d.log", (number * 13) % (LOGS + 2) + 1); /* in no order */
		FOLDER_PATH(path, folder, name);
		assert_int_equal(file_write_durably(path, bytes_of("x"), 0600), 0);
	}
	static const char *const others[] = { "000900.sst", "000901.log.old", ".log", "x000902.log" };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		FOLDER_PATH(path, folder, others[i]);
		assert_int_equal(file_write_durably(path, bytes_of("x"), 0600), 0);
	}
	FOLDER_PATH(path, folder, "000999.log");
	assert_int_equal(file_write_durably(path, bytes_of(""), 0600), 0);
	wals_list(folder.path, &found);
	assert_int_equal(found.count, WALS_MAX);
	for (int i = 1; i < WALS_MAX; i++)
		assert_true(found.numbers[i] > found.numbers[i - 1]);
	assert_int_equal(found.numbers[WALS_MAX - 1], LOGS + 2);
	assert_int_equal(found.numbers[0], 5); /* 2, 3 and 4 are older, and 25 is none's */
	wals_list("/no/such/folder", &found);
	assert_int_equal(found.count, 0);
}

int main(int argc, char **argv)
{
	int ended = numbers_program(argc, argv);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_many_logs_the_newest_are_known_and_of_them_those_that_hold_something),
		cmocka_unit_test(a_log_without_the_end_that_was_synced_is_refused),
		cmocka_unit_test(a_log_whose_only_record_was_cut_short_is_in_nobodys_way_later),
		cmocka_unit_test(two_logs_that_follow_each_other_are_taken),
		cmocka_unit_test(an_older_log_that_lost_its_end_is_refused),
		cmocka_unit_test(an_older_log_that_ends_between_two_records_is_refused),
		cmocka_unit_test(a_missing_older_log_is_refused),
		cmocka_unit_test(a_log_that_is_not_needed_any_more_is_not_missed),
		cmocka_unit_test(a_store_that_lost_its_current_is_not_taken_for_a_new_one),
		cmocka_unit_test(what_is_only_read_is_left_as_it_is),
		cmocka_unit_test(a_damaged_witness_is_told_and_written_anew),
		cmocka_unit_test(a_log_cut_short_and_a_damaged_witness_are_both_told),
		cmocka_unit_test(a_manifest_without_its_end_is_refused_before_anything_opens_it),
	};

	return ended >= 0 ? ended : cmocka_run_group_tests(tests, NULL, NULL);
}
