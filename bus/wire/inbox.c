/*
 * inbox.c: receives from several sockets, and sleeps when all of them are empty
 *
 * Promises:  no sleep while an inbox holds something. ZeroMQ clears the descriptor whenever it handles the
 *            socket's commands, sending included: after that the inbox is `unsure`, and ZeroMQ is asked
 *            before the thread sleeps.
 * Fails by:  negative errno.
 */
#include "bus/wire/inbox.h"
#include <errno.h>
#include <time.h>

enum { US = 1000000, NS_PER_US = 1000 };

int inbox_set(struct inbox *inbox, void *socket)
{
	size_t size = sizeof(inbox->fd);

	*inbox = (struct inbox){ .socket = socket, .fd = -1, .unsure = true };
	return zmq_getsockopt(socket, ZMQ_FD, &inbox->fd, &size) < 0 ? -zmq_errno() : 0;
}

int inbox_receive(struct inbox *inbox, zmq_msg_t *ret_message)
{
	if (!inbox->unsure)
		return -EAGAIN; /* inboxes_wait knows it; ZeroMQ would ask the kernel, with two system calls */
	if (zmq_msg_recv(ret_message, inbox->socket, ZMQ_DONTWAIT) >= 0) {
		inbox->unsure = true;
		return 0;
	}
	if (zmq_errno() == EAGAIN)
		inbox->unsure = false;
	return zmq_errno() == EINTR ? -EAGAIN : -zmq_errno();
}

void inbox_sent(struct inbox *inbox)
{
	inbox->unsure = true;
}

void inbox_emptied(struct inbox *inbox)
{
	inbox->unsure = false;
}

static bool has_something(struct inbox *inbox)
{
	int events = 0;
	size_t size = sizeof(events);

	if (!inbox->unsure)
		return false;
	if (zmq_getsockopt(inbox->socket, ZMQ_EVENTS, &events, &size) < 0)
		return true; /* the receive that follows returns the error */
	return inbox->unsure = (events & ZMQ_POLLIN) != 0;
}

int inboxes_wait(struct inbox *const *inboxes, size_t count, struct pollfd *polled, size_t all, int64_t timeout_us)
{
	struct timespec timeout = { .tv_sec = timeout_us / US, .tv_nsec = timeout_us % US * NS_PER_US };
	int ready = 0, r;

	for (size_t i = 0; i < count; i++) {
		polled[i] = (struct pollfd){ .fd = inboxes[i]->fd, .events = POLLIN };
		ready += has_something(inboxes[i]);
	}
	if (ready > 0)
		timeout = (struct timespec){ 0 };
	r = ppoll(polled, all, ready == 0 && timeout_us < 0 ? NULL : &timeout, NULL);
	if (r < 0)
		return -errno;
	for (size_t i = 0; i < count; i++)
		inboxes[i]->unsure = inboxes[i]->unsure || polled[i].revents != 0;
	return ready + r;
}
