/*
 * tracing.c: sends spans from the tap to the collector
 *
 * Owns:      a tap whose payloads are masked, as for every process that may not see them; the spans that wait
 *            and the batch that is on its way.
 * Promises:  the collector delays no other work: a batch that it does not take in time is sent again; spans
 *            that come meanwhile wait in memory while there is room, and then are dropped and counted.
 *            Nothing is written to a disk. The broker drops messages for which this process is too slow, and
 *            a gap in the numbers is counted. A batch that may have arrived is sent again: its spans have the
 *            same ids.
 * Fails by:  a line in the journal when the collector stops taking spans and when it takes them again; counters.
 * Read next: span.c
 */
#include "services/platform/monitor/tracing.h"
#include "bus/actor/tap.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/http/http.h"
#include "services/platform/monitor/span.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SPANS_AT_ONCE = 256,
	SPANS_WAITING_MOST = 2048,
	HEARD_AT_ONCE = 512, /* then the monitor's other work has its turn */
	TIMES_KNOWN = 1 << 14,
	ANSWER_MOST = 64 * 1024,
};
static const int64_t GATHER_US = 2 * US_PER_S, DEADLINE_US = 10 * US_PER_S;
static const int64_t AGAIN_US = 1 * US_PER_S, AGAIN_MOST_US = 30 * US_PER_S;

static struct tracing {
	const struct clock *clock;
	struct tap *tap; /* NULL: there is no collector */
	struct span_share share;
	char url[HTTP_URL_MAX];
	struct times {
		uint64_t seq;
		int64_t time_us;
	} * times; /* of the latest messages, by number */
	uint64_t last_seq;
	json_t *waiting; /* spans by the service that published the message */
	uint64_t waiting_count;
	int64_t gathered_at_us; /* boot time at which they are sent */
	struct http_client *client;
	struct http_request request;
	struct http_call *call; /* NULL: nothing is on its way */
	char *batch;            /* text; NULL: none */
	uint64_t batch_count;
	int64_t again_at_us, again_us;
	bool is_failing;
	struct tracing_counts counts;
} tracing;

struct tracing_counts tracing_counts(void)
{
	return tracing.counts;
}

/* --- hearing --- */

static int64_t time_of(uint64_t seq)
{
	const struct times *at = &tracing.times[seq % TIMES_KNOWN];

	return seq > 0 && at->seq == seq ? at->time_us : 0;
}

static void note_time(const struct message_meta *said)
{
	if (tracing.last_seq > 0 && said->seq > tracing.last_seq + 1)
		tracing.counts.missed += said->seq - tracing.last_seq - 1;
	tracing.last_seq = said->seq;
	tracing.times[said->seq % TIMES_KNOWN] = (struct times){ .seq = said->seq, .time_us = said->time_us };
}

static void gather(const struct message_meta *said, struct bytes payload)
{
	json_t *spans = json_object_get(tracing.waiting, said->said_by);

	if (tracing.waiting_count >= SPANS_WAITING_MOST) {
		tracing.counts.dropped++;
		return;
	}
	if (!spans) {
		spans = json_array();
		if (json_object_set_new(tracing.waiting, said->said_by, spans) < 0) { /* the name is not UTF-8 */
			tracing.counts.dropped++;
			return;
		}
	}
	json_array_append_new(spans, span_of(said, payload, time_of(said->cause)));
	if (tracing.waiting_count++ == 0)
		tracing.gathered_at_us = clock_boot_us(tracing.clock) + GATHER_US;
}

/* true: there may be more. */
static bool hear(void)
{
	struct bytes payload;
	struct message_meta said;
	int heard = 0, failed;

	while (heard < HEARD_AT_ONCE && (failed = tap_next(tracing.tap, 0, &said, &payload)) != -EAGAIN) {
		heard++;
		if (failed < 0) /* not a message; the next one's number shows that one is missed */
			continue;
		note_time(&said);
		if (span_is_wanted(&said, tracing.share))
			gather(&said, payload);
	}
	return heard == HEARD_AT_ONCE;
}

/* --- sending --- */

static void tell_failing(bool is_failing, const char *words)
{
	if (is_failing == tracing.is_failing)
		return;
	tracing.is_failing = is_failing;
	if (is_failing)
		log_event(LOG_WARNING,
			"the collector of traces does not take spans: %s; it is tried again, and nothing waits for it",
			words);
	else
		log_event(LOG_NOTICE, "the collector of traces takes spans; dropped since the start: %llu",
			(unsigned long long)(tracing.counts.dropped + tracing.counts.refused));
}

static void end_batch(void)
{
	free(tracing.batch);
	tracing.batch = NULL;
	tracing.batch_count = 0;
	tracing.again_us = 0;
}

static void try_again(const struct http_answer *answer)
{
	tell_failing(true, answer->words);
	tracing.again_us = tracing.again_us == 0 ? AGAIN_US : 2 * tracing.again_us;
	if (tracing.again_us > AGAIN_MOST_US)
		tracing.again_us = AGAIN_MOST_US;
	tracing.again_at_us =
		clock_boot_us(tracing.clock) + http_answer_retry_us(answer, tracing.again_us, AGAIN_MOST_US);
}

