/*
 * submission.c: one request to an endpoint: what it says, and how its end is answered
 *
 * Read next: services/platform/gateway/dispatch.c (who makes it, publishes its messages and has it answered)
 */
#include "services/kit/endpoint/submission.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "proto/platform_events.h"
#include "services/kit/endpoint/body.h"
#include "services/kit/endpoint/traceparent.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

int submission_say(struct submission *submission, const struct topic *topic, const struct publish_options *how,
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

/* At most one a second of each kind: strangers can make any number. */
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
