/*
 * http.c: the gateway's HTTP server, and the limits for its clients
 *
 * Owns:      the server (services/kit/web/web.h), and the submission of each request that the server has.
 *            main.c holds the one struct http.
 * Promises:  the cost of a request before it is proven is bounded, for its network and for all networks: the
 *            route, the shop and the signature's form are judged at the head; of a body at most 1 MB is kept,
 *            256 KB of feedback, 16 KB of a form, 64 MB of all bodies. Small bodies are always taken. One
 *            network holds at most a quarter of that.
 * Fails by:  400, 404, 405, 408, 411, 413, 431, 503 in words; die() when it cannot listen.
 * Read next: dispatch.c (from a request to its endpoint), publisher.c (from there to the bus or the spool), services/kit/web/web.c, listen.c
 */
#include "services/platform/gateway/http.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/list.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "services/kit/endpoint/submission.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/settings/listen.h"
#include "services/kit/web/web.h"
#include "services/platform/gateway/dispatch.h"
#include "services/platform/gateway/downtime.h"
#include "services/platform/gateway/route.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	BODY_MOST = 1024 * 1024,        /* of one request */
	BODIES_MOST = 64 * 1024 * 1024, /* of all requests at once, their heads included */
	HEAD_MOST = 16 * 1024,
	CONNECTIONS_MOST = 4000,
	SHARE = 4,                           /* one network may have a quarter of connections and bytes */
	WORK_PERCENT_EACH = 10,              /* of one CPU, for requests of one network that prove nothing */
	WORK_PERCENT_ALL = 20,               /* the same for all networks */
	SOURCES_MOST = 20000,                /* some 3 MB */
	FILES_MOST = 32,                     /* bodies that are files, and are coming in at once */
	FILES_BYTES_MOST = 512 * 1024 * 1024 /* bytes of these on the disk */
};
static const int64_t report_us = US_PER_MINUTE;

struct http {
	int blobs_failed; /* the error that was logged last, a negative errno */
	struct web *web;
	struct web_proxies proxies;
	const struct clock *clock;
	struct publisher *publisher;
	struct endpoint_context context;
	struct counters counters, reported;
	struct web_counters noted; /* the server's counts that `counters` has already */
	int64_t turned_away_us;    /* wall time of the last one; 0: none */
	char shops_folder[PATH_MAX / 2], rejected_folder[PATH_MAX];
	struct downtime downtime;
	int wake_fd;
	bool answered; /* the bus has answered a request since the server worked last */
	int64_t report_at_us;
};

static int64_t now_us(const struct http *http)
{
	return clock_boot_us(http->clock);
}

/* ---- requests ---- */

static void begin_submission(void *context, struct web_request *asked)
{
	struct http *http = context;
	struct submission *submission =
		dispatch_begin(&http->context, &asked->request, &asked->answer, &asked->body_most);

	submission->client = asked->client;
	asked->streamed = submission->endpoint && submission->endpoint->file;
	asked->own = submission;
}

static bool prove_submission(void *context, struct web_request *asked)
{
	(void)context;
	return dispatch_prove(asked->own);
}

static bool take_piece(void *context, struct web_request *asked, struct bytes piece)
{
	(void)context;
	return body_add(asked->own, piece);
}

static void on_end(struct submission *submission)
{
	struct http *http = CONTAINER_OF(submission->context, struct http, context);

	http->answered = true;
	web_answer(submission->connection); /* this frees the submission */
}

static bool read_submission(void *context, struct web_request *asked)
{
	struct http *http = context;
	struct submission *submission = asked->own;

	if (!dispatch_read(submission))
		return true;
	submission->connection = asked;
	submission->on_end = on_end;
	dispatch_publish(http->publisher, submission);
	return false;
}

static void dress_answer(void *context, struct web_request *asked)
{
	(void)context;
	dispatch_dress(asked->own);
}

static void end_submission(void *context, struct web_request *asked)
{
	(void)context;
	submission_clear(asked->own);
	free(asked->own);
}