/* Reads "partialSuccess": how many spans of an accepted batch were not taken. */
static uint64_t rejected(const struct http_answer *answer)
{
	json_t *said = json_loadb(answer->body.len > 0 ? answer->body.data : "", answer->body.len, 0, NULL);
	const json_t *count = json_object_get(json_object_get(said, "partialSuccess"), "rejectedSpans");
	long long number = json_is_string(count) ? atoll(json_string_value(count)) : json_integer_value(count);

	json_decref(said);
	return number < 0 ? 0 : (uint64_t)number > tracing.batch_count ? tracing.batch_count : (uint64_t)number;
}

/* Is the answer a reason to try again? OTLP/HTTP, "Retryable Response Codes". */
static bool is_passing(const struct http_answer *answer)
{
	return answer->end == HTTP_NOT_SENT || answer->end == HTTP_UNKNOWN ||
		(answer->end == HTTP_ANSWERED &&
			(answer->status == 429 || answer->status == 502 || answer->status == 503 ||
				answer->status == 504));
}

static void done(void *context, const struct http_answer *answer)
{
	uint64_t not_taken;

	(void)context;
	tracing.call = NULL;
	http_request_clear(&tracing.request);
	if (is_passing(answer)) {
		try_again(answer);
		return;
	}
	if (answer->end == HTTP_ANSWERED && answer->status >= 200 && answer->status < 300) {
		not_taken = rejected(answer);
		tracing.counts.refused += not_taken;
		tracing.counts.sent += tracing.batch_count - not_taken;
		tell_failing(false, "");
	} else {
		tracing.counts.refused += tracing.batch_count;
		tell_failing(true, answer->words);
	}
	end_batch();
}

static void post(void)
{
	static const struct http_caller caller = { .done = done };
	struct http_request *request = &tracing.request;

	http_request_init(request, "POST", "%s", tracing.url);
	http_request_header(request, "Content-Type", "application/json");
	buffer_add_text(&request->body, tracing.batch);
	request->reach = HTTP_REACH_ADMIN;
	request->deadline_us = DEADLINE_US;
	request->most_bytes = ANSWER_MOST;
	request->wanted[0] = "Retry-After";
	tracing.call = http_call_new(tracing.client, request, &caller, NULL);
}

static void make_batch(void)
{
	json_t *request = spans_request(tracing.waiting);

	tracing.batch = json_dumps(request, JSON_COMPACT);
	tracing.batch_count = tracing.waiting_count;
	if (!tracing.batch)
		die("no memory for traces");
	json_decref(request);
	json_object_clear(tracing.waiting);
	tracing.waiting_count = 0;
}

/* Sends a due batch. Returns how long until one is due; -1: not before a message is heard or answered. */
static int64_t send_what_is_due(void)
{
	int64_t now_us = clock_boot_us(tracing.clock);

	if (tracing.call)
		return -1;
	if (!tracing.batch && tracing.waiting_count == 0)
		return -1;
	if (!tracing.batch && tracing.waiting_count < SPANS_AT_ONCE && now_us < tracing.gathered_at_us)
		return tracing.gathered_at_us - now_us;
	if (tracing.again_us > 0 && now_us < tracing.again_at_us)
		return tracing.again_at_us - now_us;
	if (!tracing.batch)
		make_batch();
	post();
	return -1;
}

/* --- in the loop --- */

static int64_t lesser(int64_t a_us, int64_t b_us)
{
	return a_us < 0 || (b_us >= 0 && b_us < a_us) ? b_us : a_us;
}

static int64_t before_wait(void *context)
{
	bool more = hear();
	int64_t send_us = send_what_is_due();

	(void)context;
	if (tracing.call)
		http_client_work(tracing.client); /* it has just begun, or one of its times is up */
	return more ? 0 : lesser(send_us, http_client_wait_us(tracing.client));
}

static void work(void *context)
{
	(void)context;
	http_client_work(tracing.client);
}

static void heard(void *context)
{
	(void)context; /* before_wait hears */
}

void tracing_start(struct loop *loop, const struct config *config, const struct clock *clock)
{
	const char *collector = config_get(config, "trace", NULL, "collector");
	struct http_settings http = http_settings_of(config, clock);
	size_t len = collector ? strlen(collector) : 0;

	if (len == 0)
		return;
	while (len > 0 && collector[len - 1] == '/')
		len--;
	snprintf(tracing.url, sizeof(tracing.url), "%.*s/v1/traces", (int)len, collector);
	tracing.clock = clock;
	tracing.share = span_share_of(config_real(config, "trace", NULL, "sample"));
	http.failures = 0; /* the pauses are those of try_again */
	http.pause_us = 0;
	if (tap_open(config, "monitor", false, NULL, &tracing.tap) < 0)
		die("what the broker commits cannot be listened to: [paths] run is too long for a socket's name, or "
		    "[connect] broker no address");
	tracing.client = http_client_new(&http);
	tracing.times = memory_new(TIMES_KNOWN * sizeof(*tracing.times));
	tracing.waiting = json_object();
	if (!tracing.waiting)
		die("no memory for traces");
	loop_watch(loop, tap_fd(tracing.tap), false, heard, NULL);
	loop_watch(loop, http_client_fd(tracing.client), false, work, NULL);
	loop_before_wait(loop, before_wait, NULL);
}

void tracing_stop(void)
{
	http_client_free(tracing.client);
	http_request_clear(&tracing.request);
	end_batch();
	json_decref(tracing.waiting);
	free(tracing.times);
	tap_close(tracing.tap);
	tracing = (struct tracing){ 0 };
}
