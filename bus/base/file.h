/*
 * file.h: files that are there after a power cut
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "bus/base/bytes.h"
#include <sys/stat.h>
#include <sys/types.h>

int file_read(const char *path, size_t most, struct buffer *ret); /* -EFBIG past `most` */
int file_write(int fd, struct bytes content);                     /* all of it, also when signals interrupt */
/* Makes it and writes it, unsynced: ret_fd. -EEXIST: it is there. */
int file_create(const char *path, struct bytes content, mode_t mode, int *ret_fd);
int file_write_new(const char *path, struct bytes content, mode_t mode); /* and sync it; -EEXIST: it is there */
/* `path`.writing, fsync, rename, fsync of the folder. -EBUSY: another one is at it. */
int file_write_durably(const char *path, struct bytes content, mode_t mode);
struct file_owner {
	uid_t uid;
	gid_t gid;
};
/* The same, and the file never has another owner than `owner`. `owner` NULL: the writer. */
int file_write_durably_for(const char *path, struct bytes content, mode_t mode, const struct file_owner *owner);
int file_sync_folder(const char *path);
/*
 * In a folder that another user may write to: what that user plants there leads nowhere else. `folder` is a descriptor, `name` an entry of
 * it, without a slash. A link is not followed.
 */
int file_open_folder_in(int folder, const char *name); /* the descriptor; -ENOTDIR: it is a link, or a file */
int file_read_in(int folder, const char *name, size_t most, struct buffer *ret); /* -ELOOP: a link; -EINVAL: no file */
int file_write_durably_in(
	int folder, const char *name, struct bytes content, mode_t mode, const struct file_owner *owner);
int file_move_durably_in(int from, const char *name, int to); /* the entry, under its name */
/* rename(2), and fsync of both folders: after 0 a power cut does not bring the old name back. */
int file_rename_durably(const char *from, const char *to);
int file_make_folders(const char *path, mode_t mode); /* like mkdir -p; the mode is for the ones it makes */
/* The same with 0700; what an earlier release left in it for its group or others to read is closed to them. */
int file_make_private_folder(const char *path);
/*
 * What is written for the owner (exports, a maildir). The services have a group in common, and what is in a file is none of the others'
 * business; but a folder that gives its files to another group (setgid) does so for that group to read.
 */
int file_close_own_folder(const char *path);            /* private, if user and group are this process's */
int file_let_group_read(const char *path, mode_t mode); /* sets the mode, if the group is not this process's */
enum file_trust { FILE_TRUSTED, FILE_OPEN_TO_ALL, FILE_OF_ANOTHER };
/*
 * May a user who is neither this process's nor root put something else in the place of this file, or of what is in this folder?
 * Of a folder that is open to all and sticky (/tmp) each entry is its owner's. Its group is trusted. Of a link only the owner counts.
 */
enum file_trust file_trust(const struct stat *there);
/* A secret: a regular file that neither group nor others can write, nor others read. Trailing newline dropped. -EPERM: too open; -ENODATA: empty. */
int file_read_secret(const char *path, struct buffer *ret);
/* Holds `path` locked for the life of the process. -EBUSY: another one has it, or had it and took it away just now. */
int file_lock(const char *path, int *ret_fd);

/* May this user write in the folder at `path`, or, where it is not there yet, in the first one above it that is? 0 or a negative errno. */
int file_may_write_below(const char *path);

/*
 * The mark in [paths] state from before a restore moves anything until its log has got an identity of its own. While it lies there the broker
 * does not start: the log may be half copied, not there at all, or about to claim mails that went.
 */
#define RESTORING_MARK "restoring"

#endif
