/*
 * test_doctor_units.c: what the doctor finds in what systemd and dpkg answer: this very program, by their names, says what the test wrote
 */
#include "services/cartbus/doctor/doctor.h"

#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

enum { PATH_BYTES = 1200, PROGRAM_MOST = 64 << 20 };

bool __wrap_command_has_units(const struct command *command);

static struct folder folder;

/* Here systemd runs everything (the linker's --wrap). */
bool __wrap_command_has_units(const struct command *command)
{
	(void)command;
	return true;
}

/* ---- what they answer ---- */

static void write_in(const char *name, const char *text, mode_t mode)
{
	char path[100];

	FOLDER_PATH(path, folder, name);
	assert_int_equal(file_write_durably(path, bytes_of(text), mode), 0);
}

static const char SAYS[] = "CARTBUS_TEST_SAYS"; /* the folder with what is said */

static int say(const char *name)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char path[100];

	snprintf(path, sizeof(path), "%s/%s.says", getenv(SAYS), name);
	if (file_read(path, PROGRAM_MOST, &text) < 0)
		return 1;
	return file_write(STDOUT_FILENO, buffer_bytes(&text)) < 0;
}

/* Links: from a folder that is mounted noexec nothing else would run. */
static void write_program(const char *name)
{
	char path[100], program[PATH_MAX] = "";

	FOLDER_PATH(path, folder, name);
	assert_true(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
	assert_int_equal(symlink(program, path), 0);
}

static int setup(void **state)
{
	(void)state;
	folder = folder_new();
	write_program("systemctl");
	write_program("dpkg-query");
	return setenv(SAYS, folder.path, 1) < 0 || setenv("PATH", folder.path, 1) < 0;
}

static int teardown(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

/* All that is found, a line each: "finding: text -> remedy". */
static void look(const char *units, const char *package, bool is_away, struct buffer *ret)
{
	struct command command = { .name = "doctor", .json = true };
	struct doctor doctor = { .command = &command, .is_away = is_away, .findings = json_array() };
	const json_t *one;
	size_t i;

	write_in("systemctl.says", units, 0600);
	write_in("dpkg-query.says", package, 0600);
	look_at_units(&doctor);
	buffer_free(ret);
	json_array_foreach(doctor.findings, i, one)
	{
		const char *remedy = json_string_value(json_object_get(one, "remedy"));

		buffer_printf(ret, "%s: %s", json_string_value(json_object_get(one, "finding")),
			json_string_value(json_object_get(one, "text")));
		buffer_printf(ret, *remedy ? " -> %s\n" : "%s\n", remedy);
	}
	json_decref(doctor.findings);
}

/* ---- the tests ---- */

#define UNIT(id, active, sub) "Id=cartbus-" id "\nActiveState=" active "\nSubState=" sub "\nMainPID=0\n"
#define GATEWAY UNIT("gateway.service", "active", "running")
#define FAILED(status) UNIT("gateway.service", "failed", "failed") "Result=exit-code\nExecMainStatus=" status "\n"

static const struct {
	const char *units, *package, *found;
	bool is_away;
} cases[] = {
	{ .units = "", .found = "" },
	{ .units = GATEWAY "StatusText=ready\nNeedDaemonReload=no\n\n" UNIT("gateway.socket", "active", "listening"),
		.package = "installed",
		.found = "fine: systemd has nothing to say against its 2 units\n" },
	{ .units = UNIT(
		  "gateway.socket", "failed", "failed") "Result=resources\nListen=0.0.0.0:80 (Stream)\n\n" GATEWAY,
		.found = "wrong: cartbus-gateway.socket does not listen on 0.0.0.0:80 (Stream): systemd says "
			 "\"resources\" -> "
			 "ss -ltnp shows who has the port: end that, or choose another (systemctl edit "
			 "cartbus-gateway.socket); "
			 "then systemctl start cartbus.target\n" },
	{ .units = FAILED("1") "StatusText=failed: no key; make=one\n",
		.found = "wrong: cartbus-gateway.service: no key; make=one -> what helps stands there; journalctl -u "
			 "cartbus-gateway.service tells more\n" },
	{ .units = GATEWAY "StatusText=nothing new is taken: the disk is full\n",
		.found = "wrong: cartbus-gateway.service: nothing new is taken: the disk is full -> what helps stands "
			 "there; journalctl -u cartbus-gateway.service tells more\n" },
	{ .units = GATEWAY "StatusText=away from the broker\n",
		.found = "wrong: cartbus-gateway.service: away from the broker -> what helps stands there; "
			 "journalctl -u cartbus-gateway.service tells more\n" },
	{ .units = GATEWAY "StatusText=away from the broker\n",
		.is_away = true,
		.found = "fine: systemd has nothing to say against its 1 units\n" },
	{ .units = FAILED("217"),
		.found = "wrong: cartbus-gateway.service does not start: its user is not there (systemd says 217) -> "
			 "systemd-sysusers\n" },
	{ .units = FAILED("1"),
		.found = "wrong: cartbus-gateway.service does not run: it ended with \"exit-code\", status 1 -> "
			 "journalctl "
			 "-u cartbus-gateway.service -n 20; then systemctl start cartbus-gateway.service\n" },
	{ .units = UNIT("gateway.service", "activating", "auto-restart") "Result=signal\nExecMainStatus=9\n",
		.found = "wrong: cartbus-gateway.service does not run: it ended with \"signal\", status 9 -> "
			 "journalctl -u "
			 "cartbus-gateway.service -n 20; then systemctl start cartbus-gateway.service\n" },
	{ .units = GATEWAY "NeedDaemonReload=yes\n\n" UNIT("timer.service", "active", "running"),
		.found =
			"doubtful: cartbus-gateway.service was changed, and systemd has not read it again -> systemctl "
			"daemon-reload, then systemctl restart cartbus.target\n" },
	{ .units = "",
		.package = "half-configured",
		.found = "wrong: an upgrade was cut short: dpkg says that cartbus is half-configured -> dpkg "
			 "--configure -a, or apt install --fix-broken, which ends it\n" },
	{ .units = "", .package = "config-files", .found = "" },
	{ .units = "", .package = "not-installed", .found = "" },
};

static void what_systemd_and_dpkg_answer_is_told_with_what_helps(void **state)
{
	struct buffer found = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		look(cases[i].units, cases[i].package ? cases[i].package : "", cases[i].is_away, &found);
		assert_string_equal(buffer_text(&found), cases[i].found);
	}
	buffer_free(&found);
}

/* A program that runs until `ret_input` is closed, from a file of its own at `path`. */
static pid_t run_copy(const char *path, int *ret_input)
{
	_cleanup_(buffer_free) struct buffer program = { 0 };
	int input[2], begun[2];
	char byte;
	pid_t child;

	assert_int_equal(file_read("/bin/cat", PROGRAM_MOST, &program), 0);
	assert_int_equal(file_write_durably(path, buffer_bytes(&program), 0700), 0);
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(begun, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		dup2(input[0], STDIN_FILENO);
		execl(path, "cat", NULL);
		die("%s: %s", path, strerror(errno));
	}
	close(input[0]);
	close(begun[1]);
	assert_int_equal(read(begun[0], &byte, 1), 0); /* closed when the program has begun */
	close(begun[0]);
	*ret_input = input[1];
	return child;
}

static void a_process_whose_program_was_replaced_is_found_however_deep_it_lies(void **state)
{
	struct buffer found = { 0 };
	struct statvfs mounted;

	(void)state;
	assert_int_equal(statvfs(folder.path, &mounted), 0);
	if (mounted.f_flag & ST_NOEXEC)
		skip(); /* no program runs from it */
	for (int deep = 0; deep < 2; deep++) {
		char path[PATH_BYTES], below[700] = "", units[200];
		int input, status;
		pid_t child;

		if (deep)
			snprintf(below, sizeof(below), "/%0200d/%0200d/%0200d", 1, 2, 3);
		snprintf(path, sizeof(path), "%s%s", folder.path, below);
		assert_int_equal(file_make_folders(path, 0700), 0);
		snprintf(path, sizeof(path), "%s%s/program", folder.path, below);
		child = run_copy(path, &input);
		snprintf(units, sizeof(units),
			"Id=cartbus-gateway.service\nActiveState=active\nSubState=running\nMainPID=%d\n", child);
		look(units, "", false, &found);
		assert_string_equal(buffer_text(&found), "fine: systemd has nothing to say against its 1 units\n");
		assert_int_equal(unlink(path), 0);
		look(units, "", false, &found);
		assert_string_equal(buffer_text(&found),
			"doubtful: cartbus-gateway.service runs the program that was there before an upgrade -> dpkg "
			"--configure -a, which restarts it; or systemctl restart cartbus.target\n");
		close(input);
		assert_int_equal(waitpid(child, &status, 0), child);
	}
	buffer_free(&found);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_systemd_and_dpkg_answer_is_told_with_what_helps, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_process_whose_program_was_replaced_is_found_however_deep_it_lies, setup, teardown),
	};

	(void)argc;
	if (getenv(SAYS))
		return say(basename(argv[0]));
	return cmocka_run_group_tests_name("cartbus.doctor_units", tests, NULL, NULL);
}
