/* test_up.c: `cartbus up` over programs that only say that they are ready, and note when they begin and when they are asked to end */
#include "services/cartbus/core/subcommand.h"
#include "services/cartbus/up/subcommands.h"

#include "bus/base/bytes.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/notify.h"
#include "services/cartbus/core/home.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { NOTES_MOST = 1 << 16, PATIENCE_S = 240 /* for one that hangs; shorter than what the whole run allows a test */ };
static const char NOTES[] = "CARTBUS_TEST_NOTES";

static struct folder folder;

const char *__wrap_programs_folder(void);

/* In the place of the folder that this program lies in (the linker's --wrap). */
const char *__wrap_programs_folder(void)
{
	return folder.path;
}

static int forks_that_fail; /* of the supervisor's next ones */
pid_t __real_fork(void);
pid_t __wrap_fork(void);
int __real_kill(pid_t pid, int with_signal);
int __wrap_kill(pid_t pid, int with_signal);

pid_t __wrap_fork(void)
{
	if (forks_that_fail == 0)
		return __real_fork();
	forks_that_fail--;
	errno = EAGAIN;
	return -1;
}

/* kill(-1) would end every process of the user, and not only the test. */
int __wrap_kill(pid_t pid, int with_signal)
{
	if (pid <= 0)
		die("kill(%d)", (int)pid);
	return __real_kill(pid, with_signal);
}

/* ---- a program: this very one, by another name ---- */

static void note(const char *what, const char *name)
{
	char line[100];
	int fd = open(getenv(NOTES), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600),
	    len = snprintf(line, sizeof(line), "%s %s\n", what, name);

	if (fd < 0 || write(fd, line, (size_t)len) != len)
		die("%s: %s", getenv(NOTES), strerror(errno));
	close(fd);
}

static void be_a_program(int argc, char **argv)
{
	const char *name = argc > 4 ? argv[4] : "broker"; /* --config FILE --instance NAME */
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	note("begins", name);
	notify("READY=1");
	sigwait(&set, &got);
	note("ends", name);
	_exit(0);
}

/* ---- the supervisor ---- */

static pid_t start_up(char *senders, int fails, int *ret_output)
{
	static const struct subcommand up = { SUBCOMMANDS_RUN, "up", "", "run everything", command_up };
	static const struct subcommand *rows[] = { &up };
	static const struct subcommands all = { rows, 1 };
	char home[100], *words[] = { "up", "--home", home, "--senders", senders, NULL };
	int ends[2];
	pid_t child;

	FOLDER_PATH(home, folder, "home");
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM); /* where the test fails before it ends this */
		alarm(PATIENCE_S);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		forks_that_fail = fails;
		_exit(dispatch(&all, 5, words));
	}
	close(ends[1]);
	*ret_output = ends[0];
	return child;
}

static void wait_ready(int output)
{
	static const char wanted[] = "ready\n";
	char said[sizeof(wanted)] = "";

	for (size_t len = 0; len < sizeof(wanted) - 1;) {
		ssize_t got = read(output, said + len, sizeof(wanted) - 1 - len);

		assert_true(got > 0);
		len += (size_t)got;
	}
	assert_string_equal(said, wanted);
}

static void all_begin_after_the_broker_and_end_one_by_one_in_the_reverse_order(void **state)
{
	struct buffer notes = { 0 }, wanted = { 0 };
	int output, status, count = 0;
	pid_t up = start_up("2", 0, &output);
	const char *ends;

	(void)state;
	wait_ready(output);
	assert_int_equal(kill(up, SIGTERM), 0);
	assert_int_equal(waitpid(up, &status, 0), up);
	close(output);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_FINE);

	while (programs_all[count])
		count++;
	while (count-- > 0) {
		if (strcmp(programs_all[count], "sender") == 0)
			buffer_add_text(&wanted, "ends sender-2\nends sender-1\n");
		else
			buffer_printf(&wanted, "ends %s\n", programs_all[count]);
	}
	assert_int_equal(file_read(getenv(NOTES), NOTES_MOST, &notes), 0);
	assert_memory_equal(buffer_text(&notes), "begins broker\n", strlen("begins broker\n"));
	ends = strstr(buffer_text(&notes), "ends ");
	assert_non_null(ends);
	assert_string_equal(ends, buffer_text(&wanted));
	buffer_free(&notes);
	buffer_free(&wanted);
}

static void what_cannot_be_started_is_started_a_moment_later(void **state)
{
	int output, status;
	pid_t up = start_up("1", 1, &output);

	(void)state;
	wait_ready(output);
	assert_int_equal(kill(up, SIGTERM), 0);
	assert_int_equal(waitpid(up, &status, 0), up);
	close(output);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_FINE);
}

static int setup(void **state)
{
	char path[200];

	(void)state;
	folder = folder_new();
	FOLDER_PATH(path, folder, "notes");
	setenv(NOTES, path, 1);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("CARTBUS_CONFIG");
	for (int i = 0; programs_all[i]; i++) {
		char program[4096];
		ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

		assert_true(len > 0);
		program[len] = '\0';
		snprintf(path, sizeof(path), "%s/cartbus-%s", folder.path, programs_all[i]);
		assert_int_equal(symlink(program, path), 0);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			all_begin_after_the_broker_and_end_one_by_one_in_the_reverse_order, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_started_is_started_a_moment_later, setup, teardown),
	};

	if (getenv(NOTES))
		be_a_program(argc, argv);
	return cmocka_run_group_tests_name("cartbus.up", tests, NULL, NULL);
}
