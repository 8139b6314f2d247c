/* erase_copy.h: removes erased shoppers from older copies of the log */
#ifndef CARTBUS_PEOPLE_ERASE_COPY_H
#define CARTBUS_PEOPLE_ERASE_COPY_H

#include "services/cartbus/people/erase.h"

/*
 * Has a backup lose whom `list` names and it does not know to have lost yet. Ended in the middle, the backup is as it was, or done.
 * *ret_erased: messages. An exit; complains. The lock of backups is held.
 */
int erase_copy(const struct command *command, const char *folder, const json_t *list, size_t *ret_erased);

/* All who were erased, as far as is known here, in this backup, in those beside it, and in `more` (a list, or a backup; NULL: none);
 * NULL: it complained. A new reference. */
json_t *erase_copy_list(const struct command *command, const char *folder, const char *more);

/* Every backup that was made here. */
void erase_copies(const struct command *command, bool dry_run, struct reached *reached);

/*
 * Goes on with what was cut short: those of them, below `within` (NULL: anywhere), that hold somebody yet who was erased. An exit;
 * complains. The lock of backups is held.
 */
int erase_copies_again(const struct command *command, const char *within);
/* Calls each() for every backup that was made here and holds persons yet who were erased. */
typedef void erase_owed_fn(const char *folder, size_t persons, void *context);
void erase_copies_owed(const struct command *command, erase_owed_fn *each, void *context);

#endif
