/*
 * monitor.h: the service that notices what nobody would otherwise
 */
#ifndef MONITOR_MONITOR_H
#define MONITOR_MONITOR_H

#include "bus/actor/service.h"

extern const struct service monitor;

#endif
