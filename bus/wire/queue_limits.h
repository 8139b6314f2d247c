/*
 * queue_limits.h: what a service may declare of its queue, and what holds where it declares nothing
 *
 * The service judges its own table by these ranges when it starts, the broker judges topology.conf by them.
 */
#ifndef WIRE_QUEUE_LIMITS_H
#define WIRE_QUEUE_LIMITS_H

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
