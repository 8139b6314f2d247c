/* timer.h: named timers, as a service */
#ifndef TIMER_TIMER_H
#define TIMER_TIMER_H

#include "bus/actor/service.h"

extern const struct service timer;

#endif
