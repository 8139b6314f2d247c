/*
 * missed.c: looks back from now to the tick for what was not told
 *
 * Promises:  pure; looks at so many periods at most, so that a tick that is years late does not tell of times long forgotten.
 */
#include "services/kit/time/missed.h"

enum { LOOKED_AT_MOST = 62 };

int missed_find(const struct state *state, const struct missed *missed, struct period *ret, bool *ret_more)
{
	int64_t until_us = missed->until_us > missed->ticked_us ? missed->until_us : missed->ticked_us;
	struct period oldest, period;
	int found = 0;

	int r = period_ended(missed->kind, missed->zone, missed->ticked_us, 0, &oldest);
	if (r == 0)
		r = period_ended(missed->kind, missed->zone, until_us, 0, &period);
	for (int i = 0; r == 0 && i < LOOKED_AT_MOST && period.from_us >= oldest.from_us; i++) {
		if (!state_has_row(state, missed->table, missed->shop, period.name)) {
			*ret = period;
			found++;
		}
		r = period_before(missed->zone, &period, &period);
	}
	*ret_more = found > 1;
	return r < 0 ? r : found > 0;
}
