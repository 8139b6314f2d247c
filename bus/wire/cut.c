/*
 * cut.c: ends TCP connections of this process by their descriptors
 *
 * Promises:  only connections to the given ports are touched, and only shut down: the thread of ZeroMQ's that owns the descriptor
 *            finds it ended, as when the other end had hung up, and closes it.
 * Fails by:  cutting too much: a descriptor that is closed and used anew in this very moment is that of a newcomer at the same
 *            ports, who comes again. On what is no socket shutdown() does nothing.
 */
#include "bus/wire/cut.h"
#include <dirent.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { ADDRESS_LEN = 64 };

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int port_of(const union address *address)
{
	switch (address->any.sa_family) {
	case AF_INET:
		return ntohs(address->v4.sin_port);
	case AF_INET6:
		return ntohs(address->v6.sin6_port);
	default:
		return -1;
	}
}

/* false: no connection of these ports */
static bool peer_of(int fd, int port, int count, char ret[ADDRESS_LEN])
{
	union address here, there;
	socklen_t here_len = sizeof(here), there_len = sizeof(there);

	if (getsockname(fd, &here.any, &here_len) < 0 || port_of(&here) < port || port_of(&here) >= port + count)
		return false;
	return getpeername(fd, &there.any, &there_len) == 0 &&
		getnameinfo(&there.any, there_len, ret, ADDRESS_LEN, NULL, 0, NI_NUMERICHOST) == 0;
}

/* Ended at both ends already: by an earlier cut, of another descriptor of the same connection. */
static bool is_over(int fd)
{
	struct pollfd polled = { .fd = fd };

	return poll(&polled, 1, 0) == 1 && (polled.revents & POLLHUP);
}

size_t cut_connections(int port, int count, cut_fn *is_to_go, void *context)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	size_t cut = 0;

	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		char address[ADDRESS_LEN];
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (!peer_of(fd, port, count, address) || is_over(fd) || !is_to_go(context, address))
			continue;
		cut += shutdown(fd, SHUT_RDWR) == 0;
	}
	closedir(folder);
	return cut;
}
