/*
 * monotonic_wall.c: what a jump is
 *
 * Promises:  what the wall shows is followed in steps of less than a minute, forwards and backwards; of a larger one nothing is seen.
 */
#include "bus/base/monotonic_wall.h"
#include <math.h>
#include <stdlib.h>

static const int64_t PARTED_US = 1 * US_PER_MINUTE;
static const int64_t AT_ONCE_US = 1 * US_PER_S;

/* Of wall time, which may run faster. */
static int64_t parted_us(const struct monotonic_wall *steady)
{
	return (int64_t)((double)PARTED_US * steady->clock->rate);
}

static int64_t expected_us(const struct monotonic_wall *steady, int64_t boot_us)
{
	return steady->shown_us + (int64_t)((double)(boot_us - steady->boot_us) * steady->clock->rate);
}

static int64_t shown_us(const struct monotonic_wall *steady, int64_t wall_us, int64_t boot_us)
{
	int64_t expected = expected_us(steady, boot_us), shown = wall_us - steady->jump_us;

	return llabs(shown - expected) > parted_us(steady) ? expected : shown;
}

/* Both of one moment: after a stop between the two readings it reads once more. */
static void read_both(const struct clock *clock, int64_t *ret_wall_us, int64_t *ret_boot_us)
{
	do {
		*ret_boot_us = clock_boot_us(clock);
		*ret_wall_us = clock_wall_us(clock);
	} while (clock_boot_us(clock) - *ret_boot_us > AT_ONCE_US);
}

static void settle(struct monotonic_wall *steady, int64_t wall_us, int64_t boot_us, int64_t shown)
{
	steady->jump_us = wall_us - shown;
	if (llabs(steady->jump_us) <= parted_us(steady))
		steady->jump_us = 0;
	steady->shown_us = wall_us - steady->jump_us;
	steady->boot_us = boot_us;
}

struct monotonic_wall monotonic_wall_new(const struct clock *clock, int64_t least_us)
{
	struct monotonic_wall steady = { .clock = clock };
	int64_t wall_us, boot_us;

	read_both(clock, &wall_us, &boot_us);
	settle(&steady, wall_us, boot_us, wall_us < least_us ? least_us : wall_us);
	return steady;
}

int64_t monotonic_wall_us(const struct monotonic_wall *steady)
{
	int64_t wall_us, boot_us;

	read_both(steady->clock, &wall_us, &boot_us);
	return shown_us(steady, wall_us, boot_us);
}

int64_t monotonic_wall_until_us(const struct monotonic_wall *steady, int64_t wall_us)
{
	int64_t now_us = monotonic_wall_us(steady);
	double wait_us = wall_us > now_us ? ceil((double)(wall_us - now_us) / steady->clock->rate) : 0;

	return wait_us < 9e18 ? (int64_t)wait_us : INT64_MAX; /* one that comes early would find nothing due */
}

void monotonic_wall_look(struct monotonic_wall *steady)
{
	int64_t wall_us, boot_us;

	read_both(steady->clock, &wall_us, &boot_us);
	settle(steady, wall_us, boot_us, shown_us(steady, wall_us, boot_us));
}
