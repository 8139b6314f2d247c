/*
 * conditions.h: looks at each condition of check.h, and says the alarm when one begins and when it is over
 */
#ifndef PLATFORM_MONITOR_CONDITIONS_H
#define PLATFORM_MONITOR_CONDITIONS_H

#include "bus/actor/runtime/runtime.h"
#include "services/platform/monitor/check.h"

struct conditions {
	struct runtime *runtime; /* borrowed, as the clock and the ways */
	const struct clock *clock;
	const struct channels *channels; /* to the admin */
	uint32_t sender_failures_least;  /* these three as the configuration says */
	struct budget budget;
	bool no_backups;
	/* what conditions.c keeps */
	int64_t since_us[CONDITION_COUNT]; /* boot time since when it is so; 0: it is not */
	int saying;                        /* messages not confirmed yet */
	uint64_t said_seq;                 /* the latest confirmed: its fold must be seen before one looks again */
};

void conditions_configure(struct conditions *conditions, const struct config *config);
/* With what the broker answered now. true: look again soon, as the broker counted failures that are no facts yet. */
bool conditions_look(struct conditions *conditions, const struct view *view);

#endif
