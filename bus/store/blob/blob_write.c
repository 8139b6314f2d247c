/*
 * blob_write.c: writes a content into the store
 *
 * Promises:  under a final name lies only a whole content, synced. Its name is returned after the file, its
 *            folder and the first reference are synced. A writer that is killed before leaves a file in
 *            writing/, or a blob without reference for blob_sweep.
 * Fails by:  a negative errno; then the content is not named. Its file is removed, or is a blob without reference.
 * Read next: blob_refs.c
 */
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/store/blob/blob_store.h"
#include "bus/store/disk.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { READ_AT_ONCE = 64 * 1024 };

struct blob_writer {
	struct blob_store *store;
	EVP_MD_CTX *digest;
	uint64_t bytes;
	int fd, error;
	char temporary[24];
};

static int writer_new(struct blob_store *store, struct blob_writer **ret)
{
	if (store->lock < 0)
		return -EROFS;
	struct blob_writer *writer = memory_new(sizeof(*writer));
	*ret = writer;
	writer->store = store;
	writer->fd = -1;
	snprintf(writer->temporary, sizeof(writer->temporary), "%" PRIu64, store->next_writer++);
	writer->digest = EVP_MD_CTX_new();
	return writer->digest && EVP_DigestInit_ex(writer->digest, EVP_sha256(), NULL) == 1 ? 0 : -ENOMEM;
}

void blob_abandon(struct blob_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0) {
		close(writer->fd);
		unlinkat(writer->store->writing, writer->temporary, 0); /* a commit has moved it away */
	}
	writer->store->writing_bytes -= writer->bytes;
	EVP_MD_CTX_free(writer->digest);
	free(writer);
}

int blob_begin(struct blob_store *store, struct blob_writer **ret)
{
	_cleanup_(blob_abandonp) struct blob_writer *writer = NULL;
	int r = writer_new(store, &writer);

	if (r < 0)
		return r;
	writer->fd = openat(store->writing, writer->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		S_IRUSR | S_IWUSR);
	if (writer->fd < 0 || fchmod(writer->fd, blob_file_mode(store)) < 0)
		return -errno;
	*ret = TAKE(writer);
	return 0;
}

static bool is_past(uint64_t limit, uint64_t used, uint64_t more)
{
	return limit > 0 && (used > limit || more > limit - used);
}

/* `on_disk`: bytes that the file system must still store. */
static int judge(const struct blob_writer *writer, uint64_t more, uint64_t on_disk)
{
	const struct blob_store *store = writer->store;
	uint64_t free_bytes = 0, total;

	if (is_past(store->limits.blob_bytes, writer->bytes, more))
		return -EFBIG;
	if (is_past(store->limits.all_bytes, store->counts.bytes + store->writing_bytes, more))
		return -EDQUOT;
	if (store->limits.kept_free == 0)
		return 0;
	int r = disk_space(store->path, &free_bytes, &total);
	if (r < 0)
		return r;
	return free_bytes < on_disk || free_bytes - on_disk < store->limits.kept_free ? -ENOSPC : 0;
}

static int digest_part(struct blob_writer *writer, struct bytes part)
{
	writer->bytes += part.len;
	writer->store->writing_bytes += part.len;
	return EVP_DigestUpdate(writer->digest, part.data, part.len) == 1 ? 0 : -EIO;
}

int blob_add(struct blob_writer *writer, struct bytes part)
{
	if (writer->error == 0)
		writer->error = judge(writer, part.len, part.len);
	if (writer->error == 0)
		writer->error = file_write(writer->fd, part);
	if (writer->error == 0)
		writer->error = digest_part(writer, part);
	return writer->error;
}

ssize_t blob_look_back(const struct blob_writer *writer, uint64_t from, void *to, size_t size)
{
	ssize_t got;

	do
		got = pread(writer->fd, to, size, (off_t)from);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/*
 * A content that is there already is replaced by itself: this mends a damaged file, and its age begins anew.
 */
static int put(struct blob_writer *writer, const char *name)
{
	struct blob_store *store = writer->store;
	struct stat old;
	_cleanup_close_ int folder = blob_make_fan_folder(store, store->blobs, name);

	if (folder < 0)
		return folder;
	bool replaces = fstatat(folder, name, &old, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(old.st_mode);
	if (renameat(store->writing, writer->temporary, folder, name) < 0)
		return -errno;
	store->counts.files += replaces ? 0 : 1;
	store->counts.bytes += writer->bytes - (replaces ? (uint64_t)old.st_size : 0);
	return fsync(folder) < 0 ? -errno : 0;
}

/* Makes the reference before another process can find that there is none. */
static int put_and_refer(struct blob_writer *writer, const char *name, const char *owner)
{
	int r = blob_change_begin(writer->store);

	if (r < 0)
		return r;
	r = put(writer, name);
	if (r == 0)
		r = blob_refer_within(writer->store, name, owner);
	blob_change_end(writer->store);
	return r;
}

static int commit(struct blob_writer *writer, const char *owner, char ret_name[BLOB_NAME_SIZE])
{
	char name[BLOB_NAME_SIZE];
	int r = writer->error;

	if (r == 0)
		r = blob_judge_owner(owner);
	if (r == 0 && fsync(writer->fd) < 0)
		r = -errno;
	if (r == 0)
		r = blob_digest_name(writer->digest, name);
	if (r == 0)
		r = put_and_refer(writer, name, owner);
	if (r == 0)
		memcpy(ret_name, name, BLOB_NAME_SIZE);
	return r;
}

int blob_commit(struct blob_writer **writer, const char *owner, char ret_name[BLOB_NAME_SIZE])
{
	_cleanup_(blob_abandonp) struct blob_writer *ending = TAKE(*writer);

	return commit(ending, owner, ret_name);
}

/* --- adoption --- */

static int digest_file(struct blob_writer *writer)
{
	uint8_t part[READ_AT_ONCE];

	for (;;) {
		ssize_t got = read(writer->fd, part, sizeof(part));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		int r = judge(writer, (uint64_t)got, 0);
		if (r == 0)
			r = digest_part(writer, (struct bytes){ part, (size_t)got });
		if (r < 0)
			return r;
	}
}

/* Makes a second link first: the file is hashed under a name that only this process can change. */
static int link_file(struct blob_writer *writer, const char *path)
{
	struct blob_store *store = writer->store;
	struct stat there;

	if (linkat(AT_FDCWD, path, store->writing, writer->temporary, 0) < 0)
		return -errno;
	writer->fd = blob_open_file(store->writing, writer->temporary, &there);
	if (writer->fd < 0) {
		unlinkat(store->writing, writer->temporary, 0);
		return writer->fd;
	}
	return fchmod(writer->fd, blob_file_mode(store)) < 0 || futimens(writer->fd, NULL) < 0 ? -errno : 0;
}

int blob_adopt(struct blob_store *store, const char *path, const char *owner, char ret_name[BLOB_NAME_SIZE])
{
	_cleanup_(blob_abandonp) struct blob_writer *writer = NULL;
	int r = writer_new(store, &writer);

	if (r == 0)
		r = link_file(writer, path);
	if (r == 0)
		r = digest_file(writer);
	if (r == 0)
		r = commit(writer, owner, ret_name);
	return r == 0 && unlink(path) < 0 ? -errno : r;
}
