/*
 * file.c: files, their folders, secrets and locks
 *
 * Promises:  after file_write_durably has returned 0, a power cut leaves the new content; before, the old or
 *            the new one, never a mixture. A process that dies in between leaves at most one temporary file,
 *            which the next write of this path removes.
 * Fails by:  a negative errno of the call that failed; nothing is logged.
 */
#include "bus/base/file.h"
#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { READ_AT_ONCE = 16 * 1024, SECRET_MAX = 64 * 1024 };

static int read_all(int fd, size_t most, struct buffer *ret)
{
	size_t start = ret->len;
	for (;;) {
		void *to = buffer_grow(ret, READ_AT_ONCE);
		ssize_t got = read(fd, to, READ_AT_ONCE);
		if (got < 0 && errno == EINTR)
			continue;
		int r = got < 0 ? -errno : ret->len - start + (size_t)got > most ? -EFBIG : 0;
		if (r < 0) {
			ret->len = start;
			return r;
		}
		if (got == 0)
			return 0;
		ret->len += (size_t)got;
	}
}

int file_read(const char *path, size_t most, struct buffer *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return read_all(fd, most, ret);
}

int file_open_folder_in(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

int file_read_in(int folder, const char *name, size_t most, struct buffer *ret)
{
	/* O_NONBLOCK: a pipe in the place of a file must not block the process */
	_cleanup_close_ int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat there;
	if (fd < 0 || fstat(fd, &there) < 0)
		return -errno;
	return S_ISREG(there.st_mode) ? read_all(fd, most, ret) : -EINVAL;
}

int file_write(int fd, struct bytes content)
{
	const uint8_t *at = content.data;
	for (size_t left = content.len; left > 0;) {
		ssize_t written = write(fd, at, left);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		at += written;
		left -= (size_t)written;
	}
	return 0;
}

int file_create(const char *path, struct bytes content, mode_t mode, int *ret_fd)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return -errno;
	int r = file_write(fd, content);
	if (r < 0)
		close(fd);
	else
		*ret_fd = fd;
	return r;
}