/* ---- in the loop ---- */

static void on_ready(void *context)
{
	(void)context; /* before_wait does the work */
}

static void wake(void *context)
{
	const struct http *http = context;

	eventfd_write(http->wake_fd, 1);
}

static void on_wake(void *context)
{
	const struct http *http = context;
	eventfd_t count;

	eventfd_read(http->wake_fd, &count);
}

static void note_counters(struct http *http)
{
	const struct web_counters *now = web_counters(http->web);

	http->counters.requests += now->requests - http->noted.requests;
	http->counters.malformed += now->malformed - http->noted.malformed;
	http->counters.misnamed += now->misnamed - http->noted.misnamed;
	http->counters.cut_off += now->cut_off - http->noted.cut_off;
	http->counters.crowded_out += now->crowded_out - http->noted.crowded_out;
	http->counters.turned_away += now->turned_away - http->noted.turned_away;
	if (now->turned_away > http->noted.turned_away)
		http->turned_away_us = clock_wall_us(http->clock);
	http->noted = *now;
}

static void report_counters(struct http *http)
{
	if (now_us(http) < http->report_at_us)
		return;
	http->report_at_us = now_us(http) + report_us;
	counters_log(&http->counters, &http->reported);
}

static void tell_counts(struct metrics_sink *told, void *context)
{
	struct http *http = context;

	counters_tell(told, &http->counters);
	metrics_add(told, "turned_away_us", (uint64_t)http->turned_away_us);
	metrics_add(told, "secrets_unusable", secrets_unusable(http->context.secrets));
	if (http->context.blobs)
		blob_uses_tell(http->context.blobs, told);
}

/* Logs a failure unless it is the one that was logged last. */
static int64_t tend_blobs(struct http *http)
{
	int r = 0;
	int64_t next_us = http->context.blobs ? blob_uses_look(http->context.blobs, &r) : -1;

	if (r < 0 && r != http->blobs_failed)
		log_event(LOG_ERROR, "the blobs of bodies cannot be looked through: %s", strerror(-r));
	http->blobs_failed = r < 0 ? r : http->blobs_failed;
	return next_us;
}

static int64_t before_wait(void *context)
{
	struct http *http = context;
	int64_t wait_us, publisher_us;

	report_counters(http);
	secrets_look_again(http->context.secrets);
	http->answered = false;
	wait_us = web_work(http->web);
	note_counters(http);
	publisher_us =
		publisher_work(http->publisher); /* after web_work, so that it publishes the requests of this round */
	wait_us = http->answered ? 0 : sooner_us(wait_us, publisher_us);
	wait_us = sooner_us(wait_us, downtime_keep(&http->downtime));
	wait_us = sooner_us(wait_us, tend_blobs(http));
	return sooner_us(wait_us, webhook_stats_work(http->context.stats));
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
			.sources_most = SOURCES_MOST },
		.streams = { .connections_each = FILES_MOST / SHARE,
			.connections_all = FILES_MOST,
			.bytes_each = FILES_BYTES_MOST / SHARE,
			.bytes_all = FILES_BYTES_MOST,
			.work_percent_each = WORK_PERCENT_EACH, /* counted in `sources`, not here */
			.work_percent_all = WORK_PERCENT_ALL,
			.work_burst_us = US_PER_S / 10,
			.sources_most = SOURCES_MOST } };
}

static void listen_http(struct http *http, const struct config *config)
{
	const struct web_limits limits = limits_here();
	const struct web_owner owner = { .begin = begin_submission,
		.judge_head = prove_submission,
		.take_piece = take_piece,
		.decide = read_submission,
		.dress = dress_answer,
		.end = end_submission,
		.context = http };

	web_proxies_parse(config_get(config, "gateway", NULL, "trusted-proxy"), &http->proxies);
	http->proxies.header = (enum web_proxy_header)config_word(config, "gateway", NULL, "proxy-header");
	http->web = web_new(listen_socket(config, "gateway"), &limits, &owner, &http->proxies, http->clock);
	if (!http->web)
		die("the HTTP server does not start: too many open files?");
}

