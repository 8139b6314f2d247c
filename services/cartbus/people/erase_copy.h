/* erase_copy.h: removes erased shoppers from older copies of the log */
#ifndef CARTBUS_PEOPLE_ERASE_COPY_H
#define CARTBUS_PEOPLE_ERASE_COPY_H

#include "services/cartbus/people/erase.h"

/*
 * Erases from a backup the persons of `list` that backup.json does not name as erased yet. If it is cut
 * short, the backup is as before, or done. *ret_erased is the number of messages. Complains, and returns an
 * exit code. The caller holds the lock of backups.
 */
int erase_copy(const struct command *command, const char *folder, const json_t *list, size_t *ret_erased);

/*
 * Merges the lists of erased persons: of [paths] state, of this backup, of the backups beside it, and of
 * `more` (a list, or a backup; NULL: none). Returns a new reference; NULL: it complained.
 */
json_t *erase_copy_list(const struct command *command, const char *folder, const char *more);

/*
 * Erases the listed persons from every backup that was made here. Unless it is a dry run, the caller holds
 * the lock of backups.
 */
void erase_copies(const struct command *command, bool dry_run, struct reached *reached);

/*
 * Goes on with erasures that were cut short: in each backup below `within` (NULL: anywhere) that was made
 * here and still holds erased persons. Complains, and returns an exit code. The caller holds the lock of
 * backups.
 */
int erase_copies_again(const struct command *command, const char *within);
/* Calls each() for every backup that was made here and still holds erased persons; changes nothing. */
typedef void erase_owed_fn(const char *folder, size_t persons, void *context);
void erase_copies_owed(const struct command *command, erase_owed_fn *each, void *context);

#endif
