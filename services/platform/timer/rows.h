/* rows.h: the folded timers, in order of their due time */
#ifndef PLATFORM_TIMER_ROWS_H
#define PLATFORM_TIMER_ROWS_H

#include "bus/actor/turn.h"
#include "proto/platform_topics.h"

enum { TIMER_SHOP_MAX = 64, TIMER_NAME_MAX = 100 };

STATE_TABLE(timers, "timer", TimerSet);

void timers_remember_set(struct state *state, const struct message_meta *said, const TimerSet *set);
void timers_remember_cancel(struct state *state, const struct message_meta *said, const TimerCancel *cancel);
void timers_remember_fired(struct state *state, const struct message_meta *said, const TimerFired *fired);

bool timers_get(const struct state *state, const char *shop, const char *name, TimerSet *ret_set);
uint64_t timers_version(const struct state *state, const char *shop, const char *name); /* the highest seen; 0: none */
int64_t timers_next_due_us(const struct state *state);                                  /* INT64_MAX: there is none */

/*
 * Finds the timers that are due from `from_us` to `until_us`, the earliest first; returns how many.
 * timers_get gives their requests, also of cron timers.
 */
struct timer_due {
	int64_t due_us;
	char shop[TIMER_SHOP_MAX], name[TIMER_NAME_MAX];
};
int timers_due(const struct state *state, int64_t from_us, int64_t until_us, struct timer_due *ret, int most);
/*
 * Finds a timer that a late firing of its earlier version has ended in the log's latest rows, so it must be
 * said again.
 */
bool timers_again(const struct state *state, struct timer_due *ret);

#endif
