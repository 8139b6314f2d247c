/*
 * span.h: a message of the log as a span of its trace, as OTLP writes it in JSON
 *
 * https://opentelemetry.io/docs/specs/otlp and the messaging conventions. Nothing is measured for it: the log knows which message was
 * decided on, by whom what was said upon it, and when both were committed. A span's id is made of its trace and its message's number, so
 * it is the same each time that it is derived.
 */
#ifndef PLATFORM_MONITOR_SPAN_H
#define PLATFORM_MONITOR_SPAN_H

#include "bus/actor/turn.h"
#include "bus/base/bytes.h"
#include <jansson.h>

/* What part of all traces goes: decided by the trace's id alone, so that a trace goes as a whole or not at all. */
struct span_share {
	uint64_t below; /* of the last 56 bits of the id, which are random (Trace Context level 2) */
};
struct span_share span_share_of(double ratio); /* 0 to 1 */
/* Not: without a trace, of one that its beginner does not record (its flag "sampled"), or not of the share. */
bool span_is_wanted(const struct message_meta *said, struct span_share share);

/*
 * `began_us`: log time of the message it was decided on; 0: unknown, or there was none. The payload may be masked: only what the table of
 * topics says is harmless is taken (CART_SHOWN, CART_LOG_ROWS).
 */
json_t *span_of(const struct message_meta *said, struct bytes payload, int64_t began_us);
/* What is sent: spans by who said them, { "intake": [span, ...], ... }. */
json_t *spans_request(const json_t *by_sayer);

#endif
