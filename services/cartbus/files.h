/*
 * files.h: what lies about a shopper in files beside the log
 */
#ifndef CARTBUS_FILES_H
#define CARTBUS_FILES_H

#include "services/cartbus/person.h"

enum files_of {
	FILES_REJECTED, /* webhooks that could not be read: <state>/NAME/rejected */
	FILES_MAILS,    /* of the maildir transport */
	FILES_EXPORTS   /* the nightly CSV and the monthly summary */
};

/*
 * Calls each() with every file that holds a strong name of the person, or one of his cart ids at the beginning of a row of CSV.
 * EXIT_NO: it complained, there is something that could not be looked at.
 */
typedef void file_fn(enum files_of kind, const char *path, void *context);
int files_each(const struct command *command, const struct person *person, file_fn *each, void *context);
const char *files_word(enum files_of kind); /* "rejected webhook" */

#endif
