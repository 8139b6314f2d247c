/*
 * trace_log.c: logs what this process does about a subject, as lines in the journal that can be found by the
 * subject's id
 *
 * Owns:      the lines about messages that are said and not confirmed yet; the limit on lines.
 * Promises:  a message is logged when it is in the log, with its number, and never when it is not; a turn
 *            that is lost and decided anew is logged once. Addresses are removed from a reason.
 * Fails by:  leaving lines out, and saying how many: a flood of messages makes neither a flood of lines nor
 *            load. The log has them all.
 * Read next: topic.h (what is logged of which topic), requests.c
 */
#include "bus/actor/runtime/runtime_inside.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/codec.h"
#include "bus/wire/message.h"
#include <stdlib.h>

/*
 * Enough for a small shop's whole day in one burst; for a large shop's flood less than the journal's own
 * limit, and 1 % of a core.
 */
enum { SAID_BURST = 400, FAILURES_BURST = 100, NAME_ROOM = 80 };
static const int64_t SAID_EVERY_US = 50 * US_PER_MS, FAILURE_EVERY_US = 100 * US_PER_MS;

struct log_row {
	const char *event;
	uint32_t index; /* of the message within its unit */
	char topic[32], shop[64], subject[NAME_ROOM], word[NAME_ROOM], trace[56];
};

static const struct topic_log_row *log_row_of(const struct topic *topic)
{
	for (const struct topic_log_row *log_row = topic->log_rows; log_row && log_row->topic; log_row++)
		if (log_row->topic == topic)
			return log_row;
	return NULL;
}

static void take_string(const void *message, size_t offset, char to[NAME_ROOM])
{
	if (offset != TOPIC_NOWHERE)
		text_copy(to, NAME_ROOM, (const char *)message + offset);
}

/* Reads the names in the message itself. */
static void read_names(
	const struct topic *topic, const struct topic_log_row *row, struct bytes payload, struct log_row *ret)
{
	_cleanup_free_ void *message = memory_resize(NULL, topic->size);

	if (!topic_read(topic, payload, message))
		return;
	take_string(message, row->subject, ret->subject);
	take_string(message, row->word, ret->word);
	text_hide_addresses(ret->word);
}

static struct log_about about(const struct log_row *log_row, uint64_t seq)
{
	return (struct log_about){ .event = log_row->event,
		.shop = log_row->shop,
		.subject = log_row->subject,
		.topic = log_row->topic,
		.trace = log_row->trace,
		.seq = seq };
}

/* --- messages said --- */

static void note(struct runtime *runtime, struct buffer *trace_log, struct bytes message, uint32_t index)
{
	struct log_row log_row = { .index = index };
	const struct topic_log_row *row = NULL;
	const struct topic *topic;
	Envelope envelope;
	struct bytes payload;

	if (!rate_limit_take(&runtime->trace.of_said, boot_us(runtime), SAID_EVERY_US, SAID_BURST))
		return; /* before anything is read: a flood costs nothing */
	topic = message_read(message, &envelope, &payload) == 0 ? service_says_topic(runtime->service, envelope.topic)
								: NULL;
	row = topic ? log_row_of(topic) : NULL;
	if (!row || !row->event) {
		rate_limit_give_back(&runtime->trace.of_said, SAID_EVERY_US);
		return;
	}
	log_row.event = row->event;
	TEXT_COPY(log_row.topic, envelope.topic);
	TEXT_COPY(log_row.shop, envelope.shop);
	TEXT_COPY(log_row.trace, envelope.trace);
	read_names(topic, row, payload, &log_row);
	buffer_add(trace_log, &log_row, sizeof(log_row));
}

void trace_log_note(struct runtime *runtime, struct publish_request *request, struct bytes message, uint32_t index)
{
	if (runtime->trace.tell)
		note(runtime, &request->trace_log, message, index);
}

static void tell_left_out(struct runtime *runtime, struct rate_limit *rate_limit, const char *what)
{
	char words[160];

	if (rate_limit->left_out == 0)
		return;
	snprintf(words, sizeof(words),
		"too much at once: of %llu %s nothing is told here; the log has all: cartbus why",
		(unsigned long long)rate_limit->left_out, what);
	rate_limit->left_out = 0;
	runtime->trace.tell(LOG_NOTICE, &(struct log_about){ 0 }, words);
}

static void tell_said(struct runtime *runtime, const struct log_row *log_row, const Confirm *confirm)
{
	uint64_t seq = confirm->seq > 0 ? confirm->seq + log_row->index : 0;
	struct log_about what = about(log_row, seq);
	bool before = confirm->kind == CONFIRM_DUPLICATE;
	char words[320];

	if (before)
		what.event = event_said_before;
	snprintf(words, sizeof(words), "said %s shop=%s seq=%llu%s%s%s", log_row->topic, log_row->shop,
		(unsigned long long)seq, before ? " before" : "", log_row->word[0] ? ": " : "", log_row->word);
	runtime->trace.tell(LOG_INFO, &what, words);
}

void trace_log_tell(struct runtime *runtime, const struct publish_request *request, const Confirm *confirm)
{
	struct log_row log_row;

	if (!runtime->trace.tell || confirm->kind == CONFIRM_REFUSED || request->trace_log.len == 0)
		return;
	tell_left_out(runtime, &runtime->trace.of_said, "messages that were said");
	for (size_t at = 0; at + sizeof(log_row) <= request->trace_log.len; at += sizeof(log_row)) {
		memcpy(&log_row, request->trace_log.data + at, sizeof(log_row));
		tell_said(runtime, &log_row, confirm);
	}
}

/* --- failures --- */

static const struct topic *heard_topic(const struct runtime *runtime, const char *name)
{
	const struct hears *row = table_hears(runtime->table, name);

	return row ? row->topic : NULL;
}

static void tell_failed(struct runtime *runtime, const struct turn *turn, bool gives_up)
{
	const struct topic *topic = heard_topic(runtime, turn->message.topic);
	const struct topic_log_row *row = topic ? log_row_of(topic) : NULL;
	struct log_row log_row = { .event = event_decision_failed };
	struct log_about what;
	char words[480], reason[TURN_REASON_MAX];

	TEXT_COPY(log_row.topic, turn->message.topic);
	TEXT_COPY(log_row.shop, turn->message.shop);
	TEXT_COPY(log_row.trace, turn->message.trace);
	TEXT_COPY(reason, turn->reason);
	text_hide_addresses(reason);
	if (row)
		read_names(topic, row, turn->payload, &log_row);
	what = about(&log_row, turn->message.seq);
	snprintf(words, sizeof(words), "failed at %s shop=%s seq=%llu, try %lu, %s: %s", log_row.topic, log_row.shop,
		(unsigned long long)what.seq, (unsigned long)turn->failures + 1,
		gives_up ? "gave up" : "will try again", reason);
	runtime->trace.tell(gives_up ? LOG_ERROR : LOG_WARNING, &what, words);
}

void trace_log_failed(struct runtime *runtime, const struct turn *turn, enum verdict verdict)
{
	bool gives_up = verdict == TURN_DEAD_LETTER;

	if (!runtime->trace.tell || !(gives_up || (verdict == TURN_RETRY && turn->failed)) ||
		!rate_limit_take(&runtime->trace.of_failures, boot_us(runtime), FAILURE_EVERY_US, FAILURES_BURST))
		return;
	tell_left_out(runtime, &runtime->trace.of_failures, "failures");
	tell_failed(runtime, turn, gives_up);
}
