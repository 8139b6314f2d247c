/*
 * protocol.h: which versions of what is said on the sockets a program speaks, and the limits of a queue
 *
 * The hello names a range, the welcome the version that the session speaks: the newest of both. Fields that may be left out need no new
 * version; what an older program would take for something else, or must not ignore, does.
 */
#ifndef WIRE_PROTOCOL_H
#define WIRE_PROTOCOL_H

#include <stdint.h>

enum { PROTOCOL_LEAST = 1, PROTOCOL_MOST = 1 };

/* Programs that name no version speak the first. */
static inline uint32_t protocol_named(uint32_t version)
{
	return version > 0 ? version : 1;
}

/* The newest version that we and a peer speak who speaks from `least` to `most`; 0: there is none. */
static inline uint32_t protocol_common(uint32_t least, uint32_t most)
{
	uint32_t newest = most < PROTOCOL_MOST ? most : PROTOCOL_MOST;

	return newest >= least && newest >= PROTOCOL_LEAST ? newest : 0;
}

/*
 * What a service may declare of its queue, and what holds where it declares nothing
 *
 * The service judges its own table by these ranges when it starts, the broker judges topology.conf by them.
 */

enum {
	/* So many failures make a message a dead letter. */
	QUEUE_FAILURES_LEAST = 1,
	QUEUE_FAILURES_MOST = 1000,
	QUEUE_FAILURES_USUAL = 5,
	/* For so long a message is handed to one session alone. A service renews after a quarter, so a shorter lease would be lost to any pause. */
	QUEUE_LEASE_MS_LEAST = 100,
	QUEUE_LEASE_MS_MOST = 24 * 60 * 60 * 1000,
	QUEUE_LEASE_MS_USUAL = 30 * 1000,
};

#endif
