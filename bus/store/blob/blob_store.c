/*
 * blob_store.c: opens, counts and walks a blob store
 *
 * Promises:  one writer at a time; files that a killed writer left in writing/ are gone after the next open.
 * Fails by:  a negative errno of the call that failed.
 * Read next: blob_write.c
 */
#include "bus/store/blob/blob_store.h"
#include "bus/base/clock.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

bool blob_is_name(const char *name)
{
	return strspn(name, "0123456789abcdef") == BLOB_NAME_SIZE - 1 && !name[BLOB_NAME_SIZE - 1];
}

int blob_digest_name(EVP_MD_CTX *digest, char ret_name[BLOB_NAME_SIZE])
{
	uint8_t sum[EVP_MAX_MD_SIZE];

	if (EVP_DigestFinal_ex(digest, sum, NULL) != 1)
		return -EIO;
	text_hex(sum, 32, ret_name);
	return 0;
}

/* --- modes and the lock --- */

mode_t blob_file_mode(const struct blob_store *store)
{
	return S_IRUSR | S_IWUSR | (store->is_shared ? S_IRGRP : 0);
}

/*
 * Sets the umask and uses no chmod: a process that may not set the setgid bit may inherit it, and loses it by
 * chmod.
 */
static int make_folder(int folder, const char *name, bool is_shared)
{
	mode_t mask = umask(is_shared ? S_IWGRP | S_IRWXO : S_IRWXG | S_IRWXO);
	int r = mkdirat(folder, name, S_IRWXU | S_IRWXG) < 0 && errno != EEXIST ? -errno : 0;

	umask(mask);
	return r;
}

int blob_make_folder(const struct blob_store *store, int folder, const char *name)
{
	return make_folder(folder, name, store->is_shared);
}

