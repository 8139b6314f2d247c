/*
 * monitor.h: the service that notices what nobody would otherwise
 */
#ifndef PLATFORM_MONITOR_MONITOR_H
#define PLATFORM_MONITOR_MONITOR_H

#include "bus/actor/service.h"
#include "services/platform/monitor/channels.h"

extern const struct service monitor;

struct monitor {
	struct channels channels; /* how the admin is told */
	double clock_rate;        /* of the wall clock: delays of the bus run at the true rate */
};
SERVICE_CONTEXT(monitor, struct monitor);

#endif
