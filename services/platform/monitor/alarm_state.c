/*
 * alarm_state.c: an alarm is raised and ends; messages in between are no news
 *
 * Owns:      the tables alarm (shop, kind -> raised), alarm.words (shop, kind -> the alarm that stands, as it was said last) and
 *            alarm.handed_on (shop, kind -> what the admin was last to be told).
 * Promises:  pure; an alarm that ends before the admin heard of it is told as raised and over.
 * Read next: monitor.c
 */
#include "services/platform/monitor/alarm_state.h"
#include "bus/base/text.h"
#include <string.h>

STATE_NUMBERS(alarm_raised, "alarm");
STATE_TABLE(alarm_words, "alarm.words", Alarm);
STATE_NUMBERS(alarm_handed_on, "alarm.handed_on");

static bool is_test(const Alarm *alarm)
{
	return strcmp(alarm->kind, ALARM_TEST) == 0;
}

void alarm_state_remember(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (is_test(alarm))
		return;
	STATE_PUT_NUMBER(state, alarm_raised, said->shop, alarm->kind, alarm->raised);
	if (alarm->raised)
		STATE_PUT(state, alarm_words, said->shop, alarm->kind, alarm);
	else
		STATE_DELETE(state, alarm_words, said->shop, alarm->kind);
}

void alarm_state_remember_due(struct state *state, const struct message_meta *said, const AlarmDue *due)
{
	if (!is_test(&due->alarm))
		STATE_PUT_NUMBER(state, alarm_handed_on, said->shop, due->alarm.kind, due->alarm.raised);
}

bool alarm_state_raised(const struct state *state, const char *shop, const char *kind)
{
	return STATE_NUMBER(state, alarm_raised, shop, kind) != 0;
}

bool alarm_state_standing(const struct state *state, const char *shop, const char *kind, Alarm *ret)
{
	return STATE_GET(state, alarm_words, shop, kind, ret);
}

void alarm_state_bring_up_to_date(const struct state *state, const char *shop, Alarm *alarm)
{
	Alarm now;

	if (alarm->raised && !is_test(alarm) && alarm_state_standing(state, shop, alarm->kind, &now))
		TEXT_COPY(alarm->text, now.text);
}

bool alarm_state_is_news(const struct state *state, const char *shop, const Alarm *alarm)
{
	if (is_test(alarm))
		return alarm->raised;
	return alarm->raised != (STATE_NUMBER(state, alarm_handed_on, shop, alarm->kind) != 0);
}

struct kinds {
	int count;
	struct {
		char name[sizeof((Alarm){ 0 }.kind)];
		unsigned shops;
	} kinds[ALARM_STATE_KINDS];
};

static bool add_kind(const char *shop, const char *kind, uint64_t raised, void *context)
{
	struct kinds *kinds = context;
	int at = 0;

	(void)shop;
	while (at < kinds->count && strcmp(kinds->kinds[at].name, kind) != 0)
		at++;
	if (at == ALARM_STATE_KINDS)
		return true;
	if (at == kinds->count) {
		kinds->count++;
		TEXT_COPY(kinds->kinds[at].name, kind);
	}
	kinds->kinds[at].shops += raised != 0;
	return true;
}

void alarm_state_each_kind(
	const struct state *state, void (*each)(const char *kind, unsigned shops, void *context), void *context)
{
	struct kinds kinds = { 0 };

	STATE_EACH(state, alarm_raised, NULL, NULL, add_kind, &kinds);
	for (int i = 0; i < kinds.count; i++)
		each(kinds.kinds[i].name, kinds.kinds[i].shops, context);
}
