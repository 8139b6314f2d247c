/*
 * inbox.h: a socket that is heard, and how to wait for several of them; for hub.c and zmq_link.c
 *
 * zmq_poll asks every socket three times over whether it has something, each time with two system calls. A socket has a descriptor
 * that becomes readable when something was done to it; a caller that hears a socket until it is empty may sleep on that alone.
 */
#ifndef WIRE_INBOX_H
#define WIRE_INBOX_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

struct inbox {
	void *socket; /* borrowed; NULL: there is none */
	int fd;
	bool unsure; /* it may hold something of which the descriptor tells no longer */
};

int inbox_set(struct inbox *inbox, void *socket); /* a negative errno: it shows no descriptor */
/* One part. -EAGAIN: inboxes_wait found none; it has to be called again before a part that came later is received. */
int inbox_receive(struct inbox *inbox, zmq_msg_t *ret_message);
void inbox_sent(struct inbox *inbox);    /* something was sent on its socket, or done to it */
void inbox_emptied(struct inbox *inbox); /* its socket was heard without inbox_receive, until it had nothing more */

/*
 * Until one of `inboxes` has something or one of the other descriptors is ready, or timeout_us is over (-1: never): how many, at
 * least; 0 also when it was nothing after all. -EINTR: a signal came. The first `count` of `polled` are for the inboxes, the caller
 * fills the rest up to `all`.
 */
int inboxes_wait(struct inbox *const *inboxes, size_t count, struct pollfd *polled, size_t all, int64_t timeout_us);

#endif
