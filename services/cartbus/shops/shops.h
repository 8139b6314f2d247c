/* shops.h: the shops there are: the folders of [paths] shops that hold a shop.conf, and those that the log alone knows */
#ifndef CARTBUS_SHOPS_SHOPS_H
#define CARTBUS_SHOPS_SHOPS_H

#include "services/cartbus/core/command.h"
#include "services/cartbus/core/reading.h"

/* Calls each(name, context) in order of name. Returns how many. */
int shops_each(const struct command *command, void (*each)(const char *name, void *context), void *context);
/*
 * EXIT_FINE: the shop has its shop.conf, or the log holds a message of it: a removed shop's history stays readable. Otherwise it
 * complains, naming the shop that is spelled most like it, and returns EXIT_NO, or the exit of a log that cannot be read.
 */
int shops_know(const struct command *command, struct client *client, const char *name);
/* The same of what an option may name; NULL: it names none, which is fine. */
int shops_know_if_named(const struct command *command, struct client *client, const char *name);
/* Says that there is no such shop, and which one may be meant. Returns EXIT_NO. */
int shops_complain_unknown(const struct command *command, const char *name);
/* Their names, one a line, by the configuration at this path (NULL: where it always is). Says nothing when it cannot be read. */
int shops_print(const char *config_path);

#endif
