/*
 * rights.c: the topics that a timer may fire, and the services that may set such a timer, from the tables of
 * all systems; the alarm about timers that were ignored because their setter had no right to them
 */
#include "services/platform/timer/rights.h"
#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include "bus/base/text.h"
#include "services/kit/time/timer_setter.h"
#include "services/platform/timer/timer.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct topic *rights_topic(const char *name)
{
	const struct topic *found = NULL;

	for (const struct topic *const *const *table = registered_timers; !found && *table; table++)
		found = topic_named(*table, name);
	return found;
}

bool rights_is_timer(const char *service)
{
	return strcmp(service, timer.name) == 0;
}

bool rights_allow(const char *service, const char *topic)
{
	if (rights_is_timer(service))
		return rights_topic(topic) != NULL;
	for (const struct timer_setter *const *table = registered_timer_setters; *table; table++)
		for (const struct timer_setter *row = *table; row->service; row++)
			if (strcmp(row->service, service) == 0 && strcmp(row->fires->name, topic) == 0)
				return true;
	return false;
}

/*
 * Messages about timers that were ignored, because the service that sent them had no right to such timers
 *
 * Owns:      the tables refused (one row, until an alarm has told of it: the number of the last such message,
 *            how many there are, and words about the last one) and refused.told (when the last alarm was
 *            published).
 * Promises:  each refusal is told by an alarm, at once or within the hour; a flood of refusals is one row and
 *            one alarm an hour. The row stays until the alarm is in the log, so a timer process that dies in
 *            between tells of it later.
 */

STATE_STRINGS(refused, "refused");
STATE_NUMBERS(refused_told, "refused.told");

static const char ALL_SHOPS[] = "all", KIND[] = "timer-refused";
static const int64_t TOLD_EVERY_US = US_PER_HOUR;
enum { WORDS_AT = 16 }; /* the words of a row follow two numbers */

struct refusals {
	uint64_t last_seq, count;
	char words[280];
};

static bool read_refusals(const struct state *state, struct refusals *ret)
{
	_cleanup_(buffer_free) struct buffer row = { 0 };

	*ret = (struct refusals){ 0 };
	if (!STATE_GET_STRING(state, refused, ALL_SHOPS, "", &row) || row.len < WORDS_AT)
		return false;
	ret->last_seq = get_be64(row.data);
	ret->count = get_be64(row.data + sizeof(uint64_t));
	TEXT_COPY(ret->words, buffer_text(&row) + WORDS_AT);
	return true;
}

void refusals_note(struct state *state, const struct message_meta *said, const char *topic)
{
	struct refusals refusals;
	uint8_t row[WORDS_AT + sizeof(refusals.words)];
	size_t len;

	read_refusals(state, &refusals);
	snprintf(refusals.words, sizeof(refusals.words),
		"message %" PRIu64 ", a %s of the service %s for shop %s, is about a timer that fires %s", said->seq,
		said->topic, said->said_by, said->shop, topic);
	text_make_plain(refusals.words);
	text_hide_addresses(refusals.words);
	len = strlen(refusals.words);
	put_be64(row, said->seq);
	put_be64(row + sizeof(uint64_t), refusals.count + 1);
	memcpy(row + WORDS_AT, refusals.words, len);
	STATE_PUT_STRING(state, refused, ALL_SHOPS, "", BYTES(row, WORDS_AT + len));
}

int64_t refusals_due_us(const struct state *state)
{
	uint64_t told_us;

	if (!STATE_HAS(state, refused, ALL_SHOPS, ""))
		return INT64_MAX;
	told_us = STATE_NUMBER(state, refused_told, ALL_SHOPS, "");
	return told_us > 0 ? (int64_t)told_us + TOLD_EVERY_US : 0;
}

void refusals_say(const struct state *state, struct turn *turn)
{
	Alarm alarm = { .raised = true, .at_us = turn_now_us(turn) };
	struct refusals refusals;

	if (!read_refusals(state, &refusals))
		return;
	TEXT_COPY(alarm.kind, KIND);
	snprintf(alarm.text, sizeof(alarm.text),
		"the timer ignored %" PRIu64 " messages of services that have no right to such timers; the last: %s",
		refusals.count, refusals.words);
	TEXT_COPY(alarm.remedy,
		"if that service is yours, install one release on all hosts; else somebody uses its identity: give it "
		"a new key");
	SAY(turn, alarm, &alarm, .shop = SHOP_OF_ALL, .key = KIND, .cause = refusals.last_seq);
}

/* A refusal that came while the alarm was on its way keeps the row. */
void refusals_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	struct refusals refusals;

	if (strcmp(alarm->kind, KIND) != 0 || !alarm->raised || !rights_is_timer(said->said_by))
		return;
	STATE_PUT_NUMBER(state, refused_told, ALL_SHOPS, "", (uint64_t)said->time_us);
	if (read_refusals(state, &refusals) && refusals.last_seq <= said->cause)
		STATE_DELETE(state, refused, ALL_SHOPS, "");
}
