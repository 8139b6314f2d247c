/* files.h: finds a shopper's data in files beside the log */
#ifndef CARTBUS_PEOPLE_FILES_H
#define CARTBUS_PEOPLE_FILES_H

#include "services/cartbus/people/data_subject.h"

enum files_of {
	FILES_REJECTED, /* webhooks that could not be read: <state>/NAME/rejected */
	FILES_MAILS,    /* mails of the maildir transport */
	FILES_ASIDE,    /* bounces and other mails that mailin put aside: [mailin] folder/aside */
	FILES_EXPORTS   /* the nightly CSV and the monthly summary */
};

/*
 * Copies a table to `ret` without the rows about the person; all other rows stay as they are, byte by byte.
 * Returns the number of removed rows.
 */
int files_csv_without(const struct data_subject *data_subject, struct bytes csv, struct buffer *ret);

struct found_file {
	enum files_of kind;
	/* only for messages, because the owner of a folder above it may redirect the path meanwhile */
	const char *path;
	int folder; /* a descriptor of its folder, and its name there (bus/base/file.h: file_read_in) */
	const char *name;
};

/*
 * Calls each() with every file that holds a strong name of the person, or one of the person's cart ids at the
 * beginning of a row of CSV. Links are not followed. EXIT_NO: a file could not be looked at, and it
 * complained.
 */
typedef void file_fn(const struct found_file *file, void *context);
int files_each(const struct command *command, const struct data_subject *data_subject, file_fn *each, void *context);
const char *files_word(enum files_of kind); /* "rejected webhook" */

#endif
