/*
 * test_blob_killed.c: a writer is killed before each of its system calls, and the next one finds a store without a half blob
 */
#include "bus/store/blob/blob.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static const struct blob_limits no_limits;

/* Shared with the child: of how many contents it was returned a name, and what that was. */
static struct confirmed {
	int count;
	char names[2][BLOB_NAME_SIZE];
} * confirmed;

/* Commits, refers and releases: in the end the first content has one owner, and the second none and is gone. */
static void write_store(const char *path)
{
	struct blob_store *store = NULL;
	struct blob_writer *writer = NULL;
	char name[BLOB_NAME_SIZE];

	raise(SIGSTOP);
	if (blob_store_open(path, &no_limits, &store) < 0)
		_exit(1);
	for (int i = 0; i < 2; i++) {
		if (blob_begin(store, &writer) < 0 || blob_add(writer, bytes_of(i ? "second" : "first")) < 0 ||
			blob_commit(&writer, "a", name) < 0)
			_exit(1);
		memcpy(confirmed->names[i], name, sizeof(name));
		confirmed->count = i + 1;
	}
	if (blob_refer(store, name, "b") < 0 || blob_release(store, name, "a") < 0 ||
		blob_release(store, name, "b") < 0)
		_exit(1);
	_exit(0);
}

/* false: it ended by itself before. Each system call stops the child twice. */
static bool kill_after(const char *path, int stops)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		write_store(path);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
	for (int i = 0; i < stops; i++) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WIFEXITED(status)) {
			assert_int_equal(WEXITSTATUS(status), 0);
			return false;
		}
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	return true;
}

static int expect_surplus_only(void *context, enum blob_finding finding, const char *name)
{
	(void)context, (void)name;
	assert_int_equal(finding, BLOB_SURPLUS);
	return 0;
}

static int expect_nothing(void *context, enum blob_finding finding, const char *name)
{
	(void)context, (void)finding;
	fail_msg("%s", name);
	return 0;
}

/* The first one is never released, so it is there from the moment when its name was returned. */
static void expect_confirmed(const struct blob_store *store)
{
	struct blob_reader *reader = NULL;
	char part[64];

	if (confirmed->count == 0)
		return;
	assert_int_equal(blob_has_references(store, confirmed->names[0]), 1);
	assert_int_equal(blob_open(store, confirmed->names[0], &reader), 0);
	assert_int_equal(blob_read(reader, part, sizeof(part)), strlen("first"));
	assert_int_equal(blob_read(reader, part, sizeof(part)), 0);
	blob_reader_free(reader);
}

static void expect_whole(const char *path)
{
	struct blob_store *store = NULL;
	struct blob_counts removed;
	char left[128];

	assert_int_equal(blob_store_open(path, &no_limits, &store), 0);
	snprintf(left, sizeof(left), "%s/writing", path);
	assert_int_equal(rmdir(left), 0); /* nothing is left in it */
	assert_int_equal(blob_verify(store, expect_surplus_only, NULL), 0);
	expect_confirmed(store);
	assert_int_equal(blob_sweep(store, UINT64_MAX, 0, &removed), 0);
	assert_int_equal(blob_verify(store, expect_nothing, NULL), 0);
	blob_store_close(store);
}

static void a_writer_killed_at_any_step_leaves_no_half_blob(void **state)
{
	int stops = 1;
	bool killed = true;

	(void)state;
	confirmed = mmap(NULL, sizeof(*confirmed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(confirmed != MAP_FAILED);
	for (; killed; stops++) {
		struct folder folder = folder_new();
		confirmed->count = 0;
		killed = kill_after(folder.path, stops);
		expect_whole(folder.path);
	}
	assert_true(stops > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_writer_killed_at_any_step_leaves_no_half_blob) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
