/*
 * trace_log.c: what this process does about a subject, as lines in the journal that can be found by that subject's id
 *
 * Owns:      the lines about what was said and is not confirmed yet; how many lines there may be.
 * Promises:  what was said is told when it is in the log, with its number, and never when it is not; a turn that is lost and decided
 *            anew is told once. A reason is told without what looks like an address in it.
 * Fails by:  leaving lines out, and saying how many: a flood of messages is no flood of lines, nor a load. The log has them all.
 * Read next: topic.h (what is told of which topic), requests.c
 */
#include "bus/actor/runtime/runtime_inside.h"
#include "bus/base/cleanup.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "bus/wire/codec.h"
#include "bus/wire/message.h"
#include <stdlib.h>

/* A small shop's whole day in one burst; of a large one's flood less than the journal's own limit, and 1 % of a core. */
enum { SAID_BURST = 400, FAILURES_BURST = 100, NAME_ROOM = 80 };
static const int64_t SAID_EVERY_US = 50 * US_PER_MS, FAILURE_EVERY_US = 100 * US_PER_MS;

struct told {
	const char *event;
	uint32_t index; /* of the message within its unit */
	char topic[32], shop[64], subject[NAME_ROOM], word[NAME_ROOM], trace[56];
};

static const struct topic_told *told_of(const struct topic *topic)
{
	for (const struct topic_told *told = topic->told; told && told->topic; told++)
		if (told->topic == topic)
			return told;
	return NULL;
}

static void take_string(const void *message, size_t offset, char to[NAME_ROOM])
{
	if (offset != TOPIC_NOWHERE)
		text_copy(to, NAME_ROOM, (const char *)message + offset);
}

/* What the message itself names. */
static void read_names(const struct topic *topic, const struct topic_told *row, struct bytes payload, struct told *ret)
{
	_cleanup_free_ void *message = memory_resize(NULL, topic->size);

	if (!topic_read(topic, payload, message))
		return;
	take_string(message, row->subject, ret->subject);
	take_string(message, row->word, ret->word);
	text_hide_addresses(ret->word);
}

static struct log_about about(const struct told *told, uint64_t seq)
{
	return (struct log_about){ .event = told->event,
		.shop = told->shop,
		.subject = told->subject,
		.topic = told->topic,
		.trace = told->trace,
		.seq = seq };
}

/* --- what was said --- */

static void note(struct runtime *runtime, struct buffer *story, struct bytes message, uint32_t index)
{
	struct told told = { .index = index };
	const struct topic_told *row = NULL;
	const struct topic *topic;
	Envelope envelope;
	struct bytes payload;

	if (!rate_limit_take(&runtime->trace.of_said, boot_us(runtime), SAID_EVERY_US, SAID_BURST))
		return; /* before anything is read: a flood costs nothing */
	topic = message_read(message, &envelope, &payload) == 0 ? service_says_topic(runtime->service, envelope.topic)
								: NULL;
	row = topic ? told_of(topic) : NULL;
	if (!row || !row->event) {
		rate_limit_give_back(&runtime->trace.of_said, SAID_EVERY_US);
		return;
	}
	told.event = row->event;
	TEXT_COPY(told.topic, envelope.topic);
	TEXT_COPY(told.shop, envelope.shop);
	TEXT_COPY(told.trace, envelope.trace);
	read_names(topic, row, payload, &told);
	buffer_add(story, &told, sizeof(told));
}

void trace_log_note(struct runtime *runtime, struct request *request, struct bytes message, uint32_t index)
{
	if (runtime->trace.tell)
		note(runtime, &request->story, message, index);
}

static void tell_left_out(struct runtime *runtime, struct rate_limit *allowance, const char *what)
{
	char words[160];

	if (allowance->left_out == 0)
		return;
	snprintf(words, sizeof(words),
		"too much at once: of %llu %s nothing is told here; the log has all: cartbus why",
		(unsigned long long)allowance->left_out, what);
	allowance->left_out = 0;
	runtime->trace.tell(LOG_NOTICE, &(struct log_about){ 0 }, words);
}

static void tell_said(struct runtime *runtime, const struct told *told, const Confirm *confirm)
{
	uint64_t seq = confirm->seq > 0 ? confirm->seq + told->index : 0;
	struct log_about what = about(told, seq);
	bool before = confirm->kind == CONFIRM_DUPLICATE;
	char words[320];

	if (before)
		what.event = event_said_before;
	snprintf(words, sizeof(words), "said %s shop=%s seq=%llu%s%s%s", told->topic, told->shop,
		(unsigned long long)seq, before ? " before" : "", told->word[0] ? ": " : "", told->word);
	runtime->trace.tell(LOG_INFO, &what, words);
}

void trace_log_tell(struct runtime *runtime, const struct request *request, const Confirm *confirm)
{
	struct told told;

	if (!runtime->trace.tell || confirm->kind == CONFIRM_REFUSED || request->story.len == 0)
		return;
	tell_left_out(runtime, &runtime->trace.of_said, "messages that were said");
	for (size_t at = 0; at + sizeof(told) <= request->story.len; at += sizeof(told)) {
		memcpy(&told, request->story.data + at, sizeof(told));
		tell_said(runtime, &told, confirm);
	}
}

/* --- what failed --- */

static const struct topic *heard_topic(const struct runtime *runtime, const char *name)
{
	const struct hears *row = table_hears(runtime->table, name);

	return row ? row->topic : NULL;
}

static void tell_failed(struct runtime *runtime, const struct turn *turn, bool gives_up)
{
	const struct topic *topic = heard_topic(runtime, turn->message.topic);
	const struct topic_told *row = topic ? told_of(topic) : NULL;
	struct told told = { .event = event_decision_failed };
	struct log_about what;
	char words[480], reason[TURN_REASON_MAX];

	TEXT_COPY(told.topic, turn->message.topic);
	TEXT_COPY(told.shop, turn->message.shop);
	TEXT_COPY(told.trace, turn->message.trace);
	TEXT_COPY(reason, turn->reason);
	text_hide_addresses(reason);
	if (row)
		read_names(topic, row, turn->payload, &told);
	what = about(&told, turn->message.seq);
	snprintf(words, sizeof(words), "failed at %s shop=%s seq=%llu, try %lu, %s: %s", told.topic, told.shop,
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
