/*
 * blob_copy.c: copies a blob and its references from one store into another, for a backup or a restore
 *
 * Promises:  under a final name lies only a content whose hash was right when it was read. References keep
 *            their times, so they age in the copy as in the original. A second copy changes nothing; a
 *            content that is there already is read, and mended if it is damaged.
 * Fails by:  a negative errno. Nothing is synced: the caller does that for the whole file system before it
 *            relies on the copy.
 */
#include "bus/base/bytes.h"
#include "bus/base/file.h"
#include "bus/store/blob/blob_store.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

enum { READ_AT_ONCE = 64 * 1024 };

/* --- the content --- */

static int read_into(struct blob_reader *reader, int fd)
{
	uint8_t part[READ_AT_ONCE];
	ssize_t got;

	while ((got = blob_read(reader, part, sizeof(part))) > 0) {
		int r = fd < 0 ? 0 : file_write(fd, BYTES(part, (size_t)got));
		if (r < 0)
			return r;
	}
	return (int)got;
}

static bool is_whole(const struct blob_store *store, const char *name)
{
	_cleanup_(blob_reader_freep) struct blob_reader *reader = NULL;

	return blob_open(store, name, &reader) == 0 && read_into(reader, -1) == 0;
}

/* blob_make_fan_folder without its fsync, which would cost more than the copy. */
static int make_fan_folder(const struct blob_store *to, int top, const char *name)
{
	const char fan[] = { name[0], name[1], '\0' };
	int r = blob_make_folder(to, top, fan);

	return r < 0 ? r : blob_fan_folder(top, name);
}

static int put_content(struct blob_store *to, const char *temporary, const char *name)
{
	_cleanup_close_ int folder = make_fan_folder(to, to->blobs, name);

	if (folder < 0)
		return folder;
	return renameat(to->writing, temporary, folder, name) < 0 ? -errno : 0;
}

static int copy_content(const struct blob_store *from, const char *name, struct blob_store *to)
{
	static const char TEMPORARY[] = "0"; /* the next writer removes it, if this one is killed */
	_cleanup_(blob_reader_freep) struct blob_reader *reader = NULL;
	int r = blob_open(from, name, &reader);

	if (r < 0)
		return r;
	_cleanup_close_ int fd = openat(
		to->writing, TEMPORARY, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
	if (fd < 0 || fchmod(fd, blob_file_mode(to)) < 0)
		return -errno;
	r = read_into(reader, fd);
	if (r == 0)
		r = put_content(to, TEMPORARY, name);
	if (r < 0)
		unlinkat(to->writing, TEMPORARY, 0);
	return r;
}

/* --- references --- */

struct copying {
	struct blob_store *to;
	const char *name;
	int target;
};

static int copy_reference(void *context, int folder, const char *file)
{
	const struct copying *copying = context;
	_cleanup_(buffer_free) struct buffer owner = { 0 };
	struct stat there;

	if (!blob_is_name(file))
		return 0;
	int r = file_read_in(folder, file, BLOB_OWNER_MAX, &owner);
	if (r < 0 || fstatat(folder, file, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return r < 0 ? r : -errno;
	_cleanup_close_ int fd =
		openat(copying->target, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
	if (fd < 0)
		return -errno;
	r = file_write(fd, buffer_bytes(&owner));
	const struct timespec times[] = { there.st_atim, there.st_mtim };
	return r == 0 && futimens(fd, times) < 0 ? -errno : r;
}

static int copy_references(const struct blob_store *from, const char *name, struct blob_store *to)
{
	_cleanup_close_ int fan = blob_fan_folder(from->refs, name);
	_cleanup_close_ int folder = fan < 0 ? fan : file_open_folder_in(fan, name);
	_cleanup_close_ int target_fan = folder < 0 ? folder : make_fan_folder(to, to->refs, name);
	int r = target_fan < 0 ? target_fan : blob_make_folder(to, target_fan, name);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	_cleanup_close_ int target = file_open_folder_in(target_fan, name);
	struct copying copying = { .to = to, .name = name, .target = target };
	return target < 0 ? target : blob_entries(folder, copy_reference, &copying);
}

int blob_copy(const struct blob_store *from, const char *name, struct blob_store *to)
{
	int r = blob_is_name(name) ? blob_change_begin(to) : -EINVAL;

	if (r < 0)
		return r;
	if (!is_whole(to, name))
		r = copy_content(from, name, to);
	if (r == 0)
		r = copy_references(from, name, to);
	blob_change_end(to);
	return r;
}
