/*
 * blob_read.c: reads a content, and hashes it on the way
 *
 * Promises:  the end is told only of a content whose hash fits its name.
 * Fails by:  -EBADMSG for a content that does not fit, otherwise the errno of the call that failed.
 */
#include "bus/base/memory.h"
#include "bus/store/blob/blob_store.h"
#include <errno.h>
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
