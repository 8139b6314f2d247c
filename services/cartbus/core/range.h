/*
 * range.h: numbers, moments and rates as an admin types them
 */
#ifndef CARTBUS_CORE_RANGE_H
#define CARTBUS_CORE_RANGE_H

#include "bus/base/clock.h"

/* "4711": a sequence number, 1 or more. -EINVAL: anything else, also "4711x", "-1" and what does not fit. */
int range_seq(const char *text, int64_t *ret);
/* "5/s", or "5". -EINVAL: anything else, zero, more than 100000. */
int range_rate(const char *text, int64_t *ret);

/* One end of a part of the log: a sequence number, or a moment. */
struct range_end {
	int64_t seq;     /* 0: it is a moment */
	int64_t time_us; /* wall time */
};
/* "4711"; "2h" (so long ago); "2026-11-21T06:00:00Z", seconds may be left out. -EINVAL: anything else. */
int range_end_parse(const char *text, const struct clock *clock, struct range_end *ret);

#endif
