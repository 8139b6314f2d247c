/* test_notify.c: what the supervisor is told, and that nobody waits for one that does not listen */
#include "bus/base/notify.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MORE_THAN_FIT = 2000 };

static struct folder folder;
static int supervisor;

static int listen_as_supervisor(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)state;
	folder = folder_new();
	FOLDER_PATH(address.sun_path, folder, "notify");
	supervisor = socket(AF_UNIX, SOCK_DGRAM, 0);
	assert_int_equal(bind(supervisor, (struct sockaddr *)&address, sizeof(address)), 0);
	setenv("NOTIFY_SOCKET", address.sun_path, 1);
	return 0;
}

static int go_away(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	close(supervisor);
	folder_remove(&folder);
	return 0;
}

static void what_is_said_arrives(void **state)
{
	char heard[64];
	ssize_t len;

	(void)state;
	notify("READY=1");
	len = recv(supervisor, heard, sizeof(heard), MSG_DONTWAIT);
	assert_int_equal(len, strlen("READY=1"));
	notify_status("%d of %d", 1, 2);
	len = recv(supervisor, heard, sizeof(heard), MSG_DONTWAIT);
	assert_int_equal(len, strlen("STATUS=1 of 2"));
	assert_memory_equal(heard, "STATUS=1 of 2", (size_t)len);
}

static void who_cannot_go_on_says_why_in_one_line(void **state)
{
	static const char told[] = "STATUS=failed: the disk is gone STOPPING=1";
	char heard[64];
	ssize_t len;

	(void)state;
	unsetenv("SYSTEMD_EXEC_PID"); /* nobody waits who was not begun by systemd */
	notify_failed("the disk is gone\nSTOPPING=1");
	len = recv(supervisor, heard, sizeof(heard), MSG_DONTWAIT);
	assert_int_equal(len, strlen(told));
	assert_memory_equal(heard, told, (size_t)len);
}

/* In a process of its own, whose number is SYSTEMD_EXEC_PID + `off`. It has SIGTERM pending: a wait for the signal takes it away. */
static bool waits_when_it_failed(bool ready, int off)
{
	pid_t child = fork();
	int status = 0;

	assert_true(child >= 0);
	if (child == 0) {
		sigset_t asked_to_end;
		char own[16];

		snprintf(own, sizeof(own), "%d", getpid() + off);
		setenv("SYSTEMD_EXEC_PID", own, 1);
		sigemptyset(&asked_to_end);
		sigaddset(&asked_to_end, SIGTERM);
		sigprocmask(SIG_BLOCK, &asked_to_end, NULL);
		raise(SIGTERM);
		if (ready)
			notify("READY=1\nSTATUS=at work");
		else
			notify("STATUS=not READY=1");
		notify_failed("the disk is gone");
		sigpending(&asked_to_end);
		_exit(!sigismember(&asked_to_end, SIGTERM));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) != 0;
}

static void only_what_systemd_began_and_was_never_ready_waits_before_the_next_try(void **state)
{
	(void)state;
	assert_true(waits_when_it_failed(false, 0));
	assert_false(waits_when_it_failed(true, 0));
	assert_false(waits_when_it_failed(false, 1));
}

static void a_supervisor_that_does_not_listen_holds_nobody_up(void **state)
{
	time_t before = time(NULL);

	(void)state;
	for (int i = 0; i < MORE_THAN_FIT; i++)
		notify_status("number %d", i);
	notify("WATCHDOG=1"); /* this one may wait, but not for long */
	assert_true(time(NULL) - before < 30);
}

static void without_a_supervisor_nothing_happens(void **state)
{
	(void)state;
	notify("READY=1");
	setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
	notify("READY=1");
	unsetenv("NOTIFY_SOCKET");
}

static bool was_told_alive(void)
{
	char heard[64];
	ssize_t len = recv(supervisor, heard, sizeof(heard), MSG_DONTWAIT);

	return len == (ssize_t)strlen("WATCHDOG=1") && memcmp(heard, "WATCHDOG=1", (size_t)len) == 0;
}

static void who_is_asked_says_three_times_in_each_wait_that_work_comes_on(void **state)
{
	const int64_t start_us = 1000000;
	struct notify_alive alive;

	(void)state;
	setenv("WATCHDOG_USEC", "30000000", 1);
	alive = notify_alive_asked();
	assert_int_equal(notify_alive(&alive, start_us), 10000000);
	assert_true(was_told_alive());
	assert_int_equal(notify_alive(&alive, start_us + 9999999), 1);
	assert_false(was_told_alive());
	assert_int_equal(
		notify_alive(&alive, start_us + 25000000), 10000000); /* late: the next is not earlier for it */
	assert_true(was_told_alive());
	assert_int_equal(notify_alive(&alive, start_us + 34999999), 1);
	assert_false(was_told_alive());
	assert_int_equal(notify_alive(&alive, start_us + 35000000), 10000000);
	assert_true(was_told_alive());
	unsetenv("WATCHDOG_USEC");
}

static void who_is_not_asked_says_nothing_of_it(void **state)
{
	static const char *const not_asked[] = { NULL, "", "0", "-1", "30s" };
	struct notify_alive alive;
	char other[16];

	(void)state;
	snprintf(other, sizeof(other), "%d", getpid() + 1);
	for (size_t i = 0; i < sizeof(not_asked) / sizeof(*not_asked); i++) {
		if (not_asked[i])
			setenv("WATCHDOG_USEC", not_asked[i], 1);
		alive = notify_alive_asked();
		assert_int_equal(notify_alive(&alive, 1), -1);
		assert_false(was_told_alive());
	}
	setenv("WATCHDOG_USEC", "30000000", 1);
	setenv("WATCHDOG_PID", other, 1);
	alive = notify_alive_asked();
	assert_int_equal(notify_alive(&alive, 1), -1);
	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first: of the others one says that it is ready */
		cmocka_unit_test_setup_teardown(only_what_systemd_began_and_was_never_ready_waits_before_the_next_try,
			listen_as_supervisor, go_away),
		cmocka_unit_test_setup_teardown(what_is_said_arrives, listen_as_supervisor, go_away),
		cmocka_unit_test_setup_teardown(who_cannot_go_on_says_why_in_one_line, listen_as_supervisor, go_away),
		cmocka_unit_test_setup_teardown(
			a_supervisor_that_does_not_listen_holds_nobody_up, listen_as_supervisor, go_away),
		cmocka_unit_test_setup_teardown(
			who_is_asked_says_three_times_in_each_wait_that_work_comes_on, listen_as_supervisor, go_away),
		cmocka_unit_test_setup_teardown(who_is_not_asked_says_nothing_of_it, listen_as_supervisor, go_away),
		cmocka_unit_test(without_a_supervisor_nothing_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
