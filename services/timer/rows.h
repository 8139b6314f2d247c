/*
 * rows.h: timers as they were folded, the next one first
 */
#ifndef TIMER_ROWS_H
#define TIMER_ROWS_H

#include "bus/actor/turn.h"
#include "proto/topics.h"

enum { TIMER_SHOP_MAX = 64 };

void timers_remember_set(struct state *state, const struct said *said, const TimerSet *set);
void timers_remember_cancel(struct state *state, const struct said *said, const TimerCancel *cancel);
void timers_remember_fired(struct state *state, const struct said *said, const TimerFired *fired);

bool timers_get(const struct state *state, const char *shop, const char *name, TimerSet *ret_set);
uint64_t timers_version(const struct state *state, const char *shop, const char *name); /* the highest seen; 0: none */
int64_t timers_next_due_us(const struct state *state);                                  /* INT64_MAX: there is none */
/* The one that is due first; its due_us is set for cron timers too. false: there is none. */
bool timers_first(const struct state *state, char ret_shop[TIMER_SHOP_MAX], TimerSet *ret_set);

#endif
