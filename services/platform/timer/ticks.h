/*
 * ticks.h: the two ticks of every shop: nightly at 02:00, and 09:00 on the first Monday of the month, in the shop's own zone
 */
#ifndef PLATFORM_TIMER_TICKS_H
#define PLATFORM_TIMER_TICKS_H

#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

/* The fold of a shop's document: notes a shop whose ticks are not set, or set in another zone. */
void ticks_remember_document(struct state *state, const struct message_meta *said, const Document *document);
/* Part of the fold of timer.set: this one may be what was missing. */
void ticks_remember_set(struct state *state, const char *shop, const TimerSet *set);

bool ticks_wanted(const struct state *state);                 /* by any shop */
void ticks_say(const struct state *state, struct turn *turn); /* sets those of one such shop */

#endif
