/* folder.h: <state>/people, the folder of people.json and links, which two processes write under one lock */
#ifndef CONSOLE_PEOPLE_FOLDER_H
#define CONSOLE_PEOPLE_FOLDER_H

#include "bus/base/bytes.h"
#include "bus/base/file.h"

/*
 * Makes the folder with mode 0700 if it is missing. `owner`: of a folder that root makes; NULL: the owner is the
 * process. An existing folder keeps its owner.
 */
int people_folder_make(const char *path, const struct file_owner *owner);

/* The folder, opened and locked until people_folder_close. */
struct people_folder {
	int fd, lock;
	struct file_owner owner;
};

/*
 * -ENOENT: there is none; -EBUSY: another process held the lock for 2 s. What root writes in it belongs to the
 * folder's owner.
 */
int people_folder_lock(const char *path, struct people_folder *ret);
void people_folder_close(struct people_folder *folder);
int people_folder_read(const struct people_folder *folder, const char *name, struct buffer *ret);    /* -ENOENT */
int people_folder_write(const struct people_folder *folder, const char *name, struct bytes content); /* durable */

enum { PEOPLE_FILE_MOST = 64 << 20 };

#endif
