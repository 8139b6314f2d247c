/* period.h: the periods of local time that reports cover, and the next one to report */
#ifndef KIT_TIME_PERIOD_H
#define KIT_TIME_PERIOD_H

#include "bus/actor/state.h"
#include "bus/base/bytes.h"
#include <stdbool.h>
#include <stdint.h>

enum period_kind { PERIOD_DAY, PERIOD_WEEK, PERIOD_MONTH, PERIOD_SPAN };

struct period {
	enum period_kind kind;
	char name[28];          /* "2026-11-20", "2026-W47", "2026-10", "2026-11-01..2026-11-07": files are called so */
	int64_t from_us, to_us; /* from <= t < to */
};

/*
 * The last whole period that ended by `us` in the zone; `back`: this many periods earlier. -EINVAL: there is
 * no such zone.
 */
int period_ended(enum period_kind kind, const char *zone, int64_t us, int back, struct period *ret);
/* The period that contains `us`, which may not have ended. */
int period_of(enum period_kind kind, const char *zone, int64_t us, struct period *ret);
/*
 * "2026-10" or, with both, the local days "2026-11-01" to "2026-11-07" inclusive. -EINVAL: another form, or
 * the wrong order.
 */
int period_month(const char *zone, const char *month, struct period *ret);
int period_span(const char *zone, const char *from, const char *to, struct period *ret);
/* The period before: the previous month or week, or the same number of days. */
int period_before(const char *zone, const struct period *period, struct period *ret);
/* For people, in the locale: "Oktober 2026", "16.11.2026 – 22.11.2026". */
void period_print(const char *zone, const struct period *period, const char *locale, char *ret, int room);

/* ---- the day, week or month to report next, also after a time without service ---- */

/*
 * missed_find finds the oldest period that ended between this tick and `until_us` and has no row in `table`
 * under its name; the tick's own period is the oldest that counts. 1: found; 0: none is missing; -EINVAL:
 * there is no such zone. *ret_more: there are more.
 */
struct missed {
	const struct state_table *table; /* STATE_HANDLE(exported) */
	const char *shop, *zone;
	enum period_kind kind;
	int64_t ticked_us, until_us;
};
int missed_find(const struct state *state, const struct missed *missed, struct period *ret, bool *ret_more);

#endif
