/* rate_limit.c: see rate_limit.h */
#include "bus/base/rate_limit.h"

bool rate_limit_take(struct rate_limit *allowance, int64_t now_us, int64_t every_us, int burst)
{
	if (allowance->spent_us < now_us)
		allowance->spent_us = now_us;
	if (allowance->spent_us - now_us > every_us * (burst - 1)) {
		allowance->left_out++;
		return false;
	}
	allowance->spent_us += every_us;
	return true;
}

void rate_limit_give_back(struct rate_limit *allowance, int64_t every_us)
{
	allowance->spent_us -= every_us;
}
