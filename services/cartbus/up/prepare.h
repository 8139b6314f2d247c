/* prepare.h: makes the folders and keys of an installation */
#ifndef CARTBUS_UP_PREPARE_H
#define CARTBUS_UP_PREPARE_H

#include "services/cartbus/core/command.h"

/*
 * Makes what is missing: state, run, shops, secrets, address.key (unless there is a log), link.key, bounce.key, admin.key, with
 * [monitor] webhook alarm.webhook, with [broker] listen the broker's key. Complains and returns an exit when it cannot.
 */
int prepare(const struct command *command);
int prepare_secrets(const struct command *command); /* of these what lies below [paths] secrets, and the broker's key */
/* 32 bytes from getrandom(2), in hex, at `path` with 0600; a file that holds something is left alone (-EEXIST). */
int prepare_secret(const char *path);
int prepare_secret_after(const char *path, const char *prefix); /* the same, with this before the hex */

#endif
