/* monitor.h: the service that notices faults and raises alarms */
#ifndef PLATFORM_MONITOR_MONITOR_H
#define PLATFORM_MONITOR_MONITOR_H

#include "bus/actor/service.h"
#include "services/platform/monitor/channels.h"

extern const struct service monitor;

struct monitor {
	struct channels channels; /* the channels to the admin */
	double clock_rate;        /* the rate of wall time; the bus's delays run at the true rate */
};
SERVICE_CONTEXT(monitor, struct monitor);

#endif
