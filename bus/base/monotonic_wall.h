/*
 * monotonic_wall.h: wall time that does not jump
 *
 * It is the wall's time for as long as wall and boot time go together. When they part by more than a minute from one look to the
 * next, somebody has set the clock, or something has broken it: from then on it goes on from where it was, as boot time does, until
 * the wall agrees again. Whether the clock is right now is for a person to say, by starting the process anew.
 */
#ifndef BASE_MONOTONIC_WALL_H
#define BASE_MONOTONIC_WALL_H

#include "bus/base/clock.h"

struct monotonic_wall {
	const struct clock *clock;
	int64_t shown_us, boot_us; /* at the last look */
	int64_t jump_us;           /* the wall is ahead of it by so much, or behind; 0: they agree */
};

/* At the wall's time; or at `least_us`, when the wall is behind that by more than a minute. */
struct monotonic_wall monotonic_wall_new(const struct clock *clock, int64_t least_us);
int64_t monotonic_wall_us(const struct monotonic_wall *steady);
/* How long to wait, in boot microseconds, until it is `wall_us`; 0 if it has come. */
int64_t monotonic_wall_until_us(const struct monotonic_wall *steady, int64_t wall_us);
void monotonic_wall_look(struct monotonic_wall *steady); /* often: a jump is what happens between two looks */

#endif
