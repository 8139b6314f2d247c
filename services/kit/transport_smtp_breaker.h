/*
 * transport_smtp_breaker.h: no connection to the mail server: one probe at growing intervals, for all mails together
 *
 * Closed until a connection cannot be opened. Then open: whoever waits waits, and one at a time tries, after 1, 2, 4 ... 60 seconds.
 * The first connection that opens closes it, and all go on at once.
 */
#ifndef KIT_TRANSPORT_SMTP_BREAKER_H
#define KIT_TRANSPORT_SMTP_BREAKER_H

#include "bus/base/clock.h"
#include <stdbool.h>

#define BREAKER_FIRST_US US_PER_S
#define BREAKER_MOST_US (60 * US_PER_S)

struct smtp_breaker {
	bool open;
	int64_t pause_us, next_us; /* boot time of the next probe */
};

static inline void smtp_breaker_failed(struct smtp_breaker *breaker, int64_t now_us)
{
	int64_t doubled_us = 2 * breaker->pause_us;

	breaker->pause_us = !breaker->open     ? BREAKER_FIRST_US
		: doubled_us > BREAKER_MOST_US ? BREAKER_MOST_US
					       : doubled_us;
	breaker->open = true;
	breaker->next_us = now_us + breaker->pause_us;
}

static inline void smtp_breaker_worked(struct smtp_breaker *breaker)
{
	*breaker = (struct smtp_breaker){ 0 };
}

/* `opening`: so many connections are being opened already. */
static inline bool smtp_breaker_lets(const struct smtp_breaker *breaker, int opening, int64_t now_us)
{
	return !breaker->open || (opening == 0 && now_us >= breaker->next_us);
}

#endif
