/*
 * mask.h: what of a topic's messages may be seen without the right to see them in clear
 *
 * Of strings and bytes only what is listed is shown, all others are masked in their place; numbers are shown. A list comes from the
 * message's descriptor and the services' word for what is harmless (topic.h), by way of topology.conf:
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

/* Several paths with blanks between. -EINVAL: that is none; -ENOSPC: too many. One that is there already is no error. */
int mask_add(struct mask *mask, const char *paths);
/* In place, the length stays. -EBADMSG: it is no message; what is left then may be half masked, and must not be shown. */
int mask_payload(const struct mask *mask, void *payload, size_t len);

/* One path to a string ("1/1"), and that string in a message, borrowed from it; empty: it has none there. */
int mask_path(const char *word, uint32_t *ret);
struct bytes mask_find(struct bytes payload, uint32_t path);

#endif
