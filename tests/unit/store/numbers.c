/*
 * numbers.c: a store that is written by a program of its own, so that this one can kill it and damage what it leaves
 */
#include "tests/unit/store/numbers.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "tests/unit/cmocka_all.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

DEFINE_CLEANUP(struct store_batch *, store_batch_free)
DEFINE_CLEANUP(struct store_cursor *, store_cursor_free)

enum { COMMITTED_BEYOND = 30 }; /* what is enough: far fewer than fill a write buffer */

static const char *const families[] = { "log", "state", NULL };
const struct store_options options = {
	.families = families, .cache_bytes = 1 << 20, .write_buffer_bytes = 1 << 20, .asked_in_vain = 1
};

struct store *opened(const char *path)
{
	struct store *store = NULL;
	char why[512];
	if (store_open(path, &options, &store, why))
		fail_msg("%s", why);
	return store;
}

int put_number(struct store *store, uint64_t number, bool sync)
{
	uint8_t key[8];
	char value[VALUE_BYTES];
	_cleanup_(store_batch_freep) struct store_batch *batch = store_batch_new(store);
	put_be64(key, number);
	memset(value, (int)('a' + number % 26), sizeof(value));
	store_batch_put(batch, LOG, BYTES(key, 8), BYTES(value, sizeof(value)));
	return store_commit(store, batch, sync);
}

/* How many there are, which must be 0, 1, 2 ... without a gap. */
uint64_t count_numbers(struct store *store)
{
	_cleanup_(store_cursor_freep) struct store_cursor *cursor = store_cursor_new(store, LOG);
	uint64_t count = 0;
	for (bool more = store_cursor_seek(cursor, bytes_of("")); more; more = store_cursor_next(cursor)) {
		assert_true(get_be64(store_cursor_key(cursor).data) == count);
		assert_int_equal(store_cursor_value(cursor).len, VALUE_BYTES);
		count++;
	}
	assert_int_equal(store_cursor_status(cursor), 0);
	return count;
}

/* A program of its own: a process that is forked from one with threads has neither RocksDB's nor a heap that is sure to be unlocked. */
pid_t start_program(const char *what, const char *path, const char *more, int says)
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (child > 0)
		return child;
	if (says >= 0)
		dup2(says, STDOUT_FILENO);
	_exit(execl("/proc/self/exe", "test_store", what, path, more, (char *)NULL));
}

/* `range`: "FIRST END". It waits to be killed there: on a fast disk it would be in another write-ahead log before it is. */
static int commit_on(const char *path, const char *range)
{
	struct store *store = opened(path);
	char *rest;
	uint64_t i = strtoull(range, &rest, 10), end = strtoull(rest, NULL, 10);

	for (; i < end; i++)
		if (put_number(store, i, true) < 0 || write(STDOUT_FILENO, &i, sizeof(i)) < 0)
			return 1;
	alarm(60); /* the one that kills it may have died */
	for (;;)
		pause();
}

static int commit_six(const char *path)
{
	struct store *store = opened(path);
	for (uint64_t i = 0; i < 6; i++)
		if (put_number(store, i, i < 5) < 0)
			return 1;
	return 0;
}

/* A child that commits until it is killed, and tells each number over a pipe once its sync has returned. */
uint64_t commit_until_killed(const char *path, uint64_t from, uint64_t enough)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	char range[48];
	snprintf(range, sizeof(range), "%llu %llu", (unsigned long long)from,
		(unsigned long long)(from + enough + COMMITTED_BEYOND));
	pid_t child = start_program("commit-on", path, range, ends[1]);
	close(ends[1]);
	uint64_t confirmed = from, number;
	while (read(ends[0], &number, sizeof(number)) == (ssize_t)sizeof(number)) {
		confirmed = number + 1;
		if (confirmed >= from + enough)
			kill(child, SIGKILL);
	}
	close(ends[0]);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	return confirmed;
}

/* The write-ahead log with the highest number; `below` is the path of one, or NULL. */
void find_log_before(const char *path, const char *below, char to[256])
{
	char newest[64] = "";
	const char *limit = below ? strrchr(below, '/') + 1 : "~";
	DIR *dir = opendir(path);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));) {
		size_t len = strlen(entry->d_name);
		if (len == 10 && strcmp(entry->d_name + 6, ".log") == 0 && strcmp(entry->d_name, newest) > 0 &&
			strcmp(entry->d_name, limit) < 0)
			TEXT_COPY(newest, entry->d_name);
	}
	closedir(dir);
	assert_string_not_equal(newest, "");
	snprintf(to, 256, "%s/%s", path, newest);
}

void find_log(const struct folder *folder, char to[256])
{
	find_log_before(folder->path, NULL, to);
}

off_t size_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	off_t size = lseek(fd, 0, SEEK_END);
	close(fd);
	return size;
}

void flip_byte(const char *path, off_t at)
{
	uint8_t byte;
	_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x40;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

/* Five that are synced, and one more that is not, before the process is gone. */
void commit_and_die(const char *path)
{
	pid_t child = start_program("commit-six", path, NULL, -1);
	int status = -1;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int numbers_program(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "commit-six") == 0)
		return commit_six(argv[2]);
	if (argc == 4 && strcmp(argv[1], "commit-on") == 0)
		return commit_on(argv[2], argv[3]);
	return -1;
}
