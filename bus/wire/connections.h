/*
 * connections.h: what ZeroMQ ends by itself, without a word to the owner of the socket, and what it would not end: that is cut here
 *
 * Noise instead of a handshake, and messages above a socket's maximum, never become a message: ZeroMQ drops the connection. It tells of
 * connections that began and ended, by descriptor, and of no reason. What can be known from that is known here.
 */
#ifndef WIRE_CONNECTIONS_H
#define WIRE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct connections;

struct ended_connection {
	const char *place; /* of the socket */
	char who[64];      /* "uid:1000" or an address; empty: it was gone before anybody could look */
	const char *why;   /* in words */
};

struct connections *connections_new(void *zmq_context);
/* Before the socket binds; `place` is kept. A negative errno. */
int connections_watch(struct connections *connections, void *socket, const char *place);
int connections_start(struct connections *connections); /* all sockets that are watched are known; a negative errno */
/* The next that ended so; false: none. At most 256 wait to be taken. */
bool connections_take(struct connections *connections, struct ended_connection *ret);
void connections_stop(struct connections *connections); /* before the sockets are closed */
void connections_free(struct connections *connections); /* after the context's end; takes NULL */

/*
 * Ends connections that ZeroMQ would keep: it asks once who may come, and cannot close one peer's connection
 *
 * Over TCP a connection's only mark is the address it comes from (ZAP tells no more). So all of an address go; who may still come
 * is back within a moment, and the gate refuses the others.
 */

/* Is a connection from this address (as getnameinfo writes it) to go? */
typedef bool cut_fn(void *context, const char *address);

/* Of those that were made to one of the `count` local ports from `port` on, over TCP. How many were cut. */
size_t cut_connections(int port, int count, cut_fn *is_to_go, void *context);

#endif
