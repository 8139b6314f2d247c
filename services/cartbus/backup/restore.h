/* restore.h: a restore, and its release */
#ifndef CARTBUS_BACKUP_RESTORE_H
#define CARTBUS_BACKUP_RESTORE_H

#include "services/cartbus/core/command.h"
#include <jansson.h>

/* Reads <state>/restore.json into *ret; NULL: there is none. Complains if it exists but cannot be read. */
int restore_read_note(const struct command *command, const char *state, json_t **ret);
/* restore_release.c: publishes what was learnt, then releases the claims. */
int restore_release(const struct command *command, bool unlearnt, bool key_is_lost);

#endif
