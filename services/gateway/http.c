/*
 * http.c: connections: requests in, answers out, within limits
 *
 * libmicrohttpd runs in the process's one thread: its epoll descriptor is watched by the loop, a request that awaits a confirm is
 * suspended and resumed there.
 *
 * Owns:      the listening socket, the connections, the requests that are being received or answered.
 * Promises:  a request is there within 5 s (10 s where it follows another on the same connection) or its connection is cut: the
 *            library's own timeout counts idleness only, so one byte a second would live for ever; at most 1 MB of body is kept, 64 MB of all; a request whose framing two servers could
 *            read differently is refused and its connection closed; when there is no room for another connection, the one that
 *            is the longest without a request makes it.
 * Fails by:  400, 404, 405, 413, 503 in words; die() when it cannot listen.
 * Read next: reception.c (what a request means), door.c (how it gets in), visit.c, listen.c
 */
#include "services/gateway/http.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "services/gateway/absence.h"
#include "services/gateway/listen.h"
#include "services/gateway/party.h"
#include "services/gateway/reception.h"
#include "services/gateway/response.h"
#include "services/gateway/visit.h"
#include "services/kit/event.h"
#include "services/kit/settings.h"
#include <inttypes.h>
#include <limits.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	BODY_MOST = 1024 * 1024,        /* of one request */
	DISCARD_MOST = 8 * 1024 * 1024, /* read and thrown away, so that a client hears its 413; past it: cut */
	BODIES_MOST = 64 * 1024 * 1024, /* of all requests at once */
	CONNECTIONS_MOST = 4000,
	CONNECTION_MEMORY = 16 * 1024, /* a request's head, and of its body what is being read; 64 MB of all at most */
	CONNECTIONS_KEPT_FREE = 16,    /* so that a newcomer never waits for the slow to leave */
	LIBRARY_RUNS_MOST = 64,        /* in one turn of the loop */
	IDLE_MOST_S = 15,              /* a second net under the deadline */
};
static const int64_t report_us = US_PER_MINUTE;

enum phase { PHASE_RECEIVING, PHASE_WAITING, PHASE_ANSWERED };

struct exchange { /* a request and its answer */
	struct MHD_Connection *connection;
	struct visit *visit;
	enum phase phase;
	struct request request;
	char *to; /* the request's, decoded */
	struct buffer body;
	size_t received;
	bool crowded; /* no room for the body now */
	struct wish wish;
	struct answer answer;
};

static struct http {
	struct MHD_Daemon *daemon;
	const struct clock *clock;
	struct door *door;
	struct reception reception;
	struct counters counters, reported;
	char shops_folder[PATH_MAX / 2], rejected_folder[PATH_MAX];
	struct visits visits;
	unsigned connections_most;
	struct absence absence;
	size_t bodies; /* bytes kept of all requests */
	int wake_fd;
	bool resumed, leaving;
	int64_t library_at_us; /* boot time at which the library wants to run; -1: when its descriptor is ready */
	int64_t report_at_us;
} http;

static int64_t now_us(void)
{
	return clock_boot_us(http.clock);
}

static void on_connection(
	void *cls, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code)
{
	(void)cls;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = visit_begin(&http.visits,
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
		visits_make_room(
			&http.visits, http.connections_most - CONNECTIONS_KEPT_FREE, &http.counters.crowded_out);
	} else {
		visit_end(*context);
		*context = NULL;
	}
}

/* ---- answering ---- */

