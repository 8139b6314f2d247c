/*
 * page.c: GET /metrics, for Prometheus
 *
 * libmicrohttpd runs in the process's one thread, as in the gateway: its epoll descriptor is watched by the loop. It has two owners,
 * because services do not include one another and a third way to serve HTTP would be one more to keep right.
 *
 * Owns:      the listening socket, its few connections.
 * Promises:  whoever asks, and however slowly, the alarms go on: few connections, little memory for each, an end to each.
 * Fails by:  404, 405; a line in the log, once, while the address is taken: it is tried again.
 * Read next: metrics.c
 */
#include "services/monitor/page.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "services/kit/page_address.h"
#include "services/monitor/metrics.h"
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MOST = 16, CONNECTION_MEMORY = 8 * 1024, IDLE_MOST_S = 10, BACKLOG = 16, PORT_MOST = 65535 };
static const int64_t AGAIN_US = 10 * US_PER_S;

static struct page {
	struct MHD_Daemon *daemon; /* NULL: not listening */
	struct loop *loop;
	const struct clock *clock;
	const char *host, *port; /* the configuration's */
	page_fn *write;
	int64_t listen_at_us; /* boot time */
	bool told;            /* that it does not listen */
} page;

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type, struct bytes body)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(body.len, (void *)body.data, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "Cache-Control", "no-store");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result decide(struct MHD_Connection *connection, const char *path, const char *method)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };

	if (strcmp(path, "/metrics") != 0)
		return answer(connection, MHD_HTTP_NOT_FOUND, "text/plain", bytes_of("the metrics are at /metrics\n"));
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", bytes_of("GET or HEAD\n"));
	page.write(&text);
	return answer(connection, MHD_HTTP_OK, METRICS_CONTENT_TYPE, buffer_bytes(&text));
}

/* Called for the head, for each piece of a body, which is of no interest, and when all is there. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *path, const char *method,
	const char *version, const char *data, size_t *len, void **seen)
{
	static char head;

	(void)cls, (void)version, (void)data;
	if (*seen && *len == 0)
		return decide(connection, path, method);
	*seen = &head;
	*len = 0;
	return MHD_YES;
}

static void on_ready(void *context)
{
	(void)context;
	MHD_run(page.daemon);
}

/* -errno */
static int listen_socket(void)
{
	const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *address = NULL;
	int yes = 1, fd, r = 0;

	if (getaddrinfo(page.host, page.port, &wanted, &address) != 0)
		die("[monitor] listen = %s is not an IP address; 127.0.0.1 is usual", page.host);
	fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		r = -errno;
	else if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
		bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		r = -errno;
	freeaddrinfo(address);
	if (r < 0 && fd >= 0)
		close(fd);
	return r < 0 ? r : fd;
}

static void serve(int fd)
{
	page.daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MOST, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_MOST_S,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	if (!page.daemon ||
		loop_watch(page.loop, MHD_get_daemon_info(page.daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, false,
			on_ready, NULL) < 0)
		die("the HTTP server for the metrics does not start");
	log_event(LOG_INFO, "metrics at http://%s:%s/metrics", page.host, page.port);
}

/* The metrics are beside the point of this process: without them it still tells alarms. */
static void try_to_listen(int64_t now_us)
{
	int fd = listen_socket();

	if (fd >= 0) {
		serve(fd);
		return;
	}
	if (!page.told)
		log_event(LOG_WARNING,
			"no metrics: cannot listen on %s port %s: %s; another port is chosen by [monitor] port, and by "
			"SocketBindAllow= of cartbus-monitor.service; tried again meanwhile",
			page.host, page.port, strerror(-fd));
	page.told = true;
	page.listen_at_us = now_us + AGAIN_US;
}

/* 0: now: what it has read already lies in its buffers, and no descriptor tells of that. -1: when its descriptor is ready. */
static int64_t library_wait_us(void)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	return MHD_get_timeout(page.daemon, &wait_ms) == MHD_YES ? (int64_t)wait_ms * US_PER_MS : -1;
}

static int64_t before_wait(void *context)
{
	int64_t now_us = clock_boot_us(page.clock);

	(void)context;
	if (!page.daemon && now_us >= page.listen_at_us)
		try_to_listen(now_us);
	if (!page.daemon)
		return page.listen_at_us - now_us;
	if (library_wait_us() == 0)
		MHD_run(page.daemon);
	return library_wait_us();
}

/* Nobody is asked who he is, so the address decides who may read. */
static void insist_on_address(const char *host)
{
	switch (page_reach_of(host)) {
	case PAGE_HERE:
		return;
	case PAGE_NEAR:
		log_event(
			LOG_WARNING, "[monitor] listen = %s: whoever is in that net reads the metrics, unasked", host);
		return;
	case PAGE_OPEN:
		die("[monitor] listen = %s: strangers could read the metrics there, unasked; give an address of this "
		    "machine "
		    "(127.0.0.1) or of a private net, and put a server that asks for a password in front",
			host);
	case PAGE_UNCLEAR:
		die("[monitor] listen = %s is not an IP address; 127.0.0.1 is usual", host);
	}
}

void page_start(struct loop *loop, const struct config *config, const struct clock *clock, page_fn *write)
{
	if (config_number(config, "monitor", NULL, "port") == 0)
		return;
	page = (struct page){ .loop = loop,
		.clock = clock,
		.write = write,
		.host = config_get(config, "monitor", NULL, "listen"),
		.port = config_get(config, "monitor", NULL, "port") };
	insist_on_address(page.host);
	loop_before_wait(loop, before_wait, NULL);
}

void page_stop(void)
{
	if (page.daemon)
		MHD_stop_daemon(page.daemon);
	page.daemon = NULL;
}
