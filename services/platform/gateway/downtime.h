/*
 * downtime.h: measures how long this gateway could not be reached, and reports it when it is back
 *
 * Platforms repeat undelivered webhooks later, also those about purchases. So a gateway that was away says
 * gateway.away before anything else, and mails wait as long as such a repetition may take.
 */
#ifndef PLATFORM_GATEWAY_DOWNTIME_H
#define PLATFORM_GATEWAY_DOWNTIME_H

#include "bus/base/bytes.h"
#include "bus/base/clock.h"

struct downtime {
	/* of a file that the living process touches; its age tells how long the process was away */
	char path[512];
	const struct clock *clock;
	int64_t touch_at_us; /* boot time */
};

/*
 * true: `ret_message` has the encoded gateway.away. false: the gateway was away for less than a minute, or
 * never ran before.
 */
bool downtime_begin(struct downtime *downtime, const char *folder, const char *gateway, const struct clock *clock,
	struct buffer *ret_message);
/* Touches the file when it is due. Returns after how many microseconds of boot time to call again. */
int64_t downtime_keep(struct downtime *downtime);

/* How long mails wait for repetitions after this time away, both in microseconds of real time. */
int64_t downtime_hold_us(int64_t away_us);

#endif
