/* test_host.c: a name that is not ours is not taken for one of ours, however it is spelled */
#include "bus/base/memory.h"
#include "services/kit/web/host.h"
#include "tests/unit/cmocka_all.h"
#include <stdio.h>
#include <stdlib.h>

/* A server behind https://console.example, which listens at port 8419 of its own machine. */
static const struct host_rule ours[] = { { "console.example", 443, true }, { "localhost", 8419, false },
	{ "127.0.0.1", 8419, false }, { "::1", 8419, false } };

static bool is_ours(const char *text)
{
	struct host host;

	return host_read(text, &host) && host_allowed(&host, ours, sizeof(ours) / sizeof(ours[0]));
}

static void only_the_very_names_and_ports_are_ours(void **state)
{
	static const struct {
		const char *text;
		bool ours;
	} rows[] = { { "console.example", true }, { "console.example:443", true }, { "CONSOLE.Example", true },
		{ "console.example.", true }, { "Console.Example.:443", true }, { "localhost:8419", true },
		{ "LOCALHOST:8419", true }, { "localhost.:8419", true }, { "127.0.0.1:8419", true },
		{ "[::1]:8419", true },

		{ "console.example:80", false }, { "console.example:8419", false }, { "console.example..", false },
		{ ".console.example", false }, { "console.example.evil.test", false }, { "evil.test", false },
		{ "xconsole.example", false }, { "console.example:0443", false }, { "console.example:", false },
		{ "console.example:443x", false }, { "console.example:443:443", false },
		{ "console.example:4430", false }, { "console.example:65979", false },
		{ "console.example:+443", false }, { "console.example: 443", false },
		{ "console.example:4294967739", false }, { "localhost", false }, { "localhost:443", false },
		{ "localhost.evil.test:8419", false }, { "localhost..:8419", false }, { "127.0.0.1", false },
		{ "127.0.0.1:8420", false }, { "127.1:8419", false }, { "0x7f.0.0.1:8419", false },
		{ "2130706433:8419", false }, { "0:8419", false }, { "127.0.0.1.nip.test:8419", false },
		{ "127.0.0.2:8419", false }, { "::1", false }, { "::1:8419", false }, { "[::1]", false },
		{ "[::1]8419", false }, { "[::1", false }, { "[::1:8419", false }, { "[::1.]:8419", false },
		{ "[::ffff:127.0.0.1]:8419", false }, { "[0:0:0:0:0:0:0:1]:8419", false },
		{ "[localhost]:8419", false }, { "[127.0.0.1]:8419", false }, { "[]:8419", false }, { "[", false },
		{ "", false }, { ":8419", false }, { ".", false }, { ".:8419", false }, { "caf\xc3\xa9.test", false },
		{ "console\xef\xbc\x8e"
		  "example",
			false } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (is_ours(rows[i].text) != rows[i].ours)
			fail_msg("%s is %s", rows[i].text, rows[i].ours ? "refused" : "taken");
}

static void a_rule_without_a_port_takes_any(void **state)
{
	static const struct host_rule any = { "console.example", 0, false };
	static const char *const rows[] = { "console.example", "console.example:1", "console.example:x" };
	struct host host;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(host_read(rows[i], &host));
		assert_true(host_allowed(&host, &any, 1));
	}
	assert_false(host_allowed(&host, NULL, 0));
}

static void a_host_as_long_as_its_room_is_none(void **state)
{
	char text[HOST_ROOM + 1];
	struct host host;

	(void)state;
	memset(text, 'a', sizeof(text));
	text[HOST_ROOM - 1] = '\0';
	assert_true(host_read(text, &host));
	assert_string_equal(host.name, text);
	text[HOST_ROOM - 1] = 'a';
	text[HOST_ROOM] = '\0';
	assert_false(host_read(text, &host));
}

static void what_a_request_asks_for_is_one_host_and_a_path(void **state)
{
	static const struct {
		const char *head;
		const char *name, *path; /* name NULL: refused */
	} rows[] = { { "GET /a?b HTTP/1.1\r\nHost: Shop.example:80\r\n\r\n", "shop.example", "/a" },
		{ "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "x", "*" },
		{ "GET http://X:80/a/b HTTP/1.1\r\nHost: x:80\r\n\r\n", "x", "/a/b" },
		{ "GET HTTPS://x?c HTTP/1.1\r\nHost: x\r\n\r\n", "x", "/" },
		{ "GET http://[::1]:80/ HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "::1", "/" },
		{ "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-Host: y\r\n\r\n", "x", "/" },
		{ "GET http://y/ HTTP/1.1\r\nHost: x\r\n\r\n", NULL, "/" },
		{ "GET http://x:80/ HTTP/1.1\r\nHost: x\r\n\r\n", NULL, "/" },
		{ "GET http://x/ HTTP/1.1\r\nHost: x:80\r\n\r\n", NULL, "/" },
		{ "GET http://xy/ HTTP/1.1\r\nHost: x\r\n\r\n", NULL, "/" },
		{ "GET http://x@y/ HTTP/1.1\r\nHost: x\r\n\r\n", NULL, "/" },
		{ "GET http:///a HTTP/1.1\r\nHost: x\r\n\r\n", NULL, "/a" },
		{ "GET http:///a HTTP/1.1\r\nHost:\r\n\r\n", NULL, "/a" },
		{ "GET http://x\\@y/ HTTP/1.1\r\nHost: x\r\n\r\n", NULL, "/" },
		{ "GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n", NULL, "ftp://x/" },
		{ "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", NULL, "x:80" },
		{ "GET / HTTP/1.1\r\nHost:\r\n\r\n", NULL, "/" }, { "GET / HTTP/1.0\r\n\r\n", NULL, "/" } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = memory_copy_text(rows[i].head);
		struct request request;
		struct host host;
		const char *why = NULL;
		unsigned status;

		assert_int_equal(request_parse(text, strlen(text), &request, &why), 0);
		status = request_host(&request, &host, &why);
		if (status != (rows[i].name ? 0 : 400) || (rows[i].name && strcmp(host.name, rows[i].name) != 0))
			fail_msg("%u, %s: %s", status, host.name, rows[i].head);
		assert_true(status == 0 || why);
		assert_false(status != 0 && host_allowed(&host, ours, sizeof(ours) / sizeof(ours[0])));
		assert_string_equal(request_local_path(&request), rows[i].path);
		free(text);
	}
}

static void a_request_with_two_hosts_is_refused(void **state)
{
	const struct request twice = {
		.path = "/", .headers = { { "Host", "x" }, { "host", "x" } }, .header_count = 2
	};
	struct host host;
	const char *why = NULL;

	(void)state;
	assert_int_equal(request_host(&twice, &host, &why), 400);
	assert_non_null(why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_very_names_and_ports_are_ours),
		cmocka_unit_test(a_rule_without_a_port_takes_any),
		cmocka_unit_test(a_host_as_long_as_its_room_is_none),
		cmocka_unit_test(what_a_request_asks_for_is_one_host_and_a_path),
		cmocka_unit_test(a_request_with_two_hosts_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
