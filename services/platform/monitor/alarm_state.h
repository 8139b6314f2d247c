/*
 * alarm_state.h: which alarms stand, and which messages about them are news
 */
#ifndef PLATFORM_MONITOR_ALARM_STATE_H
#define PLATFORM_MONITOR_ALARM_STATE_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

#define ALARM_TEST "test" /* the kind of `cartbus alarm test`: always news, never stands */

void alarm_state_remember(struct state *state, const struct message_meta *said, const Alarm *alarm);
void alarm_state_remember_due(struct state *state, const struct message_meta *said, const AlarmDue *due);

bool alarm_state_raised(const struct state *state, const char *shop, const char *kind);
/* The alarm that stands, as it was said last. false: none does. */
bool alarm_state_standing(const struct state *state, const char *shop, const char *kind, Alarm *ret);
/* Gives a raised alarm the text that was said last while it stands: a notice that was held up for hours tells today's figures. */
void alarm_state_bring_up_to_date(const struct state *state, const char *shop, Alarm *alarm);
/* What is heard of it now differs from what was handed on last. Messages about one alarm are heard one after the other. */
bool alarm_state_is_news(const struct state *state, const char *shop, const Alarm *alarm);
/* Each kind that was ever raised, once, and for how many shops it stands. At most ALARM_STATE_KINDS of them. */
enum { ALARM_STATE_KINDS = 64 };
void alarm_state_each_kind(
	const struct state *state, void (*each)(const char *kind, unsigned shops, void *context), void *context);

#endif
