/*
 * blob_uses.h: the stores of blobs that one process writes, one for each of its uses and each shop
 *
 * A use says what the contents are for ("forms"), how large one may be and how long it is kept. The process registers its uses at
 * the start, begins a blob with blob_uses_begin, and goes on with blob_add and blob_commit (bus/store/blob/blob.h).
 */
#ifndef KIT_BLOBS_BLOB_USES_H
#define KIT_BLOBS_BLOB_USES_H

#include "bus/actor/runtime/runtime.h"
#include "bus/base/config.h"
#include "services/kit/blobs/blob_places.h"

struct blob_use {
	const char *name;    /* letters a to z and '-', unique in its process: a folder is called so */
	uint64_t blob_bytes; /* of one blob at most */
	int64_t kept_us;     /* how long a message keeps its blob at least; 0: for ever */
};

struct blob_uses_settings {
	const char *root;    /* blob_places_root */
	const char *process; /* "mailin" */
	uint64_t shop_bytes; /* of one use and shop at most, with what is being written; 0: no limit */
	uint64_t kept_free;  /* bytes of the file system that stay free; 0: none */
	const struct clock *clock;
};

struct blob_uses;

/* How long the log keeps a message of this topic, by the configuration; 0: for ever. */
int64_t blob_message_kept_us(const struct config *config, const struct topic *topic);

struct blob_uses *blob_uses_new(const struct blob_uses_settings *settings); /* the strings are copied */
void blob_uses_free(struct blob_uses *uses);                                /* after all writers. Takes NULL */
/*
 * Opens what it has already, of every shop. `message_kept_us` says how long the log keeps a message that names such a blob; 0: for
 * ever. The blob is kept as long as its use says, and a day longer than its message at least, so that the log does not name
 * what is gone. `use` is borrowed. -EBUSY: another process has it.
 */
int blob_uses_add(struct blob_uses *uses, const struct blob_use *use, int64_t message_kept_us);
/* -EDQUOT, -ENOSPC, -EFBIG come from blob_add. -EINVAL: `use` was not added. Call blob_uses_refuse when a blob could not be taken. */
int blob_uses_begin(struct blob_uses *uses, const struct blob_use *use, const char *shop, struct blob_writer **ret);
/* blob_commit. *ret_is_new: the owner had no reference to this content before, so no message of this owner's was said that names it. */
int blob_uses_commit(struct blob_uses *uses, const struct blob_use *use, const char *shop, struct blob_writer **writer,
	const char *owner, char ret_name[BLOB_NAME_SIZE], bool *ret_is_new);
/* The reference of a message that will not be said, and was not said before: one that is new. Others that name the blob keep it. */
int blob_uses_release(
	struct blob_uses *uses, const struct blob_use *use, const char *shop, const char *name, const char *owner);
void blob_uses_refuse(struct blob_uses *uses); /* counts it */

/* Ages a part of each store when it is time to. Returns after how many boot microseconds to be called again, -1: when a store is there; *ret: 0, or what failed. */
int64_t blob_uses_look(struct blob_uses *uses, int *ret);
/* blobs, blob_bytes, blob_age_s (of the oldest), blobs_refused, blobs_aged: of all stores together. */
void blob_uses_tell(const struct blob_uses *uses, struct metrics_sink *told);

#endif
