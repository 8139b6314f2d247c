/*
 * rights.h: which topics a timer may fire, which service may set such a timer, and what was refused
 *
 * The broker says of each message which service said it, and proves that name (bus/wire/gate.c). It cannot look into a timer.set, so
 * the timer holds that name against what the systems registered: else whoever may set a timer could have anything said.
 */
#ifndef PLATFORM_TIMER_RIGHTS_H
#define PLATFORM_TIMER_RIGHTS_H

#include "bus/actor/topic.h"
#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

/* One of the topics that systems let timers fire; NULL: it is none of them. */
const struct topic *rights_topic(const char *name);
/* The timer itself: it sets each shop's ticks, and sets anew what others may set. */
bool rights_is_timer(const char *service);
/* May this service set and cancel timers that fire this topic? No for a topic that no system registered. */
bool rights_allow(const char *service, const char *topic);

/* ---- messages about timers that were ignored because their sender had no right to them, and the alarm about them ---- */

/* Part of the fold of timer.set and timer.cancel: `said` was ignored; `topic` is what the timer in question fires. */
void refusals_note(struct state *state, const struct message_meta *said, const char *topic);
/* When the next alarm is due (wall time): at once, but an hour after the one before it. INT64_MAX: nothing was refused since. */
int64_t refusals_due_us(const struct state *state);
void refusals_say(const struct state *state, struct turn *turn);
/* The fold of alarm: what it tells of needs no other. */
void refusals_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm);

#endif
