/*
 * notify.c: the protocol of sd_notify: datagrams of "KEY=VALUE" lines
 */
#include "services/cartbus/up/notify.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int notify_open(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, yes = 1, failed;

	if (!TEXT_COPY(address.sun_path, path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0)
		return fd;
	failed = -errno;
	close(fd);
	return failed;
}

static pid_t sayer_of(struct msghdr *message)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		struct ucred who;

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&who, CMSG_DATA(part), sizeof(who));
		return who.pid;
	}
	return 0;
}

void notify_hear(int fd, void (*ready)(void *context, pid_t pid), void *context)
{
	char text[1024], control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec into = { .iov_base = text, .iov_len = sizeof(text) - 1 };
	ssize_t got;

	for (;;) {
		struct msghdr message = {
			.msg_iov = &into, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
		};

		got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (got < 0)
			return;
		text[got] = '\0';
		if (text_starts(text, "READY=1") || strstr(text, "\nREADY=1"))
			ready(context, sayer_of(&message));
	}
}
