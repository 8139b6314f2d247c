/*
 * clock.h: wall time and boot time; wall time that does not jump; a limit on log lines
 *
 * There are two clocks. Decisions, logs and shoppers see *wall* time (microseconds since 1970, UTC). An admin
 * may set it, and a demo runs it faster. *Boot* time never jumps, counts while the machine sleeps and
 * measures leases, heartbeats and deadlines; it always runs at its true rate. Tests and the simulator own a
 * clock of their own and move it by hand.
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
	double rate;            /* of wall time: 1 except in a demo */
	int64_t origin_wall_us; /* wall = origin_wall + (real wall - origin_real) * rate, when rate is not 1 */
	int64_t origin_real_us;
	int64_t virtual_us;       /* for clock_virtual: the time of both clocks */
	int64_t virtual_ahead_us; /* ... and how far its wall time is ahead of that */
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
 * It is equal to wall time as long as wall time and boot time advance together. If they differ by more than a
 * minute from one look to the next, the clock was set or is broken. From then on this time advances with boot
 * time until wall time agrees again. Only a person can decide whether the new clock is right, by restarting
 * the process.
 */

struct monotonic_wall {
	const struct clock *clock;
	int64_t shown_us, boot_us; /* of the last look */
	int64_t jump_us;           /* how far wall time is ahead of it, or behind (negative); 0: they agree */
};

/* Starts at wall time; or at `least_us` if wall time is more than a minute before it. */
struct monotonic_wall monotonic_wall_new(const struct clock *clock, int64_t least_us);
int64_t monotonic_wall_us(const struct monotonic_wall *monotonic_wall);
/* How long to wait until it is `wall_us`, in microseconds of boot time; 0 if that has come. */
int64_t monotonic_wall_until_us(const struct monotonic_wall *monotonic_wall, int64_t wall_us);
/* to be called often: a jump is detected between two looks */
void monotonic_wall_look(struct monotonic_wall *monotonic_wall);

/* The sooner of two waits; -1: none. */
int64_t sooner_us(int64_t a_us, int64_t b_us);

/*
 * A limit on log lines, so that a flood of events does not flood the log
 *
 * It allows `burst` lines at once, and one more after each `every_us`. A zeroed limit allows a whole burst.
 */

struct rate_limit {
	int64_t spent_us;  /* boot time at which the last taken line is paid back */
	uint64_t left_out; /* how many lines were refused since the last one was taken */
};

/* Takes one line. false: none is left, and the refusal is counted. `now_us` is boot time. */
bool rate_limit_take(struct rate_limit *rate_limit, int64_t now_us, int64_t every_us, int burst);
/* returns a line that was not needed */
void rate_limit_give_back(struct rate_limit *rate_limit, int64_t every_us);

#endif
