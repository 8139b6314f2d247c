/* broker_status.h: asks the broker for its status every few seconds */
#ifndef PLATFORM_MONITOR_BROKER_STATUS_H
#define PLATFORM_MONITOR_BROKER_STATUS_H

#include "services/platform/monitor/conditions.h"
#include <jansson.h>

struct broker_status {
	struct runtime *runtime; /* borrowed, as the clock and the conditions */
	const struct clock *clock;
	struct conditions *conditions; /* checked after each answer */
	/* kept by broker_status.c */
	bool asked;          /* a question is not answered yet */
	int64_t ask_at_us;   /* boot time */
	json_t *answer;      /* the last one; NULL: none yet */
	int64_t answered_us; /* boot time */
};

/* Asks when it is due. Returns after how many microseconds of boot time to call again. */
int64_t broker_status_ask(struct broker_status *status);
/* The broker's last answer, borrowed; NULL: there is none, or it is too old to be shown. */
const json_t *broker_status_now(const struct broker_status *status);
void broker_status_forget(struct broker_status *status);

#endif
