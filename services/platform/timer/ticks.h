/*
 * ticks.h: the three ticks of every shop: nightly at 02:00, weekly on Mondays at 09:00, and monthly on the first
 * Monday at 09:00, in the shop's own zone
 */
#ifndef PLATFORM_TIMER_TICKS_H
#define PLATFORM_TIMER_TICKS_H

#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

/* The fold of a shop's document: notes a shop whose ticks are not set, or are set in another zone. */
void ticks_remember_document(struct state *state, const struct message_meta *said, const Document *document);
/* Part of the fold of timer.set: this may be a missing tick. */
void ticks_remember_set(struct state *state, const char *shop, const TimerSet *set);

bool ticks_wanted(const struct state *state);                 /* true: a shop lacks ticks */
void ticks_say(const struct state *state, struct turn *turn); /* sets the ticks of one such shop */

#endif
