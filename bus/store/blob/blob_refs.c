/*
 * blob_refs.c: references to blobs, and the removal of blobs without one
 *
 * Promises:  a reference is durable before blob_refer returns, and durably removed before its blob is. So a
 *            power cut may leave a blob without reference, which blob_sweep removes, and never a reference
 *            whose blob was removed.
 * Fails by:  a negative errno. A release that was cut short goes on when its owner is released again, or at
 *            the next expiry.
 */
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "bus/store/blob/blob_store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static int name_owner(const char *owner, char ret_name[BLOB_NAME_SIZE])
{
	uint8_t sum[EVP_MAX_MD_SIZE];
	size_t len = strnlen(owner, BLOB_OWNER_MAX + 1);

	if (len == 0 || len > BLOB_OWNER_MAX)
		return -EINVAL;
	if (EVP_Digest(owner, len, sum, NULL, EVP_sha256(), NULL) != 1)
		return -EIO;
	text_hex(sum, 32, ret_name);
	return 0;
}

static int judge_names(
	const struct blob_store *store, const char *name, const char *owner, char ret_owner[BLOB_NAME_SIZE])
{
	if (store->changes < 0)
		return -EROFS;
	return blob_is_name(name) ? name_owner(owner, ret_owner) : -EINVAL;
}

