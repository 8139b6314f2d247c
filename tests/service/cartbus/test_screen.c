/* test_screen.c: a terminal while `cartbus top` has it, and after: a process of its own has one end, the test the other */
#include "services/cartbus/watch/screen.h"

#include "bus/base/bytes.h"
#include "tests/unit/cmocka_all.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static void use_screen(const char *path)
{
	struct winsize size = { .ws_row = 20, .ws_col = 60 };
	int fd = open(path, O_RDWR | O_NOCTTY), width = 0, height = 0, wrong;

	if (fd < 0 || ioctl(fd, TIOCSWINSZ, &size) < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
		dup2(fd, STDERR_FILENO) < 0)
		_exit(2);
	setenv("TERM", "xterm", 1);
	fputs("[said before]", stderr);
	if (screen_open() < 0)
		_exit(3);
	fputs("[said meanwhile]", stderr);
	screen_size(&width, &height);
	wrong = width != size.ws_col || height != size.ws_row || screen_key() != KEY_OF_NONE;
	screen_close();
	fputs("[said after]", stderr);
	screen_close();
	_exit(wrong);
}

static void what_is_said_to_stderr_meanwhile_does_not_tear_the_picture(void **state)
{
	struct buffer shown = { 0 };
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave, status;
	char path[100];
	ssize_t got = 1;
	pid_t child;

	(void)state;
	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	assert_int_equal(ptsname_r(master, path, sizeof(path)), 0);
	slave = open(
		path, O_RDWR | O_NOCTTY | O_CLOEXEC); /* until the child has it: else the other end would be closed */
	fflush(NULL);
	child = fork();
	if (child == 0)
		use_screen(path);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(slave); /* nobody has that end now: what is read ends */
	while (got > 0) {
		got = read(master, buffer_grow(&shown, 4096), 4096);
		shown.len += got > 0 ? (size_t)got : 0;
	}
	close(master);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_non_null(strstr(buffer_text(&shown), "[said before]"));
	assert_null(strstr(buffer_text(&shown), "[said meanwhile]"));
	assert_non_null(strstr(buffer_text(&shown), "[said after]"));
	buffer_free(&shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_said_to_stderr_meanwhile_does_not_tear_the_picture),
	};

	return cmocka_run_group_tests_name("cartbus.screen", tests, NULL, NULL);
}
