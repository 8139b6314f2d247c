/*
 * alarm.c: raises and ends the alarms about a storefront's API
 *
 * Owns:      the table storefront.alarm (shop, kind -> raised) of the service's state.
 * Promises:  all services that ask the storefront raise one alarm together, and end it once. A storefront
 *            that refuses our key does answer, so this ends the alarm about its silence.
 * Read next: services/carts/sender/asking.c, services/platform/storefront/storefront.c
 */
#include "services/kit/storefront/alarm.h"
#include "bus/base/text.h"
#include <stdio.h>

STATE_NUMBERS(storefront_alarm, "storefront.alarm");

static const char SILENT[] = "storefront", REFUSED[] = "storefront-key";
enum { HTTP_UNAUTHORIZED = 401, HTTP_FORBIDDEN = 403 };

bool storefront_refuses(const struct http_answer *answer)
{
	return answer && answer->end == HTTP_ANSWERED &&
		(answer->status == HTTP_UNAUTHORIZED || answer->status == HTTP_FORBIDDEN);
}

void storefront_alarm_remember(struct state *state, const struct message_meta *said, const Alarm *alarm)
{
	if (strcmp(alarm->kind, SILENT) == 0 || strcmp(alarm->kind, REFUSED) == 0)
		STATE_PUT_NUMBER(state, storefront_alarm, said->shop, alarm->kind, alarm->raised);
}

static bool is_news(const struct state *state, const struct turn *turn, const char *kind, bool raised)
{
	return (STATE_NUMBER(state, storefront_alarm, turn_message(turn)->shop, kind) != 0) != raised;
}

static void publish_alarm(struct turn *turn, const char *kind, Alarm *alarm)
{
	TEXT_COPY(alarm->kind, kind);
	alarm->at_us = turn_now_us(turn);
	SAY(turn, alarm, alarm, .shop = turn_message(turn)->shop, .key = alarm->kind,
		.version = (uint64_t)alarm->at_us);
}

static void say_silent(const struct state *state, struct turn *turn, bool raised, const char *why)
{
	const char *shop = turn_message(turn)->shop;
	Alarm alarm = { .raised = raised };

	if (!is_news(state, turn, SILENT, raised))
		return;
	if (raised)
		snprintf(alarm.text, sizeof(alarm.text), "the storefront of %s does not answer: %.300s", shop, why);
	else
		snprintf(alarm.text, sizeof(alarm.text), "the storefront of %s answers again", shop);
	if (raised)
		snprintf(alarm.remedy, sizeof(alarm.remedy),
			"look at [storefront] in its shop.conf: cartbus shop check %s asks it; until it answers mails "
			"go by what webhooks said",
			shop);
	publish_alarm(turn, SILENT, &alarm);
}

static void say_refused(const struct state *state, struct turn *turn, bool raised, const char *why)
{
	const char *shop = turn_message(turn)->shop;
	Alarm alarm = { .raised = raised };

	if (!is_news(state, turn, REFUSED, raised))
		return;
	if (raised)
		snprintf(alarm.text, sizeof(alarm.text), "the storefront of %s refuses our API key: %.300s", shop, why);
	else
		snprintf(alarm.text, sizeof(alarm.text), "the storefront of %s takes our API key again", shop);
	if (raised)
		snprintf(alarm.remedy, sizeof(alarm.remedy),
			"make a key with the rights that the handbook names, then: cartbus shop secret %s --api --set "
			"< key; until then mails go by what webhooks said, and what has to be fetched waits",
			shop);
	publish_alarm(turn, REFUSED, &alarm);
}

void storefront_alarm_say(const struct state *state, struct turn *turn, enum storefront_end end, const char *why)
{
	say_silent(state, turn, end == STOREFRONT_END_SILENT, why);
	if (end != STOREFRONT_END_SILENT)
		say_refused(state, turn, end == STOREFRONT_END_REFUSED, why);
}
