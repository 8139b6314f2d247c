/*
 * http.c: the gateway at the internet: what may come, from whom, and how much
 *
 * Owns:      the server (services/kit/web/web.h), the requests that await their answer from the bus.
 * Promises:  what a request costs before it is proven is bounded, for its network and for all: the route, the shop, the signature's
 *            form are judged at the head, at most 1 MB of a body is kept, 256 KB of feedback, 16 KB of a form, 64 MB of all; small bodies
 *            are always taken; a quarter of it is the most that one network holds.
 * Fails by:  400, 404, 405, 408, 411, 413, 431, 503 in words; die() when it cannot listen.
 * Read next: reception.c (what a request means), door.c (how it gets in), services/kit/web/web.c, listen.c
 */
#include "services/platform/gateway/http.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/storefront/event.h"
#include "services/kit/web/web.h"
#include "services/platform/gateway/absence.h"
#include "services/platform/gateway/listen.h"
#include "services/platform/gateway/party.h"
#include "services/platform/gateway/reception.h"
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	BODY_MOST = 1024 * 1024,        /* of one request */
	BODIES_MOST = 64 * 1024 * 1024, /* of all requests at once, their heads included */
	HEAD_MOST = 16 * 1024,
	CONNECTIONS_MOST = 4000,
	SHARE = 4,              /* one network may have a quarter of the connections and of the bytes */
	WORK_PERCENT_EACH = 10, /* of one CPU: what may be spent on requests of one network that prove nothing */
	WORK_PERCENT_ALL = 20,  /* and of all */
	SOURCES_MOST = 20000    /* some 3 MB */
};
static const int64_t report_us = US_PER_MINUTE;

struct pending { /* a request whose answer the bus has to give */
	struct web_exchange *exchange;
	struct answer *answer;
	struct wish wish;
};

static struct http {
	struct web *web;
	struct web_proxies proxies;
	const struct clock *clock;
	struct door *door;
	struct reception reception;
	struct counters counters, reported;
	struct web_counters noted; /* of the server's, what is in ours */
	int64_t turned_away_us;    /* wall time of the last one; 0: none */
	char shops_folder[PATH_MAX / 2], rejected_folder[PATH_MAX];
	struct absence absence;
	int wake_fd;
	bool answered; /* by the bus, since the server worked last */
	int64_t report_at_us;
} http;

static int64_t now_us(void)
{
	return clock_boot_us(http.clock);
}

/* ---- answering ---- */

static void answer_health(struct answer *answer)
{
	const char *trouble = door_trouble(http.door);

	if (trouble) {
		answer_json_error(answer, 503, trouble);
		return;
	}
	answer->status = 200;
	answer->content_type = "application/json";
	buffer_printf(&answer->body, "{\"ready\":true,\"broker\":\"%s\",\"spooled\":%" PRIu64 "}\n",
		door_live(http.door) ? "connected" : "away", door_spooled(http.door));
}

/* A page loads nothing, can be framed by nobody, and does not tell where it leads. */
static void dress(struct answer *answer)
{
	static const struct http_header of_pages[] = { { "Referrer-Policy", "no-referrer" },
		{ "Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'" },
		{ NULL, NULL } };

	if (answer->content_type && strncmp(answer->content_type, "text/html", strlen("text/html")) == 0)
		answer->more = of_pages;
}

/* From the door. */
static void on_decided(void *context, enum door_end end, uint64_t seq, const char *why)
{
	struct pending *pending = context;

	reception_finish(&http.reception, &pending->wish, end, seq, why, pending->answer);
	dress(pending->answer);
	web_answer(pending->exchange);
	party_clear(&pending->wish);
	free(pending);
	http.answered = true;
}

static bool is_health(const struct request *request)
{
	return strcmp(request->path, "/healthz") == 0 &&
		(strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0);
}

static bool judge_head(void *context, const struct request *request, struct answer *answer, size_t *body_most)
{
	(void)context;
	if (is_health(request) || reception_judge_head(&http.reception, request, answer, body_most))
		return true;
	dress(answer);
	return false;
}

/* The request is complete. */
static bool decide(void *context, struct web_exchange *exchange, struct request *request, struct answer *answer)
{
	struct pending *pending;
	struct wish wish = { 0 };

	(void)context;
	request->to = request_argument(request, "to"); /* the one value of a query that we know */
	if (is_health(request)) {
		answer_health(answer);
		return true;
	}
	if (!reception_receive(&http.reception, request, answer, &wish)) {
		party_clear(&wish);
		dress(answer);
		return true;
	}
	pending = memory_new(sizeof(*pending));
	*pending = (struct pending){ .exchange = exchange, .answer = answer, .wish = wish };
	party_knock(http.door, &pending->wish, on_decided, pending);
	return false;
}

/* ---- in the loop ---- */

static void on_ready(void *context)
{
	(void)context; /* before_wait works */
}

static void wake(void *context)
{
	(void)context;
	eventfd_write(http.wake_fd, 1);
}

static void on_wake(void *context)
{
	eventfd_t count;

	(void)context;
	eventfd_read(http.wake_fd, &count);
}

