/*
 * span.c: a message of the log as a span of its trace
 *
 * Promises:  the same message always gives the same span. Of a payload's strings a span has only the cart's
 *            id and the one word that the table of topics names, and neither if it has an @.
 * Read next: tracing.c
 */
#include "services/platform/monitor/span.h"
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/cart_topics.h"
#include "proto/topics.h"
#include <inttypes.h>
#include <stdio.h>

enum {
	TRACE_AT = 3,
	TRACE_LEN = 32,
	PARENT_AT = 36,
	PARENT_LEN = 16,
	FLAGS_AT = 53,
	TRACEPARENT_LEN = 55,
	RANDOM_LEN = 14
};
enum { KIND_PRODUCER = 4, KIND_CONSUMER = 5 };              /* of OTLP's SpanKind */
enum { STATUS_UNSET = 0, STATUS_OK = 1, STATUS_ERROR = 2 }; /* of its StatusCode */
enum { SAMPLED = 1 };

/* --- which --- */

struct span_share span_share_of(double ratio)
{
	return (struct span_share){ .below = (uint64_t)(ratio * (double)(UINT64_C(1) << 56)) };
}

bool span_is_wanted(const struct message_meta *said, struct span_share share)
{
	const char *trace = said->trace;
	unsigned flags;
	uint64_t random;

	if (strlen(trace) != TRACEPARENT_LEN || sscanf(trace + FLAGS_AT, "%2x", &flags) != 1 || !(flags & SAMPLED))
		return false;
	return sscanf(trace + TRACE_AT + TRACE_LEN - RANDOM_LEN, "%14" SCNx64, &random) == 1 && random < share.below;
}

/* --- ids --- */

static void id_of(const char *trace, uint64_t seq, char ret[PARENT_LEN + 1])
{
	uint8_t named[TRACE_LEN + 8];

	memcpy(named, trace + TRACE_AT, TRACE_LEN);
	put_be64(named + TRACE_LEN, seq);
	snprintf(ret, PARENT_LEN + 1, "%016" PRIx64, text_hash(BYTES(named, sizeof(named))) | 1); /* never zero */
}

/*
 * Without a cause the parent is the storefront's own span, if there is one: a trace that began here has none
 * (kit/endpoint/traceparent.h).
 */
static void parent_of(const struct message_meta *said, char ret[PARENT_LEN + 1])
{
	ret[0] = '\0';
	if (said->cause > 0)
		id_of(said->trace, said->cause, ret);
	else if (strncmp(said->trace + PARENT_AT, said->trace + TRACE_AT, PARENT_LEN) != 0)
		snprintf(ret, PARENT_LEN + 1, "%s", said->trace + PARENT_AT);
}

/* --- attributes --- */

static void add(json_t *attributes, const char *key, const char *value)
{
	if (value && *value)
		json_array_append_new(
			attributes, json_pack("{s:s,s:{s:s*}}", "key", key, "value", "stringValue", value));
}

static void add_number(json_t *attributes, const char *key, uint64_t value)
{
	char number[24]; /* OTLP writes 64 bits as text */

	snprintf(number, sizeof(number), "%" PRIu64, value);
	json_array_append_new(attributes, json_pack("{s:s,s:{s:s}}", "key", key, "value", "intValue", number));
}

struct told {
	char cart[80], word[80];
	int64_t due_us;
	uint32_t step;
};

static void take(const void *message, size_t offset, char to[80])
{
	if (offset != TOPIC_NOWHERE)
		text_copy(to, 80, (const char *)message + offset);
	if (strchr(to, '@') || strstr(to, "%40") || !text_is_utf8(bytes_of(to)))
		to[0] = '\0';
}

static void read_message(const struct message_meta *said, struct bytes payload, struct told *ret)
{
	const struct topic *topic = topic_registered(said->topic);
	_cleanup_free_ void *message = topic ? memory_resize(NULL, topic->size) : NULL;

	if (!message || !topic_read(topic, payload, message))
		return;
	for (const struct topic_log_row *row = topic->log_rows; row && row->topic; row++) {
		if (row->topic != topic)
			continue;
		take(message, row->subject, ret->cart);
		take(message, row->word, ret->word);
	}
	if (topic->message == &ReminderOutcome_msg)
		ret->step = ((const ReminderOutcome *)message)->step;
	if (topic == &topic_cart_wake)
		ret->due_us = ((const CartWake *)message)->due_us;
}

