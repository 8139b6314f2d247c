/*
 * zmq_link.h: the real link of a process to its broker, over ZeroMQ, and its handshake
 *
 * PUSH to the broker's ingress, PULL from the private mailbox of the session, DEALER for control; all these
 * sockets connect; the broker binds.
 */
#ifndef WIRE_ZMQ_LINK_H
#define WIRE_ZMQ_LINK_H

#include "bus/wire/broker_endpoint.h"
#include "bus/wire/link.h"
#include <poll.h>
#include <stdint.h>

/*
 * -EINVAL: the name of the run folder is too long for a socket, or the host is invalid. Nothing else fails,
 * because the link connects later. `broker` is copied, with its keys.
 */
int zmq_link_new(const struct broker_endpoint *broker, struct link **ret);

/*
 * Waits until the link has a message, another descriptor is ready (see its revents), or timeout_us (-1: no
 * limit) is over. -EINTR: a signal came.
 */
int zmq_link_wait(struct link *link, struct pollfd *others, size_t count, int64_t timeout_us);

/*
 * Did the other end admit a connecting socket?
 *
 * libzmq tries again for ever and reports nothing. Only a socket's monitor tells a refusal from a peer that
 * is not there.
 */

enum handshake {
	HANDSHAKE_NONE,   /* nothing is known yet */
	HANDSHAKE_LET_IN, /* the last event was an admission */
	HANDSHAKE_REFUSED /* the other end does not know our key */
};

/*
 * Watches `socket` from now on and returns the watching socket; to be called before `socket` connects. NULL:
 * ZeroMQ cannot make one.
 */
void *handshake_watch(void *zmq_context, void *socket);
/*
 * Reads all waiting events and returns the new state; `known` is the previous one. It must be called often,
 * because unread events take memory.
 */
enum handshake handshake_hear(void *watching, enum handshake known);
void handshake_unwatch(void *socket, void *watching); /* before the socket is closed; `watching` may be NULL */

/*
 * Tries one handshake with this endpoint's key. 0: admitted. -EACCES: the broker does not know the key.
 * -ETIMEDOUT: no answer, or none from a broker with the expected key.
 */
int handshake_try(const struct broker_endpoint *broker, int64_t patience_us);

#endif