static void open_context(
	struct http *http, const char *folder, const struct runtime *runtime, const struct config *config)
{
	snprintf(http->shops_folder, sizeof(http->shops_folder), "%s", config_get(config, "paths", NULL, "shops"));
	snprintf(http->rejected_folder, sizeof(http->rejected_folder), "%s/rejected", folder);
	http->context = (struct endpoint_context){
		.secrets = secrets_open(http->shops_folder, secrets_folder(config)),
		.clock = http->clock,
		.runtime = runtime,
		.counters = &http->counters,
		.shops_folder = http->shops_folder,
		.rejected_folder = http->rejected_folder,
	};
}

static void add_uses(struct blob_uses *uses, const struct config *config)
{
	for (const struct endpoint *const *table = registered_endpoints; *table; table++)
		for (const struct endpoint *row = *table; row->path; row++) {
			int r = row->file
				? blob_uses_add(uses, row->file->use, blob_message_kept_us(config, row->file->topic))
				: 0;

			if (r < 0)
				die("the blobs of the endpoint %s: %s; the folder must belong to this user", row->path,
					strerror(-r));
		}
}

static void open_blobs(struct http *http, const struct runtime *runtime, const struct config *config)
{
	char root[PATH_MAX];

	if (!route_any_file(registered_endpoints))
		return;
	blob_places_root(config_get(config, "paths", NULL, "state"), root);
	http->context.blobs = blob_uses_new(&(struct blob_uses_settings){ .root = root,
		.process = runtime_instance(runtime),
		.shop_bytes = (uint64_t)config_number(config, "blobs", NULL, "shop-mib") << 20,
		.kept_free = (uint64_t)config_number(config, "blobs", NULL, "kept-free-mib") << 20,
		.clock = http->clock });
	add_uses(http->context.blobs, config);
}

static void tell_downtime(struct http *http, const char *folder, const char *gateway)
{
	_cleanup_(buffer_free) struct buffer message = { 0 };

	if (downtime_begin(&http->downtime, folder, gateway, http->clock, &message))
		publisher_begin_with(http->publisher, buffer_bytes(&message));
}

struct http *http_start(
	struct loop *loop, struct runtime *runtime, const struct config *config, const struct clock *clock)
{
	struct http *http = memory_new(sizeof(*http));
	char folder[PATH_MAX / 2];

	snprintf(
		folder, sizeof(folder), "%s/%s", config_get(config, "paths", NULL, "state"), runtime_instance(runtime));
	dispatch_check();
	http->clock = clock;
	http->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (http->wake_fd < 0)
		die("no eventfd: too many open files?");
	http->report_at_us = now_us(http) + report_us;
	open_context(http, folder, runtime, config);
	open_blobs(http, runtime, config);
	http->context.stats = webhook_stats_new(runtime, clock);
	http->publisher = publisher_open(folder, runtime, clock, &http->counters, wake, http);
	http->context.publisher = http->publisher;
	tell_downtime(http, folder, runtime_instance(runtime));
	listen_http(http, config);
	if (loop_watch(loop, http->wake_fd, false, on_wake, http) < 0 ||
		loop_watch(loop, web_descriptor(http->web), false, on_ready, NULL) < 0)
		die("too many descriptors in the loop");
	runtime_metrics_beside(runtime, tell_counts, http);
	loop_before_wait(loop, before_wait, http);
	return http;
}

void http_leave(struct http *http)
{
	web_leave(http->web);
}

bool http_left(const struct http *http)
{
	return web_connections(http->web) == 0;
}

void http_stop(struct http *http)
{
	publisher_close(http->publisher); /* answers waiting requests with 503 */
	web_free(http->web);
	blob_uses_free(http->context.blobs);
	webhook_stats_free(http->context.stats);
	secrets_close(http->context.secrets);
	close(http->wake_fd);
	free(http);
}
