/*
 * test_blob_synced.c: when a blob's name is returned, nothing of it is left for a power cut to take
 *
 * The calls that change files are watched (the linker's --wrap). A file is dirty from a write to it until its fsync, and a folder from
 * a change of its names until the folder's. A power cut takes what is dirty.
 */
#include "bus/store/blob/blob.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

enum { DIRTY_MOST = 256 };

static struct dirty {
	ino_t inode;
	char path[PATH_MAX];
} dirty[DIRTY_MOST];
static int dirty_count, sync_count;

static void mark(int fd)
{
	char link[64];
	struct stat there;

	if (fstat(fd, &there) < 0)
		return;
	for (int i = 0; i < dirty_count; i++)
		if (dirty[i].inode == there.st_ino)
			return;
	assert_true(dirty_count < DIRTY_MOST);
	struct dirty *one = &dirty[dirty_count++];
	*one = (struct dirty){ .inode = there.st_ino };
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t len = readlink(link, one->path, sizeof(one->path) - 1);
	one->path[len > 0 ? len : 0] = '\0';
}

/* The folder of a path that a call was given beside the descriptor of a folder. */
static void mark_folder(int folder, const char *path)
{
	char above[PATH_MAX];
	const char *slash = strrchr(path, '/');

	snprintf(above, sizeof(above), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	int fd = openat(folder, above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mark(fd);
	close(fd);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	struct stat there;

	sync_count++;
	assert_int_equal(fstat(fd, &there), 0);
	for (int i = 0; i < dirty_count; i++)
		if (dirty[i].inode == there.st_ino)
			dirty[i--] = dirty[--dirty_count];
	return __real_fsync(fd);
}

ssize_t __real_write(int fd, const void *bytes, size_t len);
ssize_t __wrap_write(int fd, const void *bytes, size_t len);
ssize_t __wrap_write(int fd, const void *bytes, size_t len)
{
	if (fd > STDERR_FILENO)
		mark(fd);
	return __real_write(fd, bytes, len);
}

int __real_futimens(int fd, const struct timespec times[2]);
int __wrap_futimens(int fd, const struct timespec times[2]);
int __wrap_futimens(int fd, const struct timespec times[2])
{
	mark(fd);
	return __real_futimens(fd, times);
}

int __real_mkdirat(int folder, const char *path, mode_t mode);
int __wrap_mkdirat(int folder, const char *path, mode_t mode);
int __wrap_mkdirat(int folder, const char *path, mode_t mode)
{
	int r = __real_mkdirat(folder, path, mode);

	if (r == 0)
		mark_folder(folder, path);
	return r;
}

int __real_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	int r = __real_renameat(from_folder, from, to_folder, to);

	if (r == 0)
		mark_folder(to_folder, to); /* that the old name may come back harms nothing: it lies in writing/ */
	return r;
}

int __real_unlinkat(int folder, const char *path, int flags);
int __wrap_unlinkat(int folder, const char *path, int flags);
int __wrap_unlinkat(int folder, const char *path, int flags)
{
	int r = __real_unlinkat(folder, path, flags);

	if (r == 0 && !(flags & AT_REMOVEDIR))
		mark_folder(folder, path);
	return r;
}

/* ---- */

static bool ends_with(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	return len >= end_len && strcmp(path + len - end_len, end) == 0;
}

static void expect_clean(const char *when)
{
	for (int i = 0; i < dirty_count; i++)
		if (!ends_with(dirty[i].path, "/writing")) /* names in it are nobody's promise */
			fail_msg("%s a power cut takes %s", when, dirty[i].path);
	dirty_count = 0;
}

static const struct blob_limits no_limits;

static void commit(struct blob_store *store, const char *content, const char *owner, char ret_name[BLOB_NAME_SIZE])
{
	struct blob_writer *writer = NULL;

	assert_int_equal(blob_begin(store, &writer), 0);
	assert_int_equal(blob_add(writer, bytes_of(content)), 0);
	assert_int_equal(blob_commit(&writer, owner, ret_name), 0);
}

/* `mode` is the folder's in which the store is made. */
static void expect_durable(mode_t mode)
{
	struct folder folder = folder_new();
	struct blob_store *store = NULL;
	char name[BLOB_NAME_SIZE], path[PATH_MAX];

	dirty_count = 0;
	assert_int_equal(chmod(folder.path, mode), 0);
	FOLDER_PATH(path, folder, "use/shop");
	assert_int_equal(blob_store_open(path, &no_limits, &store), 0);
	commit(store, "first", "a", name);
	expect_clean("after a commit");
	commit(store, "first", "b", name); /* all of its folders are there */
	expect_clean("after a repeated commit");
	assert_int_equal(blob_refer(store, name, "c"), 0);
	expect_clean("after a reference");
	assert_int_equal(blob_refer(store, name, "c"), 0);
	expect_clean("after a repeated reference");
	blob_store_close(store);
}

static void a_name_that_was_returned_outlives_a_power_cut(void **state)
{
	(void)state;
	expect_durable(0700);
	expect_durable(02750);
}

static void what_was_released_does_not_come_back(void **state)
{
	struct folder folder = folder_new();
	struct blob_store *store = NULL;
	char name[BLOB_NAME_SIZE];

	(void)state;
	dirty_count = 0;
	assert_int_equal(blob_store_open(folder.path, &no_limits, &store), 0);
	commit(store, "first", "a", name);
	assert_int_equal(blob_refer(store, name, "b"), 0);
	dirty_count = 0;
	assert_int_equal(blob_release(store, name, "a"), 0);
	expect_clean("after a release");
	assert_int_equal(blob_release(store, name, "b"), 0);
	expect_clean("after the last release");
	blob_store_close(store);
}

/* A hundred thousand blobs would take minutes. */
static void a_copy_waits_for_the_disk_nowhere(void **state)
{
	struct folder folder = folder_new(), other = folder_new();
	struct blob_store *store = NULL, *copy = NULL;
	char name[BLOB_NAME_SIZE];

	(void)state;
	dirty_count = 0;
	assert_int_equal(blob_store_open(folder.path, &no_limits, &store), 0);
	assert_int_equal(blob_store_open(other.path, &no_limits, &copy), 0);
	commit(store, "first", "a", name);
	sync_count = dirty_count = 0;
	assert_int_equal(blob_copy(store, name, copy), 0);
	assert_int_equal(sync_count, 0);
	blob_store_close(copy);
	blob_store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_name_that_was_returned_outlives_a_power_cut),
		cmocka_unit_test(what_was_released_does_not_come_back),
		cmocka_unit_test(a_copy_waits_for_the_disk_nowhere) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
