/*
 * clock.h: what time it is, and how long it has been; wall time that does not jump; a limit of lines per time
 *
 * Two questions, two clocks. *Wall* time (microseconds since 1970, UTC) is what decisions, logs and shoppers see; it may be
 * set, and a demo runs it faster. *Boot* time never jumps, counts while the machine sleeps and measures leases, heartbeats
 * and deadlines; it always runs at its true rate. Tests and the simulator own a clock of their own and move it by hand.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
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

/*
 * Wall time that does not jump
 *
 * It is the wall's time for as long as wall and boot time go together. When they part by more than a minute from one look to the
 * next, somebody has set the clock, or something has broken it: from then on it goes on from where it was, as boot time does, until
 * the wall agrees again. Whether the clock is right now is for a person to say, by starting the process anew.
 */

struct monotonic_wall {
	const struct clock *clock;
	int64_t shown_us, boot_us; /* at the last look */
	int64_t jump_us;           /* the wall is ahead of it by so much, or behind; 0: they agree */
};

/* At the wall's time; or at `least_us`, when the wall is behind that by more than a minute. */
struct monotonic_wall monotonic_wall_new(const struct clock *clock, int64_t least_us);
int64_t monotonic_wall_us(const struct monotonic_wall *monotonic_wall);
/* How long to wait, in boot microseconds, until it is `wall_us`; 0 if it has come. */
int64_t monotonic_wall_until_us(const struct monotonic_wall *monotonic_wall, int64_t wall_us);
void monotonic_wall_look(struct monotonic_wall *monotonic_wall); /* often: a jump is what happens between two looks */

/*
 * How many lines may be told, so that a flood of events is no flood of lines
 *
 * `burst` at once, and one more each `every_us`. A zeroed one is full.
 */

struct rate_limit {
	int64_t spent_us;  /* of boot time: when the last line that was taken will have been paid for */
	uint64_t left_out; /* since one was taken */
};

/* Takes one line; false: none is left, which is counted. `now_us` is boot time. */
bool rate_limit_take(struct rate_limit *rate_limit, int64_t now_us, int64_t every_us, int burst);
void rate_limit_give_back(struct rate_limit *rate_limit, int64_t every_us); /* there was nothing to tell after all */

#endif
