/*
 * backup_folder.h: the files of a backup, copied and checked
 *
 * DIR/broker/ holds the log's files, DIR/backup.json what they must be: name, size and SHA-256 of each, which log it is and up to
 * which message. backup.json is written last: a folder without it is no backup.
 */
#ifndef CARTBUS_BACKUP_FOLDER_H
#define CARTBUS_BACKUP_FOLDER_H

#include "services/cartbus/command.h"
#include <jansson.h>
#include <stdint.h>

struct backup_sum {
	uint64_t files, bytes;
};

/* 0: it is empty, or was made; else -ENOTEMPTY or why not */
int backup_folder_make(const char *folder);
/* Every file of `from` into the new folder `to`, synced; their names, sizes and sums are appended. Complains and answers an exit. */
int backup_copy(
	const struct command *command, const char *from, const char *to, json_t *files, struct backup_sum *ret_sum);
/* Are all files of the backup what backup.json says? ret (may be NULL) is backup.json. Complains and answers an exit. */
int backup_verify(const struct command *command, const char *folder, struct backup_sum *ret_sum, json_t **ret);
void backup_remove_folder(const char *folder); /* a folder of plain files */

#endif
