/*
 * refusals.h: messages about timers that were ignored, because their sayer had no right to them, and the alarm that tells of them
 */
#ifndef PLATFORM_TIMER_REFUSALS_H
#define PLATFORM_TIMER_REFUSALS_H

#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

/* Part of the fold of timer.set and timer.cancel: `said` was ignored; `topic` is what the timer in question fires. */
void refusals_note(struct state *state, const struct message_meta *said, const char *topic);
/* When the next alarm is due (wall time): at once, but an hour after the one before it. INT64_MAX: nothing was refused since. */
int64_t refusals_due_us(const struct state *state);
void refusals_say(const struct state *state, struct turn *turn);
/* The fold of alarm: what it tells of needs no other. */
void refusals_remember_alarm(struct state *state, const struct message_meta *said, const Alarm *alarm);

#endif
