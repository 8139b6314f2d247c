/*
 * downtime.h: how long nobody could reach this gateway, told when it is back
 *
 * What a platform could not deliver it sends again later, a purchase among it. So a gateway that was away says gateway.away before
 * anything else, and mails wait as long as such a repetition may take.
 */
#ifndef PLATFORM_GATEWAY_DOWNTIME_H
#define PLATFORM_GATEWAY_DOWNTIME_H

#include "bus/base/bytes.h"
#include "bus/base/clock.h"

struct downtime {
	char path[512]; /* of a file that is touched while the process lives: its age is the absence */
	const struct clock *clock;
	int64_t touch_at_us; /* boot time */
};

/* true: `ret_message` is gateway.away, encoded. false: it was away for less than a minute, or never there before. */
bool downtime_begin(struct downtime *downtime, const char *folder, const char *gateway, const struct clock *clock,
	struct buffer *ret_message);
/* Touches the file when it is time to; in how many boot microseconds it wants to be called again. */
int64_t downtime_keep(struct downtime *downtime);

/* How long mails wait for repetitions after so long an absence (real time). */
int64_t downtime_hold_us(int64_t away_us);

#endif
