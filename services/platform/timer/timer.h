/* timer.h: named timers, as a service */
#ifndef PLATFORM_TIMER_TIMER_H
#define PLATFORM_TIMER_TIMER_H

#include "bus/actor/service.h"
#include "bus/base/clock.h"
#include "proto/platform_topics.h"

/*
 * No timer fires while wall and boot time disagree
 *
 * Wall time that jumps by a year would fire a year of timers, or none. So both clocks are held against what they showed at the
 * start; while they part by more than a minute, the timer has nothing due.
 */

struct clock_hold {
	const struct clock *clock; /* NULL: not known yet, they agree */
	int64_t wall_at_start_us, boot_at_start_us;
};

struct clock_hold clock_hold_from(const struct clock *clock); /* they are taken to agree now; `clock` is borrowed */
/* By how much wall time is ahead of what boot time says, if that is too much; else 0. `hold` may be NULL. */
int64_t clock_hold_jump_us(const struct clock_hold *hold);

extern const struct service timer;

/* While its clocks are parted nothing is due. Without a context they agree. */
SERVICE_CONTEXT(timer, struct clock_hold);

/* The topics that a timer may fire, as services/systems.cmake puts them together: a table of each system, ended by a NULL. */
extern const struct topic *const *const registered_timers[];
extern const struct topic *const platform_timers[]; /* each shop's clock */

/* Says what this timer asks for, and that it has fired. */
void timer_fire(struct turn *turn, const char *shop, const TimerSet *set);

#endif
