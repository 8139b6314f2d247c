/* status.h: why an installation is red */
#ifndef CARTBUS_WATCH_STATUS_H
#define CARTBUS_WATCH_STATUS_H

#include "bus/actor/client.h"
#include "services/cartbus/core/command.h"
#include <jansson.h>

/*
 * An array of words, the caller's, empty when all is well; an exit, and NULL, when the broker has no answer. What it doubts of the clock
 * is told apart.
 */
int status_red(const struct command *command, struct client *client, json_t **ret_red, char ret_clock[256]);

#endif
