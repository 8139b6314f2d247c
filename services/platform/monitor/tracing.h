/* tracing.h: sends traces to a collector, OTLP over HTTP in JSON */
#ifndef PLATFORM_MONITOR_TRACING_H
#define PLATFORM_MONITOR_TRACING_H

#include "bus/actor/process.h"

/* Starts tracing by [trace]; without a collector nothing happens. die()s on an invalid configuration. */
void tracing_start(struct loop *loop, const struct config *config, const struct clock *clock);
void tracing_stop(void);

struct tracing_counts {
	uint64_t sent, refused,
		/*
		 * spans: accepted by the collector; refused for good; dropped for lack of memory while it was
		 * away
		 */
		dropped;
	uint64_t missed; /* messages that the tap missed */
};
struct tracing_counts tracing_counts(void);

#endif
