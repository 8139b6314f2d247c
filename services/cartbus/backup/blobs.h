/* blobs.h: does each blob that a message names lie where it belongs? */
#ifndef CARTBUS_BACKUP_BLOBS_H
#define CARTBUS_BACKUP_BLOBS_H

#include "services/cartbus/core/reading.h"

/* Tells each blob of the decoded message that cannot be opened, with a negative errno; returns how many these are. */
typedef void blobs_missing_fn(const char *name, int r, void *context);
int blobs_look_for(const char *root, const struct topic *topic, const char *shop, const void *message,
	blobs_missing_fn *tell, void *context);

#endif
