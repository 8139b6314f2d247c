/* allowance.c: see allowance.h */
#include "bus/base/allowance.h"

bool allowance_take(struct allowance *allowance, int64_t now_us, int64_t every_us, int burst)
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

void allowance_give_back(struct allowance *allowance, int64_t every_us)
{
	allowance->spent_us -= every_us;
}
