/*
 * test_syncer.c: files that are synced beside the process's own work
 *
 * fsync and sync_file_range are this file's own here: they note who asked for what, and one sync can be made to fail.
 */
#include "bus/base/file.h"
#include "bus/base/syncer.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 100, FDS_MOST = 1024, TOGETHER = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int synced[FDS_MOST], begun[FDS_MOST]; /* by descriptor: how often since forget_calls */
static pid_t synced_by[FDS_MOST];
static int begun_before_first_sync, syncs, fails_at = -1;

static void forget_calls(void)
{
	memset(synced, 0, sizeof(synced));
	memset(begun, 0, sizeof(begun));
	begun_before_first_sync = syncs = 0;
	fails_at = -1;
}

int fsync(int fd)
{
	pthread_mutex_lock(&lock);
	synced[fd]++;
	syncs++;
	synced_by[fd] = gettid();
	bool fails = fd == fails_at;
	pthread_mutex_unlock(&lock);
	if (!fails)
		return (int)syscall(SYS_fsync, fd);
	errno = EIO;
	return -1;
}

int sync_file_range(int fd, off64_t from, off64_t len, unsigned int flags)
{
	pthread_mutex_lock(&lock);
	begun[fd]++;
	begun_before_first_sync += syncs == 0;
	pthread_mutex_unlock(&lock);
	assert_int_equal(flags, SYNC_FILE_RANGE_WRITE); /* it promises nothing, and waits for nothing */
	return (int)syscall(SYS_sync_file_range, fd, from, len, flags);
}

static bool is_readable(const struct syncer *syncer, int timeout_ms)
{
	struct pollfd polled = { .fd = syncer_fd(syncer), .events = POLLIN };

	return poll(&polled, 1, timeout_ms) == 1;
}

static void each_file_ends_once_and_is_closed(void **state)
{
	struct folder folder = folder_new();
	struct syncer *syncer = syncer_new();
	struct syncing files[FILES], *ended;
	bool seen[FILES] = { false };
	int fds[FILES], count = 0;

	(void)state;
	for (int i = 0; i < FILES; i++) {
		char path[200], name[20];

		snprintf(name, sizeof(name), "%d", i);
		FOLDER_PATH(path, folder, name);
		assert_int_equal(file_create(path, BYTES("x", 1), 0600, &fds[i]), 0);
	}
	for (int i = 0; i < FILES; i++)
		syncer_begin(syncer, &files[i], fds[i]);
	syncer_hand_over(syncer);
	while (count < FILES) {
		assert_true(is_readable(syncer, 60000));
		while ((ended = syncer_next(syncer))) {
			assert_false(seen[ended - files]);
			seen[ended - files] = true;
			assert_int_equal(ended->result, 0);
			count++;
		}
	}
	assert_false(is_readable(syncer, 0));
	for (int i = 0; i < FILES; i++)
		assert_int_equal(fcntl(fds[i], F_GETFD), -1);
	syncer_free(syncer);
	folder_remove(&folder);
}

static void make_files(const struct folder *folder, int count, int *ret_fds)
{
	for (int i = 0; i < count; i++) {
		char path[200], name[20];

		snprintf(name, sizeof(name), "%d", i);
		FOLDER_PATH(path, *folder, name);
		assert_int_equal(file_create(path, BYTES("x", 1), 0600, &ret_fds[i]), 0);
	}
}

/* Hands `count` files over at once, and waits for all; `failing`: whose sync fails, -1: none. */
static void sync_together(int count, int failing, int *ret_fds, struct syncing *ret_files)
{
	struct folder folder = folder_new();
	struct syncer *syncer = syncer_new();
	int ended = 0;

	make_files(&folder, count, ret_fds);
	forget_calls();
	fails_at = failing < 0 ? -1 : ret_fds[failing];
	for (int i = 0; i < count; i++)
		syncer_begin(syncer, &ret_files[i], ret_fds[i]);
	assert_int_equal(syncs, 0); /* nobody has them yet */
	syncer_wait(syncer);
	while (syncer_next(syncer))
		ended++;
	assert_int_equal(ended, count);
	syncer_free(syncer);
	folder_remove(&folder);
}

static void each_of_many_is_synced_itself(void **state)
{
	struct syncing files[FILES];
	int fds[FILES];

	(void)state;
	sync_together(FILES, -1, fds, files);
	for (int i = 0; i < FILES; i++)
		assert_int_equal(synced[fds[i]], 1);
}

