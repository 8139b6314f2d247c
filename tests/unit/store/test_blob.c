/*
 * test_blob.c: contents named by their hash, their references, and what may lie in the folder beside them
 */
#include "bus/base/file.h"
#include "bus/store/blob/blob.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/descriptors.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { MANY = 100000 };
#define HOUR_US UINT64_C(3600000000)
/* SHA-256 of "hello" */
#define HELLO "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static const struct blob_limits no_limits;

static struct blob_store *open_store(struct folder folder, struct blob_limits limits)
{
	struct blob_store *store = NULL;

	assert_int_equal(blob_store_open(folder.path, &limits, &store), 0);
	return store;
}

static int put(struct blob_store *store, const char *content, const char *owner, char ret_name[BLOB_NAME_SIZE])
{
	struct blob_writer *writer = NULL;
	int r = blob_begin(store, &writer);

	assert_int_equal(r, 0);
	blob_add(writer, bytes_of(content));
	return blob_commit(&writer, owner, ret_name);
}

static int read_all(const struct blob_store *store, const char *name)
{
	_cleanup_(blob_reader_freep) struct blob_reader *reader = NULL;
	char part[3];
	ssize_t got = blob_open(store, name, &reader);

	if (got == 0)
		while ((got = blob_read(reader, part, sizeof(part))) > 0)
			;
	return (int)got;
}

static int count_finding(void *context, enum blob_finding finding, const char *name)
{
	int *found = context;

	assert_true(*name);
	found[finding]++;
	return 0;
}

static void expect_findings(
	const struct blob_store *store, int damaged, int missing, int surplus, int foreign, int linked)
{
	int found[BLOB_FINDINGS] = { 0 };

	assert_int_equal(blob_verify(store, count_finding, found), 0);
	assert_int_equal(found[BLOB_DAMAGED], damaged);
	assert_int_equal(found[BLOB_MISSING], missing);
	assert_int_equal(found[BLOB_SURPLUS], surplus);
	assert_int_equal(found[BLOB_FOREIGN], foreign);
	assert_int_equal(found[BLOB_LINKED], linked);
}

static uint64_t in_hours(uint64_t hours)
{
	return (uint64_t)time(NULL) * 1000000 + hours * HOUR_US;
}

static void a_content_is_named_by_its_hash_and_counted_once(void **state)
{
	struct folder folder = folder_new();
	struct blob_store *store = open_store(folder, no_limits), *second = NULL;
	struct blob_writer *one = NULL, *other = NULL;
	char name[BLOB_NAME_SIZE];

	(void)state;
	assert_int_equal(blob_store_open(folder.path, &no_limits, &second), -EBUSY);
	assert_int_equal(blob_begin(store, &one), 0); /* two writers of the same content at once */
	assert_int_equal(blob_begin(store, &other), 0);
	assert_int_equal(blob_add(one, bytes_of("hel")), 0);
	assert_int_equal(blob_add(other, bytes_of("hello")), 0);
	assert_int_equal(blob_add(one, bytes_of("lo")), 0);
	assert_int_equal(blob_commit(&one, "shop/1", name), 0);
	assert_string_equal(name, HELLO);
	assert_int_equal(blob_commit(&other, "shop/2", name), 0);
	assert_null(other);
	assert_int_equal(blob_store_counts(store).files, 1);
	assert_int_equal(blob_store_counts(store).bytes, 5);
	assert_int_equal(read_all(store, HELLO), 0);
	expect_findings(store, 0, 0, 0, 0, 0);
	blob_store_close(store);
	store = open_store(folder, no_limits);
	assert_int_equal(blob_store_counts(store).bytes, 5);
	assert_int_equal(blob_store_open_to_read(folder.path, &second), 0);
	assert_int_equal(read_all(second, HELLO), 0);
	assert_int_equal(blob_release(second, HELLO, "shop/1"), -EROFS);
	blob_store_close(second);
	blob_store_close(store);
}

