/* shops.h: the shops there are: the folders of [paths] shops that hold a shop.conf */
#ifndef CARTBUS_SHOPS_H
#define CARTBUS_SHOPS_H

#include "services/cartbus/command.h"

/* Calls each(name, context) in order of name. Returns how many. */
int shops_each(const struct command *command, void (*each)(const char *name, void *context), void *context);
/* Their names, one a line, by the configuration at this path (NULL: where it always is). Says nothing when it cannot be read. */
int shops_print(const char *config_path);

#endif