static void note_counters(void)
{
	const struct web_counters *now = web_counters(http.web);

	http.counters.requests += now->requests - http.noted.requests;
	http.counters.malformed += now->malformed - http.noted.malformed;
	http.counters.cut_off += now->cut_off - http.noted.cut_off;
	http.counters.crowded_out += now->crowded_out - http.noted.crowded_out;
	http.counters.turned_away += now->turned_away - http.noted.turned_away;
	if (now->turned_away > http.noted.turned_away)
		http.turned_away_us = clock_wall_us(http.clock);
	http.noted = *now;
}

static void report(void)
{
	if (now_us() < http.report_at_us)
		return;
	http.report_at_us = now_us() + report_us;
	counters_log(&http.counters, &http.reported);
}

static int64_t sooner_us(int64_t a_us, int64_t b_us)
{
	return a_us < 0 || (b_us >= 0 && b_us < a_us) ? b_us : a_us;
}

static void tell_counts(struct counts_told *told, void *context)
{
	counters_tell(told, context);
	counts_tell(told, "turned_away_us", (uint64_t)http.turned_away_us);
	counts_tell(told, "secrets_unusable", secrets_unusable(http.reception.secrets));
}

static int64_t before_wait(void *context)
{
	int64_t wait_us, door_us;

	(void)context;
	report();
	secrets_look_again(http.reception.secrets);
	http.answered = false;
	wait_us = web_work(http.web);
	note_counters();
	door_us = door_work(http.door); /* after it: what has just come in is said at once */
	wait_us = http.answered ? 0 : sooner_us(wait_us, door_us);
	wait_us = sooner_us(wait_us, absence_keep(&http.absence));
	return sooner_us(wait_us, seen_work(http.reception.seen));
}

/* ---- from beginning to end ---- */

static struct web_limits limits_here(void)
{
	unsigned most = listen_room(CONNECTIONS_MOST);

	return (struct web_limits){ .head_most = HEAD_MOST,
		.body_most = BODY_MOST,
		.sources = { .connections_each = most / SHARE,
			.connections_all = most,
			.bytes_each = BODIES_MOST / SHARE,
			.bytes_all = BODIES_MOST,
			.work_percent_each = WORK_PERCENT_EACH,
			.work_percent_all = WORK_PERCENT_ALL,
			.work_burst_us = US_PER_S / 10,
			.sources_most = SOURCES_MOST } };
}

static void listen_http(const struct config *config)
{
	const struct web_limits limits = limits_here();
	const struct web_owner owner = { .judge_head = judge_head, .decide = decide };

	web_proxies_parse(config_get(config, "gateway", NULL, "trusted-proxy"), &http.proxies);
	http.web = web_new(listen_socket(config), &limits, &owner, &http.proxies, http.clock);
	if (!http.web)
		die("the HTTP server does not start: too many open files?");
}

static void open_reception(const char *folder, const struct runtime *runtime, const struct config *config)
{
	snprintf(http.shops_folder, sizeof(http.shops_folder), "%s", config_get(config, "paths", NULL, "shops"));
	snprintf(http.rejected_folder, sizeof(http.rejected_folder), "%s/rejected", folder);
	http.reception = (struct reception){
		.secrets = secrets_open(http.shops_folder, secrets_folder(config)),
		.clock = http.clock,
		.runtime = runtime,
		.counters = &http.counters,
		.shops_folder = http.shops_folder,
		.rejected_folder = http.rejected_folder,
		.event = memory_new(sizeof(struct event)),
	};
}

static void tell_absence(const char *folder, const char *gateway)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };

	if (absence_begin(&http.absence, folder, gateway, http.clock, &message))
		door_begin_with(http.door, buffer_bytes(&message));
}

void http_start(struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	char folder[PATH_MAX / 2];

	snprintf(
		folder, sizeof(folder), "%s/%s", config_get(config, "paths", NULL, "state"), runtime_instance(runtime));
	http.clock = clock;
	http.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (http.wake_fd < 0)
		die("no eventfd: too many open files?");
	http.report_at_us = now_us() + report_us;
	open_reception(folder, runtime, config);
	http.reception.seen = seen_new(runtime, clock);
	http.door = door_open(folder, runtime, clock, &http.counters, wake, NULL);
	tell_absence(folder, runtime_instance(runtime));
	listen_http(config);
	if (loop_watch(loop, http.wake_fd, false, on_wake, NULL) < 0 ||
		loop_watch(loop, web_descriptor(http.web), false, on_ready, NULL) < 0)
		die("too many descriptors in the loop");
	runtime_counts_beside(runtime, tell_counts, &http.counters);
	loop_before_wait(loop, before_wait, NULL);
}

void http_leave(void)
{
	web_leave(http.web);
}

bool http_left(void)
{
	return web_connections(http.web) == 0;
}

void http_stop(void)
{
	door_close(http.door); /* what waits is answered 503 */
	web_free(http.web);
	secrets_close(http.reception.secrets);
	free(http.reception.event);
	close(http.wake_fd);
}
