/*
 * peer.h: what the bench of the bus asks of a system, so that all of them do the same work
 *
 * One producer, whose messages are confirmed in the order they were published, and consumers that acknowledge each message by
 * itself. Everything is pipelined: publish only gathers, confirmed sends. What cannot go on ends the process (die).
 */
#ifndef TESTS_BENCH_BUS_PEER_H
#define TESTS_BENCH_BUS_PEER_H

#include "bus/base/bytes.h"
#include <stdint.h>

enum { UNCONFIRMED_MOST = 256, UNACKNOWLEDGED_MOST = 256 };

struct load {
	const char *address; /* a port on loopback; of cartbus its configuration */
	uint64_t bytes;      /* of a message, without what the system adds to it */
	uint64_t keys;       /* cartbus alone keeps an order per key */
};

struct peer {
	const char *name;
	void *(*open_producer)(const struct load *load);
	void (*publish)(void *producer, uint64_t nth, struct bytes body);
	/* Sends what is gathered, waits for a confirm up to `wait_us`; how many came. */
	uint64_t (*confirmed)(void *producer, int64_t wait_us);
	void *(*open_consumer)(const struct load *load);
	/* Waits for a message up to `wait_us`, acknowledges what came; how many. */
	uint64_t (*consumed)(void *consumer, int64_t wait_us);
	void (*close_consumer)(void *consumer); /* NULL: its end is goodbye enough */
};

extern const struct peer peer_cartbus, peer_redis, peer_nats, peer_rabbitmq, peer_beanstalkd;

#endif
