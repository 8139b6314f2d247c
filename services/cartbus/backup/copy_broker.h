/*
 * copy_broker.h: a private broker over a copy of the log, and a session with it
 *
 * No other process finds it: its sockets are in a folder of their own that only this user may enter, and no
 * service knows it.
 */
#ifndef CARTBUS_BACKUP_COPY_BROKER_H
#define CARTBUS_BACKUP_COPY_BROKER_H

#include "services/cartbus/core/reading.h"

struct copy_broker;

/* Starts it over the log in `state`/broker. Complains and returns an exit code if it does not start. */
int copy_broker_start(const struct command *command, const char *state, struct copy_broker **ret);
/* like `command`, but for this broker */
const struct command *copy_broker_command(const struct copy_broker *broker);
struct client *copy_broker_client(const struct copy_broker *broker);
/*
 * Stops and frees it. Returns an exit code; EXIT_NO: it did not end properly, so its writes may be
 * incomplete.
 */
int copy_broker_stop(struct copy_broker **broker);

#endif
