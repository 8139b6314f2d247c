#include "bus/base/log.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child process that runs `body` writes on stderr; its exit status goes to `ret_status`. */
static void stderr_of(void (*body)(void), char to[8192], int *ret_status)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		body();
		_exit(0);
	}
	close(ends[1]);
	size_t len = 0;
	for (ssize_t got; len < 8191 && (got = read(ends[0], to + len, 8191 - len)) > 0;)
		len += (size_t)got;
	to[len] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, ret_status, 0), child);
}

static void say_three_levels(void)
{
	log_open("intake", LOG_INFO);
	log_event(LOG_INFO, "cart changed shop=%s", "demo");
	log_event(LOG_DEBUG, "not at this level");
	log_event(LOG_WARNING, "late by=%d", 3);
}

static void a_line_names_its_level_and_process(void **state)
{
	(void)state;
	char said[8192];
	int status;
	stderr_of(say_three_levels, said, &status);
	assert_string_equal(said, "<6>intake: cart changed shop=demo\n<4>intake: late by=3\n");
}

static void say_a_forgery(void)
{
	log_open("gateway", LOG_INFO);
	log_event(LOG_INFO, "shop=%s", "a\n<2>broker: corrupt\r\x1b[31m\x7f");
}

static void a_value_cannot_forge_a_line(void **state)
{
	(void)state;
	char said[8192];
	int status;
	stderr_of(say_a_forgery, said, &status);
	assert_string_equal(said, "<6>gateway: shop=a <2>broker: corrupt  [31m \n");
}

static void say_too_much(void)
{
	log_open("gateway", LOG_INFO);
	log_event(LOG_INFO, "%06000d", 7);
	log_event(LOG_INFO, "next");
}

static void a_long_line_is_cut_and_says_so(void **state)
{
	(void)state;
	char said[8192];
	int status;
	stderr_of(say_too_much, said, &status);
	char *end = strchr(said, '\n');
	assert_non_null(end);
	assert_int_equal(end - said, 4095);
	assert_memory_equal(end - 3, "...", 3);
	assert_string_equal(end + 1, "<6>gateway: next\n");
}

static void die_of_something(void)
{
	log_open("broker", LOG_CRITICAL);
	die("%s is locked; stop the other broker", "/var/lib/cartbus");
}

static void dying_says_why_and_exits_with_1(void **state)
{
	(void)state;
	char said[8192];
	int status;
	stderr_of(die_of_something, said, &status);
	assert_string_equal(said, "<2>broker: /var/lib/cartbus is locked; stop the other broker\n");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_names_its_level_and_process),
		cmocka_unit_test(a_value_cannot_forge_a_line),
		cmocka_unit_test(a_long_line_is_cut_and_says_so),
		cmocka_unit_test(dying_says_why_and_exits_with_1),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