static json_t *attributes_of(const struct message_meta *said, const struct told *told)
{
	json_t *attributes = json_array();
	char seq[24];

	add(attributes, "messaging.system", "cartbus");
	add(attributes, "messaging.destination.name", said->topic);
	add(attributes, "messaging.operation.name", said->cause > 0 ? "process" : "publish");
	add(attributes, "messaging.operation.type", said->cause > 0 ? "process" : "send");
	snprintf(seq, sizeof(seq), "%" PRIu64, said->seq);
	add(attributes, "messaging.message.id", seq);
	add(attributes, "cartbus.shop", said->shop);
	add(attributes, "cartbus.cart", told->cart);
	add(attributes, "cartbus.what", told->word);
	if (told->step > 0)
		add_number(attributes, "cartbus.step", told->step);
	return attributes;
}

static json_t *status_of(const char *topic)
{
	static const struct {
		const char *topic;
		int code;
	} ends[] = { { "reminder.sent", STATUS_OK }, { "reminder.refused", STATUS_ERROR },
		{ "reminder.ambiguous", STATUS_ERROR }, { "dead.letter", STATUS_ERROR } };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(ends[i].topic, topic) == 0)
			return ends[i].code == STATUS_ERROR
				? json_pack("{s:i,s:s}", "code", ends[i].code, "message", topic)
				: json_pack("{s:i}", "code", ends[i].code);
	return json_pack("{s:i}", "code", STATUS_UNSET);
}

/* --- the span --- */

static void add_time(json_t *span, const char *name, int64_t us)
{
	char nanoseconds[32];

	snprintf(nanoseconds, sizeof(nanoseconds), "%" PRId64 "000", us > 0 ? us : 1);
	json_object_set_new(span, name, json_string(nanoseconds));
}

json_t *span_of(const struct message_meta *said, struct bytes payload, int64_t began_us)
{
	char id[PARENT_LEN + 1], parent[PARENT_LEN + 1];
	struct told told = { 0 };
	json_t *span = json_object();
	int64_t start_us;

	id_of(said->trace, said->seq, id);
	parent_of(said, parent);
	read_message(said, payload, &told);
	start_us = told.due_us > 0 ? told.due_us : began_us; /* a timer could not begin before it was due */
	json_object_set_new(span, "traceId", json_stringn(said->trace + TRACE_AT, TRACE_LEN));
	json_object_set_new(span, "spanId", json_string(id));
	if (*parent)
		json_object_set_new(span, "parentSpanId", json_string(parent));
	json_object_set_new(span, "name", json_sprintf("%s %s", said->cause > 0 ? "process" : "publish", said->topic));
	json_object_set_new(span, "kind", json_integer(said->cause > 0 ? KIND_CONSUMER : KIND_PRODUCER));
	add_time(span, "startTimeUnixNano", start_us > 0 && start_us < said->time_us ? start_us : said->time_us);
	add_time(span, "endTimeUnixNano", said->time_us);
	json_object_set_new(span, "attributes", attributes_of(said, &told));
	json_object_set_new(span, "status", status_of(said->topic));
	return span;
}

static json_t *resource_of(const char *sayer)
{
	json_t *attributes = json_array();
	char service[48];

	snprintf(service, sizeof(service), "cartbus-%.*s", (int)strcspn(sayer, "-"), sayer);
	add(attributes, "service.name", service);
	add(attributes, "service.namespace", "cartbus");
	add(attributes, "service.instance.id", sayer);
	add(attributes, "service.version", CARTBUS_VERSION);
	return json_pack("{s:o}", "attributes", attributes);
}

json_t *spans_request(const json_t *by_sayer)
{
	json_t *resources = json_array(), *spans;
	const char *sayer;

	json_object_foreach((json_t *)by_sayer, sayer, spans) json_array_append_new(resources,
		json_pack("{s:o,s:[{s:{s:s,s:s},s:O}]}", "resource", resource_of(sayer), "scopeSpans", "scope", "name",
			"cartbus", "version", CARTBUS_VERSION, "spans", spans));
	return json_pack("{s:o}", "resourceSpans", resources);
}
