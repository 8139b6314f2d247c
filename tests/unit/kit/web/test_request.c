/* test_request.c: what a head means, and that no head means two things */
#include "bus/base/memory.h"
#include "services/kit/web/request.h"
#include "tests/unit/cmocka_all.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct request request;
static char *text;
static const char *why;

static unsigned parse_bytes(const char *head, size_t len)
{
	free(text);
	text = memory_copy(BYTES(head, len));
	why = NULL;
	return request_parse(text, len, &request, &why);
}

/* With the rest of a head around it that is right. */
static unsigned parse(const char *lines)
{
	char head[8200];

	snprintf(head, sizeof(head), "POST /hooks/demo/cart HTTP/1.1\r\nHost: shop.example\r\n%s\r\n", lines);
	return parse_bytes(head, strlen(head));
}

static int teardown(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	return 0;
}

static void a_right_head_is_taken_apart(void **state)
{
	(void)state;
	assert_int_equal(parse("X-One:  a b\t \r\nx-TWO:\r\nContent-Length: 12\r\n"), 0);
	assert_string_equal(request.method, "POST");
	assert_string_equal(request.path, "/hooks/demo/cart");
	assert_null(request.query);
	assert_string_equal(request_header(&request, "x-one"), "a b");
	assert_string_equal(request_header(&request, "X-Two"), "");
	assert_string_equal(request_header(&request, "content-length"), "12");
	assert_null(request_header(&request, "X-Three"));
	assert_int_equal(parse("X-Latin: caf\xc3\xa9\r\n"), 0);
}

/* Each is read in one way by one server and in another by the next: that is how requests are smuggled. */
static void what_two_servers_read_differently_is_refused(void **state)
{
	static const char *const lines[] = { "Content-Len: 5\r\n gth\r\n", " Content-Length: 5\r\n", "\tX: y\r\n",
		"Transfer-Encoding : chunked\r\n", "Content-Length : 5\r\n", "Content-Length\t: 5\r\n",
		"Content-Length\r\n", ": 5\r\n", "X\x01Y: 5\r\n",
		"X: a\x01"
		"b\r\n",
		"X: a\x7f\r\n", "X: a\rContent-Length: 5\r\n", "X: a\nContent-Length: 5\r\n", "X(y): 5\r\n",
		"X Y: 5\r\n", "Caf\xc3\xa9: 5\r\n", "Host: other.example\r\n",
		"Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5, 5\r\n", "Content-Length: +5\r\n",
		"Content-Length: 0x5\r\n", "Content-Length: \r\n", "Content-Length: 5 \r\n", "Content-Length: 5\t\r\n",
		"Transfer-Encoding: chunked \r\n", "transfer-encoding: chunked\t\r\n", "Cookie: a=\"\r\n",
		"Cookie: x=1; y=\" \r\n", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n",
		"Transfer-Encoding: chunked, identity\r\n",
		"Transfer-Encoding:\x0b"
		"chunked\r\n",
		"Transfer-Encoding: xchunked\r\n", "Transfer-Encoding:\r\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (parse(lines[i]) != 400)
			fail_msg("taken: %s", lines[i]);
		assert_non_null(why);
	}
}

static void a_nul_is_refused_wherever_it_stands(void **state)
{
	static const char head[] = "GET /healthz HTTP/1.1\r\nHost: shop.example\r\nX-One: two\r\n\r\n";
	char with[sizeof(head)];

	(void)state;
	assert_int_equal(parse_bytes(head, sizeof(head) - 1), 0);
	for (size_t i = 0; i < sizeof(head) - 1; i++) {
		memcpy(with, head, sizeof(head));
		with[i] = '\0';
		assert_int_not_equal(parse_bytes(with, sizeof(head) - 1), 0);
	}
}

