/*
 * broker_away.h: the one alarm that cannot go through the log
 */
#ifndef PLATFORM_MONITOR_BROKER_AWAY_H
#define PLATFORM_MONITOR_BROKER_AWAY_H

#include "bus/actor/runtime/runtime.h"
#include "services/platform/monitor/channels.h"
#include <limits.h>

struct broker_away;

struct broker_away_settings {
	const struct channels *channels;   /* borrowed, as all here */
	struct effect_driver *mail, *http; /* which the process's loop works */
	const struct clock *clock;
	int64_t patience_us; /* of boot time: a restart is no alarm */
	char path[PATH_MAX]; /* where it is remembered */
};

struct broker_away *broker_away_new(const struct broker_away_settings *settings);
void broker_away_free(struct broker_away *away); /* takes NULL; what is owed is told after the next start */

/* Looks, tells what is to be told; in how many boot microseconds it wants to be called again, -1: not before something happens. */
int64_t broker_away_look(struct broker_away *away, enum runtime_phase phase, const char *why);

#endif
