/*
 * journal.h: an event with fields, to systemd's journal
 *
 * Its native protocol, which is documented and stable (systemd.io/JOURNAL_NATIVE_PROTOCOL): one datagram of NAME=value lines. libsystemd would
 * do it too; it brings five libraries and 0.7 MB into each of a dozen processes, so as notify.h does, we say these lines ourselves.
 */
#ifndef BASE_JOURNAL_H
#define BASE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#define JOURNAL_SOCKET "/run/systemd/journal/socket"

/* Is what is written to stderr read by the journal itself? JOURNAL_STREAM says so, if it is still that stderr (sd_journal_stream_fd(3)). */
bool journal_reads_stderr(void);

struct journal_field {
	const char *name, *value; /* one line, without control characters; NULL or "": left out */
};

int journal_open(void); /* a socket to say it on, for good; -errno */
/* Never waits: -EAGAIN when the journal does not keep up, and any other -errno when it is not there. */
int journal_send(int fd, const char *socket_path, const struct journal_field *fields, size_t count);

#endif
