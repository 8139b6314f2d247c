/* timer.h: named timers, as a service */
#ifndef PLATFORM_TIMER_TIMER_H
#define PLATFORM_TIMER_TIMER_H

#include "bus/actor/service.h"
#include "proto/platform_topics.h"
#include "services/platform/timer/hold.h"

extern const struct service timer;

/* While its clocks are parted nothing is due. Without a context they agree. */
SERVICE_CONTEXT(timer, struct clock_hold);

/* The topics that a timer may fire, as services/systems.cmake puts them together: a table of each system, ended by a NULL. */
extern const struct topic *const *const registered_timers[];
extern const struct topic *const platform_timers[]; /* each shop's clock */

/* Says what this timer asks for, and that it has fired. */
void timer_fire(struct turn *turn, const char *shop, const TimerSet *set);

#endif