static int is_there(const struct blob_store *store, const char *name)
{
	struct stat there;
	_cleanup_close_ int folder = blob_fan_folder(store->blobs, name);

	if (folder < 0)
		return folder;
	if (fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return S_ISREG(there.st_mode) ? 0 : -EINVAL;
}

static int begin_age_anew(int folder, const char *file)
{
	_cleanup_close_ int fd = openat(folder, file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 || futimens(fd, NULL) < 0 || fsync(fd) < 0 ? -errno : 0;
}

static int write_reference(struct blob_store *store, const char *name, const char *file, const char *owner)
{
	_cleanup_close_ int fan = blob_make_fan_folder(store, store->refs, name);
	struct stat there;

	if (fan < 0)
		return fan;
	int r = blob_make_folder(store, fan, name);
	if (r < 0)
		return r;
	_cleanup_close_ int folder = fsync(fan) < 0 ? -errno : file_open_folder_in(fan, name);
	if (folder < 0)
		return folder;
	if (fstatat(folder, file, &there, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(there.st_mode))
		return begin_age_anew(folder, file);
	r = file_write_durably_in(folder, file, bytes_of(owner), S_IRUSR | S_IWUSR, NULL);
	store->references_made += r == 0;
	return r;
}

int blob_judge_owner(const char *owner)
{
	char file[BLOB_NAME_SIZE];

	return name_owner(owner, file);
}

int blob_refer_within(struct blob_store *store, const char *name, const char *owner)
{
	char file[BLOB_NAME_SIZE];
	int r = judge_names(store, name, owner, file);

	if (r == 0)
		r = is_there(store, name);
	return r < 0 ? r : write_reference(store, name, file, owner);
}

int blob_refer(struct blob_store *store, const char *name, const char *owner)
{
	int r = blob_change_begin(store);

	if (r < 0)
		return r;
	r = blob_refer_within(store, name, owner);
	blob_change_end(store);
	return r;
}

/* --- release --- */

static int find_reference(void *context, int folder, const char *name)
{
	(void)context, (void)folder;
	return blob_is_name(name);
}

/* Removes files that a killed writer left beside the references (file_write_durably_in). */
static int remove_unfinished(void *context, int folder, const char *name)
{
	(void)context;
	const char *end = strstr(name, ".writing");
	return end && !end[strlen(".writing")] && unlinkat(folder, name, 0) < 0 ? -errno : 0;
}

int blob_has_references(const struct blob_store *store, const char *name)
{
	_cleanup_close_ int fan = blob_fan_folder(store->refs, name);
	_cleanup_close_ int folder = fan < 0 ? fan : file_open_folder_in(fan, name);

	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	return blob_entries(folder, find_reference, NULL);
}

/* Removes the blob's file; its references are gone before. */
static int blob_remove(struct blob_store *store, const char *name)
{
	struct stat there;
	_cleanup_close_ int folder = blob_fan_folder(store->blobs, name);

	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	if (fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(there.st_mode))
		return -EINVAL;
	if (unlinkat(folder, name, 0) < 0)
		return -errno;
	if (store->counts.files > 0 && store->counts.bytes >= (uint64_t)there.st_size) {
		store->counts.files--;
		store->counts.bytes -= (uint64_t)there.st_size;
	}
	return fsync(folder) < 0 ? -errno : 0;
}

/*
 * Removes a blob without references, also after a release that was cut short. `fan` is the folder in refs/
 * that holds `folder`, which is called `name`.
 */
static int end_unreferenced(struct blob_store *store, int fan, const char *name, int folder)
{
	int r = blob_entries(folder, remove_unfinished, NULL);

	if (r == 0)
		r = blob_entries(folder, find_reference, NULL);
	if (r != 0)
		return r < 0 ? r : 0;
	if (unlinkat(fan, name, AT_REMOVEDIR) < 0 && errno != ENOTEMPTY &&
		errno != ENOENT) /* a foreign file stays in it */
		return -errno;
	return blob_remove(store, name);
}

/* -ENOENT: there is no such reference. */
static int release_in(struct blob_store *store, int fan, const char *name, const char *file)
{
	_cleanup_close_ int folder = file_open_folder_in(fan, name);

	if (folder < 0)
		return folder;
	bool is_gone = unlinkat(folder, file, 0) == 0;
	if (is_gone ? fsync(folder) < 0 : errno != ENOENT)
		return -errno;
	int r = end_unreferenced(store, fan, name, folder);
	return r < 0 ? r : is_gone ? 0 : -ENOENT;
}

int blob_release(struct blob_store *store, const char *name, const char *owner)
{
	char file[BLOB_NAME_SIZE];
	int r = judge_names(store, name, owner, file);

	if (r == 0)
		r = blob_change_begin(store);
	if (r < 0)
		return r;
	_cleanup_close_ int fan = blob_fan_folder(store->refs, name);
	r = fan < 0 ? fan : release_in(store, fan, name, file);
	blob_change_end(store);
	return r;
}

/* --- release of many --- */

struct release {
	struct blob_store *store;
	const char *file; /* the file of one owner; NULL: all old references */
	uint64_t now_us, age_us, released;
	int fan;
	const char *name;
};

static int release_old(void *context, int folder, const char *file)
{
	struct release *release = context;
	struct stat there;

	if (!blob_is_name(file))
		return 0;
	if (fstatat(folder, file, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!blob_is_older(&there, release->now_us, release->age_us))
		return 0;
	release->released++;
	return release_in(release->store, release->fan, release->name, file);
}

static int release_references(struct release *release, int fan, const char *name, bool fitting)
{
	_cleanup_close_ int folder = fitting ? file_open_folder_in(fan, name) : -ENOENT;

	if (folder < 0)
		return folder == -ENOENT || folder == -ENOTDIR || folder == -ELOOP ? 0 : folder;
	release->fan = fan;
	release->name = name;
	if (!release->file) {
		int ended = blob_entries(folder, release_old, release);
		return ended < 0 ? ended : end_unreferenced(release->store, fan, name, folder);
	}
	int r = release_in(release->store, fan, name, release->file);
	release->released += r == 0;
	return r == -ENOENT ? 0 : r;
}

/* Takes the lock for one blob at a time, so that other processes wait only for that long. */
static int visit_references(void *context, int fan, const char *name, bool fitting)
{
	struct release *release = context;
	int r = blob_change_begin(release->store);

	if (r < 0)
		return r;
	r = release_references(release, fan, name, fitting);
	blob_change_end(release->store);
	return r;
}

static int release_many(struct release *release, uint64_t *ret_released)
{
	int r = release->store->changes < 0 ? -EROFS : blob_walk(release->store->refs, visit_references, release);

	*ret_released = release->released;
	return r;
}

int blob_release_owner(struct blob_store *store, const char *owner, uint64_t *ret_released)
{
	char file[BLOB_NAME_SIZE];
	struct release release = { .store = store, .file = file };
	int r = name_owner(owner, file);

	*ret_released = 0;
	return r < 0 ? r : release_many(&release, ret_released);
}

int blob_expire(struct blob_store *store, uint64_t now_us, uint64_t age_us, uint64_t *ret_released)
{
	struct release release = { .store = store, .now_us = now_us, .age_us = age_us };

	return release_many(&release, ret_released);
}

static int blob_expire_fan(
	struct blob_store *store, const char *fan, uint64_t now_us, uint64_t age_us, uint64_t *ret_released)
{
	struct release release = { .store = store, .now_us = now_us, .age_us = age_us };
	int r = blob_walk_fan(store->refs, fan, visit_references, &release);

	*ret_released = release.released;
	return r;
}

/*
 * Removes blobs without a reference, and references that are too old
 *
 * Promises:  a blob with a reference stays, and so does one that is younger than the age.
 */

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
