/*
 * monitor.h: the service that notices what nobody would otherwise
 */
#ifndef MONITOR_MONITOR_H
#define MONITOR_MONITOR_H

#include "bus/actor/service.h"

extern const struct service monitor;

/* Who gets a mail when an alarm is raised; `admin` NULL or "": nobody. Called once, before the first turn. */
void monitor_set_up(const char *admin, const char *from);

#endif
