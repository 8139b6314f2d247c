/*
 * backup_folder.h: the files of a backup, copied and checked, and the disk space that they need
 *
 * DIR/backup.json says which folder beside it holds the log's files ("broker" unless it says another), and what they must be: name,
 * size and SHA-256 of each, which log it is, up to which message, and which erasures are in it. It is written last: a folder without
 * it is no backup. "proved_us" in it says when the log in it was read as a whole and found sound. DIR/erasures.json is the list of who
 * was erased, as far as it was known here (erasures.h), DIR/stops the side log; what these two must be stands in "beside". DIR/blobs
 * holds the blobs (blobs.h). A backup of 0.1.0 has no "beside", and one in which an erasure was cut short has none: there it is enough that they can be read.
 */
#ifndef CARTBUS_BACKUP_BACKUP_FOLDER_H
#define CARTBUS_BACKUP_BACKUP_FOLDER_H

#include "bus/base/config.h"
#include "services/cartbus/core/command.h"
#include <jansson.h>
#include <stdint.h>

struct backup_sum {
	uint64_t files, bytes;
};

/* 0: the folder is empty, or was made. -ENOTEMPTY, or another negative errno. */
int backup_folder_make(const char *folder);
/*
 * Copies every file of `from` into the new folder `to`, synced, and appends their names, sizes and sums.
 * Complains and returns an exit code.
 */
int backup_copy(
	const struct command *command, const char *from, const char *to, json_t *files, struct backup_sum *ret_sum);
/* The same for files that are in place already; it syncs them. */
int backup_sum_files(const struct command *command, const char *folder, json_t *files, struct backup_sum *ret_sum);
/*
 * Notes erasures.json and stops in backup.json ("beside") and syncs them. Complains and returns an exit code.
 */
int backup_note_beside(const struct command *command, const char *folder, json_t *note);
/* Checks these files against backup.json. Complains and returns an exit code. */
int backup_verify_beside(const struct command *command, const char *folder, const json_t *note);
/* durably; returns an exit code */
int backup_write_note(const struct command *command, const char *folder, const json_t *note);
/*
 * Checks all files of the backup, those beside the log, and the blobs against backup.json. ret (may be NULL)
 * gets backup.json. Complains and returns an exit code.
 */
int backup_verify(const struct command *command, const char *folder, struct backup_sum *ret_sum, json_t **ret);
/* Reads backup.json; NULL: it is no finished backup, which it complains about. A new reference. */
json_t *backup_note(const struct command *command, const char *folder);
/* the same without complaining */
json_t *backup_note_if_any(const char *folder);
void backup_log_path(const char *folder, const json_t *note, char ret[PATH_ROOM]); /* the folder of the log's files */
void backup_remove_folder(const char *folder);                                     /* a folder of plain files */
void backup_remove_tree(const char *folder);                                       /* with all that is in it */

/* ---- backup.c ---- */

/*
 * Copies the log into this new or empty folder and checks the copy. At least `headrooms` headrooms of disk
 * space stay free. The caller holds the lock.
 */
int backup_make(const struct command *command, const char *folder, unsigned headrooms);

/* backup_known.c: one of backup, restore and erase at a time, and which backups were made here (<state>/backups.json) */
/* until ret_lock is closed; complains and returns an exit code */
int backup_lock(const struct command *command, int *ret_lock);
void backup_remove_snapshots(const struct command *command); /* removes what a killed backup left */
/* The caller holds the lock. Complains and returns an exit code. */
int backup_remember(const struct command *command, const char *folder);
/* BACKUP_GONE: it was deleted. BACKUP_AWAY: its disk is missing, or it cannot be looked for. */
enum backup_found { BACKUP_THERE, BACKUP_GONE, BACKUP_AWAY };
typedef void backup_fn(const char *folder, enum backup_found found, void *context);
/* Reads the list, and changes nothing. Complains and returns an exit code. */
int backup_each_known(const struct command *command, backup_fn *each, void *context);
/*
 * Takes those that are gone off the list. The caller holds the lock: else the row of a backup that begins in
 * this moment could be lost. Complains and returns an exit code.
 */
int backup_forget_gone(const struct command *command);

/* ---- the disk space that has to stay free ---- */

enum { DISK_HEADROOMS = 3 }; /* with less the monitor raises an alarm */

/*
 * [broker] headroom of a file system of that size, in bytes: with less free space the broker refuses new
 * messages.
 */
uint64_t disk_headroom(const struct config *config, uint64_t disk_bytes);

#endif
