/*
 * accept.h: whose connections the broker accepts, before a byte of them is read
 *
 * libzmq accepts by itself, bounds nothing, and aborts when descriptors run out (4.3.4, over ipc). So the program has an accept() of
 * its own, which libzmq calls in place of the C library's: it counts connections per peer and turns away those that are too many.
 */
#ifndef BROKER_ACCEPT_H
#define BROKER_ACCEPT_H

#include "bus/base/sources.h"

struct accept_limits {
	uint32_t tcp, ipc;    /* connections in all */
	uint32_t network;     /* over TCP: of one network, an IPv4 address or a /64 of IPv6 ... */
	uint32_t unproven;    /* ... of all that have not shown a key yet ... */
	uint32_t unproven_of; /* ... and of those of one network */
	uint32_t user;        /* over ipc: of one user other than root and the broker's own */
};

struct accept_counts {
	uint64_t turned_away; /* since the start */
	uint32_t open, unproven;
	uint32_t descriptors; /* what the process may have */
};

/* Raises the soft limit of descriptors as far as the hard one goes and it is of use. What it is then. */
uint32_t accept_raise_descriptors(void);
struct accept_limits accept_limits_for(uint32_t descriptors);
/* From now on, for the whole process. Before anything listens. */
void accept_begin(const struct accept_limits *limits);
struct accept_counts accept_count(void);
/* The next peer to tell of, and where it came: "tcp", "ipc". false: none. */
bool accept_take(struct source_turned_away *ret, const char **ret_place);

#endif