int blob_change_begin(const struct blob_store *store)
{
	if (store->changes < 0)
		return -EROFS;
	while (flock(store->changes, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

void blob_change_end(const struct blob_store *store)
{
	flock(store->changes, LOCK_UN);
}

int blob_fan_folder(int top, const char *name)
{
	const char fan[] = { name[0], name[1], '\0' };

	return file_open_folder_in(top, fan);
}

/* An existing folder is synced too: a writer may have been killed after it made the folder. */
int blob_make_fan_folder(const struct blob_store *store, int top, const char *name)
{
	const char fan[] = { name[0], name[1], '\0' };
	int r = blob_make_folder(store, top, fan);

	if (r == 0 && fsync(top) < 0)
		r = -errno;
	return r < 0 ? r : file_open_folder_in(top, fan);
}

int blob_open_file(int folder, const char *name, struct stat *ret)
{
	_cleanup_close_ int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || fstat(fd, ret) < 0)
		return -errno;
	if (!S_ISREG(ret->st_mode))
		return -EINVAL;
	int opened = fd;
	fd = -1;
	return opened;
}

static uint64_t written_at_us(const struct stat *there)
{
	return (uint64_t)there->st_mtim.tv_sec * (uint64_t)US_PER_S + (uint64_t)there->st_mtim.tv_nsec / 1000;
}

bool blob_is_older(const struct stat *there, uint64_t now_us, uint64_t age_us)
{
	uint64_t written_us = written_at_us(there);

	return now_us > written_us && now_us - written_us > age_us;
}

/* --- walks --- */

int blob_entries(int folder, blob_entry_fn each, void *context)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!entries) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (errno = 0, entry = readdir(entries)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = each(context, folder, entry->d_name);
	if (r == 0 && errno != 0)
		r = -errno;
	closedir(entries);
	return r;
}

struct walk {
	blob_visit_fn visit;
	void *context;
	const char *fan;
};

static int walk_entry(void *context, int folder, const char *name)
{
	const struct walk *walk = context;
	bool fitting = blob_is_name(name) && strncmp(name, walk->fan, 2) == 0;

	return walk->visit(walk->context, folder, name, fitting);
}

static int walk_fan(void *context, int top, const char *name)
{
	struct walk *walk = context;

	if (strlen(name) != 2 || strspn(name, "0123456789abcdef") != 2)
		return walk->visit(walk->context, top, name, false);
	_cleanup_close_ int folder = file_open_folder_in(top, name);
	if (folder == -ENOENT || folder == -ENOTDIR || folder == -ELOOP)
		return walk->visit(walk->context, top, name, false);
	if (folder < 0)
		return folder; /* to skip the folder would mean that nothing is in it */
	walk->fan = name;
	return blob_entries(folder, walk_entry, walk);
}

int blob_walk(int top, blob_visit_fn visit, void *context)
{
	struct walk walk = { .visit = visit, .context = context };

	return blob_entries(top, walk_fan, &walk);
}

int blob_walk_fan(int top, const char *fan, blob_visit_fn visit, void *context)
{
	struct walk walk = { .visit = visit, .context = context };
	int r = walk_fan(&walk, top, fan);

	return r == -ENOENT ? 0 : r;
}

struct each {
	blob_each_fn each;
	void *context;
};

static int visit_each(void *context, int folder, const char *name, bool fitting)
{
	const struct each *each = context;
	struct stat there;

	if (!fitting)
		return 0;
	if (fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	return S_ISREG(there.st_mode) ? each->each(each->context, name, (uint64_t)there.st_size) : 0;
}

int blob_each(const struct blob_store *store, blob_each_fn each, void *context)
{
	struct each visited = { each, context };

	return blob_walk(store->blobs, visit_each, &visited);
}

/* --- open --- */

static int count_one(void *context, int folder, const char *name, bool fitting)
{
	struct blob_store *store = context;
	struct stat there;

	if (!fitting)
		return 0;
	if (fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(there.st_mode))
		return 0;
	store->counts.files++;
	store->counts.bytes += (uint64_t)there.st_size;
	if (store->oldest_us == 0 || written_at_us(&there) < store->oldest_us)
		store->oldest_us = written_at_us(&there);
	return 0;
}

int blob_store_count(struct blob_store *store)
{
	store->counts = (struct blob_counts){ 0 };
	store->oldest_us = 0;
	return blob_walk(store->blobs, count_one, store);
}

/*
 * Removes a file that a killed writer left. This process holds the lock, so no writer still uses it. Files
 * with other names stay.
 */
static int remove_left_behind(void *context, int folder, const char *name)
{
	(void)context;
	if (!*name || name[strspn(name, "0123456789")] != '\0')
		return 0;
	return unlinkat(folder, name, 0) < 0 && errno != EISDIR && errno != EPERM ? -errno : 0;
}

static int open_part(const struct blob_store *store, int root, const char *name, bool make, int *ret)
{
	int r = make ? blob_make_folder(store, root, name) : 0;

	if (r < 0)
		return r;
	*ret = file_open_folder_in(root, name);
	return *ret < 0 ? *ret : 0;
}

enum opening { TO_READ, TO_RELEASE, TO_WRITE };

/* A reader needs no right to this folder. */
static int open_changes(struct blob_store *store, int root, enum opening how)
{
	if (how == TO_READ)
		return 0;
	store->changes = openat(root, "changes", O_RDWR | O_CLOEXEC | O_NOFOLLOW | (how == TO_WRITE ? O_CREAT : 0),
		blob_file_mode(store));
	return store->changes < 0 ? -errno : 0;
}

static int open_parts(struct blob_store *store, enum opening how)
{
	_cleanup_close_ int root = open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat there;
	bool make = how == TO_WRITE;
	int r = root < 0 || fstat(root, &there) < 0 ? -errno : 0;

	if (r < 0)
		return r;
	store->is_shared = there.st_mode & S_ISGID;
	if (make)
		r = open_part(store, root, "writing", make, &store->writing);
	if (r == 0)
		r = open_part(store, root, "blobs", make, &store->blobs);
	if (r == 0)
		r = open_part(store, root, "refs", make, &store->refs);
	if (r == 0)
		r = open_changes(store, root, how);
	return r == 0 && make && fsync(root) < 0 ? -errno : r;
}

/*
 * Makes the root and the folders above it. A root that gives its files to a group stays so; any other is
 * closed to all but its owner.
 */
static int make_root(const char *path)
{
	char above[PATH_MAX];
	struct stat there;
	int r;

	if (!TEXT_COPY(above, path))
		return -ENAMETOOLONG;
	char *slash = strrchr(above, '/');
	if (!slash || slash == above)
		return file_make_private_folder(path);
	*slash = '\0';
	if (stat(path, &there) == 0 && there.st_mode & S_ISGID)
		return 0;
	r = stat(above, &there) == 0 ? 0 : make_root(above);
	if (r == 0 && stat(above, &there) == 0 && there.st_mode & S_ISGID)
		r = make_folder(AT_FDCWD, path, true);
	else if (r == 0)
		r = file_make_private_folder(path);
	return r;
}

/* As make_root makes one. */
static bool may_be_made_here(const char *path)
{
	struct stat there;

	return stat(path, &there) == 0 && there.st_uid == geteuid() &&
		(there.st_mode & S_ISGID || !(there.st_mode & (S_IRWXG | S_IRWXO)));
}

/*
 * Syncs the folder above, and further ones as far as make_root may have made them. A writer may have been
 * killed after it made one of them: that one is there, and would be gone after a power cut. A folder that
 * this user may not read was not made by it.
 */
static int sync_above(const char *path)
{
	char above[PATH_MAX], *slash;
	int r = TEXT_COPY(above, path) ? 0 : -ENAMETOOLONG;

	bool is_right_above = true;

	while (r == 0 && (slash = strrchr(above, '/')) && slash != above &&
		(is_right_above || may_be_made_here(above))) {
		*slash = '\0';
		r = file_sync_folder(above);
		if (r == -EACCES && !is_right_above)
			return 0;
		is_right_above = false;
	}
	return r;
}

static int open_to_write(struct blob_store *store)
{
	char lock[PATH_MAX];
	int r = make_root(store->path);

	if (r == 0)
		r = sync_above(store->path);
	if (r == 0 && snprintf(lock, sizeof(lock), "%s/lock", store->path) >= (int)sizeof(lock))
		r = -ENAMETOOLONG;
	if (r == 0)
		r = file_lock(lock, &store->lock);
	if (r == 0)
		r = open_parts(store, TO_WRITE);
	if (r == 0)
		r = blob_entries(store->writing, remove_left_behind, NULL);
	return r < 0 ? r : blob_store_count(store);
}

static int store_new(const char *path, struct blob_store **ret)
{
	struct blob_store *store = memory_new(sizeof(*store));

	store->lock = store->changes = store->writing = store->blobs = store->refs = -1;
	*ret = store;
	return TEXT_COPY(store->path, path) ? 0 : -ENAMETOOLONG;
}

int blob_store_open(const char *path, const struct blob_limits *limits, struct blob_store **ret)
{
	_cleanup_(blob_store_closep) struct blob_store *store = NULL;
	int r = store_new(path, &store);

	store->limits = *limits;
	if (r == 0)
		r = open_to_write(store);
	if (r == 0)
		*ret = TAKE(store);
	return r;
}

static int open_beside(const char *path, enum opening how, struct blob_store **ret)
{
	_cleanup_(blob_store_closep) struct blob_store *store = NULL;
	int r = store_new(path, &store);

	if (r == 0)
		r = open_parts(store, how);
	if (r == 0)
		*ret = TAKE(store);
	return r;
}

int blob_store_open_to_read(const char *path, struct blob_store **ret)
{
	return open_beside(path, TO_READ, ret);
}

int blob_store_open_to_release(const char *path, struct blob_store **ret)
{
	return open_beside(path, TO_RELEASE, ret);
}

void blob_store_close(struct blob_store *store)
{
	if (!store)
		return;
	cleanup_close(&store->lock);
	cleanup_close(&store->changes);
	cleanup_close(&store->writing);
	cleanup_close(&store->blobs);
	cleanup_close(&store->refs);
	free(store);
}

uint64_t blob_store_oldest_us(const struct blob_store *store)
{
	return store->oldest_us;
}

uint64_t blob_store_references_made(const struct blob_store *store)
{
	return store->references_made;
}

struct blob_counts blob_store_counts(const struct blob_store *store)
{
	return store->counts;
}
