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
	const char *name;    /* letters a to z and '-', unique in its process; its folder has this name */
	uint64_t blob_bytes; /* of one blob at most */
	int64_t kept_us;     /* how long a message keeps its blob at least; 0: for ever */
};

struct blob_uses_settings {
	const char *root;    /* blob_places_root */
	const char *process; /* "mailin" */
	uint64_t shop_bytes; /* at most for one use and shop, including open writers; 0: no limit */
	uint64_t kept_free;  /* bytes of the file system that must stay free; 0: none */
	const struct clock *clock;
};

struct blob_uses;

/* How long the log keeps a message of this topic, by the configuration; 0: for ever. */
int64_t blob_message_kept_us(const struct config *config, const struct topic *topic);

struct blob_uses *blob_uses_new(const struct blob_uses_settings *settings); /* the strings are copied */
/* to be called after all writers are freed; takes NULL */
void blob_uses_free(struct blob_uses *uses);
/*
 * Opens the existing stores of this use, of every shop. `message_kept_us` is how long the log keeps a message
 * that names such a blob; 0: for ever. The blob is kept as long as its use says, and at least a day longer
 * than its message, so that the log never names a missing blob. `use` is borrowed. -EBUSY: another process
 * has a store open.
 */
int blob_uses_add(struct blob_uses *uses, const struct blob_use *use, int64_t message_kept_us);
/*
 * Begins a blob. -EINVAL: `use` was not added. blob_add later returns -EDQUOT, -ENOSPC or -EFBIG. Call
 * blob_uses_refuse if a blob could not be taken.
 */
int blob_uses_begin(struct blob_uses *uses, const struct blob_use *use, const char *shop, struct blob_writer **ret);
/*
 * Calls blob_commit. *ret_is_new: the owner had no reference to this content before, so no message of this
 * owner that names it was said.
 */
int blob_uses_commit(struct blob_uses *uses, const struct blob_use *use, const char *shop, struct blob_writer **writer,
	const char *owner, char ret_name[BLOB_NAME_SIZE], bool *ret_is_new);
/*
 * Releases the reference of a message that will not be said and was not said before; only for a reference that
 * is new. Other owners keep theirs.
 */
int blob_uses_release(
	struct blob_uses *uses, const struct blob_use *use, const char *shop, const char *name, const char *owner);
void blob_uses_refuse(struct blob_uses *uses); /* counts a refused blob */

/*
 * Runs blob_tend on a part of each store when it is due. Returns after how many microseconds of boot time to
 * call again; -1: not before a store exists. *ret: 0, or the errno that failed.
 */
int64_t blob_uses_look(struct blob_uses *uses, int *ret);
/*
 * Reports blobs, blob_bytes, blob_age_s (of the oldest), blobs_refused, blobs_refused_us (the wall time of the last
 * refusal) and blobs_aged, of all stores together.
 */
void blob_uses_tell(const struct blob_uses *uses, struct metrics_sink *told);

#endif
