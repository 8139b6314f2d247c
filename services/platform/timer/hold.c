/*
 * hold.c: no timer fires while wall and boot time disagree
 *
 * Promises:  past a minute apart nothing is due and nothing fires; what became due meanwhile fires when they agree again.
 * Read next: timer.c, main.c (who is told)
 */
#include "services/platform/timer/hold.h"
#include <stdlib.h>

#define PARTED_US US_PER_MINUTE

struct clock_hold clock_hold_from(const struct clock *clock)
{
	return (struct clock_hold){
		.clock = clock, .wall_at_start_us = clock_wall_us(clock), .boot_at_start_us = clock_boot_us(clock)
	};
}

int64_t clock_hold_jump_us(const struct clock_hold *hold)
{
	const struct clock *clock = hold ? hold->clock : NULL;

	if (!clock)
		return 0;
	double boot_gone_us = (double)(clock_boot_us(clock) - hold->boot_at_start_us);
	int64_t expected_us = hold->wall_at_start_us + (int64_t)(boot_gone_us * clock->rate);
	int64_t apart_us = clock_wall_us(clock) - expected_us;

	return llabs(apart_us) > (int64_t)((double)PARTED_US * clock->rate) ? apart_us : 0;
}
