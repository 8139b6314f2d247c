/*
 * reject.h: authentic webhooks that will never be readable, kept for people to look into
 */
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
 * Writes <folder>/<at_us>-<random>.rejected: a few "name: value" lines, an empty line, the body as it came. Mode 0600; the
 * oldest make room, so that never more than REJECTS_MOST files and REJECTS_BYTES_MOST bytes lie there. ret_name: its name.
 */
int reject_keep(const char *folder, const struct rejection *rejection, char ret_name[64]);

#endif
