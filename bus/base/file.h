/* file.h: files that survive a power cut */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "bus/base/bytes.h"
#include <sys/stat.h>
#include <sys/types.h>

int file_read(const char *path, size_t most, struct buffer *ret); /* -EFBIG past `most` */
/* writes all of it, also if signals interrupt */
int file_write(int fd, struct bytes content);
/* Makes and writes a file without a sync; ret_fd is its descriptor. -EEXIST: it exists. */
int file_create(const char *path, struct bytes content, mode_t mode, int *ret_fd);
/* makes, writes and syncs a file; -EEXIST: it exists */
int file_write_new(const char *path, struct bytes content, mode_t mode);
/* `path`.writing, fsync, rename, fsync of the folder. -EBUSY: another process is writing it. */
int file_write_durably(const char *path, struct bytes content, mode_t mode);
struct file_owner {
	uid_t uid;
	gid_t gid;
};
/*
 * The same, and the file never has another owner than `owner`. `owner` NULL: the owner is the writing
 * process.
 */
int file_write_durably_for(const char *path, struct bytes content, mode_t mode, const struct file_owner *owner);
int file_sync_folder(const char *path);
/*
 * These work in a folder that another user may write to, and follow no link that this user placed there.
 * `folder` is a descriptor; `name` is an entry of it, without a slash.
 */
/* returns the descriptor; -ENOTDIR: it is a link or a file */
int file_open_folder_in(int folder, const char *name);
/* -ELOOP: it is a link; -EINVAL: it is no file */
int file_read_in(int folder, const char *name, size_t most, struct buffer *ret);
int file_write_durably_in(
	int folder, const char *name, struct bytes content, mode_t mode, const struct file_owner *owner);
int file_move_durably_in(int from, const char *name, int to); /* moves the entry and keeps its name */
/* rename(2), and fsync of both folders: after 0 a power cut does not bring the old name back. */
int file_rename_durably(const char *from, const char *to);
/* like mkdir -p; the mode applies to the folders that it makes */
int file_make_folders(const char *path, mode_t mode);
/*
 * The same with mode 0700. If an earlier release left the folder readable for its group or others, that is
 * removed.
 */
int file_make_private_folder(const char *path);
/*
 * For files that are written for the owner (exports, a maildir). All services share a group, and other
 * services must not read these files. But a folder with the setgid bit gives its files to its group on
 * purpose, for that group to read.
 */
/* makes the folder private if its user and group are those of this process */
int file_close_own_folder(const char *path);
/* sets the mode if the group is not that of this process */
int file_let_group_read(const char *path, mode_t mode);
enum file_trust { FILE_TRUSTED, FILE_OPEN_TO_ALL, FILE_OF_ANOTHER };
/*
 * Can a user who is neither this process's user nor root replace this file, or an entry of this folder? In a
 * folder that is open to all and sticky (/tmp) each entry belongs to its owner. The group is trusted. Of a
 * link only the owner counts.
 */
enum file_trust file_trust(const struct stat *there);
/*
 * Reads a secret: a regular file that neither the group nor others can write, and that others cannot read. A
 * trailing newline is dropped. -EPERM: the mode is too open. -ENODATA: the file is empty.
 */
int file_read_secret(const char *path, struct buffer *ret);
/*
 * Keeps `path` locked for the life of the process. -EBUSY: another process has the lock, or replaced the file
 * just now.
 */
int file_lock(const char *path, int *ret_fd);

/*
 * May this user write in the folder at `path`, or in its nearest existing parent if it does not exist? 0 or a
 * negative errno.
 */
int file_may_write_below(const char *path);

/*
 * A file in [paths] state. A restore makes it before it moves anything, and removes it when the restored log
 * has its own identity. While it exists the broker does not start, because the log may be half copied or
 * missing, or might claim mails that were already sent.
 */
#define RESTORING_MARK "restoring"

#endif
