/*
 * hold.h: no timer fires while wall and boot time disagree
 *
 * Wall time that jumps by a year would fire a year of timers, or none. So both clocks are held against what they showed at the
 * start; while they part by more than a minute, the guarded timer has nothing due.
 */
#ifndef PLATFORM_TIMER_HOLD_H
#define PLATFORM_TIMER_HOLD_H

#include "bus/actor/service.h"
#include "bus/base/clock.h"

/* The timer that asks the clocks first. They are taken to agree now; `clock` is borrowed for good. NULL: not known yet, they agree. */
const struct service *hold_timer(const struct clock *clock);
/* By how much wall time is ahead of what boot time says, if that is too much; else 0. */
int64_t hold_jump_us(void);

#endif
