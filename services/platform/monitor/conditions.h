/*
 * conditions.h: checks each condition of check.h, and says an alarm when a condition begins and when it ends
 */
#ifndef PLATFORM_MONITOR_CONDITIONS_H
#define PLATFORM_MONITOR_CONDITIONS_H

#include "bus/actor/runtime/runtime.h"
#include "services/platform/monitor/check.h"

struct conditions {
	struct runtime *runtime; /* borrowed, like the clock and the channels */
	const struct clock *clock;
	const struct channels *channels; /* the channels to the admin */
	uint32_t sender_failures_least;  /* these three come from the configuration */
	struct budget budget;
	bool no_backups;
	/* kept by conditions.c */
	int64_t since_us[CONDITION_COUNT]; /* boot time at which the condition began; 0: it does not hold */
	int saying;                        /* messages not confirmed yet */
	/* the latest confirmed message, which must be folded before the next look */
	uint64_t said_seq;
};

void conditions_configure(struct conditions *conditions, const struct config *config);
/*
 * Checks all conditions with the broker's present answer. true: look again soon, because the broker counted
 * failures that are no facts yet.
 */
bool conditions_look(struct conditions *conditions, const struct view *view);

#endif
