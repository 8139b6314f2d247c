/*
 * missed.h: which day, week or month is to be told next, also after an outage
 */
#ifndef KIT_TIME_MISSED_H
#define KIT_TIME_MISSED_H

#include "bus/actor/state.h"
#include "services/kit/time/period.h"

/*
 * The oldest period that ended between this tick and `until_us` and has no row in `table` under its name; the tick's own is the
 * oldest that counts. 1: found; 0: none is missing; -EINVAL: no such zone. *ret_more: it is not the last one.
 */
struct missed {
	const struct state_table *table; /* STATE_HANDLE(exported) */
	const char *shop, *zone;
	enum period_kind kind;
	int64_t ticked_us, until_us;
};
int missed_find(const struct state *state, const struct missed *missed, struct period *ret, bool *ret_more);

#endif
