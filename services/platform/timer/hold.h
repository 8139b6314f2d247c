/*
 * hold.h: no timer fires while wall and boot time disagree
 *
 * Wall time that jumps by a year would fire a year of timers, or none. So both clocks are held against what they showed at the
 * start; while they part by more than a minute, the timer has nothing due.
 */
#ifndef PLATFORM_TIMER_HOLD_H
#define PLATFORM_TIMER_HOLD_H

#include "bus/base/clock.h"

struct clock_hold {
	const struct clock *clock; /* NULL: not known yet, they agree */
	int64_t wall_at_start_us, boot_at_start_us;
};

struct clock_hold clock_hold_from(const struct clock *clock); /* they are taken to agree now; `clock` is borrowed */
/* By how much wall time is ahead of what boot time says, if that is too much; else 0. `hold` may be NULL. */
int64_t clock_hold_jump_us(const struct clock_hold *hold);

#endif
