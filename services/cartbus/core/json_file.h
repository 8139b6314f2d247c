/*
 * json_file.h: what the command remembers in a file: a list of backups, of erasures, a note about a restore
 */
#ifndef CARTBUS_CORE_JSON_FILE_H
#define CARTBUS_CORE_JSON_FILE_H

#include <jansson.h>

/* *ret is the caller's. -ENOENT; -EBADMSG: it is no JSON; -EFBIG: of more than 256 MiB; what reading says. */
int json_file_read(const char *path, json_t **ret);
/* All of it or as it was, synced, mode 0600. -EBADMSG: there is nothing to be written (NULL, or what is no UTF-8). */
int json_file_write(const char *path, const json_t *json);
const char *json_file_words(int r); /* of what these two say */

#endif
