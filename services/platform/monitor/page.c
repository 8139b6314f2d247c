/*
 * page.c: serves GET /metrics for Prometheus
 *
 * Owns:      the server (services/kit/web/web.h).
 * Promises:  no client of the page delays the alarms, however slowly it reads: connections are few, have
 *            little memory, and end. A browser that another site's page sent here gets no metrics, because it
 *            asks for a name that is not ours.
 * Fails by:  404, 405, 421; one line in the log while the address is taken, which is tried again.
 * Read next: metrics.c
 */
#include "services/platform/monitor/page.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "services/kit/web/host.h"
#include "services/kit/web/network.h"
#include "services/kit/web/web.h"
#include "services/platform/monitor/metrics.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	CONNECTIONS_MOST = 32,
	CONNECTIONS_EACH = 16, /* of one network */
	HEAD_MOST = 8 * 1024,
	BODY_MOST = 1024, /* no client has a reason to send one */
	WORK_PERCENT = 10,
	SOURCES_MOST = 256,
	BACKLOG = 64
};
static const int64_t AGAIN_US = 10 * US_PER_S;

static struct page {
	struct web *web; /* NULL: not listening */
	const struct config *config;
	struct web_proxies here; /* this machine: addresses do not tell its clients apart */
	struct loop *loop;
	const struct clock *clock;
	const char *host, *port; /* the configuration's */
	page_fn *write;
	int64_t listen_at_us; /* boot time */
	bool told;            /* it was logged that the page does not listen */
	struct turned_away turned_away;
} page;

/* ---- readers ---- */

static int is_this_name(const char *value, void *host)
{
	return strcasecmp(value, host) == 0;
}

/* The owner of another page can point its host name at 127.0.0.1 (DNS rebinding), but not an address. */
static bool is_our_name(const char *header)
{
	char ours[256];
	struct host host;
	struct source_key address;

	if (!host_read(header, &host))
		return false;
	if (source_key_of_text(host.name, &address) || strcmp(host.name, "localhost") == 0)
		return true;
	if (gethostname(ours, sizeof(ours)) == 0 && strcasecmp(host.name, ours) == 0)
		return true;
	return config_each_value(page.config, "monitor", NULL, "host", is_this_name, host.name) != 0;
}

static bool answer_words(struct answer *answer, unsigned status, const char *words)
{
	answer->status = status;
	answer->content_type = "text/plain; charset=utf-8";
	buffer_add_text(&answer->body, words);
	return false;
}

/* ---- answering ---- */

static bool judge_head(void *context, struct web_request *asked)
{
	const struct request *request = &asked->request;
	struct answer *answer = &asked->answer;
	const char *host = request_header(request, "Host");

	(void)context;
	asked->body_most = BODY_MOST;
	if (host && !is_our_name(host))
		return answer_words(
			answer, 421, "this name is not known here: ask for an address, or name it in [monitor] host\n");
	if (strcmp(request->path, "/metrics") != 0)
		return answer_words(answer, 404, "the metrics are at /metrics\n");
	if (strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0)
		return true;
	answer->allow = "GET, HEAD";
	return answer_words(answer, 405, "GET or HEAD\n");
}

static bool answer_metrics(void *context, struct web_request *asked)
{
	(void)context;
	asked->answer.status = 200;
	asked->answer.content_type = METRICS_CONTENT_TYPE;
	page.write(&asked->answer.body);
	return true;
}

static void on_ready(void *context)
{
	(void)context; /* before_wait does the work */
}

/* Returns the socket, or -errno. */
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
	const struct web_owner owner = { .judge_head = judge_head, .decide = answer_metrics };
	const struct web_limits limits = { .head_most = HEAD_MOST,
		.body_most = BODY_MOST,
		.sources = { .connections_each = CONNECTIONS_EACH,
			.connections_all = CONNECTIONS_MOST,
			.bytes_each = CONNECTIONS_EACH * HEAD_MOST,
			.bytes_all = CONNECTIONS_MOST * HEAD_MOST,
			.work_percent_each = WORK_PERCENT,
			.work_percent_all = WORK_PERCENT,
			.work_burst_us = US_PER_S,
			.sources_most = SOURCES_MOST } };

	page.web = web_new(fd, &limits, &owner, &page.here, page.clock);
	if (!page.web || loop_watch(page.loop, web_descriptor(page.web), false, on_ready, NULL) < 0)
		die("the HTTP server for the metrics does not start");
	log_event(LOG_INFO, "metrics at http://%s:%s/metrics", page.host, page.port);
}

/* The monitor does without the metrics page if it must: it still tells alarms. */
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

static int64_t before_wait(void *context)
{
	int64_t now_us = clock_boot_us(page.clock);

	(void)context;
	if (!page.web && now_us >= page.listen_at_us)
		try_to_listen(now_us);
	return page.web ? web_work(page.web) : page.listen_at_us - now_us;
}

/* The page asks no reader for a name or a password, so the address decides who may read. */
static void insist_on_address(const char *host)
{
	switch (page_reach_of(host)) {
	case PAGE_HERE:
		return;
	case PAGE_NEAR:
		log_event(LOG_WARNING, "[monitor] listen = %s: everybody in that net can read the metrics", host);
		return;
	case PAGE_OPEN:
		die("[monitor] listen = %s: strangers could read the metrics there, unasked; give an address of this "
		    "machine (127.0.0.1) or of a private net, and put a server that asks for a password in front",
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
		.config = config,
		.clock = clock,
		.turned_away.clock = clock,
		.write = write,
		.host = config_get(config, "monitor", NULL, "listen"),
		.port = config_get(config, "monitor", NULL, "port") };
	insist_on_address(page.host);
	web_proxies_parse("127.0.0.0/8 ::1", &page.here);
	loop_before_wait(loop, before_wait, NULL);
}

uint64_t page_turned_away(void)
{
	return page.web ? web_counters(page.web)->turned_away : 0;
}

void page_tell_turned_away(struct metrics_sink *told)
{
	turned_away_tell(&page.turned_away, page_turned_away(), told);
}

void page_stop(void)
{
	web_free(page.web);
	page.web = NULL;
}
