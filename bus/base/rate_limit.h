/*
 * rate_limit.h: how many lines may be told, so that a flood of events is no flood of lines
 *
 * `burst` at once, and one more each `every_us`. A zeroed one is full.
 */
#ifndef BASE_RATE_LIMIT_H
#define BASE_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct rate_limit {
	int64_t spent_us;  /* of boot time: when the last line that was taken will have been paid for */
	uint64_t left_out; /* since one was taken */
};

/* Takes one line; false: none is left, which is counted. `now_us` is boot time. */
bool rate_limit_take(struct rate_limit *allowance, int64_t now_us, int64_t every_us, int burst);
void rate_limit_give_back(struct rate_limit *allowance, int64_t every_us); /* there was nothing to tell after all */

#endif
