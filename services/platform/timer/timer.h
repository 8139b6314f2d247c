/* timer.h: named timers, as a service */
#ifndef PLATFORM_TIMER_TIMER_H
#define PLATFORM_TIMER_TIMER_H

#include "bus/actor/service.h"
#include "bus/base/clock.h"
#include "proto/platform_topics.h"

/*
 * No timer fires while wall and boot time disagree
 *
 * If wall time jumped by a year, a year of timers would fire, or none. So both clocks are compared with their
 * values at the start; while they differ by more than a minute, no timer is due.
 */

struct clock_hold {
	const struct clock *clock; /* NULL: not known yet; the clocks count as equal */
	int64_t wall_at_start_us, boot_at_start_us;
};

/* takes both clocks as equal now; `clock` is borrowed */
struct clock_hold clock_hold_from(const struct clock *clock);
/*
 * How far wall time is ahead of boot time since the start, in microseconds, if that is too much; else 0.
 * `hold` may be NULL.
 */
int64_t clock_hold_jump_us(const struct clock_hold *hold);

extern const struct service timer;

/* While its clocks differ no timer is due. Without a context they count as equal. */
SERVICE_CONTEXT(timer, struct clock_hold);

/*
 * The topics that a timer may fire, made by services/systems.cmake: one table for each system; NULL ends the
 * list.
 */
extern const struct topic *const *const registered_timers[];
extern const struct topic *const platform_timers[]; /* each shop's clock */

/* Says the message that this timer asks for, and that the timer has fired. */
void timer_fire(struct turn *turn, const char *shop, const TimerSet *set);

#endif
