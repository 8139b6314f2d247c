#include "bus/base/log.h"
#include "tests/unit/cmocka_all.h"
#include <jansson.h>
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

static void say_it_as_json(void)
{
	log_open("gateway", LOG_INFO);
	log_write_as(LOG_FORM_JSON);
	log_event(LOG_WARNING, "shop=%s \"quoted\" \\ %s", "a\n{\"level\":\"critical\"}", "Käse");
	log_event(LOG_INFO, "%s", "not \xff UTF-8 \xc3");
	log_event(LOG_ERROR, "%06000d", 7);
	die("over");
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	assert_non_null(text);
	return text;
}

/* The next line of *at; message NULL: any. */
static void check_object(const char **at, const char *level, const char *message)
{
	const char *end = strchr(*at, '\n');
	json_t *object = end ? json_loadb(*at, (size_t)(end - *at), JSON_REJECT_DUPLICATES, NULL) : NULL;

	assert_int_equal(json_object_size(object), 4);
	assert_int_equal(strlen(text_of(object, "time")), strlen("2026-11-21T18:00:00.000000Z"));
	assert_string_equal(text_of(object, "process"), "gateway");
	assert_string_equal(text_of(object, "level"), level);
	if (message)
		assert_string_equal(text_of(object, "message"), message);
	json_decref(object);
	*at = end + 1;
}

static void as_json_every_line_is_one_object_whatever_is_in_it(void **state)
{
	(void)state;
	char said[8192];
	const char *at = said;
	int status;
	stderr_of(say_it_as_json, said, &status);
	check_object(&at, "warning", "shop=a {\"level\":\"critical\"} \"quoted\" \\ Käse");
	check_object(&at, "info", "not ? UTF-8 ?");
	check_object(&at, "error", NULL);
	check_object(&at, "critical", "over");
	assert_string_equal(at, "");
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
		cmocka_unit_test(as_json_every_line_is_one_object_whatever_is_in_it),
		cmocka_unit_test(dying_says_why_and_exits_with_1),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
