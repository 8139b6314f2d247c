/*
 * file.h: files that are there after a power cut
 */
#ifndef BUS_BASE_FILE_H
#define BUS_BASE_FILE_H

#include "bus/base/bytes.h"
#include <sys/types.h>

int file_read(const char *path, size_t most, struct buffer *ret); /* -EFBIG past `most` */
int file_write(int fd, struct bytes content);                     /* all of it, whatever interrupts */
/* Makes it and writes it, unsynced: ret_fd. -EEXIST: it is there. */
int file_create(const char *path, struct bytes content, mode_t mode, int *ret_fd);
int file_write_new(const char *path, struct bytes content, mode_t mode); /* and sync it; -EEXIST: it is there */
/* `path`.writing, fsync, rename, fsync of the folder. -EBUSY: another one is at it. */
int file_write_durably(const char *path, struct bytes content, mode_t mode);
struct file_owner {
	uid_t uid;
	gid_t gid;
};
/* The same; whoever reads it never meets it as somebody else's. `owner` NULL: the writer's. */
int file_write_durably_for(const char *path, struct bytes content, mode_t mode, const struct file_owner *owner);
int file_sync_folder(const char *path);
int file_make_folders(const char *path, mode_t mode); /* like mkdir -p; the mode is for the ones it makes */
/* A secret: a regular file that neither group nor others can write, nor others read. Trailing newline dropped. -EPERM: too open; -ENODATA: empty. */
int file_read_secret(const char *path, struct buffer *ret);
/* Holds `path` locked for the life of the process. -EBUSY: another one has it. */
int file_lock(const char *path, int *ret_fd);

#endif
