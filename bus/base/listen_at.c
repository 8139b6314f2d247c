/* listen_at.c: a TCP socket at an address of this machine, and the spare descriptor of a server */
#include "bus/base/listen_at.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

static int listen_to(const struct addrinfo *address, int backlog)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int yes = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, address->ai_addr, address->ai_addrlen) < 0 || (backlog && listen(fd, backlog) < 0)) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}

int listen_at(const char *host, const char *port, int backlog)
{
	const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_PASSIVE };
	struct addrinfo *address = NULL;
	int fd;

	if (getaddrinfo(host, port, &wanted, &address) != 0)
		return -EINVAL;
	fd = listen_to(address, backlog);
	freeaddrinfo(address);
	return fd;
}

void spare_keep(struct spare *spare)
{
	if (spare->fd < 0)
		spare->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool spare_lend(struct spare *spare)
{
	spare_keep(spare);
	if (spare->fd < 0)
		return false;
	close(spare->fd);
	spare->fd = -1;
	return true;
}
