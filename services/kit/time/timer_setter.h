/*
 * timer_setter.h: which services may set timers that fire which topics
 *
 * A timer says in its own name what it was asked to say. So each system registers who may ask for what (services/systems.cmake); the
 * timer ignores any other and raises an alarm. Such a service has to say timer.set as well; the topic has to be one that the system
 * lets timers fire (the face `timers`).
 */
#ifndef KIT_TIME_TIMER_SETTER_H
#define KIT_TIME_TIMER_SETTER_H

#include "bus/actor/topic.h"

struct timer_setter {
	const char *service; /* its name, as in its table; NULL ends a table */
	const struct topic *fires;
};
/* A table of each system, ended by a NULL. The timer itself needs no row. */
extern const struct timer_setter *const registered_timer_setters[];

#endif
