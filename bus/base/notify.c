/*
 * notify.c: one datagram to the socket that $NOTIFY_SOCKET names; see sd_notify(3)
 */
#include "bus/base/notify.h"
#include "bus/base/cleanup.h"
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

void notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -1;
	size_t len = path ? strlen(path) : 0;

	if (len == 0 || len >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, len + 1);
	if (address.sun_path[0] == '@')
		address.sun_path[0] = '\0'; /* an abstract address */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		(void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
}
