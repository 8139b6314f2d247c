/*
 * episodes.c: an alarm is raised and ends; messages in between are no news
 *
 * Owns:      the tables alarm (shop, kind -> raised), alarm.words (shop, kind -> the alarm that stands, as it was said last) and
 *            alarm.handed_on (shop, kind -> what the admin was last to be told).
 * Promises:  pure; one that ends before anybody heard of it is told as raised and over.
 * Read next: tell.c
 */
#include "services/platform/monitor/episodes.h"
#include "bus/base/text.h"
#include <string.h>

static bool is_test(const Alarm *alarm)
{
	return strcmp(alarm->kind, ALARM_TEST) == 0;
}

void episodes_remember(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (is_test(alarm))
		return;
	state_put_number(state, "alarm", said->shop, alarm->kind, alarm->raised);
	if (alarm->raised)
		state_put(state, "alarm.words", said->shop, alarm->kind, &Alarm_msg, alarm);
	else
		state_delete(state, "alarm.words", said->shop, alarm->kind);
}

void episodes_remember_due(struct state *state, const struct message_meta *said, const AlarmDue *due)
{
	if (!is_test(&due->alarm))
		state_put_number(state, "alarm.handed_on", said->shop, due->alarm.kind, due->alarm.raised);
}

bool episodes_raised(const struct state *state, const char *shop, const char *kind)
{
	return state_number(state, "alarm", shop, kind) != 0;
}

bool episodes_standing(const struct state *state, const char *shop, const char *kind, Alarm *ret)
{
	return state_get(state, "alarm.words", shop, kind, &Alarm_msg, ret);
}

void episodes_bring_up_to_date(const struct state *state, const char *shop, Alarm *alarm)
{
	Alarm now;

	if (alarm->raised && !is_test(alarm) && episodes_standing(state, shop, alarm->kind, &now))
		TEXT_COPY(alarm->text, now.text);
}

bool episodes_is_news(const struct state *state, const char *shop, const Alarm *alarm)
{
	if (is_test(alarm))
		return alarm->raised;
	return alarm->raised != (state_number(state, "alarm.handed_on", shop, alarm->kind) != 0);
}

struct kinds {
	int count;
	struct {
		char name[sizeof((Alarm){ 0 }.kind)];
		unsigned shops;
	} kinds[EPISODES_KINDS];
};

static bool add_kind(const char *shop, const char *kind, struct bytes value, void *context)
{
	struct kinds *kinds = context;
	int at = 0;

	(void)shop;
	while (at < kinds->count && strcmp(kinds->kinds[at].name, kind) != 0)
		at++;
	if (at == EPISODES_KINDS)
		return true;
	if (at == kinds->count) {
		kinds->count++;
		TEXT_COPY(kinds->kinds[at].name, kind);
	}
	kinds->kinds[at].shops += value.len == sizeof(uint64_t) && get_be64(value.data) != 0;
	return true;
}

void episodes_each_kind(
	const struct state *state, void (*each)(const char *kind, unsigned shops, void *context), void *context)
{
	struct kinds kinds = { 0 };

	state_each(state, "alarm", NULL, NULL, add_kind, &kinds);
	for (int i = 0; i < kinds.count; i++)
		each(kinds.kinds[i].name, kinds.kinds[i].shops, context);
}
