/*
 * blob_read.c: reads a content and hashes it on the way; reads all contents to verify a store
 *
 * Promises:  the reader reports the end only of a content whose hash fits its name.
 * Fails by:  -EBADMSG for a content that does not fit, otherwise the errno of the call that failed.
 */
#include "bus/base/memory.h"
#include "bus/store/blob/blob_store.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct blob_reader {
	EVP_MD_CTX *digest;
	int fd, ended; /* ended: 1, or -EBADMSG */
	char name[BLOB_NAME_SIZE];
};

static int open_named(const struct blob_store *store, const char *name)
{
	struct stat there;
	_cleanup_close_ int folder = blob_fan_folder(store->blobs, name);

	return folder < 0 ? folder : blob_open_file(folder, name, &there);
}

int blob_open(const struct blob_store *store, const char *name, struct blob_reader **ret)
{
	if (!blob_is_name(name))
		return -EINVAL;
	int fd = open_named(store, name);
	if (fd < 0)
		return fd;
	_cleanup_(blob_reader_freep) struct blob_reader *reader = memory_new(sizeof(*reader));
	reader->fd = fd;
	memcpy(reader->name, name, BLOB_NAME_SIZE);
	reader->digest = EVP_MD_CTX_new();
	if (!reader->digest || EVP_DigestInit_ex(reader->digest, EVP_sha256(), NULL) != 1)
		return -ENOMEM;
	*ret = TAKE(reader);
	return 0;
}

static int judge_end(struct blob_reader *reader)
{
	char name[BLOB_NAME_SIZE];
	int r = blob_digest_name(reader->digest, name);

	return r < 0 ? r : strcmp(name, reader->name) == 0 ? 1 : -EBADMSG;
}

ssize_t blob_read(struct blob_reader *reader, void *to, size_t size)
{
	ssize_t got;

	if (size == 0)
		return -EINVAL; /* 0 would say that the content fits */
	if (reader->ended == 0) {
		do
			got = read(reader->fd, to, size);
		while (got < 0 && errno == EINTR);
		if (got < 0)
			return -errno;
		if (got > 0)
			return EVP_DigestUpdate(reader->digest, to, (size_t)got) == 1 ? got : -EIO;
		reader->ended = judge_end(reader);
	}
	return reader->ended < 0 ? reader->ended : 0;
}

void blob_reader_free(struct blob_reader *reader)
{
	if (!reader)
		return;
	cleanup_close(&reader->fd);
	EVP_MD_CTX_free(reader->digest);
	free(reader);
}

/*
 * Verifies that the contents of a store fit their names
 *
 * Promises:  each file is read and hashed, until the caller's bound of bytes is used up; nothing is changed,
 *            and no link is followed.
 * Fails by:  the errno of a call that failed; a finding is no failure.
 */

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
		return errno == ENOENT ? 0 : -errno; /* its owner has removed it meanwhile */
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