static void a_blob_of_two_owners_stays_when_one_is_erased(void **state)
{
	struct blob_store *store = open_store(folder_new(), no_limits);
	char name[BLOB_NAME_SIZE], alone[BLOB_NAME_SIZE];
	uint64_t released;

	(void)state;
	assert_int_equal(put(store, "hello", "shop/1", name), 0);
	assert_int_equal(put(store, "alone", "shop/1", alone), 0);
	assert_int_equal(blob_refer(store, name, "shop/2"), 0);
	assert_int_equal(blob_refer(store, name, "shop/2"), 0);
	assert_int_equal(blob_release_owner(store, "shop/1", &released), 0);
	assert_int_equal(released, 2);
	assert_int_equal(read_all(store, name), 0);
	assert_int_equal(read_all(store, alone), -ENOENT);
	assert_int_equal(blob_release(store, name, "shop/1"), -ENOENT);
	assert_int_equal(blob_release(store, name, "shop/2"), 0);
	assert_int_equal(blob_store_counts(store).files, 0);
	assert_int_equal(blob_refer(store, name, "shop/2"), -ENOENT);
	expect_findings(store, 0, 0, 0, 0, 0);
	blob_store_close(store);
}

/* The state that a kill leaves between two system calls, made by hand. */
static void change_references(struct folder folder, const char *command)
{
	char line[PATH_MAX + 100];

	snprintf(line, sizeof(line), "cd %s/refs && %s", folder.path, command);
	assert_int_equal(system(line), 0);
}

static void a_release_that_was_cut_short_is_gone_on_from(void **state)
{
	struct folder folder = folder_new();
	struct blob_store *store = open_store(folder, no_limits);
	char name[BLOB_NAME_SIZE];
	uint64_t released;

	(void)state;
	assert_int_equal(put(store, "hello", "anna", name), 0);
	change_references(folder, "find . -type f -delete");
	assert_int_equal(blob_release_owner(store, "anna", &released), 0);
	assert_int_equal(released, 0);
	assert_int_equal(blob_store_counts(store).files, 0);
	change_references(folder, "test -z \"$(find . -name '2cf24*')\"");
	blob_store_close(store);
}

static void an_owner_whose_reference_was_half_written_is_erased_too(void **state)
{
	struct folder folder = folder_new();
	struct blob_store *store = open_store(folder, no_limits);
	char name[BLOB_NAME_SIZE];
	uint64_t released;

	(void)state;
	assert_int_equal(put(store, "hello", "anna", name), 0);
	change_references(folder, "f=$(find . -type f) && mv $f $f.writing");
	assert_int_equal(blob_refer(store, name, "bert"), 0);
	assert_int_equal(blob_release_owner(store, "anna", &released), 0);
	change_references(folder, "! grep -rq anna .");
	assert_int_equal(read_all(store, name), 0);
	blob_store_close(store);
}

