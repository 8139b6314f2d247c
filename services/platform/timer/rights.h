/*
 * rights.h: which topics a timer may fire, which services may set such timers, and the refused requests
 *
 * The broker tells for each message which service said it, and proves that name (bus/wire/gate.c). It cannot
 * read a timer.set, so the timer checks the name against the systems' registrations. Otherwise any service
 * that may set timers could have every topic published.
 */
#ifndef PLATFORM_TIMER_RIGHTS_H
#define PLATFORM_TIMER_RIGHTS_H

#include "bus/actor/topic.h"
#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

/* One of the topics that systems let timers fire; NULL: it is none of them. */
const struct topic *rights_topic(const char *name);
/* Is it the timer itself? It sets each shop's ticks, and sets the timers of others again. */
bool rights_is_timer(const char *service);
/*
 * May this service set and cancel timers that fire this topic? false for a topic that no system registered.
 */
bool rights_allow(const char *service, const char *topic);

/* ---- messages about timers that were ignored because their sender had no right to them, and the alarm about them ---- */

/*
 * Part of the fold of timer.set and timer.cancel: `said` was ignored; `topic` is the topic that its timer
 * fires.
 */
void refusals_note(struct state *state, const struct message_meta *said, const char *topic);
/*
 * When the next alarm is due (wall time): at once, but at least an hour after the previous one. INT64_MAX:
 * nothing was refused since then.
 */
int64_t refusals_due_us(const struct state *state);
void refusals_say(const struct state *state, struct turn *turn);
/* The fold of alarm: refusals that it reports need no further alarm. */
void refusals_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm);

#endif
