/*
 * web_served.h: a server of services/kit/web/web.h and its clients, over real connections and in virtual time
 *
 * Its owner answers each request with its path and the size of its body: /nowhere is refused at its head, /short takes ten bytes,
 * what is sent to /later waits in pending[], and /proven proves itself.
 */
#ifndef WEB_WEB_SERVED_H
#define WEB_WEB_SERVED_H

#include "services/kit/web/web.h"
#include "tests/unit/cmocka_all.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	CLIENTS_MOST = 140,
	LARGE = 100 * 1024,
	LARGE_HOLDS =
		143 * 1024, /* its buffer, which grows by doubling, and the library's pool; its head is a little more */
	MEDIUM = 40 * 1024,
	QUIET_MS = 5,
	ROUNDS_MOST = 1000,
	PATIENCE_MS = 10000
};

static const struct web_limits few = { .head_most = 2000,
	.body_most = 200 * 1024,
	.sources = { .connections_each = 6,
		.connections_all = 10,
		.bytes_each = 3 * LARGE_HOLDS,
		.bytes_all = 5 * LARGE_HOLDS,
		.work_percent_each = 10,
		.work_percent_all = 50,
		.work_burst_us = US_PER_S,
		.sources_most = 100 } };

static struct clock clock;
static struct web *web;
static struct web_proxies proxies;
static uint16_t port;
static int client[CLIENTS_MOST], clients, pendings;
static struct web_request *pending[CLIENTS_MOST];
static unsigned work_rounds;

/* ---- the owner ---- */

static inline bool judge_head(void *context, struct web_request *asked)
{
	(void)context;
	if (strcmp(asked->request.path, "/short") == 0)
		asked->body_most = 10;
	if (strcmp(asked->request.path, "/nowhere") != 0)
		return true;
	answer_json_error(&asked->answer, 404, "nothing is here");
	return false;
}

static inline bool answer_metrics(void *context, struct web_request *asked)
{
	struct answer *answer = &asked->answer;

	(void)context;
	answer->content_type = "text/plain";
	answer->proven = strcmp(asked->request.path, "/proven") == 0;
	buffer_printf(&answer->body, "%s %zu", asked->request.path, asked->request.body.len);
	answer->status = 200;
	if (strcmp(asked->request.path, "/later") != 0)
		return true;
	pending[pendings++] = asked;
	return false;
}

/* ---- around it ---- */

static inline void begin_owned(const struct web_limits *limits, const char *trusted, const struct web_owner *owner)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 100), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	port = ntohs(address.sin_port);
	clock = clock_virtual(US_PER_S);
	clients = pendings = 0;
	assert_true(web_proxies_parse(trusted, &proxies));
	web = web_new(fd, limits, owner, &proxies, &clock);
	assert_non_null(web);
}

static inline void begin(const struct web_limits *limits, const char *trusted)
{
	begin_owned(limits, trusted, &(struct web_owner){ .judge_head = judge_head, .decide = answer_metrics });
}

static inline int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < pendings; i++)
		web_answer(pending[i]);
	for (int i = 0; i < clients; i++)
		close(client[i]);
	web_free(web);
	return 0;
}

/* Until nothing is left to do. On a busy machine the kernel hands over a moment later what was sent over loopback. */
static inline void work(void)
{
	struct pollfd ready = { .fd = web_descriptor(web), .events = POLLIN };

	do {
		for (int i = 0; i < 20; i++)
			web_work(web);
	} while (poll(&ready, 1, QUIET_MS) > 0 && ++work_rounds % ROUNDS_MOST);
}

static inline void pass(int64_t us)
{
	clock.virtual_us += us;
	work();
}

static inline int connect_from(const char *source)
{
	struct sockaddr_in from = { .sin_family = AF_INET }, to = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	inet_pton(AF_INET, source, &from.sin_addr);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	client[clients] = fd;
	clock.virtual_us += 1;
	work();
	return clients++;
}

/* Until the server's side of the connection has it. */
static inline void await_taken(int who)
{
	int left = 1;

	for (int i = 0; i < PATIENCE_MS && left > 0; i++) {
		if (ioctl(client[who], SIOCOUTQ, &left) < 0)
			break;
		if (left > 0)
			poll(NULL, 0, 1);
	}
}

/* As far as it is read. */
static inline void send_bytes(int who, const char *data, size_t len)
{
	struct pollfd ready = { .fd = client[who], .events = POLLOUT };

	while (len > 0) {
		ssize_t sent = send(client[who], data, len, MSG_NOSIGNAL);

		if (sent < 0 && errno == EAGAIN) {
			work();
			if (poll(&ready, 1, QUIET_MS) == 0)
				return; /* it is not read now */
			continue;
		}
		if (sent < 0)
			return;
		data += sent;
		len -= (size_t)sent;
	}
	await_taken(who);
	work();
}

static inline void send_text(int who, const char *text)
{
	send_bytes(who, text, strlen(text));
}

static inline void post(int who, const char *path, size_t length, size_t sent, const char *more)
{
	static char body[3 * LARGE];
	char head[400];

	snprintf(
		head, sizeof(head), "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n%s\r\n", path, length, more);
	send_text(who, head);
	memset(body, 'x', sizeof(body));
	send_bytes(who, body, sent);
}

/* What has come back: all of it, "" for nothing, and how the connection has ended, if it has. */
static inline const char *heard(int who)
{
	static char text[10000];
	size_t len = 0;
	ssize_t n;

	while ((n = recv(client[who], text + len, sizeof(text) - len - 10, 0)) > 0)
		len += (size_t)n;
	strcpy(text + len, n == 0 ? "<end>" : errno == ECONNRESET ? "<reset>" : "");
	return text;
}

/* All that comes until it holds this. */
static inline const char *await(int who, const char *wanted)
{
	static char text[20000];
	struct pollfd ready = { .fd = client[who], .events = POLLIN };

	text[0] = '\0';
	for (int i = 0; i < PATIENCE_MS / QUIET_MS && !strstr(text, wanted) && !strstr(text, "<end>"); i++) {
		poll(&ready, 1, QUIET_MS);
		work();
		strncat(text, heard(who), sizeof(text) - strlen(text) - 1);
	}
	if (!strstr(text, wanted))
		fail_msg("client %d was not told %s: %.300s", who, wanted, text);
	return text;
}

static inline void expect_status(int who, const char *status)
{
	char line[40];

	snprintf(line, sizeof(line), "HTTP/1.1 %s ", status);
	await(who, line);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

#endif
