/*
 * alarms.c: folds the log's alarms into those that stand
 *
 * Promises: an alarm that is published again while it stands changes its words, not since when it stands.
 */
#include "services/cartbus/watch/alarms.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/cartbus/core/print.h"
#include <string.h>

static int find(const struct alarms *alarms, const char *shop, const char *kind)
{
	int at = 0;

	while (at < alarms->count &&
		(strcmp(alarms->each[at].shop, shop) != 0 || strcmp(alarms->each[at].alarm.kind, kind) != 0))
		at++;
	return at;
}

static const char *about(const char *shop)
{
	return strcmp(shop, SHOP_OF_ALL) == 0 ? "" : shop;
}

static void fold_alarm(struct alarms *alarms, const struct entry *entry, const Alarm *alarm)
{
	int at = find(alarms, about(entry->shop), alarm->kind);
	struct standing *one = &alarms->each[at];

	if (!alarm->raised || strcmp(alarm->kind, "test") == 0) {
		if (at < alarms->count)
			memmove(one, one + 1, (size_t)(--alarms->count - at) * sizeof(*one));
		return;
	}
	if (at == ALARMS_MAX)
		return;
	if (at == alarms->count) {
		*one = (struct standing){ .seq = entry->seq, .since_us = alarm->at_us };
		TEXT_COPY(one->shop, about(entry->shop));
		alarms->count++;
	}
	one->alarm = *alarm;
}

static void fold_told(struct alarms *alarms, const AlarmTold *told)
{
	int at = find(alarms, about(told->about), told->kind);

	if (at < alarms->count && alarms->each[at].seq == told->alarm_seq && told->raised &&
		alarms->each[at].told_count < TOLD_MAX)
		alarms->each[at].told[alarms->each[at].told_count++] = *told;
}

/* A service repeats what somebody outside said, or was taken over: its words must not move an admin's cursor. */
static void make_plain(Alarm *alarm)
{
	text_make_plain(alarm->kind);
	text_make_plain(alarm->text);
	text_make_plain(alarm->remedy);
	text_make_plain(alarm->acknowledged_by);
}

static void make_answer_plain(AlarmTold *told)
{
	text_make_plain(told->kind);
	text_make_plain(told->way);
	text_make_plain(told->words);
}

void alarms_fold(struct alarms *alarms, const struct entry *entry)
{
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;

	if (message && topic == &topic_alarm) {
		make_plain(message);
		fold_alarm(alarms, entry, message);
	} else if (message && topic == &topic_alarm_told) {
		make_answer_plain(message);
		fold_told(alarms, message);
	}
}

static bool fold_one(const struct entry *entry, void *context)
{
	alarms_fold(context, entry);
	return true;
}

int alarms_read(const struct command *command, struct client *client, struct alarms *ret)
{
	static const char *const topics[] = { "alarm", "alarm.told", NULL };

	*ret = (struct alarms){ 0 };
	return reading_each(
		command, client, &(struct reading_filter){ .topics = topics, .masked = true }, fold_one, ret);
}

json_t *alarm_told_json(const AlarmTold *told)
{
	return json_pack("{s:s,s:b,s:s,s:I}", "way", told->way, "reached", told->reached, "answer", told->words,
		"at_us", (json_int_t)told->at_us);
}

json_t *alarms_json(const struct alarms *alarms)
{
	json_t *list = json_array();

	for (int i = 0; i < alarms->count; i++) {
		const struct standing *one = &alarms->each[i];
		json_t *told = json_array();

		for (int j = 0; j < one->told_count; j++)
			json_array_append_new(told, alarm_told_json(&one->told[j]));
		json_array_append_new(list,
			json_pack("{s:s,s:s,s:s,s:s,s:I,s:s,s:o}", "kind", one->alarm.kind, "shop", one->shop, "text",
				one->alarm.text, "remedy", one->alarm.remedy, "since_us", (json_int_t)one->since_us,
				"acknowledged_by", one->alarm.acknowledged_by, "told", told));
	}
	return list;
}
