/*
 * zmq_link.h: the real link of a process to its broker, over ZeroMQ, and its handshake
 *
 * PUSH to the broker's ingress, PULL from the private mailbox of the session, DEALER for control; all connect, the broker binds.
 */
#ifndef WIRE_ZMQ_LINK_H
#define WIRE_ZMQ_LINK_H

#include "bus/wire/broker_endpoint.h"
#include "bus/wire/link.h"
#include <poll.h>
#include <stdint.h>

/*
 * -EINVAL: the name of the run folder is too long for a socket, or the host's is none; nothing else fails: it connects later.
 * `broker` is copied, with its keys.
 */
int zmq_link_new(const struct broker_endpoint *broker, struct link **ret);

/*
 * Waits until the link has something to hear, one of the other descriptors is ready (their revents say so), or timeout_us is over
 * (-1: never). -EINTR: a signal came.
 */
int zmq_link_wait(struct link *link, struct pollfd *others, size_t count, int64_t timeout_us);

/*
 * Did the other end of a socket that connects let it in?
 *
 * libzmq tries again for ever and says nothing; only a socket's monitor tells that it was refused and not merely that nobody is there.
 */

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

/* Tries to connect once, with this endpoint's key. 0: let in; -EACCES: the key is not known there; -ETIMEDOUT: no answer, or none of that broker's. */
int handshake_try(const struct broker_endpoint *broker, int64_t patience_us);

#endif
