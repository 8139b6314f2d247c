/*
 * inbox.h: a socket to receive from, and waiting for several of them; for hub.c and zmq_link.c
 *
 * zmq_poll asks every socket three times whether it has a message, each time with two system calls. A socket
 * has a descriptor that becomes readable when the socket changed. A caller that receives until the socket is
 * empty may wait on this descriptor alone.
 */
#ifndef WIRE_INBOX_H
#define WIRE_INBOX_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

struct inbox {
	void *socket; /* borrowed; NULL: none */
	int fd;
	bool unsure; /* it may have a message that the descriptor does not show */
};

int inbox_set(struct inbox *inbox, void *socket); /* a negative errno: the socket has no descriptor */
/*
 * Receives one part. -EAGAIN: inboxes_wait found none; call inboxes_wait again before a part that came later
 * can be received.
 */
int inbox_receive(struct inbox *inbox, zmq_msg_t *ret_message);
void inbox_sent(struct inbox *inbox);    /* to be called after a send on its socket or another change of it */
void inbox_emptied(struct inbox *inbox); /* to be called after its socket was emptied without inbox_receive */

/*
 * Waits until one of `inboxes` has a message, another descriptor is ready, or timeout_us (-1: no limit) is
 * over. Returns at least how many are ready; 0 also after a false alarm. -EINTR: a signal came. The first
 * `count` entries of `polled` are for the inboxes; the caller fills the rest up to `all`.
 */
int inboxes_wait(struct inbox *const *inboxes, size_t count, struct pollfd *polled, size_t all, int64_t timeout_us);

#endif
