/*
 * json_file.h: JSON files of the command (a list of backups, of erasures, a note about a restore), and
 * members of objects (services/kit/words/members.h)
 */
#ifndef CARTBUS_CORE_JSON_FILE_H
#define CARTBUS_CORE_JSON_FILE_H

#include "services/kit/words/members.h"

/*
 * Reads the file; the caller owns *ret. -ENOENT; -EBADMSG: it is no JSON; -EFBIG: it has more than 256 MiB;
 * another negative errno of reading.
 */
int json_file_read(const char *path, json_t **ret);
/*
 * Writes the file whole or not at all, synced, mode 0600. -EBADMSG: there is nothing to write (NULL, or
 * invalid UTF-8).
 */
int json_file_write(const char *path, const json_t *json);
const char *json_file_words(int r); /* the errors of these two in words */

#endif
