/*
 * period.h: the stretches of local time that reports are about
 */
#ifndef KIT_TIME_PERIOD_H
#define KIT_TIME_PERIOD_H

#include "bus/base/bytes.h"
#include <stdbool.h>
#include <stdint.h>

enum period_kind { PERIOD_DAY, PERIOD_WEEK, PERIOD_MONTH, PERIOD_SPAN };

struct period {
	enum period_kind kind;
	char name[28];          /* "2026-11-20", "2026-W47", "2026-10", "2026-11-01..2026-11-07": files are called so */
	int64_t from_us, to_us; /* from <= t < to */
};

/* The last whole one that ended by `us` in the zone; `back`: so many before that. -EINVAL: no such zone. */
int period_ended(enum period_kind kind, const char *zone, int64_t us, int back, struct period *ret);
/* The one that `us` lies in, which may not be over. */
int period_of(enum period_kind kind, const char *zone, int64_t us, struct period *ret);
/* "2026-10" or, with both, the local days "2026-11-01" to "2026-11-07" inclusive. -EINVAL: not so, or backwards. */
int period_month(const char *zone, const char *month, struct period *ret);
int period_span(const char *zone, const char *from, const char *to, struct period *ret);
/* The stretch before it: the month or week before, or as many days. */
int period_before(const char *zone, const struct period *period, struct period *ret);
/* For people, in the locale: "Oktober 2026", "16.11.2026 – 22.11.2026". */
void period_print(const char *zone, const struct period *period, const char *locale, char *ret, int room);

#endif
