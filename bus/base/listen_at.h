/* listen_at.h: a TCP socket at an address of this machine, and what keeps it able to turn clients away */
#ifndef BASE_LISTEN_AT_H
#define BASE_LISTEN_AT_H

#include <stdbool.h>

/*
 * A socket that does not block and listens at `host`, an IP address, and `port`. `backlog` 0: it takes the address and does not listen;
 * port "0": any that is free. A negative errno: -EADDRNOTAVAIL, -EAFNOSUPPORT: this machine has no such address; -EINVAL: it is none.
 */
int listen_at(const char *host, const char *port, int backlog);

/*
 * One descriptor that is kept free, to turn away a client when no other descriptor is left
 *
 * Without it that client would wait in the listening socket's queue, which stays readable, and its server would turn without end.
 */

struct spare {
	int fd; /* -1: it is not there */
};

void spare_keep(struct spare *spare); /* takes it, if it is not there and one is free. Before the first time: fd = -1 */
/* Sets it free: the next accept() may use it. spare_keep follows, after that client's descriptor is closed. false: there is none. */
bool spare_lend(struct spare *spare);

#endif
