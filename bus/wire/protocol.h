/*
 * protocol.h: the protocol versions that a program speaks on the sockets, and the limits of a queue
 *
 * The hello names a range of versions; the welcome names the version of the session, the newest that both
 * speak. Optional fields need no new version. A change that an older program would misread, or must not
 * ignore, needs one.
 */
#ifndef WIRE_PROTOCOL_H
#define WIRE_PROTOCOL_H

#include <stdint.h>

enum { PROTOCOL_LEAST = 1, PROTOCOL_MOST = 1 };

/* A program that names no version speaks version 1. */
static inline uint32_t protocol_named(uint32_t version)
{
	return version > 0 ? version : 1;
}

/* The newest version that we have in common with a peer that speaks `least` to `most`; 0: none. */
static inline uint32_t protocol_common(uint32_t least, uint32_t most)
{
	uint32_t newest = most < PROTOCOL_MOST ? most : PROTOCOL_MOST;

	return newest >= least && newest >= PROTOCOL_LEAST ? newest : 0;
}

/*
 * The ranges and defaults of what a service declares about its queue
 *
 * A service checks its own table against these ranges when it starts; the broker checks topology.conf.
 */

enum {
	/* The number of failures that make a message a dead letter. */
	QUEUE_FAILURES_LEAST = 1,
	QUEUE_FAILURES_MOST = 1000,
	QUEUE_FAILURES_USUAL = 5,
	/*
	 * How long a message is leased to one session, in milliseconds. A service renews after a quarter of
	 * it, so any pause would lose a shorter lease.
	 */
	QUEUE_LEASE_MS_LEAST = 100,
	QUEUE_LEASE_MS_MOST = 24 * 60 * 60 * 1000,
	QUEUE_LEASE_MS_USUAL = 30 * 1000,
};

#endif
