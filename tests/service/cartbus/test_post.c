/* test_post.c: one POST to what listens at a port of this machine, and what its answer is taken for */
#include "services/cartbus/core/post.h"

#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "tests/unit/cmocka_all.h"
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char BODY[] = "{\"id\":7}";

/* Takes one connection, hears one request to its end, says `answer`, and closes. */
struct server {
	int fd;
	char port[8];
	const char *answer;
	char heard[600];
	pthread_t thread;
};

static int bound(char ret_port[8])
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
		getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		die("no port: %s", strerror(errno));
	snprintf(ret_port, 8, "%d", ntohs(at.sin_port));
	return fd;
}

static void *serve(void *context)
{
	struct server *server = context;
	int fd = accept(server->fd, NULL, NULL);
	size_t len = 0;
	ssize_t got = 1;

	while (got > 0 && !strstr(server->heard, BODY)) {
		got = recv(fd, server->heard + len, sizeof(server->heard) - len - 1, 0);
		len += got > 0 ? (size_t)got : 0;
		server->heard[len] = '\0';
	}
	send(fd, server->answer, strlen(server->answer), MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static int post_to(const char *port, struct buffer *ret)
{
	return post_send(&(struct post){ .host = "127.0.0.1",
				 .port = port,
				 .path = "/hooks/demo/cart",
				 .headers = "X-Sample: 1\r\n",
				 .body = bytes_of(BODY) },
		ret);
}

static int post_answered(const char *answer, struct server *server, struct buffer *ret)
{
	int r;

	*server = (struct server){ .answer = answer };
	server->fd = bound(server->port);
	assert_int_equal(listen(server->fd, 1), 0);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
	r = post_to(server->port, ret);
	shutdown(server->fd, SHUT_RDWR); /* if nobody came it waits for nobody more */
	pthread_join(server->thread, NULL);
	close(server->fd);
	return r;
}

static void an_answer_is_a_status_and_a_body_or_no_http(void **state)
{
	static const struct {
		const char *answer;
		int status;
		const char *body;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\nX: y\r\n\r\n{\"cart\":\"c1\"}\r\n\r\n", 200, "{\"cart\":\"c1\"}\r\n\r\n" },
		{ "HTTP/1.0 404 Not Found\r\n\r\n", 404, "" },
		{ "HTTP/1.1 599\r\n\r\n", 599, "" },
		{ "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", 302, "" },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 200, "{}" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", -EPROTO, "short" },
		{ "HTTP/1.1 200 OK\r\n", 200, "" }, /* libcurl takes the end for that of the headers */
		{ "HTTP/1.1 OK\r\n\r\n", -EPROTO, "" },
		{ "HTTP/1.1 0 OK\r\n\r\n", -EPROTO, "" },
		{ "HTTP/1.1 -2 OK\r\n\r\n", -EPROTO, "" },
		{ "HTTP/1.1 99 OK\r\n\r\n", -EPROTO, "" },
		{ "HTTP/1.1 1000 OK\r\n\r\n", -EPROTO, "" },
		{ "220 mail.example ESMTP\r\n\r\n", -EPROTO, "" },
		{ "", -EPROTO, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(buffer_free) struct buffer body = { 0 };
		struct server server;
		int r = post_answered(cases[i].answer, &server, &body);

		if (r != cases[i].status || strcmp(buffer_text(&body), cases[i].body) != 0)
			fail_msg("\"%s\": %d, \"%s\"", cases[i].answer, r, buffer_text(&body));
	}
}

static void a_post_is_one_whole_request(void **state)
{
	_cleanup_(buffer_free) struct buffer body = { 0 };
	struct server server;
	static const char *const lines[] = { "\r\nHost: 127.0.0.1:", "\r\nContent-Length: 8\r\n",
		"\r\nConnection: close\r\n", "\r\nX-Sample: 1\r\n" };

	(void)state;
	assert_int_equal(post_answered("HTTP/1.1 200 OK\r\n\r\n", &server, &body), 200);
	assert_memory_equal(
		server.heard, "POST /hooks/demo/cart HTTP/1.1\r\n", strlen("POST /hooks/demo/cart HTTP/1.1\r\n"));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strstr(server.heard, lines[i]))
			fail_msg("no \"%s\" in \"%s\"", lines[i], server.heard);
	assert_null(strstr(server.heard, "Expect:"));
	assert_string_equal(server.heard + strlen(server.heard) - strlen(BODY) - 4, "\r\n\r\n{\"id\":7}");
}

static void a_port_where_nobody_listens_is_told_as_such(void **state)
{
	_cleanup_(buffer_free) struct buffer body = { 0 };
	char port[8];
	int fd = bound(port); /* so nobody else listens there */

	(void)state;
	assert_int_equal(post_to(port, &body), -ECONNREFUSED);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_a_status_and_a_body_or_no_http),
		cmocka_unit_test(a_post_is_one_whole_request),
		cmocka_unit_test(a_port_where_nobody_listens_is_told_as_such),
	};

	return cmocka_run_group_tests_name("cartbus.post", tests, NULL, NULL);
}
