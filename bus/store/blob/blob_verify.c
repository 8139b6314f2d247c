/*
 * blob_verify.c: does the store hold what it says?
 *
 * Promises:  each file is read and hashed, as far as the caller's bytes last; nothing is changed, and no link is followed.
 * Fails by:  the errno of a call that failed; a finding is no failure.
 */
#include "bus/store/blob/blob_store.h"
#include <errno.h>
#include <fcntl.h>

enum { READ_AT_ONCE = 64 * 1024 };

struct verify {
	const struct blob_store *store;
	blob_finding_fn each;
	void *context;
	uint64_t *bytes_left; /* NULL: no bound */
};

static int found(const struct verify *verify, enum blob_finding finding, const char *name)
{
	return verify->each(verify->context, finding, name);
}

static int read_whole(const struct blob_store *store, const char *name)
{
	_cleanup_(blob_reader_freep) struct blob_reader *reader = NULL;
	uint8_t part[READ_AT_ONCE];
	ssize_t got = blob_open(store, name, &reader);

	if (got < 0)
		return (int)got;
	do
		got = blob_read(reader, part, sizeof(part));
	while (got > 0);
	return (int)got;
}

/* Whether a content of this size is still to be read. */
static bool take_bytes(const struct verify *verify, uint64_t size)
{
	if (!verify->bytes_left)
		return true;
	if (*verify->bytes_left < size)
		return false;
	*verify->bytes_left -= size;
	return true;
}

static int verify_blob(void *context, int folder, const char *name, bool fitting)
{
	const struct verify *verify = context;
	struct stat there;

	if (fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno; /* removed by its owner meanwhile */
	if (!fitting || !S_ISREG(there.st_mode))
		return found(verify, BLOB_FOREIGN, name);
	int r = there.st_nlink > 1 ? found(verify, BLOB_LINKED, name) : 0;
	if (r < 0)
		return r;
	r = take_bytes(verify, (uint64_t)there.st_size) ? read_whole(verify->store, name) : 0;
	if (r == -EBADMSG || r == -EIO)
		r = found(verify, BLOB_DAMAGED, name);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	int referenced = blob_has_references(verify->store, name);
	return referenced < 0 ? referenced : referenced ? 0 : found(verify, BLOB_SURPLUS, name);
}

static int verify_references(void *context, int folder, const char *name, bool fitting)
{
	const struct verify *verify = context;
	struct stat there;

	if (fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!fitting || !S_ISDIR(there.st_mode))
		return found(verify, BLOB_FOREIGN, name);
	_cleanup_close_ int fan = blob_fan_folder(verify->store->blobs, name);
	if (fan >= 0 && fstatat(fan, name, &there, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	int referenced = blob_has_references(verify->store, name);
	return referenced <= 0 ? referenced : found(verify, BLOB_MISSING, name);
}

int blob_verify(const struct blob_store *store, blob_finding_fn each, void *context)
{
	return blob_verify_within(store, NULL, each, context);
}

int blob_verify_within(const struct blob_store *store, uint64_t *bytes_left, blob_finding_fn each, void *context)
{
	struct verify verify = { store, each, context, bytes_left };
	int r = blob_walk(store->blobs, verify_blob, &verify);

	return r < 0 ? r : blob_each_missing(store, each, context);
}

int blob_each_missing(const struct blob_store *store, blob_finding_fn each, void *context)
{
	struct verify verify = { .store = store, .each = each, .context = context };

	return blob_walk(store->refs, verify_references, &verify);
}
