/* restore.h: a restore, and its release */
#ifndef CARTBUS_BACKUP_RESTORE_H
#define CARTBUS_BACKUP_RESTORE_H

#include "services/cartbus/core/command.h"
#include <jansson.h>

/* <state>/restore.json into *ret; NULL when there is none. One that cannot be read is not the same as none: it complains. */
int restore_read_note(const struct command *command, const char *state, json_t **ret);
/* restore_release.c: what was learnt is said, then mails are claimed again. */
int restore_release(const struct command *command, bool unlearnt, bool key_is_lost);

#endif