static void a_request_line_is_one_of_http_1(void **state)
{
	static const struct {
		const char *line;
		unsigned status;
	} rows[] = { { "GET / HTTP/1.1", 0 }, { "GET / HTTP/1.0", 0 }, { "BREW /x?a=b HTTP/1.1", 0 },
		{ "GET / HTTP/2.0", 505 }, { "GET / HTTP/9.9", 505 }, { "GET / HTTP/1.10", 505 },
		{ "GET / http/1.1", 400 }, { "GET /", 400 }, { "GET", 400 }, { "GET  / HTTP/1.1", 400 },
		{ "GET / HTTP/1.1 ", 505 }, { "GET /a b HTTP/1.1", 400 }, { "G@T / HTTP/1.1", 400 },
		{ "GET /\x01 HTTP/1.1", 400 }, { "GET /\xc3\xa9 HTTP/1.1", 400 }, { "GET /#top HTTP/1.1", 400 },
		{ "GET ?u/x HTTP/1.1", 400 }, { "OPTIONS * HTTP/1.1", 0 }, { "GET *x HTTP/1.1", 400 },
		{ "GET http://x/y HTTP/1.1", 0 }, { " GET / HTTP/1.1", 400 },
		{ "ABCDEFGHIJKLMNOPQRSTUVWXYZ / HTTP/1.1", 400 }, { "", 400 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char head[200];

		snprintf(head, sizeof(head), "%s\r\nHost: x\r\n\r\n", rows[i].line);
		if (parse_bytes(head, strlen(head)) != rows[i].status)
			fail_msg("not %u: %s", rows[i].status, rows[i].line);
	}
}

static void http_1_1_names_its_host_once_and_1_0_may(void **state)
{
	static const char none[] = "GET / HTTP/1.1\r\n\r\n", old[] = "GET / HTTP/1.0\r\n\r\n",
			  strange[] = "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
			  old_chunks[] = "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";

	(void)state;
	assert_int_equal(parse_bytes(none, strlen(none)), 400);
	assert_int_equal(parse_bytes(old, strlen(old)), 0);
	assert_int_equal(parse_bytes(strange, strlen(strange)), 400);
	assert_int_equal(parse_bytes(old_chunks, strlen(old_chunks)), 400);
}

static void more_headers_than_are_kept_are_told_so(void **state)
{
	char lines[4000] = "";

	(void)state;
	for (int i = 0; i < HEADERS_MAX - 1; i++)
		strcat(lines, "X: y\r\n");
	assert_int_equal(parse(lines), 0);
	strcat(lines, "X: y\r\n");
	assert_int_equal(parse(lines), 431);
}

static void an_argument_is_found_and_decoded(void **state)
{
	static const char head[] =
		"GET /r/x?a=1&to=https%3A%2F%2Fshop.example%2F%C3%B6+x%00%2&to=second&x HTTP/1.1\r\nHost: x\r\n\r\n";

	(void)state;
	assert_int_equal(parse_bytes(head, strlen(head)), 0);
	assert_string_equal(request.path, "/r/x");
	assert_string_equal(request_argument(&request, "to"), "https://shop.example/\xc3\xb6 x%00%2");
	assert_int_equal(parse(""), 0);
	assert_null(request_argument(&request, "to"));
}

static void arguments_and_cookies_are_counted_and_too_many_are_told_so(void **state)
{
	char lines[8000] = "Cookie: ";

	(void)state;
	assert_int_equal(parse(""), 0);
	assert_int_equal(request.parts, 0);
	assert_int_equal(parse("Cookie: a=b; c=d\r\ncookie: e,f\r\n"), 0);
	assert_int_equal(request.parts, 4);
	for (int i = 0; i < PARTS_MOST - 1; i++)
		strcat(lines, "a;");
	assert_int_equal(parse(strcat(lines, "\r\n")), 0);
	assert_int_equal(request.parts, PARTS_MOST);
	memcpy(lines + strlen(lines) - 2, ";\r\n", 4);
	assert_int_equal(parse(lines), 431);
	assert_non_null(why);
}

static void what_an_answer_is_sent_with_follows_from_it(void **state)
{
	static const struct http_header more[] = { { "X-One", "1" }, { NULL, NULL } };
	const struct answer answer = { .status = 503, .content_type = "text/plain", .more = more };
	struct http_header fields[ANSWER_FIELDS_MAX];
	const struct request as_request = { .header_count = answer_fields(&answer, fields) };
	struct request sent = as_request;

	(void)state;
	memcpy(sent.headers, fields, sizeof(fields));
	assert_string_equal(request_header(&sent, "Content-Type"), "text/plain");
	assert_string_equal(request_header(&sent, "Retry-After"), "60");
	assert_string_equal(request_header(&sent, "X-One"), "1");
	assert_null(request_header(&sent, "Location"));
}

static void as_many_headers_as_an_answer_may_have_are_all_sent_and_in_order(void **state)
{
	static const struct http_header more[17] = { { "M", "0" }, { "M", "1" }, { "M", "2" }, { "M", "3" },
		{ "M", "4" }, { "M", "5" }, { "M", "6" }, { "M", "7" }, { "M", "8" }, { "M", "9" }, { "M", "10" },
		{ "M", "11" }, { "M", "12" }, { "M", "13" }, { "M", "14" }, { "M", "15" } };
	struct answer answer = { .status = 503,
		.content_type = "text/plain",
		.cache = "private",
		.allow = "GET",
		.location = "/",
		.more = more };
	struct http_header fields[ANSWER_FIELDS_MAX];
	char values[ANSWER_ADDED_MAX][4];
	int count;

	(void)state;
	for (int i = 0; i < ANSWER_ADDED_MAX; i++) {
		snprintf(values[i], sizeof(values[i]), "%d", i);
		answer_add(&answer, "Set-Cookie", values[i]);
	}
	count = answer_fields(&answer, fields);
	assert_int_equal(count, 6 + 16 + ANSWER_ADDED_MAX);
	assert_string_equal(fields[1].value, "private");
	for (int i = 0; i < 16; i++)
		assert_ptr_equal(fields[6 + i].value, more[i].value);
	for (int i = 0; i < ANSWER_ADDED_MAX; i++)
		assert_ptr_equal(fields[6 + 16 + i].value, values[i]);
}

static void a_cookie_is_found_by_its_whole_name_and_its_case(void **state)
{
	static const struct {
		const char *lines, *value; /* value NULL: there is none */
	} rows[] = { { "Cookie: id=abc\r\n", "abc" }, { "cookie: a=1; id=abc; b=2\r\n", "abc" },
		{ "Cookie: id=\"abc\"\r\n", "abc" }, { "Cookie: id=\r\n", "" }, { "Cookie: id=\"\"\r\n", "" },
		{ "Cookie: a=1;id=abc ;b\r\n", "abc" }, { "Cookie: id=a=b==\r\n", "a=b==" },
		{ "Cookie: a=1\r\nCookie: id=abc\r\n", "abc" }, { "Cookie: x={\"a\": 1, 2}; id=abc\r\n", "abc" },
		{ "Cookie: id\r\nX: id=abc\r\n", NULL }, { "Cookie: ID=abc\r\n", NULL },
		{ "Cookie: idx=abc\r\n", NULL }, { "Cookie: xid=abc\r\n", NULL }, { "Cookie: id =abc\r\n", NULL },
		{ "Cookie: a=id=abc\r\n", NULL }, { "Cookie: a=\"x\"id=abc\r\n", NULL },
		{ "Cookie: a=1,id=abc\r\n", NULL }, { "Cookie:\r\n", NULL }, { "Cookie: ;;; ;\r\n", NULL },
		{ "", NULL } };
	struct bytes value;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(rows[i].lines), 0);
		if (request_cookie(&request, "id", &value) != (rows[i].value ? 0 : -ENOENT) ||
			!bytes_equal(value, bytes_of(rows[i].value ? rows[i].value : "")))
			fail_msg("%s: %.*s", rows[i].lines, (int)value.len, (const char *)value.data);
	}
}

