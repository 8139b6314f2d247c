/*
 * hold.c: no timer fires while wall and boot time disagree
 *
 * Owns:      what both clocks showed at the start, and `timer` as it is asked while they agree.
 * Promises:  past a minute apart nothing is due and nothing fires; what became due meanwhile fires when they agree again.
 * Read next: timer.c, main.c (who is told)
 */
#include "services/platform/timer/hold.h"
#include "services/platform/timer/timer.h"
#include <stdlib.h>

#define PARTED_US US_PER_MINUTE

static struct service guarded;
static const struct clock *clock_in_use;
static int64_t wall_at_start_us, boot_at_start_us;

int64_t hold_jump_us(void)
{
	if (!clock_in_use)
		return 0;
	double boot_gone_us = (double)(clock_boot_us(clock_in_use) - boot_at_start_us);
	int64_t expected_us = wall_at_start_us + (int64_t)(boot_gone_us * clock_in_use->rate);
	int64_t apart_us = clock_wall_us(clock_in_use) - expected_us;

	return llabs(apart_us) > (int64_t)((double)PARTED_US * clock_in_use->rate) ? apart_us : 0;
}

static int64_t next_due_us(const struct state *state)
{
	return hold_jump_us() ? INT64_MAX : timer.next_due_us(state);
}

static void due(const struct state *state, struct turn *turn)
{
	if (!hold_jump_us())
		timer.due(state, turn);
}

const struct service *hold_timer(const struct clock *clock)
{
	clock_in_use = clock;
	if (clock) {
		wall_at_start_us = clock_wall_us(clock);
		boot_at_start_us = clock_boot_us(clock);
	}
	guarded = timer;
	guarded.next_due_us = next_due_us;
	guarded.due = due;
	return &guarded;
}
