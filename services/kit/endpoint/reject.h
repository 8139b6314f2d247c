/* reject.h: keeps authentic webhooks that can never be read, for people to examine */
#ifndef KIT_ENDPOINT_REJECT_H
#define KIT_ENDPOINT_REJECT_H

#include "bus/base/bytes.h"
#include <stdint.h>

enum { REJECTS_MOST = 200, REJECTS_BYTES_MOST = 16 * 1024 * 1024 };

struct rejection {
	int64_t at_us;
	const char *shop, *platform, *topic, *webhook_id, *why;
	struct bytes body;
};

/*
 * Writes <folder>/<at_us>-<random>.rejected: a few "name: value" lines, an empty line, the body as it came.
 * Mode 0600; the oldest files are removed, so that there are never more than REJECTS_MOST files and
 * REJECTS_BYTES_MOST bytes. ret_name: the file's name. 0 or a negative errno.
 */
int reject_keep(const char *folder, const struct rejection *rejection, char ret_name[64]);

#endif
