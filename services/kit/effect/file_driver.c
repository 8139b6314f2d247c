/*
 * file_driver.c: writes whole files: temporary, fsync, rename
 *
 * Promises:  a reader sees the old file or the new one, never a part of one. Only the process's user may read
 *            it, or also the group of its folder. A folder below a folder that its group may write in has the
 *            same mode.
 * Fails by:  a negative errno as the result of the effect.
 */
#include "services/kit/effect/file_driver.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/effect/steps.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The mode of a folder below this one. 0: the folder is not shared. A shared folder is one that its group may
 * write in, and other users may not: services that write into the same folder (export) have one.
 */
static mode_t mode_below(const struct stat *above)
{
	bool is_shared = above->st_mode & S_IWGRP && !(above->st_mode & S_IWOTH);

	return is_shared ? S_IRWXU | S_IRWXG | (above->st_mode & S_ISGID) : 0;
}

/*
 * systemd's RestrictSUIDSGID= forbids every mode with setgid. The folder then does without it, and its files
 * get the process's own group.
 */
static int set_mode(int folder, mode_t mode)
{
	if (fchmod(folder, mode) == 0)
		return 0;
	if (errno != EPERM || !(mode & S_ISGID))
		return -errno;
	return fchmod(folder, mode & ~(mode_t)S_ISGID) < 0 ? -errno : 0;
}

/*
 * A folder that 0.2.0 made is closed to the group, so this opens an existing one too. It leaves another user's folder as it is, and does
 * not follow a link: another user who may write in the folder above may have put the link there.
 */
static int share_folder(const char *path, mode_t mode)
{
	_cleanup_close_ int fd = file_open_folder_in(AT_FDCWD, path);
	struct stat there;

	if (fd == -ENOTDIR || fd == -EACCES)
		return 0;
	if (fd < 0)
		return fd;
	if (fstat(fd, &there) < 0)
		return -errno;
	if (there.st_uid != geteuid() || (there.st_mode & 07777) == mode)
		return 0;
	return set_mode(fd, mode);
}

/*
 * For a folder that was made just now, below a folder that is not shared: lets its group read, unless that is
 * the process's own group.
 */
static int let_group_read(const char *path)
{
	_cleanup_close_ int fd = file_open_folder_in(AT_FDCWD, path);
	struct stat there;

	if (fd < 0)
		return fd;
	if (fstat(fd, &there) < 0)
		return -errno;
	return there.st_gid == getegid() ? 0 : set_mode(fd, S_ISGID | 0750);
}

static int make_folder(const char *path)
{
	char above[sizeof(((struct file_request *)0)->path)];
	struct stat of_above;
	bool is_new = access(path, F_OK) < 0;
	int r = is_new ? file_make_folders(path, S_IRWXU) : 0;

	if (r < 0)
		return r;
	TEXT_COPY(above, path);
	if (stat(dirname(above), &of_above) < 0)
		return -errno;
	if (mode_below(&of_above))
		return share_folder(path, mode_below(&of_above));
	return is_new ? let_group_read(path) : file_close_own_folder(path);
}

static int write_file(const struct file_request *request)
{
	char folder[sizeof(request->path)];
	TEXT_COPY(folder, request->path);
	int r = make_folder(dirname(folder));
	if (r < 0)
		return r;
	r = file_write_durably(request->path, BYTES(request->content.data, request->content.len), 0600);
	return r < 0 ? r : file_let_group_read(request->path, 0640);
}

static void take(struct steps *steps, struct step_job *job)
{
	int result = write_file(job->request);
	steps_done(steps, job, &result);
}

void file_request_free(void *request)
{
	if (request)
		buffer_free(&((struct file_request *)request)->content);
	free(request);
}

struct effect_driver *file_driver_new(void)
{
	struct steps *steps = memory_new(sizeof(*steps));
	steps_init(steps, "file");
	steps->take = take;
	return &steps->driver;
}
