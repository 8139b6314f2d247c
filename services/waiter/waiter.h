/* waiter.h: the four moves, as a service */
#ifndef WAITER_WAITER_H
#define WAITER_WAITER_H

#include "bus/actor/service.h"

extern const struct service waiter;

#endif
