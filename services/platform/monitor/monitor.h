/*
 * monitor.h: the service that notices what nobody would otherwise
 */
#ifndef PLATFORM_MONITOR_MONITOR_H
#define PLATFORM_MONITOR_MONITOR_H

#include "bus/actor/service.h"

extern const struct service monitor;

#endif
