/* test_watchdog.c: what does not come to an end is named, and ends its process */
#include "bus/actor/process/watchdog.h"
#include "bus/base/clock.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t DEADLINE_US = 40 * US_PER_MS;

/* A process that waits and works for a while, and then begins what never ends. */
static void get_stuck(enum task task)
{
	static struct activity activity;

	if (watchdog_start(&activity, "intake", DEADLINE_US) < 0)
		_exit(2);
	for (uint64_t seq = 1; seq < 77; seq++) {
		activity_begin(&activity, TASK_WAITING, 0);
		activity_begin(&activity, TASK_DECIDE, seq);
	}
	activity_begin(&activity, task, 77);
	for (;;)
		pause();
}

static int end_of(enum task task, char *said, size_t room)
{
	int ends[2], status;
	size_t len = 0;
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		get_stuck(task);
	}
	close(ends[1]);
	while ((got = read(ends[0], said + len, room - 1 - len)) > 0)
		len += (size_t)got;
	said[len] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void what_a_process_is_stuck_in_is_one_line_and_its_end(void **state)
{
	static const struct {
		enum task task;
		const char *named;
	} rows[] = {
		{ TASK_DECIDE, "stuck: deciding on message 77 of queue intake has taken 0 s" },
		{ TASK_RESULT, "stuck: deciding on the effect of message 77 of queue intake" },
		{ TASK_FOLD, "stuck: folding message 77 " },
		{ TASK_CLOCK, "stuck: deciding on what is due by the clock" },
		{ TASK_LOOP, "stuck: work between turns" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char said[2000];

		assert_int_equal(end_of(rows[i].task, said, sizeof(said)), 1);
		assert_non_null(strstr(said, rows[i].named));
		assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_process_is_stuck_in_is_one_line_and_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