static void an_erasure_that_cannot_look_everywhere_says_so(void **state)
{
	struct blob_store *store = open_store(folder_new(), no_limits);
	struct rlimit before, none;
	char name[BLOB_NAME_SIZE];
	uint64_t released;
	int low = dup(0);

	(void)state;
	assert_int_equal(put(store, "hello", "anna", name), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	close(low);
	for (rlim_t spare = 0; spare < 4; spare++) {
		none = (struct rlimit){ .rlim_cur = (rlim_t)low + spare, .rlim_max = before.rlim_max };
		setrlimit(RLIMIT_NOFILE, &none);
		int r = blob_release_owner(store, "anna", &released);
		setrlimit(RLIMIT_NOFILE, &before);
		assert_int_equal(r, -EMFILE);
		assert_int_equal(read_all(store, name), 0);
	}
	assert_int_equal(blob_release_owner(store, "anna", &released), 0);
	assert_int_equal(released, 1);
	blob_store_close(store);
}

static void who_refers_to_a_blob_again_keeps_it_for_as_long_again(void **state)
{
	struct folder folder = folder_new();
	struct blob_store *store = open_store(folder, no_limits);
	char name[BLOB_NAME_SIZE];
	uint64_t released;

	(void)state;
	assert_int_equal(put(store, "hello", "anna", name), 0);
	change_references(folder, "find . -type f -exec touch -d '89 days ago' {} +");
	assert_int_equal(put(store, "hello", "anna", name), 0);
	assert_int_equal(blob_expire(store, in_hours(48), 90 * 24 * HOUR_US, &released), 0);
	assert_int_equal(released, 0);
	assert_int_equal(read_all(store, name), 0);
	blob_store_close(store);
}

static void what_is_old_or_not_referred_to_is_removed_in_time(void **state)
{
	struct folder folder = folder_new();
	struct blob_store *store = open_store(folder, no_limits);
	struct blob_counts removed;
	char name[BLOB_NAME_SIZE], path[PATH_MAX];
	uint64_t released;

	(void)state;
	assert_int_equal(put(store, "hello", "a", name), 0);
	assert_int_equal(put(store, "kept", "b", name), 0);
	snprintf(path, sizeof(path), "rm -r %s/refs/2c/%s", folder.path, HELLO);
	assert_int_equal(system(path), 0);
	expect_findings(store, 0, 0, 1, 0, 0);
	assert_int_equal(blob_sweep(store, in_hours(1), 2 * HOUR_US, &removed), 0);
	assert_int_equal(removed.files, 0);
	assert_int_equal(blob_sweep(store, in_hours(3), 2 * HOUR_US, &removed), 0);
	assert_int_equal(removed.files, 1);
	assert_int_equal(removed.bytes, 5);
	assert_int_equal(blob_expire(store, in_hours(1), 2 * HOUR_US, &released), 0);
	assert_int_equal(released, 0);
	assert_int_equal(blob_expire(store, in_hours(3), 2 * HOUR_US, &released), 0);
	assert_int_equal(released, 1);
	assert_int_equal(blob_store_counts(store).files, 0);
	blob_store_close(store);
}

static void a_name_that_is_no_hash_reaches_no_file(void **state)
{
	static const char *const names[] = { "", "../x", "..", "2c",
		"2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824", HELLO "0",
		"../../2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e7304336293" };
	struct blob_store *store = open_store(folder_new(), no_limits);
	struct blob_reader *reader = NULL;
	char name[BLOB_NAME_SIZE], owner[BLOB_OWNER_MAX + 2] = "";

	(void)state;
	assert_int_equal(put(store, "hello", "a", name), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(blob_open(store, names[i], &reader), -EINVAL);
		assert_int_equal(blob_refer(store, names[i], "a"), -EINVAL);
		assert_int_equal(blob_release(store, names[i], "a"), -EINVAL);
	}
	memset(owner, 'x', BLOB_OWNER_MAX + 1);
	assert_int_equal(blob_refer(store, HELLO, owner), -EINVAL);
	assert_int_equal(blob_refer(store, HELLO, ""), -EINVAL);
	assert_int_equal(blob_refer(store, HELLO, "../../x"), 0);
	blob_store_close(store);
}

static void damaged_missing_and_planted_files_are_told_and_not_believed(void **state)
{
	struct folder folder = folder_new();
	struct blob_store *store = open_store(folder, no_limits);
	char name[BLOB_NAME_SIZE], gone[BLOB_NAME_SIZE], path[PATH_MAX], other[PATH_MAX];
	int free_before = lowest_free_descriptor();

	(void)state;
	assert_int_equal(put(store, "hello", "a", name), 0);
	assert_int_equal(put(store, "gone", "a", gone), 0);
	snprintf(path, sizeof(path), "%s/blobs/%.2s/%s", folder.path, gone, gone);
	assert_int_equal(unlink(path), 0);
	expect_findings(store, 0, 1, 0, 0, 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(read_all(store, gone), -ELOOP);
	expect_findings(store, 0, 0, 0, 1, 0);
	snprintf(path, sizeof(path), "%s/blobs/2c/%s", folder.path, name);
	snprintf(other, sizeof(other), "%s/link", folder.path);
	assert_int_equal(link(path, other), 0);
	expect_findings(store, 0, 0, 0, 1, 1);
	assert_int_equal(file_write_durably(path, bytes_of("hellO"), 0600), 0);
	assert_int_equal(read_all(store, name), -EBADMSG);
	expect_findings(store, 1, 0, 0, 1, 0);
	snprintf(other, sizeof(other), "%s/blobs/readme", folder.path);
	assert_int_equal(file_write_durably(other, bytes_of("x"), 0600), 0);
	snprintf(other, sizeof(other), "%s/refs/zz", folder.path);
	assert_int_equal(mkdir(other, 0700), 0);
	expect_findings(store, 1, 0, 0, 3, 0);
	assert_int_equal(put(store, "hello", "a", name), 0); /* mends it */
	assert_int_equal(put(store, "gone", "a", gone), 0);  /* replaces the link, and not its target */
	expect_findings(store, 0, 0, 0, 2, 0);
	assert_int_equal(lowest_free_descriptor(), free_before);
	blob_store_close(store);
}

static void a_content_past_a_limit_is_refused_and_leaves_nothing(void **state)
{
	struct blob_store *store = open_store(folder_new(), (struct blob_limits){ .blob_bytes = 8, .all_bytes = 10 });
	char name[BLOB_NAME_SIZE] = "";

	(void)state;
	assert_int_equal(put(store, "123456789", "a", name), -EFBIG);
	assert_string_equal(name, "");
	assert_int_equal(put(store, "12345678", "a", name), 0);
	assert_int_equal(put(store, "abc", "a", name), -EDQUOT);
	assert_int_equal(put(store, "ab", "a", name), 0);
	expect_findings(store, 0, 0, 0, 0, 0);
	blob_store_close(store);
	store = open_store(folder_new(), (struct blob_limits){ .kept_free = UINT64_MAX / 2 });
	assert_int_equal(put(store, "abc", "a", name), -ENOSPC);
	assert_int_equal(blob_store_counts(store).files, 0);
	blob_store_close(store);
}

/* The limit of the process stands for the disk: the write itself fails, in the middle of a content. */
static void a_write_that_the_disk_refuses_names_nothing(void **state)
{
	struct blob_store *store = open_store(folder_new(), no_limits);
	struct rlimit all, few = { 4, RLIM_INFINITY };
	char name[BLOB_NAME_SIZE] = "";

	(void)state;
	getrlimit(RLIMIT_FSIZE, &all);
	few.rlim_max = all.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	int r = put(store, "hello", "a", name);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	assert_int_equal(r, -EFBIG);
	assert_string_equal(name, "");
	expect_findings(store, 0, 0, 0, 0, 0);
	assert_int_equal(put(store, "hello", "a", name), 0);
	blob_store_close(store);
}

static void a_file_is_adopted_and_its_path_goes_last(void **state)
{
	struct folder folder = folder_new(), outside = folder_new();
	struct blob_store *store = open_store(folder, no_limits);
	char name[BLOB_NAME_SIZE], path[PATH_MAX], link_path[PATH_MAX], blob[PATH_MAX];

	(void)state;
	FOLDER_PATH(path, outside, "mail");
	FOLDER_PATH(link_path, outside, "link");
	assert_int_equal(file_write_durably(path, bytes_of("hello"), 0644), 0);
	assert_int_equal(symlink(path, link_path), 0);
	assert_int_equal(blob_adopt(store, link_path, "a", name), -ELOOP);
	assert_int_equal(blob_adopt(store, outside.path, "a", name), -EPERM);
	assert_int_equal(blob_adopt(store, path, "a", name), 0);
	assert_string_equal(name, HELLO);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(blob, sizeof(blob), "%s/blobs/2c/%s", folder.path, name);
	assert_int_equal(link(blob, path), 0); /* as if the process had been killed before it removed the path */
	expect_findings(store, 0, 0, 0, 0, 1);
	assert_int_equal(blob_adopt(store, path, "a", name), 0);
	expect_findings(store, 0, 0, 0, 0, 0);
	assert_int_equal(blob_store_counts(store).files, 1);
	blob_store_close(store);
}

/* Made without the store: 100,000 syncs would measure the disk. */
static void many_blobs_are_counted_and_verified_in_bounded_memory_and_time(void **state)
{
	struct folder folder = folder_new();
	struct blob_store *store = open_store(folder, no_limits);
	char path[PATH_MAX];
	struct rusage before, after;
	int found[BLOB_FINDINGS] = { 0 };

	(void)state;
	blob_store_close(store);
	for (int i = 0; i < 256; i++) {
		snprintf(path, sizeof(path), "%s/blobs/%02x", folder.path, (unsigned)i);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "%s/blobs/%02x/%02x%062x", folder.path, i % 256, i % 256, i);
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_true(fd >= 0);
		close(fd);
	}
	time_t start = time(NULL);
	getrusage(RUSAGE_SELF, &before);
	store = open_store(folder, no_limits);
	assert_int_equal(blob_store_counts(store).files, MANY);
	assert_int_equal(blob_verify(store, count_finding, found), 0);
	assert_int_equal(found[BLOB_DAMAGED], MANY);
	assert_int_equal(found[BLOB_SURPLUS], MANY);
	getrusage(RUSAGE_SELF, &after);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
	assert_true(after.ru_maxrss - before.ru_maxrss < 8 * 1024);
#endif
	assert_true(time(NULL) - start < 120);
	blob_store_close(store);
}

static uint64_t tend_all(struct blob_store *store, uint64_t hours, const struct blob_ages *ages)
{
	struct blob_counts removed;
	uint64_t files = 0;
	int r, parts = 0;

	do {
		r = blob_tend(store, in_hours(hours), ages, &removed);
		assert_true(r == 0 || r == 1);
		files += removed.files;
		parts++;
	} while (r == 0);
	assert_int_equal(parts, 256);
	return files;
}

static void a_store_is_tended_in_parts_and_counted_anew(void **state)
{
	struct folder folder = folder_new();
	struct blob_store *store = open_store(folder, no_limits), *beside = NULL;
	const struct blob_ages ages = { .reference_us = 10 * HOUR_US, .surplus_us = 2 * HOUR_US };
	char kept[BLOB_NAME_SIZE], erased[BLOB_NAME_SIZE];
	uint64_t now_us = in_hours(0);

	(void)state;
	assert_int_equal(blob_store_oldest_us(store), 0);
	assert_int_equal(put(store, "kept", "a", kept), 0);
	assert_int_equal(put(store, "erased", "b", erased), 0);
	assert_int_equal(blob_store_open_to_release(folder.path, &beside), 0);
	assert_int_equal(blob_release(beside, erased, "b"), 0);
	assert_int_equal(blob_begin(beside, &(struct blob_writer *){ NULL }), -EROFS);
	assert_int_equal(blob_sweep(beside, UINT64_MAX, 0, &(struct blob_counts){ 0 }), -EROFS);
	blob_store_close(beside);
	assert_int_equal(read_all(store, erased), -ENOENT);
	assert_int_equal(tend_all(store, 1, &ages), 0);
	assert_int_equal(blob_store_counts(store).files, 1);
	assert_true(blob_store_oldest_us(store) <= now_us + HOUR_US / 60);
	assert_int_equal(tend_all(store, 9, &ages), 0);
	assert_int_equal(tend_all(store, 11, &(struct blob_ages){ .surplus_us = 1 }), 0); /* references do not age */
	assert_int_equal(tend_all(store, 11, &ages), 1);
	expect_findings(store, 0, 0, 0, 0, 0);
	blob_store_close(store);
}

static void an_owner_that_cannot_be_leaves_no_surplus(void **state)
{
	struct blob_store *store = open_store(folder_new(), no_limits);
	char name[BLOB_NAME_SIZE] = "";

	(void)state;
	assert_int_equal(put(store, "hello", "", name), -EINVAL);
	assert_string_equal(name, "");
	assert_int_equal(blob_store_counts(store).files, 0);
	expect_findings(store, 0, 0, 0, 0, 0);
	blob_store_close(store);
}

static void expect_mode(struct folder folder, const char *name, mode_t mode)
{
	char path[PATH_MAX];
	struct stat there;

	snprintf(path, sizeof(path), "%s/%s", folder.path, name);
	assert_int_equal(lstat(path, &there), 0);
	assert_int_equal(there.st_mode & 07777, mode);
}

static void below_a_folder_that_hands_its_group_on_the_group_may_read(void **state)
{
	struct folder folder = folder_new();
	static const char file[] = "blobs/2c/" HELLO;
	const mode_t before = umask(077); /* as a unit has it */
	struct blob_store *store = NULL;
	char path[PATH_MAX], name[BLOB_NAME_SIZE];

	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		snprintf(path, sizeof(path), "%s/%d", folder.path, shared);
		assert_int_equal(mkdir(path, 0750), 0);
		assert_int_equal(chmod(path, shared ? 02750 : 0750), 0);
		snprintf(path, sizeof(path), "%s/%d/use/shop", folder.path, shared);
		assert_int_equal(blob_store_open(path, &no_limits, &store), 0);
		assert_int_equal(put(store, "hello", "a", name), 0);
		blob_store_close(store);
		snprintf(path, sizeof(path), "%d/use/shop/%s", shared, file);
		expect_mode(folder, path, shared ? 0640 : 0600);
		snprintf(path, sizeof(path), "%d/use/shop/blobs/2c", shared);
		expect_mode(folder, path, shared ? 02750 : 0700);
		snprintf(path, sizeof(path), "%d/use/shop", shared);
		expect_mode(folder, path, shared ? 02750 : 0700);
	}
	umask(before);
}