static enum MHD_Result queue_answer(struct exchange *exchange)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	exchange->answer.close |= http.leaving;
	response = response_of(&exchange->answer);
	if (!response)
		return MHD_NO;
	result = MHD_queue_response(exchange->connection, exchange->answer.status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_now(struct exchange *exchange)
{
	exchange->phase = PHASE_ANSWERED;
	visit_answering(exchange->visit);
	return queue_answer(exchange);
}

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

/* From the door: the answer is there, the connection may go on. */
static void on_decided(void *context, enum door_end end, uint64_t seq, const char *why)
{
	struct exchange *exchange = context;

	reception_finish(&http.reception, &exchange->wish, end, seq, why, &exchange->answer);
	exchange->phase = PHASE_ANSWERED;
	visit_answering(exchange->visit);
	MHD_resume_connection(exchange->connection);
	http.resumed = true;
}

static bool is_health(const struct request *request)
{
	return strcmp(request->path, "/healthz") == 0 &&
		(strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0);
}

/* The request is complete. */
static enum MHD_Result decide(struct exchange *exchange)
{
	struct answer *answer = &exchange->answer;

	http.counters.requests++;
	exchange->request.body =
		BYTES(exchange->body.len > 0 ? (const void *)exchange->body.data : "", exchange->body.len);
	if (exchange->received > BODY_MOST) {
		http.counters.malformed++;
		answer_json_error(answer, 413, "the body is larger than 1 MB");
	} else if (exchange->crowded) {
		http.counters.refused++;
		answer_json_error(answer, 503, "too much is being received at once");
	} else if (is_health(&exchange->request)) {
		answer_health(answer);
	} else if (reception_receive(&http.reception, &exchange->request, answer, &exchange->wish)) {
		exchange->phase = PHASE_WAITING;
		visit_hold(exchange->visit);
		MHD_suspend_connection(exchange->connection);
		party_knock(http.door, &exchange->wish, on_decided, exchange);
		return MHD_YES;
	}
	return answer_now(exchange);
}

/* ---- receiving ---- */

static enum MHD_Result add_request_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct request *request = context;

	(void)kind;
	if (request->header_count == HEADERS_MAX)
		return MHD_NO;
	request->headers[request->header_count++] = (struct http_header){ name, value ? value : "" };
	return MHD_YES;
}

/* The one value of a query that we know. */
static void take_target(struct exchange *exchange)
{
	const char *to = MHD_lookup_connection_value(exchange->connection, MHD_GET_ARGUMENT_KIND, "to");

	if (!to)
		return;
	exchange->to = memory_copy_text(to);
	MHD_http_unescape(exchange->to);
	exchange->request.to = exchange->to;
}

static struct exchange *exchange_new(struct MHD_Connection *connection, const char *path, const char *method)
{
	struct exchange *exchange = memory_new(sizeof(*exchange));

	exchange->connection = connection;
	exchange->visit = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	exchange->request.path = path;
	exchange->request.method = method;
	MHD_get_connection_values(connection, MHD_HEADER_KIND, add_request_header, &exchange->request);
	take_target(exchange);
	return exchange;
}

/* The head is there: refuse what must not be read on. */
static enum MHD_Result begin(struct exchange *exchange)
{
	const char *doubt = request_framing(&exchange->request);
	const char *length = request_header(&exchange->request, "Content-Length");

	if (!doubt && (!length || strtoull(length, NULL, 10) <= DISCARD_MOST))
		return MHD_YES;
	http.counters.requests++;
	http.counters.malformed++;
	answer_json_error(&exchange->answer, doubt ? 400 : 413, doubt ? doubt : "the body is larger than 1 MB");
	exchange->answer.close = true;
	return answer_now(exchange);
}

static void forget_body(struct exchange *exchange)
{
	http.bodies -= exchange->body.len;
	buffer_free(&exchange->body);
	exchange->body = (struct buffer){ 0 };
}

static enum MHD_Result take_body(struct exchange *exchange, const char *data, size_t len)
{
	exchange->received += len;
	if (exchange->received > DISCARD_MOST) {
		http.counters.cut_off++;
		return MHD_NO;
	}
	if (http.bodies + len > BODIES_MOST)
		exchange->crowded = true;
	if (exchange->received > BODY_MOST || exchange->crowded) {
		forget_body(exchange);
		return MHD_YES;
	}
	buffer_add(&exchange->body, data, len);
	http.bodies += len;
	return MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *path, const char *method,
	const char *version, const char *data, size_t *len, void **context)
{
	struct exchange *exchange = *context;
	enum MHD_Result result;

	(void)cls;
	(void)version;
	if (!exchange) {
		exchange = *context = exchange_new(connection, path, method);
		visit_head_came(exchange->visit);
		return begin(exchange);
	}
	if (*len > 0) {
		result = exchange->phase == PHASE_RECEIVING ? take_body(exchange, data, *len) : MHD_YES;
		*len = 0;
		return result;
	}
	switch (exchange->phase) {
	case PHASE_RECEIVING:
		return decide(exchange);
	case PHASE_WAITING:
		return MHD_YES;
	case PHASE_ANSWERED:
		return queue_answer(exchange);
	}
	return MHD_NO;
}

static void on_completed(
	void *cls, struct MHD_Connection *connection, void **context, enum MHD_RequestTerminationCode how)
{
	struct exchange *exchange = *context;

	(void)cls;
	(void)connection;
	if (!exchange)
		return;
	if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		visit_answered(exchange->visit);
	forget_body(exchange);
	party_clear(&exchange->wish);
	buffer_free(&exchange->answer.body);
	free(exchange->to);
	free(exchange);
	*context = NULL;
}

