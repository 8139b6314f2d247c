/*
 * folder.c: the folder of people.json and links: locked by its writers, followed through no link
 *
 * Promises:  root, who runs `cartbus user`, writes only inside this folder and only files of its owner, whatever that owner
 *            has put there.
 * Fails by:  a negative errno.
 */
#include "services/console/people/folder.h"

#include "bus/base/cleanup.h"
#include "bus/base/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#define LOCK_PATIENCE_US (2 * US_PER_S)
#define LOCK_PAUSE_US (2 * US_PER_MS)

int people_folder_make(const char *path, const struct file_owner *owner)
{
	struct stat there;
	int r;

	if (stat(path, &there) == 0)
		return S_ISDIR(there.st_mode) ? 0 : -ENOTDIR;
	r = file_make_private_folder(path);
	return r == 0 && owner && lchown(path, owner->uid, owner->gid) < 0 ? -errno : r;
}

/* The holder writes one file: it is soon done, unless somebody stopped it. */
static int lock_patiently(int fd)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_US * 1000 };

	for (int64_t waited_us = 0; waited_us < LOCK_PATIENCE_US; waited_us += LOCK_PAUSE_US) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

static int open_lock(int folder, const struct file_owner *owner, int *ret)
{
	_cleanup_close_ int fd = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r;

	if (fd < 0)
		return -errno;
	if (geteuid() == 0 && fchown(fd, owner->uid, owner->gid) < 0)
		return -errno;
	r = lock_patiently(fd);
	if (r < 0)
		return r;
	*ret = fd;
	fd = -1;
	return 0;
}

int people_folder_lock(const char *path, struct people_folder *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat there;
	int r;

	if (fd < 0 || fstat(fd, &there) < 0)
		return -errno;
	*ret = (struct people_folder){ .owner = { there.st_uid, there.st_gid } };
	r = open_lock(fd, &ret->owner, &ret->lock);
	if (r < 0)
		return r;
	ret->fd = fd;
	fd = -1;
	return 0;
}

void people_folder_close(struct people_folder *folder)
{
	close(folder->lock);
	close(folder->fd);
}

int people_folder_read(const struct people_folder *folder, const char *name, struct buffer *ret)
{
	return file_read_in(folder->fd, name, PEOPLE_FILE_MOST, ret);
}

int people_folder_write(const struct people_folder *folder, const char *name, struct bytes content)
{
	return file_write_durably_in(folder->fd, name, content, 0600, geteuid() == 0 ? &folder->owner : NULL);
}