static void a_copy_has_the_references_and_nothing_that_is_damaged(void **state)
{
	struct folder folder = folder_new();
	struct blob_store *from = open_store(folder, no_limits), *to = open_store(folder_new(), no_limits);
	const struct blob_ages ages = { .reference_us = 5 * HOUR_US, .surplus_us = HOUR_US };
	char first[BLOB_NAME_SIZE], second[BLOB_NAME_SIZE], path[PATH_MAX];

	(void)state;
	assert_int_equal(put(from, "first", "a", first), 0);
	assert_int_equal(blob_refer(from, first, "b"), 0);
	assert_int_equal(put(from, "second", "a", second), 0);
	snprintf(path, sizeof(path), "%s/blobs/%.2s/%s", folder.path, second, second);
	assert_int_equal(truncate(path, 3), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(blob_copy(from, first, to), 0);
		assert_int_equal(blob_copy(from, second, to), -EBADMSG);
		assert_int_equal(blob_copy(from, HELLO, to), -ENOENT);
	}
	assert_int_equal(read_all(to, first), 0);
	assert_int_equal(read_all(to, second), -ENOENT);
	expect_findings(to, 0, 0, 0, 0, 0);
	assert_int_equal(blob_release(to, first, "a"), 0);
	assert_int_equal(blob_release(to, first, "b"), 0);
	assert_int_equal(read_all(to, first), -ENOENT);
	assert_int_equal(blob_copy(from, first, to), 0);
	assert_int_equal(tend_all(to, 6, &ages), 1); /* the references have their own times */
	blob_store_close(from);
	blob_store_close(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_content_is_named_by_its_hash_and_counted_once),
		cmocka_unit_test(a_blob_of_two_owners_stays_when_one_is_erased),
		cmocka_unit_test(a_release_that_was_cut_short_is_gone_on_from),
		cmocka_unit_test(an_owner_whose_reference_was_half_written_is_erased_too),
		cmocka_unit_test(an_erasure_that_cannot_look_everywhere_says_so),
		cmocka_unit_test(who_refers_to_a_blob_again_keeps_it_for_as_long_again),
		cmocka_unit_test(what_is_old_or_not_referred_to_is_removed_in_time),
		cmocka_unit_test(a_name_that_is_no_hash_reaches_no_file),
		cmocka_unit_test(damaged_missing_and_planted_files_are_told_and_not_believed),
		cmocka_unit_test(a_content_past_a_limit_is_refused_and_leaves_nothing),
		cmocka_unit_test(a_write_that_the_disk_refuses_names_nothing),
		cmocka_unit_test(a_file_is_adopted_and_its_path_goes_last),
		cmocka_unit_test(a_store_is_tended_in_parts_and_counted_anew),
		cmocka_unit_test(an_owner_that_cannot_be_leaves_no_surplus),
		cmocka_unit_test(below_a_folder_that_hands_its_group_on_the_group_may_read),
		cmocka_unit_test(a_copy_has_the_references_and_nothing_that_is_damaged),
		cmocka_unit_test(many_blobs_are_counted_and_verified_in_bounded_memory_and_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
