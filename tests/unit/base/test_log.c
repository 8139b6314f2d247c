#include "bus/base/log.h"
#include "tests/unit/stderr_of.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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

static void say_it_under_a_name_that_is_no_text(void)
{
	log_open("gate\xffway", LOG_INFO);
	log_write_as(LOG_FORM_JSON);
	log_event(LOG_INFO, "lost");
}

static void what_json_cannot_hold_is_lost_and_leaves_no_empty_line(void **state)
{
	(void)state;
	char said[8192];
	int status;
	stderr_of(say_it_under_a_name_that_is_no_text, said, &status);
	assert_string_equal(said, "");
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

/* --- with fields --- */

static const struct log_about ABOUT_C1 = { .event = "0123456789abcdef0123456789abcdef",
	.shop = "demo",
	.subject = "c1",
	.topic = "cart.changed",
	.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	.seq = 17 };
static char journal_path[64];

static int open_journal(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	snprintf(journal_path, sizeof(journal_path), "/tmp/test-log-%d", (int)getpid());
	unlink(journal_path);
	strcpy(address.sun_path, journal_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void close_journal(int fd)
{
	close(fd);
	unlink(journal_path);
}

static void say_what_it_is_about(void)
{
	log_open("intake", LOG_INFO);
	assert_true(log_to_journal(journal_path));
	log_event_about(LOG_WARNING, &ABOUT_C1, "opened %d", 1);
	log_event_about(LOG_DEBUG, &ABOUT_C1, "not at this level");
	log_event(LOG_INFO, "about nothing");
}

static void the_journal_gets_the_event_with_its_fields_and_stderr_what_has_none(void **state)
{
	char said[8192], datagram[8192];
	int status, fd = open_journal();
	ssize_t len;

	(void)state;
	stderr_of(say_what_it_is_about, said, &status);
	len = recv(fd, datagram, sizeof(datagram) - 1, 0);
	assert_true(len > 0);
	datagram[len] = '\0';
	assert_string_equal(datagram,
		"MESSAGE=intake: opened 1\nPRIORITY=4\nSYSLOG_FACILITY=3\nSYSLOG_IDENTIFIER=test_base_log\n"
		"MESSAGE_ID=0123456789abcdef0123456789abcdef\nCARTBUS_SHOP=demo\nCARTBUS_SUBJECT=c1\nCARTBUS_CART=c1\n"
		"CARTBUS_TOPIC=cart.changed\nCARTBUS_TRACE=4bf92f3577b34da6a3ce929d0e0e4736\nCARTBUS_SEQ=17\n");
	assert_true(recv(fd, datagram, sizeof(datagram), 0) < 0);
	assert_string_equal(said, "<6>intake: about nothing\n");
	close_journal(fd);
}

static void say_names_that_forge(void)
{
	struct log_about forged = {
		.shop = "demo\nPRIORITY=0", .subject = "c\x1b[31m\nCARTBUS_SHOP=other", .trace = "short"
	};
	struct log_about address = { .shop = "demo", .subject = "ada@example.com" };
	struct log_about escaped = { .shop = "demo", .subject = "ada%40example.com" };

	log_open("intake", LOG_INFO);
	log_to_journal(journal_path);
	log_event_about(LOG_INFO, &forged, "one\ntwo");
	log_event_about(LOG_INFO, &address, "three");
	log_event_about(LOG_INFO, &escaped, "four");
}

static void next_is(int fd, const char *expected)
{
	char datagram[8192];
	ssize_t len = recv(fd, datagram, sizeof(datagram) - 1, 0);
	const char *own;

	assert_true(len > 0);
	datagram[len] = '\0';
	own = strstr(datagram, "SYSLOG_IDENTIFIER=test_base_log\n");
	assert_non_null(own);
	assert_string_equal(own + strlen("SYSLOG_IDENTIFIER=test_base_log\n"), expected);
}

static void a_name_forges_no_field_and_an_address_is_none(void **state)
{
	char said[8192];
	int status, fd = open_journal();

	(void)state;
	stderr_of(say_names_that_forge, said, &status);
	next_is(fd,
		"CARTBUS_SHOP=demo PRIORITY=0\nCARTBUS_SUBJECT=c [31m CARTBUS_SHOP=other\n"
		"CARTBUS_CART=c [31m CARTBUS_SHOP=other\n");
	next_is(fd, "CARTBUS_SHOP=demo\n");
	next_is(fd, "CARTBUS_SHOP=demo\n");
	assert_string_equal(said, "");
	close_journal(fd);
}

static void say_it_to_nobody(void)
{
	log_open("intake", LOG_INFO);
	log_to_journal("/nowhere/at/all");
	log_event_about(LOG_INFO, &ABOUT_C1, "lost");
	log_event_about(LOG_WARNING, &ABOUT_C1, "kept");
}

static void flood_the_journal(void)
{
	log_open("intake", LOG_INFO);
	log_to_journal(journal_path);
	for (int i = 0; i < 10000; i++) /* the socket holds no more than net.unix.max_dgram_qlen, and nobody reads */
		log_event_about(LOG_INFO, &ABOUT_C1, "%d", i);
	log_event_about(LOG_ERROR, &ABOUT_C1, "kept as well");
}

static void a_warning_is_told_on_stderr_when_the_journal_is_gone_or_full_and_nobody_waits(void **state)
{
	char said[8192];
	int status, fd;

	(void)state;
	stderr_of(say_it_to_nobody, said, &status);
	assert_string_equal(said, "<4>intake: kept cart=c1\n");
	fd = open_journal();
	stderr_of(flood_the_journal, said, &status);
	assert_int_equal(status, 0);
	assert_string_equal(said, "<3>intake: kept as well cart=c1\n");
	close_journal(fd);
}

static void say_it_about_as_json(void)
{
	struct log_about odd = { .shop = "d\"e", .subject = "not \xff UTF-8" };

	log_open("gateway", LOG_INFO);
	log_to_journal(journal_path); /* asked for JSON it is JSON, whoever reads it */
	log_write_as(LOG_FORM_JSON);
	log_event_about(LOG_WARNING, &ABOUT_C1, "a");
	log_event_about(LOG_WARNING, &odd, "b");
}

static void as_json_what_it_is_about_are_members(void **state)
{
	char said[8192];
	int status;
	json_t *object;

	(void)state;
	stderr_of(say_it_about_as_json, said, &status);
	object = json_loads(said, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, NULL);
	assert_string_equal(text_of(object, "event"), ABOUT_C1.event);
	assert_string_equal(text_of(object, "shop"), "demo");
	assert_string_equal(text_of(object, "subject"), "c1");
	assert_string_equal(text_of(object, "cart"), "c1"); /* as it was released */
	assert_string_equal(text_of(object, "topic"), "cart.changed");
	assert_string_equal(text_of(object, "trace"), "4bf92f3577b34da6a3ce929d0e0e4736");
	assert_string_equal(text_of(object, "seq"), "17");
	assert_int_equal(json_object_size(object), 11);
	json_decref(object);
	object = json_loads(strchr(said, '\n'), JSON_DISABLE_EOF_CHECK, NULL);
	assert_string_equal(text_of(object, "shop"), "d\"e");
	assert_string_equal(text_of(object, "cart"), "not ? UTF-8");
	json_decref(object);
}

static void only_who_writes_to_the_journal_is_read_by_it(void **state)
{
	struct stat status;
	char stream[64];

	(void)state;
	unsetenv("JOURNAL_STREAM");
	assert_false(journal_reads_stderr());
	assert_int_equal(fstat(STDERR_FILENO, &status), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)status.st_dev,
		(unsigned long long)status.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	assert_true(journal_reads_stderr());
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)status.st_dev,
		(unsigned long long)status.st_ino + 1);
	setenv("JOURNAL_STREAM", stream, 1); /* inherited, and stderr was led elsewhere */
	assert_false(journal_reads_stderr());
	setenv("JOURNAL_STREAM", "nonsense", 1);
	assert_false(journal_reads_stderr());
	unsetenv("JOURNAL_STREAM");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_names_its_level_and_process),
		cmocka_unit_test(a_value_cannot_forge_a_line),
		cmocka_unit_test(a_long_line_is_cut_and_says_so),
		cmocka_unit_test(as_json_every_line_is_one_object_whatever_is_in_it),
		cmocka_unit_test(what_json_cannot_hold_is_lost_and_leaves_no_empty_line),
		cmocka_unit_test(dying_says_why_and_exits_with_1),
		cmocka_unit_test(the_journal_gets_the_event_with_its_fields_and_stderr_what_has_none),
		cmocka_unit_test(a_name_forges_no_field_and_an_address_is_none),
		cmocka_unit_test(a_warning_is_told_on_stderr_when_the_journal_is_gone_or_full_and_nobody_waits),
		cmocka_unit_test(as_json_what_it_is_about_are_members),
		cmocka_unit_test(only_who_writes_to_the_journal_is_read_by_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
