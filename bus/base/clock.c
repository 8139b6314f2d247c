/*
 * clock.c: the two clocks, wall time that does not jump, and a limit of lines per time
 */
#include "bus/base/clock.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

static int64_t read_us(clockid_t which)
{
	struct timespec now;
	clock_gettime(which, &now);
	return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

static int64_t system_wall_us(const struct clock *clock)
{
	(void)clock;
	return read_us(CLOCK_REALTIME);
}

static int64_t system_boot_us(const struct clock *clock)
{
	(void)clock;
	return read_us(CLOCK_BOOTTIME);
}

/*
 * Rates are small and real time counts from the origin, so a double is exact to the microsecond for
 * centuries.
 */
static int64_t scaled_wall_us(const struct clock *clock)
{
	double since = (double)(read_us(CLOCK_REALTIME) - clock->origin_real_us);
	return clock->origin_wall_us + (int64_t)(since * clock->rate);
}

static int64_t virtual_wall_us(const struct clock *clock)
{
	return clock->virtual_us + clock->virtual_ahead_us;
}

static int64_t virtual_boot_us(const struct clock *clock)
{
	return clock->virtual_us;
}

struct clock clock_system(void)
{
	return (struct clock){ .wall_us = system_wall_us, .boot_us = system_boot_us, .rate = 1 };
}

struct clock clock_scaled(double rate, int64_t origin_real_us, int64_t origin_wall_us)
{
	assert(rate > 0);
	return (struct clock){
		.wall_us = scaled_wall_us,
		.boot_us = system_boot_us,
		.rate = rate,
		.origin_real_us = origin_real_us,
		.origin_wall_us = origin_wall_us,
	};
}

struct clock clock_virtual(int64_t start_us)
{
	return (struct clock){
		.wall_us = virtual_wall_us, .boot_us = virtual_boot_us, .rate = 1, .virtual_us = start_us
	};
}

/*
 * --- wall time that does not jump ---
 *
 * Promises:  the shown time follows the wall clock in steps of less than a minute, forwards and backwards; it
 *            does not follow a larger step.
 */

static const int64_t PARTED_US = 1 * US_PER_MINUTE;
static const int64_t AT_ONCE_US = 1 * US_PER_S;

/* PARTED_US in wall time, which may run faster. */
static int64_t parted_us(const struct monotonic_wall *monotonic_wall)
{
	return (int64_t)((double)PARTED_US * monotonic_wall->clock->rate);
}

static int64_t expected_us(const struct monotonic_wall *monotonic_wall, int64_t boot_us)
{
	return monotonic_wall->shown_us +
		(int64_t)((double)(boot_us - monotonic_wall->boot_us) * monotonic_wall->clock->rate);
}

static int64_t shown_us(const struct monotonic_wall *monotonic_wall, int64_t wall_us, int64_t boot_us)
{
	int64_t expected = expected_us(monotonic_wall, boot_us), shown = wall_us - monotonic_wall->jump_us;

	return llabs(shown - expected) > parted_us(monotonic_wall) ? expected : shown;
}

/* Reads both clocks at one moment: if the process stopped between the two readings, it reads once more. */
static void read_both(const struct clock *clock, int64_t *ret_wall_us, int64_t *ret_boot_us)
{
	do {
		*ret_boot_us = clock_boot_us(clock);
		*ret_wall_us = clock_wall_us(clock);
	} while (clock_boot_us(clock) - *ret_boot_us > AT_ONCE_US);
}

static void settle(struct monotonic_wall *monotonic_wall, int64_t wall_us, int64_t boot_us, int64_t shown)
{
	monotonic_wall->jump_us = wall_us - shown;
	if (llabs(monotonic_wall->jump_us) <= parted_us(monotonic_wall))
		monotonic_wall->jump_us = 0;
	monotonic_wall->shown_us = wall_us - monotonic_wall->jump_us;
	monotonic_wall->boot_us = boot_us;
}

struct monotonic_wall monotonic_wall_new(const struct clock *clock, int64_t least_us)
{
	struct monotonic_wall monotonic_wall = { .clock = clock };
	int64_t wall_us, boot_us;

	read_both(clock, &wall_us, &boot_us);
	settle(&monotonic_wall, wall_us, boot_us, wall_us < least_us ? least_us : wall_us);
	return monotonic_wall;
}

int64_t monotonic_wall_us(const struct monotonic_wall *monotonic_wall)
{
	int64_t wall_us, boot_us;

	read_both(monotonic_wall->clock, &wall_us, &boot_us);
	return shown_us(monotonic_wall, wall_us, boot_us);
}

int64_t monotonic_wall_until_us(const struct monotonic_wall *monotonic_wall, int64_t wall_us)
{
	int64_t now_us = monotonic_wall_us(monotonic_wall);
	double wait_us = wall_us > now_us ? ceil((double)(wall_us - now_us) / monotonic_wall->clock->rate) : 0;

	return wait_us < 9e18 ? (int64_t)wait_us : INT64_MAX; /* a wait that ends early finds nothing due */
}

void monotonic_wall_look(struct monotonic_wall *monotonic_wall)
{
	int64_t wall_us, boot_us;

	read_both(monotonic_wall->clock, &wall_us, &boot_us);
	settle(monotonic_wall, wall_us, boot_us, shown_us(monotonic_wall, wall_us, boot_us));
}

/* --- a limit of lines per time --- */

int64_t sooner_us(int64_t a_us, int64_t b_us)
{
	return a_us < 0 || (b_us >= 0 && b_us < a_us) ? b_us : a_us;
}

bool rate_limit_take(struct rate_limit *rate_limit, int64_t now_us, int64_t every_us, int burst)
{
	if (rate_limit->spent_us < now_us)
		rate_limit->spent_us = now_us;
	if (rate_limit->spent_us - now_us > every_us * (burst - 1)) {
		rate_limit->left_out++;
		return false;
	}
	rate_limit->spent_us += every_us;
	return true;
}

void rate_limit_give_back(struct rate_limit *rate_limit, int64_t every_us)
{
	rate_limit->spent_us -= every_us;
}
