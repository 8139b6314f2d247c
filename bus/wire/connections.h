/*
 * connections.h: reports connections that ZeroMQ ends silently, and cuts connections that ZeroMQ would keep
 *
 * Bytes that are no handshake, and messages above a socket's maximum size, never reach the socket's owner:
 * ZeroMQ drops the connection. It reports by descriptor that a connection began or ended, without a reason.
 * This file finds out what else can be known.
 */
#ifndef WIRE_CONNECTIONS_H
#define WIRE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct connections;

struct ended_connection {
	const char *place; /* the socket's name, as given to connections_watch */
	/* "uid:1000" or an address; empty: the connection ended before it could be examined */
	char who[64];
	const char *why; /* the reason in words */
};

struct connections *connections_new(void *zmq_context);
/* To be called before the socket binds; `place` is borrowed. 0 or a negative errno. */
int connections_watch(struct connections *connections, void *socket, const char *place);
/* to be called after all sockets are watched; 0 or a negative errno */
int connections_start(struct connections *connections);
/* Takes the next ended connection; false: none. At most 256 are kept. */
bool connections_take(struct connections *connections, struct ended_connection *ret);
void connections_stop(struct connections *connections); /* before the sockets are closed */
void connections_free(struct connections *connections); /* after the context's end; takes NULL */

/*
 * Ends connections that ZeroMQ would keep, because it asks only once whether a peer may connect, and cannot
 * close one peer's connection
 *
 * Over TCP a connection is known only by its address (ZAP tells no more). So all connections of an address
 * are cut. A peer that is still allowed reconnects within a moment; the gate refuses the others.
 */

/* Must a connection from this address (as getnameinfo writes it) be cut? */
typedef bool cut_fn(void *context, const char *address);

/* Cuts TCP connections to the `count` local ports from `port` on. Returns how many were cut. */
size_t cut_connections(int port, int count, cut_fn *is_to_go, void *context);

#endif
