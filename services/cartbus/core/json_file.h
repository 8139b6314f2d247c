/*
 * json_file.h: JSON files of the command (a list of backups, of erasures, a note about a restore), and
 * members of objects
 */
#ifndef CARTBUS_CORE_JSON_FILE_H
#define CARTBUS_CORE_JSON_FILE_H

#include <jansson.h>

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

/*
 * ---- members of the broker's answers and of the command's own files, where a missing member is no error
 */

/* Borrowed from `object`; "": there is no such member, or it is no text. */
static inline const char *member_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* 0: there is no such member, or it is no whole number. */
static inline json_int_t member_number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

#endif
