/* broker_away.h: the alarm that the broker is away, which cannot go through the log */
#ifndef PLATFORM_MONITOR_BROKER_AWAY_H
#define PLATFORM_MONITOR_BROKER_AWAY_H

#include "bus/actor/runtime/runtime.h"
#include "services/platform/monitor/channels.h"
#include <limits.h>

struct broker_away;

struct broker_away_settings {
	const struct channels *channels;   /* borrowed, as all here */
	struct effect_driver *mail, *http; /* drivers that the process's loop works */
	const struct clock *clock;
	int64_t patience_us; /* how long it waits, in boot time, because a restart is no alarm */
	char path[PATH_MAX]; /* the file that remembers the alarm */
};

struct broker_away *broker_away_new(const struct broker_away_settings *settings);
/* takes NULL; pending notices are sent after the next start */
void broker_away_free(struct broker_away *away);

/*
 * Looks, and sends the due notices. Returns after how many microseconds of boot time to call again; -1: not
 * before an event.
 */
int64_t broker_away_look(struct broker_away *away, enum runtime_phase phase, const char *why);

#endif
