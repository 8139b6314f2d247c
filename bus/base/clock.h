/*
 * clock.h: what time it is, and how long it has been
 *
 * Two questions, two clocks. *Wall* time (microseconds since 1970, UTC) is what decisions, logs and shoppers see; it may be
 * set, and a demo runs it faster. *Boot* time never jumps, counts while the machine sleeps and measures leases, heartbeats
 * and deadlines; it always runs at its true rate. Tests and the simulator own a clock of their own and move it by hand.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define US_PER_MS INT64_C(1000)
#define US_PER_S INT64_C(1000000)
#define US_PER_MINUTE (60 * US_PER_S)
#define US_PER_HOUR (60 * US_PER_MINUTE)
#define US_PER_DAY (24 * US_PER_HOUR)

struct clock {
	int64_t (*wall_us)(const struct clock *clock);
	int64_t (*boot_us)(const struct clock *clock);
	double rate;            /* of wall time: 1 but in a demo */
	int64_t origin_wall_us; /* wall = origin_wall + (real wall - origin_real) * rate, when rate is not 1 */
	int64_t origin_real_us;
	int64_t virtual_us;       /* of clock_virtual: both clocks */
	int64_t virtual_ahead_us; /* ... and how far its wall is set ahead of that */
};

struct clock clock_system(void);
struct clock clock_scaled(double rate, int64_t origin_real_us, int64_t origin_wall_us); /* rate > 0 */
struct clock clock_virtual(int64_t start_us);

static inline int64_t clock_wall_us(const struct clock *clock)
{
	return clock->wall_us(clock);
}

static inline int64_t clock_boot_us(const struct clock *clock)
{
	return clock->boot_us(clock);
}

#endif
