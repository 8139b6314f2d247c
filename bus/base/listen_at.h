/* listen_at.h: a listening TCP socket, and a spare descriptor to turn clients away */
#ifndef BASE_LISTEN_AT_H
#define BASE_LISTEN_AT_H

#include <stdbool.h>

/*
 * Makes a non-blocking socket that listens at `host`, an IP address, and `port` ("0": any free port).
 * `backlog` 0: it binds the address and does not listen. Returns the descriptor or a negative errno.
 * -EADDRNOTAVAIL, -EAFNOSUPPORT: this machine has no such address. -EINVAL: `host` is no address.
 */
int listen_at(const char *host, const char *port, int backlog);

/*
 * One spare descriptor, to turn away a client when no other descriptor is left
 *
 * Without it that client would stay in the listening socket's queue. The socket would stay readable, and the
 * server would loop without end.
 */

struct spare {
	int fd; /* -1: there is none */
};

/* opens the spare descriptor if it is missing and one is free; initialise fd = -1 before the first call */
void spare_keep(struct spare *spare);
/*
 * Closes the spare descriptor, so that the next accept() can use it. Call spare_keep after that client's
 * descriptor is closed. false: there is none.
 */
bool spare_lend(struct spare *spare);

#endif
