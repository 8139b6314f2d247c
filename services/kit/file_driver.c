/*
 * file_driver.c: writes whole files: temporary, fsync, rename
 *
 * Promises:  a reader sees the old file or the new one, never half of one. It is the user's alone, or also its folder's group's.
 * Fails by:  the negative errno as its result.
 */
#include "services/kit/file_driver.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/steps.h"
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Services that write beside one another (export) have a folder that their group may write in: so it is with those below it. */
static int make_folder(const char *path)
{
	char above[sizeof(((struct file_request *)0)->path)];
	struct stat there;

	if (access(path, F_OK) == 0)
		return file_close_own_folder(path);
	int r = file_make_folders(path, S_IRWXU);
	TEXT_COPY(above, path);
	if (r == 0 && stat(dirname(above), &there) == 0 && there.st_mode & S_IWGRP && chmod(path, 0770) < 0)
		return -errno;
	return r < 0 || there.st_mode & S_IWGRP ? r : file_let_group_read(path, 0750);
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
