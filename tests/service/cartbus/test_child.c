/* test_child.c: one process under `cartbus up`: how it is begun, what of its words is passed on, and when it is begun again */
#include "services/cartbus/up/child.h"

#include "bus/base/bytes.h"
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/descriptors.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what it says ---- */

static struct child child;
static int says, heard, kept_stderr;

/* stderr is a pipe from here on, until words() has read it. */
static void begin(const char *program, const char *instance)
{
	int words[2], output[2];

	child = (struct child){ .output = -1 };
	snprintf(child.program, sizeof(child.program), "%s", program);
	snprintf(child.instance, sizeof(child.instance), "%s", instance);
	assert_int_equal(pipe2(output, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(pipe2(words, O_CLOEXEC | O_NONBLOCK), 0);
	child.output = output[0];
	says = output[1];
	fflush(stderr);
	kept_stderr = dup(STDERR_FILENO);
	dup2(words[1], STDERR_FILENO);
	close(words[1]);
	heard = words[0];
}

static void end(void)
{
	dup2(kept_stderr, STDERR_FILENO);
	close(kept_stderr);
	close(heard);
	if (says >= 0)
		close(says);
	if (child.output >= 0)
		close(child.output);
}

static const char *words(void)
{
	static char text[2 * CHILD_LINE_MAX];
	ssize_t len;

	fflush(stderr);
	len = read(heard, text, sizeof(text) - 1);
	text[len > 0 ? len : 0] = '\0';
	return text;
}

static void say(const char *text)
{
	assert_int_equal(write(says, text, strlen(text)), (ssize_t)strlen(text));
	child_read(&child);
}

/* The level is for the journal; the name stands before each line already. */
static void a_line_is_passed_on_behind_its_name_with_a_mark_for_what_is_wrong(void **state)
{
	static const struct {
		const char *said, *passed_on;
	} cases[] = {
		{ "<6>intake: cart changed\n", "intake        cart changed\n" },
		{ "<0>intake: cart changed\n", "intake      ! cart changed\n" },
		{ "<3>intake: cart changed\n", "intake      ! cart changed\n" },
		{ "<4>intake: cart changed\n", "intake      ? cart changed\n" },
		{ "<5>intake: cart changed\n", "intake        cart changed\n" },
		{ "<7>cart changed\n", "intake        cart changed\n" },
		{ "<8>cart changed\n", "intake        <8>cart changed\n" },
		{ "cart changed\n", "intake        cart changed\n" },
		{ "a cart: changed\n", "intake        a cart: changed\n" },
		{ "intake:cart\n", "intake        intake:cart\n" },
		{ "\n", "intake        \n" },
		{ "one\ntwo\n", "intake        one\nintake        two\n" },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: x\n", "intake        x\n" },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: x\n",
			"intake        aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: x\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char passed_on[200];

		begin("intake", "");
		say(cases[i].said);
		snprintf(passed_on, sizeof(passed_on), "%s", words());
		end();
		assert_string_equal(passed_on, cases[i].passed_on);
	}
}

static void a_line_is_passed_on_when_it_is_whole_or_too_long(void **state)
{
	char passed_on[4][2 * CHILD_LINE_MAX], long_line[CHILD_LINE_MAX + 2];

	(void)state;
	memset(long_line, 'x', sizeof(long_line));
	long_line[CHILD_LINE_MAX] = '\n';
	long_line[CHILD_LINE_MAX + 1] = '\0';
	begin("sender", "sender-2");
	say("half a ");
	snprintf(passed_on[0], sizeof(passed_on[0]), "%s", words());
	say("line\n");
	snprintf(passed_on[1], sizeof(passed_on[1]), "%s", words());
	say(long_line);
	snprintf(passed_on[2], sizeof(passed_on[2]), "%s", words());
	long_line[CHILD_LINE_MAX - 1] = '\n';
	long_line[CHILD_LINE_MAX] = '\0';
	say(long_line);
	snprintf(passed_on[3], sizeof(passed_on[3]), "%s", words());
	end();
	assert_string_equal(passed_on[0], "");
	assert_string_equal(passed_on[1], "sender-2      half a line\n");
	assert_int_equal(strspn(passed_on[2] + 14, "x"), CHILD_LINE_MAX - 1);
	assert_string_equal(passed_on[2] + 14 + CHILD_LINE_MAX - 1, "\nsender-2      x\n");
	assert_int_equal(strspn(passed_on[3] + 14, "x"), CHILD_LINE_MAX - 1);
	assert_string_equal(passed_on[3] + 14 + CHILD_LINE_MAX - 1, "\n");
}

static void its_end_closes_what_it_wrote_to(void **state)
{
	char passed_on[100];
	int output, is_open;

	(void)state;
	begin("intake", "");
	output = child.output;
	child_read(&child); /* nothing yet: it goes on */
	is_open = child.output == output;
	say("one\nits last");
	close(says);
	says = -1;
	child_read(&child);
	output = child.output;
	snprintf(passed_on, sizeof(passed_on), "%s", words());
	end();
	assert_string_equal(passed_on, "intake        one\nintake        its last\n");
	assert_true(is_open);
	assert_int_equal(output, -1);
}

/* ---- when it begins again ---- */

static void one_that_dies_again_and_again_waits_longer_each_time(void **state)
{
	static const int64_t waits_ms[] = { 200, 400, 800, 1600, 3200, 6400, 10000, 10000, 10000 };
	char said[600];

	(void)state;
	for (int is_killed = 0; is_killed < 2; is_killed++) {
		int64_t now_us = 100 * US_PER_S, waits_us[9];

		begin("intake", "");
		for (int i = 0; i < 9; i++) {
			child.started_us = now_us;
			child.pid = 77;
			child.ready = true;
			now_us += US_PER_S;
			child_ended(&child, is_killed ? SIGKILL : 3 << 8, false, now_us);
			waits_us[i] = child.start_again_us - now_us;
		}
		snprintf(said, sizeof(said), "%.80s", words());
		end();
		for (int i = 0; i < 9; i++)
			assert_int_equal(waits_us[i], waits_ms[i] * US_PER_MS);
		assert_int_equal(child.pid, 0);
		assert_int_equal(child.output, -1);
		assert_false(child.ready);
		if (is_killed)
			assert_true(text_starts(
				said, "up          ! intake was killed by signal 9; starts again in 0.2 s\n"));
		else
			assert_true(text_starts(said, "up          ! intake ended with 3; starts again in 0.2 s\n"));
	}
}

static void a_good_long_run_is_forgiven_all_before_it(void **state)
{
	int64_t long_enough_us, too_short_us;

	(void)state;
	begin("intake", "");
	child.deaths = 4;
	child.started_us = 0;
	child_ended(&child, 0, false, 30 * US_PER_S + 1);
	long_enough_us = child.start_again_us - 30 * US_PER_S - 1;
	child.deaths = 4;
	child_ended(&child, 0, false, 30 * US_PER_S);
	too_short_us = child.start_again_us - 30 * US_PER_S;
	end();
	assert_int_equal(long_enough_us, 200 * US_PER_MS);
	assert_int_equal(too_short_us, 3200 * US_PER_MS);
}

static void one_that_was_asked_to_go_does_not_begin_again(void **state)
{
	char said[100];

	(void)state;
	begin("intake", "");
	child.pid = 77;
	say("its last");
	child_ended(&child, 0, true, US_PER_S);
	snprintf(said, sizeof(said), "%s", words());
	end();
	assert_string_equal(said, "intake        its last\n");
	assert_int_equal(child.start_again_us, 0);
	assert_int_equal(child.deaths, 0);
	assert_int_equal(child.pid, 0);
}

/* ---- how it is begun ---- */

/* Runs it to its end. What it said is in `said`; returns its status. */
static int run(const struct folder *folder, const char *program, const char *instance, char said[600])
{
	const struct child_place place = { .bin = folder->path, .config = "/my.conf", .notify = "/my.notify" };
	int r, status = -1, flags, output;

	begin(program, instance);
	close(child.output);
	r = child_start(&child, &place, 55);
	flags = fcntl(child.output, F_GETFL);
	if (r == 0)
		waitpid(child.pid, &status, 0);
	child_read(&child);
	output = child.output;
	snprintf(said, 600, "%s", words());
	end();
	assert_int_equal(r, 0);
	assert_int_equal(flags & O_NONBLOCK, O_NONBLOCK); /* the others are not kept waiting by it */
	assert_int_equal(output, -1);                     /* nobody else holds the other end */
	assert_int_equal(child.started_us, 55);
	return status;
}

static bool may_not_fork;
pid_t __real_fork(void);
pid_t __wrap_fork(void);

/* In the place of fork (the linker's --wrap). */
pid_t __wrap_fork(void)
{
	errno = EAGAIN;
	return may_not_fork ? -1 : __real_fork();
}

/* Its pid is signalled when all stop: kill(-1) would end every process of the user. */
static void one_that_cannot_be_forked_has_no_pid_and_leaves_nothing_open(void **state)
{
	const struct child_place place = { .bin = "/nowhere", .config = "/my.conf", .notify = "/my.notify" };
	int before = lowest_free_descriptor(), r;

	(void)state;
	child = (struct child){ .program = "intake", .output = -1 };
	may_not_fork = true;
	r = child_start(&child, &place, 55);
	may_not_fork = false;
	assert_int_equal(r, -EAGAIN);
	assert_int_equal(child.pid, 0);
	assert_int_equal(child.output, -1);
	assert_int_equal(lowest_free_descriptor(), before);
}

static void it_begins_in_a_group_of_its_own_with_its_configuration(void **state)
{
	struct folder folder = folder_new();
	char path[100], said[600];

	(void)state;
	FOLDER_PATH(path, folder, "cartbus-asked");
	assert_int_equal(file_write_new(path,
				 bytes_of("#!/bin/sh\necho \"$# $*\"\necho \"$NOTIFY_SOCKET\" >&2\n"
					  "set -- $(cat /proc/$$/stat)\n[ $5 = $$ ] && echo leads\nexit 4\n"),
				 0700),
		0);
	assert_int_equal(WEXITSTATUS(run(&folder, "asked", "asked-2", said)), 4);
	assert_string_equal(said,
		"asked-2       4 --config /my.conf --instance asked-2\nasked-2       /my.notify\nasked-2       "
		"leads\n");
	assert_int_equal(WEXITSTATUS(run(&folder, "asked", "", said)), 4);
	assert_string_equal(said, "asked         2 --config /my.conf\nasked         /my.notify\nasked         leads\n");
	assert_int_equal(WEXITSTATUS(run(&folder, "none", "", said)), 127);
	assert_non_null(strstr(said, "none          cannot start /tmp/"));
	assert_non_null(strstr(said, "/cartbus-none: No such file or directory\n"));
	folder_remove(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_passed_on_behind_its_name_with_a_mark_for_what_is_wrong),
		cmocka_unit_test(a_line_is_passed_on_when_it_is_whole_or_too_long),
		cmocka_unit_test(its_end_closes_what_it_wrote_to),
		cmocka_unit_test(one_that_dies_again_and_again_waits_longer_each_time),
		cmocka_unit_test(a_good_long_run_is_forgiven_all_before_it),
		cmocka_unit_test(one_that_was_asked_to_go_does_not_begin_again),
		cmocka_unit_test(one_that_cannot_be_forked_has_no_pid_and_leaves_nothing_open),
		cmocka_unit_test(it_begins_in_a_group_of_its_own_with_its_configuration),
	};

	return cmocka_run_group_tests_name("cartbus.child", tests, NULL, NULL);
}
