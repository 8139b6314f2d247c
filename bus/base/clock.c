#include "bus/base/clock.h"
#include <assert.h>
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

/* Rates are small and real time counts from the origin, so a double keeps the microsecond for centuries. */
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