/* Which of two is meant depends on the server that reads them. */
static void a_cookie_that_is_given_twice_or_is_malformed_is_refused(void **state)
{
	static const char *const rows[] = { "Cookie: id=a; id=a\r\n", "Cookie: id=a; x=1; id=\r\n",
		"Cookie: id=a\r\nCookie: id=b\r\n", "Cookie: id=a b\r\n", "Cookie: id=a,b\r\n", "Cookie: id=a\\b\r\n",
		"Cookie: id=\"a\r\n", "Cookie: id=a\"\r\n", "Cookie: id=a\"b\r\n", "Cookie: id=\"a\"b\"\r\n",
		"Cookie: id=caf\xc3\xa9\r\n", "Cookie: id=a\tb\r\n", "Cookie: id= a\r\n",
		"Cookie: id=a; id=\"\r\nX: y\r\n" };
	struct bytes value;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned status = parse(rows[i]);

		if (status == 0 && request_cookie(&request, "id", &value) != -EBADMSG)
			fail_msg("taken: %s", rows[i]);
		assert_true(status == 400 || value.len == 0);
	}
}

/* What stands around a value is none of it. */
static void blanks_around_a_value_are_left_out(void **state)
{
	static const char *const before[] = { "", " ", "\t", "  ", "\t\t", " \t", "\t ", "   " };

	(void)state;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		char lines[80];
		snprintf(lines, sizeof(lines), "X-One:%sa \t b%s\r\n", before[i], before[i]);
		assert_int_equal(parse(lines), 0);
		assert_string_equal(request_header(&request, "X-One"), "a \t b");
		snprintf(lines, sizeof(lines), "X-One:%s\r\n", before[i]);
		assert_int_equal(parse(lines), 0);
		assert_string_equal(request_header(&request, "X-One"), "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_right_head_is_taken_apart, teardown),
		cmocka_unit_test_teardown(blanks_around_a_value_are_left_out, teardown),
		cmocka_unit_test_teardown(what_two_servers_read_differently_is_refused, teardown),
		cmocka_unit_test_teardown(a_nul_is_refused_wherever_it_stands, teardown),
		cmocka_unit_test_teardown(a_request_line_is_one_of_http_1, teardown),
		cmocka_unit_test_teardown(http_1_1_names_its_host_once_and_1_0_may, teardown),
		cmocka_unit_test_teardown(more_headers_than_are_kept_are_told_so, teardown),
		cmocka_unit_test_teardown(an_argument_is_found_and_decoded, teardown),
		cmocka_unit_test_teardown(arguments_and_cookies_are_counted_and_too_many_are_told_so, teardown),
		cmocka_unit_test_teardown(what_an_answer_is_sent_with_follows_from_it, teardown),
		cmocka_unit_test_teardown(as_many_headers_as_an_answer_may_have_are_all_sent_and_in_order, teardown),
		cmocka_unit_test_teardown(a_cookie_is_found_by_its_whole_name_and_its_case, teardown),
		cmocka_unit_test_teardown(a_cookie_that_is_given_twice_or_is_malformed_is_refused, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
