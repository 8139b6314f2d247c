/*
 * mask.h: the parts of a topic's messages that are shown without the right to see them in clear
 *
 * Only listed strings and bytes are shown; all others are masked in place. Numbers are shown. A list comes
 * from the message's descriptor and the services' declaration of harmless fields (topic.h), by way of
 * topology.conf:
 *
 *     [topic reminder.due]
 *     shown = 1/ 1/1/ 1/1/1 1/12       (messages to look into, and strings, by their field numbers)
 */
#ifndef BROKER_ADMIN_MASK_H
#define BROKER_ADMIN_MASK_H

#include "bus/base/bytes.h"

enum { MASK_PATHS_MAX = 64 };

struct mask {
	uint32_t shown[MASK_PATHS_MAX]; /* a byte per level, the outermost first */
	uint32_t inside[MASK_PATHS_MAX];
	int shown_count, inside_count;
};

/*
 * Adds several paths with blanks between. -EINVAL: one is no path. -ENOSPC: too many. Adding a path twice is
 * no error.
 */
int mask_add(struct mask *mask, const char *paths);
/*
 * Masks the payload in place; its length stays. -EBADMSG: it is malformed and may be half masked, so it must
 * not be shown.
 */
int mask_payload(const struct mask *mask, void *payload, size_t len);

/*
 * mask_path reads one path to a string ("1/1"). mask_find gives that string of a message, borrowed from it;
 * empty: the message does not have it.
 */
int mask_path(const char *word, uint32_t *ret);
struct bytes mask_find(struct bytes payload, uint32_t path);

#endif
