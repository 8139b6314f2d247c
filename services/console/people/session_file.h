/* session_file.h: the file of the sessions: JSON lines, which may be lost at any time */
#ifndef CONSOLE_PEOPLE_SESSION_FILE_H
#define CONSOLE_PEOPLE_SESSION_FILE_H

#include "services/console/people/session.h"

enum { SESSION_HASH_LEN = 32 };

struct session_row {
	struct session session;
	uint8_t hash[SESSION_HASH_LEN]; /* of the id */
	int64_t version;                /* the person's when it was started */
};

/*
 * Calls each() for each session of the file. 0, also for a missing file; -EBADMSG: a line is wrong; then each() may have
 * been called for those before it. ret_why tells the place.
 */
typedef void session_row_fn(const struct session_row *row, void *context);
int session_file_read(const char *path, session_row_fn *each, void *context, char ret_why[PEOPLE_WHY]);

void session_file_begin(struct buffer *ret);
void session_file_add(struct buffer *ret, const struct session_row *row);

#endif
