/*
 * span.h: writes a message of the log as a span of its trace, in OTLP's JSON
 *
 * https://opentelemetry.io/docs/specs/otlp and the messaging conventions. Nothing is measured for it: the log
 * has the message that was decided on, the messages of that decision with their service, and the commit times
 * of both. A span's id is derived from its trace and its message's number, so it is always the same.
 */
#ifndef PLATFORM_MONITOR_SPAN_H
#define PLATFORM_MONITOR_SPAN_H

#include "bus/actor/turn.h"
#include "bus/base/bytes.h"
#include <jansson.h>

/*
 * The share of traces that are sent. It depends only on the trace's id, so a trace is sent as a whole or not
 * at all.
 */
struct span_share {
	uint64_t below; /* limit of the last 56 bits of the id, which are random (Trace Context level 2) */
};
struct span_share span_share_of(double ratio); /* 0 to 1 */
/*
 * false: the message has no trace, the trace is not recorded by its beginner (flag "sampled"), or it is
 * outside the share.
 */
bool span_is_wanted(const struct message_meta *said, struct span_share share);

/*
 * `began_us`: log time of the message it was decided on; 0: unknown, or there was none. The payload may be
 * masked: only fields that the topics declare harmless are used (CART_SHOWN, CART_LOG_ROWS).
 */
json_t *span_of(const struct message_meta *said, struct bytes payload, int64_t began_us);
/* Makes the request from spans by service, { "intake": [span, ...], ... }. */
json_t *spans_request(const json_t *by_sayer);

#endif
