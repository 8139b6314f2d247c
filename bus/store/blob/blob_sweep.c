/*
 * blob_sweep.c: removes the blobs that nobody refers to, and the references that are too old
 *
 * Promises:  a blob with a reference stays, and so does one that is younger than the age.
 */
#include "bus/store/blob/blob_store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

enum { FANS = 256 };

struct sweep {
	struct blob_store *store;
	uint64_t now_us, age_us;
};

static int sweep_one(void *context, int folder, const char *name, bool fitting)
{
	const struct sweep *sweep = context;
	struct stat there;

	if (!fitting)
		return 0;
	if (fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno; /* an erasure has removed it meanwhile */
	if (!S_ISREG(there.st_mode) || !blob_is_older(&there, sweep->now_us, sweep->age_us))
		return 0;
	int r = blob_change_begin(sweep->store);
	if (r < 0)
		return r;
	int referenced = blob_has_references(sweep->store, name);
	r = referenced < 0 ? referenced : referenced ? 0 : blob_remove(sweep->store, name);
	blob_change_end(sweep->store);
	return r;
}

int blob_sweep(struct blob_store *store, uint64_t now_us, uint64_t age_us, struct blob_counts *ret_removed)
{
	struct sweep sweep = { store, now_us, age_us };
	struct blob_counts before = store->counts;
	int r = store->lock < 0 ? -EROFS : blob_walk(store->blobs, sweep_one, &sweep);

	ret_removed->files = before.files - store->counts.files;
	ret_removed->bytes = before.bytes - store->counts.bytes;
	return r;
}

int blob_tend(struct blob_store *store, uint64_t now_us, const struct blob_ages *ages, struct blob_counts *ret_removed)
{
	struct sweep sweep = { store, now_us, ages->surplus_us };
	struct blob_counts before;
	uint64_t released = 0;
	char fan[3];
	int r = store->lock < 0 ? -EROFS : store->next_fan == 0 ? blob_store_count(store) : 0;

	*ret_removed = (struct blob_counts){ 0 };
	if (r < 0)
		return r;
	before = store->counts;
	snprintf(fan, sizeof(fan), "%02x", (unsigned)store->next_fan & 0xff);
	if (ages->reference_us > 0)
		r = blob_expire_fan(store, fan, now_us, ages->reference_us, &released);
	if (r == 0)
		r = blob_walk_fan(store->blobs, fan, sweep_one, &sweep);
	ret_removed->files = before.files - store->counts.files;
	ret_removed->bytes = before.bytes - store->counts.bytes;
	store->next_fan = (store->next_fan + 1) % FANS;
	return r < 0 ? r : store->next_fan == 0;
}
