/*
 * zmq_link.h: the real link of a process to its broker, over ZeroMQ
 *
 * PUSH to the broker's ingress, PULL from the private lane of the session, DEALER for control; all connect, the broker binds.
 */
#ifndef WIRE_ZMQ_LINK_H
#define WIRE_ZMQ_LINK_H

#include "bus/wire/link.h"
#include "bus/wire/reach.h"
#include <poll.h>
#include <stdint.h>

/*
 * -EINVAL: the name of the run folder is too long for a socket, or the host's is none; nothing else fails: it connects later.
 * `reach` is copied, with its keys.
 */
int zmq_link_new(const struct reach *reach, struct link **ret);

/*
 * Waits until the link has something to hear, one of the other descriptors is ready (their revents say so), or timeout_us is over
 * (-1: never). -EINTR: a signal came.
 */
int zmq_link_wait(struct link *link, struct pollfd *others, size_t count, int64_t timeout_us);

#endif
