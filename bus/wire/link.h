/*
 * link.h: how a process reaches the broker, over any transport
 *
 * zmq_link.c is the real link (PUSH to the ingress, PULL from the private mailbox, DEALER for control).
 * memory_link.c of bus/actor ties a session to a broker in the same process. No function blocks: -EAGAIN
 * means that a message cannot be sent now, or that none has come. The credit is below the socket's mark, so
 * -EAGAIN from say() means that the peer is gone.
 */
#ifndef WIRE_LINK_H
#define WIRE_LINK_H

#include "bus/base/bytes.h"

struct link {
	int (*say)(struct link *link, struct bytes frame);          /* one frame to the broker's ingress */
	int (*control)(struct link *link, struct bytes message);    /* one Control to the broker */
	int (*hear_control)(struct link *link, struct buffer *ret); /* replaces the content of ret */
	/* connects to a new mailbox and closes the previous one */
	int (*open_mailbox)(struct link *link, const char *endpoint);
	int (*hear_mailbox)(struct link *link, struct buffer *ret); /* one frame */
	void (*close)(struct link *link);
	/* Why the broker does not admit us, in words. If it returns NULL, or is NULL, no reason is known. */
	const char *(*obstacle)(struct link *link);
	/* why the broker is not reached, in words; NULL: unknown */
	void (*why)(const struct link *link, char ret[256]);
};

#endif