int file_write_new(const char *path, struct bytes content, mode_t mode)
{
	_cleanup_close_ int fd = -1;
	int r = file_create(path, content, mode, &fd);
	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

static int sync_parent(const char *path)
{
	char folder[PATH_MAX];
	if (!TEXT_COPY(folder, path))
		return -ENAMETOOLONG;
	char *slash = strrchr(folder, '/');
	if (!slash)
		return file_sync_folder(".");
	slash[slash == folder ? 1 : 0] = '\0';
	return file_sync_folder(folder);
}

static bool is_at(int fd, int folder, const char *name)
{
	struct stat ours, there;
	return fstat(fd, &ours) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
		ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* A writer locks its temporary file, so a file that can be locked was left behind by a process that died. */
static int remove_left_behind(int folder, const char *name)
{
	_cleanup_close_ int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return is_at(fd, folder, name) && unlinkat(folder, name, 0) < 0 ? -errno : 0;
}

static int open_temporary(int folder, const char *name, mode_t mode, int *ret_fd)
{
	for (;;) {
		int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_at(fd, folder, name)) {
			*ret_fd = fd;
			return 0;
		}
		int r = fd >= 0 ? 0 : errno == EEXIST ? remove_left_behind(folder, name) : -errno;
		if (fd >= 0) /* another process took it for left behind */
			close(fd);
		if (r < 0)
			return r;
	}
}

static int write_temporary(int fd, struct bytes content, const struct file_owner *owner)
{
	if (owner && fchown(fd, owner->uid, owner->gid) < 0)
		return -errno;
	int r = file_write(fd, content);
	return r == 0 && fsync(fd) < 0 ? -errno : r;
}

/* Does everything but the sync of the folder. */
static int write_in(int folder, const char *name, struct bytes content, mode_t mode, const struct file_owner *owner)
{
	char temporary[PATH_MAX];
	_cleanup_close_ int fd = -1;
	if (snprintf(temporary, sizeof(temporary), "%s.writing", name) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	int r = open_temporary(folder, temporary, mode, &fd);
	if (r < 0)
		return r;
	r = write_temporary(fd, content, owner);
	if (r == 0 && renameat(folder, temporary, folder, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(folder, temporary, 0);
	return r;
}

int file_write_durably_for(const char *path, struct bytes content, mode_t mode, const struct file_owner *owner)
{
	int r = write_in(AT_FDCWD, path, content, mode, owner);
	return r < 0 ? r : sync_parent(path);
}

int file_write_durably_in(
	int folder, const char *name, struct bytes content, mode_t mode, const struct file_owner *owner)
{
	int r = write_in(folder, name, content, mode, owner);
	return r == 0 && fsync(folder) < 0 ? -errno : r;
}

int file_write_durably(const char *path, struct bytes content, mode_t mode)
{
	return file_write_durably_for(path, content, mode, NULL);
}

int file_sync_folder(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fsync(fd) < 0 ? -errno : 0;
}

/* Syncs the folder of the new name first: after a power cut the file may have both names, and never none. */
int file_rename_durably(const char *from, const char *to)
{
	if (rename(from, to) < 0)
		return -errno;
	int r = sync_parent(to);
	return r < 0 ? r : sync_parent(from);
}

static int make_folder(const char *path, mode_t mode)
{
	struct stat there;
	if (mkdir(path, mode) == 0)
		return sync_parent(path);
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &there) < 0)
		return -errno;
	return S_ISDIR(there.st_mode) ? 0 : -ENOTDIR;
}

int file_move_durably_in(int from, const char *name, int to)
{
	return renameat(from, name, to, name) < 0 || fsync(to) < 0 || fsync(from) < 0 ? -errno : 0;
}

int file_make_folders(const char *path, mode_t mode)
{
	char part[PATH_MAX];
	if (!*path)
		return -ENOENT;
	if (!TEXT_COPY(part, path))
		return -ENAMETOOLONG;
	for (char *at = part + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		int r = make_folder(part, mode);
		if (r < 0)
			return r;
		*at = '/';
	}
	return make_folder(part, mode);
}

/* --- closed to other users --- */

enum { OTHERS = S_IRWXG | S_IRWXO, FOLDERS_OPEN = 16 };

static int close_one(const char *path, const struct stat *there, int kind, struct FTW *at)
{
	(void)at;
	if (kind == FTW_SL || kind == FTW_SLN || kind == FTW_NS || !(there->st_mode & OTHERS))
		return 0;
	return chmod(path, there->st_mode & 07777 & ~(mode_t)OTHERS) < 0 && errno != ENOENT ? -errno : 0;
}

/*
 * The entries of the folder itself stand for deeper ones: the same process makes those, under the same mask.
 */
static bool is_open_to_others(const char *path)
{
	struct stat there;
	struct dirent *entry;
	bool open = stat(path, &there) == 0 && there.st_mode & OTHERS;
	DIR *folder = opendir(path);

	while (folder && !open && (entry = readdir(folder)))
		open = strcmp(entry->d_name, "..") != 0 &&
			fstatat(dirfd(folder), entry->d_name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
			!S_ISLNK(there.st_mode) && there.st_mode & OTHERS;
	if (folder)
		closedir(folder);
	return open;
}

int file_make_private_folder(const char *path)
{
	int r = file_make_folders(path, S_IRWXU);

	if (r < 0 || !is_open_to_others(path))
		return r;
	if (chmod(path, S_IRWXU) < 0)
		return -errno;
	r = nftw(path, close_one, FOLDERS_OPEN, FTW_PHYS | FTW_DEPTH);
	return r == -1 ? -errno : r;
}

int file_close_own_folder(const char *path)
{
	struct stat there;

	if (stat(path, &there) < 0)
		return -errno;
	return there.st_uid == geteuid() && there.st_gid == getegid() ? file_make_private_folder(path) : 0;
}

int file_let_group_read(const char *path, mode_t mode)
{
	struct stat there;

	if (stat(path, &there) < 0)
		return -errno;
	return there.st_gid != getegid() && chmod(path, mode) < 0 ? -errno : 0;
}

enum file_trust file_trust(const struct stat *there)
{
	if (!S_ISLNK(there->st_mode) && there->st_mode & S_IWOTH && !(there->st_mode & S_ISVTX))
		return FILE_OPEN_TO_ALL;
	return there->st_uid == 0 || there->st_uid == geteuid() ? FILE_TRUSTED : FILE_OF_ANOTHER;
}

int file_read_secret(const char *path, struct buffer *ret)
{
	/* O_NONBLOCK: a pipe in the place of a secret must not stop the start for ever */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	struct stat there;
	if (fstat(fd, &there) < 0)
		return -errno;
	if (!S_ISREG(there.st_mode))
		return -EINVAL;
	if (there.st_mode & (S_IWGRP | S_IROTH | S_IWOTH))
		return -EPERM;

	size_t start = ret->len;
	int r = read_all(fd, SECRET_MAX, ret);
	if (r < 0)
		return r;
	if (ret->len > start && ret->data[ret->len - 1] == '\n')
		ret->len--;
	if (ret->len > start && ret->data[ret->len - 1] == '\r')
		ret->len--;
	return ret->len > start ? 0 : -ENODATA;
}

int file_lock(const char *path, int *ret_fd)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	struct stat held;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstat(fd, &held) < 0)
		return -errno;
	if (held.st_nlink == 0) /* its holder removed it in between: the next caller makes and locks a new one */
		return -EBUSY;
	*ret_fd = fd;
	fd = -1; /* the caller keeps it for the life of the process */
	return 0;
}

int file_may_write_below(const char *path)
{
	char room[PATH_MAX], *folder = room;
	struct stat there;

	TEXT_COPY(room, path);
	while (stat(folder, &there) < 0) {
		if (errno != ENOENT)
			return -errno;
		folder = dirname(folder); /* ends at "/" */
	}
	if (!S_ISDIR(there.st_mode))
		return -ENOTDIR;
	return access(folder, W_OK | X_OK) < 0 ? -errno : 0;
}
