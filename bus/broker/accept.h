/*
 * accept.h: decides which connections the broker accepts, before a byte of them is read
 *
 * libzmq accepts connections by itself, has no limits, and aborts when descriptors run out (4.3.4, over ipc).
 * So the program has its own accept(), which libzmq calls instead of the C library's. It counts connections
 * per peer and turns away those that are too many.
 */
#ifndef BROKER_ACCEPT_H
#define BROKER_ACCEPT_H

#include "bus/base/sources.h"

struct accept_limits {
	uint32_t tcp, ipc;    /* connections in all */
	uint32_t network;     /* over TCP: connections of one network, an IPv4 address or a /64 of IPv6 ... */
	uint32_t unproven;    /* ... of all peers that have not shown a key yet ... */
	uint32_t unproven_of; /* ... and of such peers of one network */
	uint32_t user;        /* over ipc: of one user, except root and the broker's own user */
};

struct accept_counts {
	uint64_t turned_away; /* since the start */
	uint32_t open, unproven;
	uint32_t descriptors; /* the process's limit of descriptors */
};

/*
 * Raises the soft limit of descriptors as far as the hard limit allows and the broker can use. Returns the
 * new limit.
 */
uint32_t accept_raise_descriptors(void);
struct accept_limits accept_limits_for(uint32_t descriptors);
/* Applies the limits to the whole process from now on. To be called before any socket listens. */
void accept_begin(const struct accept_limits *limits);
struct accept_counts accept_count(void);
/* Takes the next refused peer to log, and where it connected: "tcp" or "ipc". false: none. */
bool accept_take(struct source_turned_away *ret, const char **ret_place);

#endif
