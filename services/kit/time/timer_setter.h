/*
 * timer_setter.h: which services may set timers that fire which topics
 *
 * The timer publishes messages in its own name for other services. So each system registers which services
 * may ask for which topics (services/systems.cmake); the timer ignores all other requests and raises an
 * alarm. Such a service must also say timer.set, and the topic must be one that the system lets timers fire
 * (the face `timers`).
 */
#ifndef KIT_TIME_TIMER_SETTER_H
#define KIT_TIME_TIMER_SETTER_H

#include "bus/actor/topic.h"

struct timer_setter {
	const char *service; /* its name, as in its table; NULL ends a table */
	const struct topic *fires;
};
/* One table for each system; NULL ends the list. The timer itself needs no row. */
extern const struct timer_setter *const registered_timer_setters[];

#endif
