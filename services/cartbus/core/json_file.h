/*
 * json_file.h: JSON that the command remembers in a file (a list of backups, of erasures, a note about a restore), and members of objects
 */
#ifndef CARTBUS_CORE_JSON_FILE_H
#define CARTBUS_CORE_JSON_FILE_H

#include <jansson.h>

/* *ret is the caller's. -ENOENT; -EBADMSG: it is no JSON; -EFBIG: of more than 256 MiB; what reading says. */
int json_file_read(const char *path, json_t **ret);
/* All of it or as it was, synced, mode 0600. -EBADMSG: there is nothing to be written (NULL, or what is no UTF-8). */
int json_file_write(const char *path, const json_t *json);
const char *json_file_words(int r); /* of what these two say */

/* ---- members of the broker's answers and of the command's own files, where one that is missing says nothing ---- */

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
