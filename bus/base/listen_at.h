/* listen_at.h: a TCP socket at an address of this machine */
#ifndef BASE_LISTEN_AT_H
#define BASE_LISTEN_AT_H

/*
 * A socket that does not block and listens at `host`, an IP address, and `port`. `backlog` 0: it takes the address and does not listen;
 * port "0": any that is free. A negative errno: -EADDRNOTAVAIL, -EAFNOSUPPORT: this machine has no such address; -EINVAL: it is none.
 */
int listen_at(const char *host, const char *port, int backlog);

#endif
