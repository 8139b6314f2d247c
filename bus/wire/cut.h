/*
 * cut.h: ends connections that ZeroMQ would keep: it asks once who may come, and cannot close one peer's connection
 *
 * Over TCP a connection's only mark is the address it comes from (ZAP tells no more). So all of an address go; who may still come
 * is back within a moment, and the gate refuses the others.
 */
#ifndef WIRE_CUT_H
#define WIRE_CUT_H

#include <stdbool.h>
#include <stddef.h>

/* Is a connection from this address (as getnameinfo writes it) to go? */
typedef bool cut_fn(void *context, const char *address);

/* Of those that were made to one of the `count` local ports from `port` on, over TCP. How many were cut. */
size_t cut_connections(int port, int count, cut_fn *is_to_go, void *context);

#endif
