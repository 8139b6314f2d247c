/*
 * admission.h: one pure function that decides whether a message is published, waits, is spooled or is refused
 *
 * The rules (what the gateway answers while the broker is away):
 * - what was answered 200 is confirmed by the broker, or synced in our spool;
 * - nothing overtakes the spool: while it holds something, what comes is held back until it has drained, or joins it;
 * - a stop that lies in a spool which the broker does not know of could be overtaken by a claim. So stops are spooled only once
 *   the promise to the broker has run out (it then parks claims until this gateway is back and has drained);
 * - a gateway that never met a broker is on nobody's list, so no claim waits for it: it does not spool at all.
 */
#ifndef PLATFORM_GATEWAY_ADMISSION_H
#define PLATFORM_GATEWAY_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

enum admission {
	ADMIT_SAY,
	ADMIT_WAIT, /* decide again when something has changed or *ret_again_us has passed */
	ADMIT_SPOOL,
	ADMIT_REFUSE /* 503; *ret_why */
};

struct admission_facts {
	bool live;           /* a session with the broker */
	bool met;            /* ever */
	bool may_spool;      /* the promise has run out */
	bool spool_empty;    /* nothing lies in it, nothing of it awaits its confirm */
	const char *trouble; /* the spool cannot be written: why, for people; NULL: it can */
	bool stop;
	bool said;           /* in this session, and not answered yet */
	const char *put_off; /* the broker takes nothing new now: why; NULL: it has not said so lately */
	int64_t waited_us;   /* since the request was complete; boot time */
};

enum admission admission_decide(const struct admission_facts *facts, int64_t *ret_again_us, const char **ret_why);

#endif
