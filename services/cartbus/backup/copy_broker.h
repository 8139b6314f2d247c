/*
 * copy_broker.h: a broker of one's own over a copy of the log, and a session with it
 *
 * Nobody else finds it: its sockets lie in a folder of their own, which this user alone may enter, and no service knows it.
 */
#ifndef CARTBUS_BACKUP_COPY_BROKER_H
#define CARTBUS_BACKUP_COPY_BROKER_H

#include "services/cartbus/core/reading.h"

struct copy_broker;

/* Over the log in `state`/broker. It says so and returns an exit when it does not come up. */
int copy_broker_start(const struct command *command, const char *state, struct copy_broker **ret);
const struct command *copy_broker_command(const struct copy_broker *broker); /* as `command`, but of this broker */
struct client *copy_broker_client(const struct copy_broker *broker);
/* Frees it. An exit: EXIT_NO when it did not end as it should, so that what it wrote may not be whole. */
int copy_broker_stop(struct copy_broker **broker);

#endif
