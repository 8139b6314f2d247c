/* timer.h: named timers, as a service */
#ifndef PLATFORM_TIMER_TIMER_H
#define PLATFORM_TIMER_TIMER_H

#include "bus/actor/service.h"
#include "proto/topics.h"

extern const struct service timer;

/* Says what this timer asks for, and that it has fired. */
void timer_fire(struct turn *turn, const char *shop, const TimerSet *set);

#endif