static void what_comes_together_is_begun_together_and_synced_by_one(void **state)
{
	struct syncing files[TOGETHER];
	int fds[TOGETHER];

	(void)state;
	sync_together(TOGETHER, -1, fds, files);
	assert_int_equal(begun_before_first_sync, TOGETHER);
	for (int i = 1; i < TOGETHER; i++)
		assert_int_equal(synced_by[fds[i]], synced_by[fds[0]]);
}

static void one_that_fails_takes_no_other_with_it(void **state)
{
	struct syncing files[TOGETHER];
	int fds[TOGETHER];

	(void)state;
	for (int failing = 0; failing < TOGETHER; failing++) {
		sync_together(TOGETHER, failing, fds, files);
		for (int i = 0; i < TOGETHER; i++)
			assert_int_equal(files[i].result, i == failing ? -EIO : 0);
	}
}

static void a_sync_that_fails_says_why(void **state)
{
	struct syncer *syncer = syncer_new();
	struct syncing file;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	syncer_begin(syncer, &file, ends[0]); /* a pipe cannot be synced */
	syncer_wait(syncer);
	assert_ptr_equal(syncer_next(syncer), &file);
	assert_int_equal(file.result, -EINVAL);
	assert_null(syncer_next(syncer));
	close(ends[1]);
	syncer_free(syncer);
}

static void one_that_never_synced_ends_as_well(void **state)
{
	(void)state;
	syncer_free(syncer_new());
	syncer_free(NULL);
}

/* One bit for each signal, from 1. */
static uint64_t blocked_in(pid_t thread)
{
	unsigned long long blocked = 0;
	char path[64], line[200];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)thread);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "SigBlk: %llx", &blocked);
	fclose(file);
	return blocked;
}

static void the_callers_signals_stay_its_own_and_the_threads_take_none(void **state)
{
	struct syncer *syncer = syncer_new();
	struct syncing file;
	sigset_t before, after;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	syncer_begin(syncer, &file, ends[0]);
	syncer_wait(syncer);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_true(sigismember(&after, SIGUSR1));
	assert_false(sigismember(&after, SIGTERM));
	assert_true(blocked_in(synced_by[ends[0]]) & UINT64_C(1) << (SIGTERM - 1));
	close(ends[1]);
	syncer_free(syncer);
	pthread_sigmask(SIG_UNBLOCK, &before, NULL);
}

static void sync_without_threads(const struct folder *folder)
{
	const struct rlimit none = { 0 };
	struct syncer *syncer = syncer_new();
	struct syncing file;
	int fd;

	make_files(folder, 1, &fd);
	setrlimit(RLIMIT_NPROC, &none);
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0) /* it does not bind root */
		_exit(2);
	syncer_begin(syncer, &file, fd);
	syncer_hand_over(syncer);
	_exit(0);
}

/* What it is given would never end. */
static void a_process_that_gets_not_one_thread_dies(void **state)
{
	struct folder folder = folder_new();
	pid_t child = fork();
	int status = 0;

	(void)state;
	assert_true(child >= 0);
	if (child == 0)
		sync_without_threads(&folder);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	folder_remove(&folder);
}

static void a_process_without_stdin_has_an_event_descriptor_all_the_same(void **state)
{
	int input = dup(STDIN_FILENO);
	struct syncer *syncer;

	(void)state;
	close(STDIN_FILENO);
	syncer = syncer_new();
	assert_int_equal(syncer_fd(syncer), STDIN_FILENO);
	syncer_free(syncer);
	dup2(input, STDIN_FILENO);
	close(input);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_ends_once_and_is_closed),
		cmocka_unit_test(each_of_many_is_synced_itself),
		cmocka_unit_test(what_comes_together_is_begun_together_and_synced_by_one),
		cmocka_unit_test(one_that_fails_takes_no_other_with_it),
		cmocka_unit_test(a_sync_that_fails_says_why),
		cmocka_unit_test(the_callers_signals_stay_its_own_and_the_threads_take_none),
		cmocka_unit_test(a_process_that_gets_not_one_thread_dies),
		cmocka_unit_test(a_process_without_stdin_has_an_event_descriptor_all_the_same),
		cmocka_unit_test(one_that_never_synced_ends_as_well),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
