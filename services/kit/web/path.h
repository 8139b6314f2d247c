/* path.h: fits the path of a request to a pattern such as "/s/<shop>/carts/<cart>" */
#ifndef KIT_WEB_PATH_H
#define KIT_WEB_PATH_H

#include "bus/base/bytes.h"

/* Takes the segment of the path that stands for `name` ("<shop>", with its brackets). false: it does not fit. */
typedef bool path_take_fn(struct bytes name, struct bytes segment, void *context);

/*
 * Compares segment by segment; a segment of the pattern in angle brackets fits what `take` accepts. An escape (%2F) is never decoded, so
 * it never makes a segment.
 */
bool path_fits(const char *pattern, const char *path, path_take_fn *take, void *context);

#endif
