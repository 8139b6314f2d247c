/* shops.h: the shops there are: the folders of [paths] shops that hold a shop.conf */
#ifndef CARTBUS_SHOPS_H
#define CARTBUS_SHOPS_H

#include "services/cartbus/command.h"

/* Calls each(name, context) in order of name. Returns how many. */
int shops_each(const struct command *command, void (*each)(const char *name, void *context), void *context);

#endif
