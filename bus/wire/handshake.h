/*
 * handshake.h: did the other end of a socket that connects let it in?
 *
 * libzmq tries again for ever and says nothing; only a socket's monitor tells that it was refused and not merely that nobody is there.
 */
#ifndef WIRE_HANDSHAKE_H
#define WIRE_HANDSHAKE_H

#include "bus/wire/reach.h"

enum handshake {
	HANDSHAKE_NONE,   /* nothing was heard yet */
	HANDSHAKE_LET_IN, /* what was heard last */
	HANDSHAKE_REFUSED /* our key is not known there */
};

/* The end at which `socket` is watched from now on; before it connects. NULL: ZeroMQ gives none. */
void *handshake_watch(void *zmq_context, void *socket);
/* What `known` has become; reads all that has come. Often enough: what was not read takes memory. */
enum handshake handshake_hear(void *watching, enum handshake known);
void handshake_unwatch(void *socket, void *watching); /* before the socket is closed; `watching` may be NULL */

/* Knocks once, with this reach's key. 0: let in; -EACCES: the key is not known there; -ETIMEDOUT: no answer, or none of that broker's. */
int handshake_try(const struct reach *reach, int64_t patience_us);

#endif
