/* manual.h: all that there is to say about the command and its files, for programs that make pages and completions of it */
#ifndef CARTBUS_CORE_MANUAL_H
#define CARTBUS_CORE_MANUAL_H

#include "services/cartbus/core/subcommand.h"

/* One JSON object per line: groups, subcommands, keys of cartbus.conf and of shop.conf. Returns a command_exit. */
int manual_print(const struct subcommands *subcommands);
/* What a subcommand takes, as one such line; for command_take. */
void manual_print_one(const struct command *command, const struct arguments *arguments);

#endif
