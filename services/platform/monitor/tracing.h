/*
 * tracing.h: sends what happens as traces to a collector, OTLP over HTTP in JSON
 */
#ifndef PLATFORM_MONITOR_TRACING_H
#define PLATFORM_MONITOR_TRACING_H

#include "bus/actor/process.h"

/* As [trace] says; without a collector nothing happens. die()s of what makes no sense. */
void tracing_start(struct loop *loop, const struct config *config, const struct clock *clock);
void tracing_stop(void);

struct tracing_counts {
	uint64_t sent, refused,
		dropped; /* spans: taken by the collector; not taken, for good; no room while it was away */
	uint64_t missed; /* messages that went by unseen */
};
struct tracing_counts tracing_counts(void);

#endif
