/*
 * transport_smtp_probe.c: does the mail server let us in?
 *
 * Promises: the same connection that mails go over, and no mail.
 * Fails by: a negative errno, when libcurl's deadline is over at the latest.
 */
#include "services/kit/mail/transport_smtp.h"

#include "bus/base/cleanup.h"
#include <errno.h>
#include <sys/epoll.h>

enum { LOOK_MS = 100 };

int smtp_probe(const struct smtp_settings *settings, char ret_why[256])
{
	_cleanup_close_ int epoll = epoll_create1(EPOLL_CLOEXEC);
	int opened = 0;

	if (epoll < 0)
		return -errno;
	struct smtp_connection *connection = smtp_connection_new(settings, epoll);
	while (opened == 0) {
		struct epoll_event event = { .data.fd = CURL_SOCKET_BAD };
		int count = epoll_wait(epoll, &event, 1, LOOK_MS);

		opened = smtp_connection_opening(connection, event.data.fd, count > 0 ? event.events : 0, ret_why);
	}
	if (opened > 0)
		smtp_connection_leave(connection);
	else
		smtp_connection_free(connection);
	return opened > 0 ? 0 : opened;
}
