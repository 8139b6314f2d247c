/*
 * link.h: how a process reaches the broker, without saying over what
 *
 * zmq_link.c is the real one (PUSH to the ingress, PULL from the private mailbox, DEALER for control); memory_link.c of bus/actor ties a
 * session to a broker in the same process. Nothing here blocks: what cannot be sent now answers -EAGAIN, what has not come
 * answers -EAGAIN. With credit below the socket's mark, -EAGAIN on say() means the peer is gone.
 */
#ifndef WIRE_LINK_H
#define WIRE_LINK_H

#include "bus/base/bytes.h"

struct link {
	int (*say)(struct link *link, struct bytes frame);            /* one frame to the broker's ingress */
	int (*control)(struct link *link, struct bytes message);      /* one Control to the broker */
	int (*hear_control)(struct link *link, struct buffer *ret);   /* replaces the content of ret */
	int (*open_mailbox)(struct link *link, const char *endpoint); /* a fresh mailbox; the one before is closed */
	int (*hear_mailbox)(struct link *link, struct buffer *ret);   /* one frame */
	void (*close)(struct link *link);
	/* Why the other end does not let us in, in words; it answers NULL, or is: nothing is known to be in the way. */
	const char *(*obstacle)(struct link *link);
	void (*why)(const struct link *link, char ret[256]); /* nobody is reached; NULL: nothing is known about that */
};

#endif
