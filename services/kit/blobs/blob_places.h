/*
 * blob_places.h: where the blobs of an installation are stored, and which messages own them
 *
 * Each process that receives large contents keeps a store (bus/store/blob/blob.h) for each of its uses and
 * each shop:
 *
 *     [paths] state/blobs/PROCESS/USE/SHOP      as /var/lib/cartbus/blobs/mailin/forms/demo; PROCESS is the instance
 *
 * So each shop has its own limit, each use its own age, and no blob is shared by two shops.
 *
 * Rights: the package makes state/blobs and state/blobs/PROCESS with the setgid bit and the group cartbus-blobs, and what lies
 *   below inherits both. The process writes as its own user. A unit that reads blobs has SupplementaryGroups=cartbus-blobs.
 * Errors: 0 or a negative errno; nothing is logged.
 */
#ifndef KIT_BLOBS_BLOB_PLACES_H
#define KIT_BLOBS_BLOB_PLACES_H

#include "bus/store/blob/blob.h"
#include <limits.h>

#define BLOBS_FOLDER "blobs"

struct blob_place { /* borrowed for the call */
	const char *path, *process, *use, *shop;
};

void blob_places_root(const char *state, char ret[PATH_MAX]); /* `state` is [paths] state */

/*
 * Calls each() for each store below `root`, in no order. A negative return ends the walk and is returned. 0
 * if the folder does not exist.
 */
typedef int blob_place_fn(void *context, const struct blob_place *place);
int blob_places_each(const char *root, blob_place_fn *each, void *context);

/*
 * The owner of a reference is the message that names the blob: its topic and its idempotency key, which every
 * message that names a blob must have. So a repeated message has one reference, and two messages have two.
 * -EINVAL: one is empty or too long.
 */
int blob_owner_text(const char *topic, const char *idem, char ret[BLOB_OWNER_MAX + 1]);

/* Opens the shop's blob of this name in the store of any process and use. -ENOENT: there is none. */
int blob_places_open(const char *root, const char *shop, const char *name, struct blob_reader **ret);
/*
 * Releases the owner's reference in every store of the shop; a blob without another reference is removed. A
 * call that was interrupted can be repeated. ret_removed counts the removed blobs, ret_kept those that
 * another message names.
 */
int blob_places_release(const char *root, const char *shop, const char *name, const char *owner, uint64_t *ret_removed,
	uint64_t *ret_kept);

#endif
