/* test_syncer.c: files that are synced beside the process's own work */
#include "bus/base/file.h"
#include "bus/base/syncer.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { FILES = 100 };

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_ends_once_and_is_closed),
		cmocka_unit_test(a_sync_that_fails_says_why),
		cmocka_unit_test(one_that_never_synced_ends_as_well),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
