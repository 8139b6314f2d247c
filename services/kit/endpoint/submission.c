/*
 * submission.c: one request to an endpoint: its messages, its body as a file, its answer; the counters
 *
 * Read next: services/platform/gateway/dispatch.c (makes it, publishes its messages, has it answered)
 */
#include "services/kit/endpoint/submission.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_events.h"
#include "services/kit/endpoint/endpoint.h"
#include "services/kit/endpoint/traceparent.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the counters: told to the broker for the monitor, and logged --- */

enum { OF_OTHERS = 2 + 6 }; /* further counters: 2 of the gateway's http.c, 6 of blob_uses_tell() */
static_assert(
	sizeof(struct counters) / sizeof(uint64_t) + OF_OTHERS <= METRICS_BESIDE, "the heartbeat has room for no more");

void counters_tell(struct metrics_sink *told, void *counters)
{
	const struct counters *from = counters;

#define TELL_COUNTER(name) metrics_add(told, #name, from->name);
	GATEWAY_COUNTERS(TELL_COUNTER)
#undef TELL_COUNTER
}

void counters_log(const struct counters *counters, struct counters *logged)
{
	_cleanup_(buffer_free) struct buffer line = { 0 };

	if (memcmp(counters, logged, sizeof(*counters)) == 0)
		return;
	*logged = *counters;
#define LOG_COUNTER(name) buffer_printf(&line, " " #name "=%" PRIu64, counters->name);
	GATEWAY_COUNTERS(LOG_COUNTER)
#undef LOG_COUNTER
	log_event(LOG_INFO, "since the start%s", buffer_text(&line));
}

/*
 * The body of a submission as a file
 *
 * Promises:  a message names a body only when the body is durable. A body that no message names is removed.
 * Fails by:  507 if there is no room, else 503, and a line in the log.
 */

struct kept_body {
	char name[BLOB_NAME_SIZE], owner[BLOB_OWNER_MAX + 1];
	bool is_new; /* the reference was not there before */
};

/* What was written goes at once: its room is needed, and the client may stay for a while. */
static bool refuse(struct submission *submission, int error)
{
	bool is_full = error == -ENOSPC || error == -EDQUOT;
	struct endpoint_context *context = submission->context;

	blob_abandon(submission->body);
	submission->body = NULL;
	context->counters->refused++;
	blob_uses_refuse(context->blobs);
	submission_warn(submission, &context->of_bodies, submission->names[0],
		is_full ? "there is no room on the disk for its body" : "its body cannot be written to the disk");
	buffer_clear(&submission->answer->body);
	answer_json_error(submission->answer, is_full ? 507 : 503,
		is_full ? "there is no room for this body now" : "this body cannot be kept now");
	return false;
}

static int begin_body(struct submission *submission)
{
	return blob_uses_begin(
		submission->context->blobs, submission->endpoint->file->use, submission->names[0], &submission->body);
}

bool body_add(struct submission *submission, struct bytes piece)
{
	int r = submission->body ? 0 : begin_body(submission);

	if (r == 0)
		r = blob_add(submission->body, piece);
	return r == 0 || refuse(submission, r);
}

ssize_t body_look(const struct submission *submission, uint64_t from, void *to, size_t size)
{
	assert(!submission->kept_body);
	return submission->body ? blob_look_back(submission->body, from, to, size) : 0;
}

bool body_keep(struct submission *submission, const char *idem, char ret_name[BLOB_NAME_SIZE])
{
	const struct endpoint_file *file = submission->endpoint->file;
	struct kept_body *kept = memory_new(sizeof(*kept));
	int r = blob_owner_text(file->topic->name, idem, kept->owner);

	assert(!submission->kept_body);
	if (r == 0 && !submission->body) /* an empty body */
		r = begin_body(submission);
	if (r == 0)
		r = blob_uses_commit(submission->context->blobs, file->use, submission->names[0], &submission->body,
			kept->owner, kept->name, &kept->is_new);
	if (r < 0) {
		free(kept);
		return refuse(submission, r);
	}
	memcpy(ret_name, kept->name, sizeof(kept->name));
	submission->kept_body = kept;
	return true;
}

/* Ends the body: drops an unfinished file, and releases a new one if the submission published nothing. */
static void body_end(struct submission *submission)
{
	const struct kept_body *kept = submission->kept_body;
	int r = 0;

	blob_abandon(submission->body);
	submission->body = NULL;
	if (kept && kept->is_new && !submission->published)
		r = blob_uses_release(submission->context->blobs, submission->endpoint->file->use, submission->names[0],
			kept->name, kept->owner);
	if (r < 0)
		log_event(LOG_WARNING, "a body that nobody named stays: %s", strerror(-r));
	free(submission->kept_body);
	submission->kept_body = NULL;
}

/* --- the submission --- */

void submission_clear(struct submission *submission)
{
	body_end(submission);
	for (int i = 0; i < submission->message_count; i++)
		buffer_free(&submission->messages[i]);
	free(submission->messages);
	free(submission->kept);
	submission->messages = NULL;
	submission->message_count = 0;
	submission->kept = NULL;
}

int submission_publish(struct submission *submission, const struct topic *topic, const struct publish_options *how,
	const char *trace, const void *message)
{
	size_t count = (size_t)submission->message_count;
	char new_trace[TRACEPARENT_ROOM];
	struct buffer encoded = { 0 };
	int r;

	if (!trace)
		traceparent_new(new_trace);
	r = message_encode(
		topic, how, trace ? trace : new_trace, clock_wall_us(submission->context->clock), message, &encoded);
	if (r < 0) {
		buffer_free(&encoded);
		return r;
	}
	submission->messages = memory_resize(submission->messages, (count + 1) * sizeof(*submission->messages));
	submission->messages[count] = encoded;
	submission->message_count++;
	return 0;
}

void *submission_keep(struct submission *submission, size_t size)
{
	assert(!submission->kept);
	submission->kept = memory_new(size);
	return submission->kept;
}

void submission_answer_json(struct submission *submission, const char *warning)
{
	struct answer *answer = submission->answer;
	char more[300] = "";

	buffer_clear(&answer->body);
	if (warning)
		snprintf(more, sizeof(more), ",\"warning\":\"%s\"", warning);
	answer->status = 200;
	answer->content_type = "application/json";
	switch (submission->end) {
	case SUBMISSION_ACCEPTED:
		buffer_printf(&answer->body, "{\"accepted\":%" PRIu64 "%s}\n", submission->seq, more);
		break;
	case SUBMISSION_DUPLICATE:
		buffer_printf(&answer->body, "{\"duplicate_of\":%" PRIu64 "%s}\n", submission->seq, more);
		break;
	case SUBMISSION_SPOOLED:
		buffer_printf(&answer->body, "{\"spooled\":true%s}\n", more);
		break;
	case SUBMISSION_REFUSED:
		submission->context->counters->refused++;
		answer_json_error(answer, 503, submission->why);
		break;
	}
}

/* Logs at most one warning of each kind a second, because strangers can cause any number. */
void submission_warn(
	const struct submission *submission, struct warnings *warnings, const char *shop, const char *words)
{
	int64_t now_us = clock_boot_us(submission->context->clock);

	if (warnings->last_us && now_us < warnings->last_us + US_PER_S) {
		warnings->swallowed++;
		return;
	}
	log_event_about(LOG_WARNING, &(struct log_about){ .event = event_webhook_refused, .shop = shop },
		"refused shop=%s: %s (and %llu more since the last such line)", shop, words,
		(unsigned long long)warnings->swallowed);
	warnings->last_us = now_us;
	warnings->swallowed = 0;
}
