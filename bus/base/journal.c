/*
 * journal.c: one datagram to the journal
 *
 * Promises:  waits for nobody. A datagram is at most a line of the log and a handful of names, so it never takes the detour over a
 *            sealed file that large ones need.
 * Fails by:  the answer.
 */
#include "bus/base/journal.h"
#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

bool journal_reads_stderr(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat status;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &status) == 0 &&
		status.st_dev == device && status.st_ino == inode;
}

int journal_open(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* not connected: the journal may be started anew */

	return fd < 0 ? -errno : fd;
}

int journal_send(int fd, const char *socket_path, const struct journal_field *fields, size_t count)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_(buffer_free) struct buffer lines = { 0 };

	if (strlen(socket_path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, socket_path, strlen(socket_path));
	for (size_t i = 0; i < count; i++)
		if (fields[i].value && *fields[i].value)
			buffer_printf(&lines, "%s=%s\n", fields[i].name, fields[i].value);
	if (sendto(fd, lines.data, lines.len, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address,
		    (socklen_t)sizeof(address)) < 0)
		return -errno;
	return 0;
}