/* Nothing of ours needs escapes: what is escaped is unknown (route.h). */
static size_t leave_escaped(void *cls, struct MHD_Connection *connection, char *text)
{
	(void)cls;
	(void)connection;
	return strlen(text);
}

__attribute__((format(printf, 2, 0))) static void pass_on_words(void *cls, const char *format, va_list arguments)
{
	char words[300];

	(void)cls;
	vsnprintf(words, sizeof(words), format, arguments);
	words[strcspn(words, "\r\n")] = '\0';
	log_event(LOG_DEBUG, "libmicrohttpd: %s", words);
}

/* ---- in the loop ---- */

static void let_library_run(void)
{
	secrets_look_again(http.reception.secrets);
	MHD_run(http.daemon);
}

static void on_ready(void *context)
{
	(void)context;
	let_library_run();
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

/*
 * The library is run when its descriptor is ready, and when its time has come: data that it has already read lies in its buffers,
 * and no descriptor tells of that.
 */
static int64_t run_library(void)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	for (int runs = 0; runs < LIBRARY_RUNS_MOST; runs++) {
		if (http.resumed || (http.library_at_us >= 0 && now_us() >= http.library_at_us))
			let_library_run();
		http.resumed = false;
		http.library_at_us = -1;
		if (MHD_get_timeout(http.daemon, &wait_ms) != MHD_YES)
			return -1;
		http.library_at_us = now_us() + (int64_t)wait_ms * US_PER_MS;
		if (wait_ms > 0)
			return (int64_t)wait_ms * US_PER_MS;
	}
	return 0; /* the others in the loop first */
}

static int64_t before_wait(void *context)
{
	int64_t wait_us, door_us;

	(void)context;
	report();
	wait_us = run_library();
	door_us = door_work(http.door); /* after it: what has just come in is said at once */
	wait_us = http.resumed ? 0 : sooner_us(wait_us, door_us);
	wait_us = sooner_us(wait_us, absence_keep(&http.absence));
	wait_us = sooner_us(wait_us, seen_work(http.reception.seen));
	return sooner_us(wait_us, visits_cut(&http.visits, &http.counters.cut_off));
}

static void listen_http(const struct config *config)
{
	http.connections_most = listen_room(CONNECTIONS_MOST);
	http.daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
		on_request, NULL, MHD_OPTION_EXTERNAL_LOGGER, pass_on_words, NULL, MHD_OPTION_LISTEN_SOCKET,
		listen_socket(config), MHD_OPTION_CONNECTION_LIMIT, http.connections_most,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)IDLE_MOST_S, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
		NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped,
		NULL, MHD_OPTION_END);
	if (!http.daemon)
		die("the HTTP server does not start");
}

static void open_reception(const char *folder, const struct runtime *runtime, const struct config *config)
{
	snprintf(http.shops_folder, sizeof(http.shops_folder), "%s", config_get(config, "paths", NULL, "shops"));
	snprintf(http.rejected_folder, sizeof(http.rejected_folder), "%s/rejected", folder);
	http.reception = (struct reception){
		.secrets = secrets_open(http.shops_folder, settings_secrets_folder(config)),
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
	visits_init(&http.visits, clock);
	http.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (http.wake_fd < 0)
		die("no eventfd: too many open files?");
	http.report_at_us = now_us() + report_us;
	http.library_at_us = -1;
	open_reception(folder, runtime, config);
	http.reception.seen = seen_new(runtime, clock);
	http.door = door_open(folder, runtime, clock, &http.counters, wake, NULL);
	tell_absence(folder, runtime_instance(runtime));
	listen_http(config);
	if (loop_watch(loop, http.wake_fd, false, on_wake, NULL) < 0 ||
		loop_watch(loop, MHD_get_daemon_info(http.daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, false, on_ready,
			NULL) < 0)
		die("too many descriptors in the loop");
	runtime_counts_beside(runtime, counters_tell, &http.counters);
	loop_before_wait(loop, before_wait, NULL);
}

void http_leave(void)
{
	MHD_run(http.daemon);                   /* who was let in by the kernel is served */
	close(MHD_quiesce_daemon(http.daemon)); /* a supervisor's socket stays open with the supervisor */
	http.leaving = true;
	visits_leave(&http.visits);
}

bool http_left(void)
{
	return http.visits.count == 0;
}

void http_stop(void)
{
	door_close(http.door); /* what waits is answered 503 */
	MHD_run(http.daemon);
	MHD_stop_daemon(http.daemon);
	secrets_close(http.reception.secrets);
	free(http.reception.event);
	close(http.wake_fd);
}
