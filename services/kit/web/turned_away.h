/*
 * turned_away.h: how a process tells the monitor that it turned strangers away, in the counts that go to the broker
 *
 * `turned_away` is how many since the start, `turned_away_us` the wall time when the number was last seen to grow: an alarm stands for
 * ten minutes from then on (services/platform/monitor/check.c).
 */
#ifndef KIT_WEB_TURNED_AWAY_H
#define KIT_WEB_TURNED_AWAY_H

#include "bus/actor/process.h"

struct turned_away {
	const struct clock *clock; /* borrowed */
	uint64_t count;
	int64_t last_us; /* 0: never */
};

void turned_away_tell(struct turned_away *noted, uint64_t count, struct counts_told *told);

#endif
