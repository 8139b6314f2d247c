/* alarm_state.h: the standing alarms, and which messages about them are news */
#ifndef PLATFORM_MONITOR_ALARM_STATE_H
#define PLATFORM_MONITOR_ALARM_STATE_H

#include "bus/actor/state.h"
#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

#define ALARM_TEST "test" /* the kind of `cartbus alarm test`: always news, never stands */

void alarm_state_remember(struct state *state, const struct message_meta *said, const Alarm *alarm);
void alarm_state_remember_due(struct state *state, const struct message_meta *said, const AlarmDue *due);

bool alarm_state_raised(const struct state *state, const char *shop, const char *kind);
/* The standing alarm in its latest text. false: there is none. */
bool alarm_state_standing(const struct state *state, const char *shop, const char *kind, Alarm *ret);
/* Gives a raised alarm its latest text, so that a notice that was delayed for hours has present figures. */
void alarm_state_bring_up_to_date(const struct state *state, const char *shop, Alarm *alarm);
/*
 * true: this message differs from the last one that was passed on. Messages about one alarm come one after
 * the other.
 */
bool alarm_state_is_news(const struct state *state, const char *shop, const Alarm *alarm);
/*
 * Calls each() once for each kind that was ever raised, with the number of shops for which it stands. At most
 * ALARM_STATE_KINDS kinds.
 */
enum { ALARM_STATE_KINDS = 64 };
void alarm_state_each_kind(
	const struct state *state, void (*each)(const char *kind, unsigned shops, void *context), void *context);

#endif
