/* dispatch.h: from a command line to the subcommand that it means */
#ifndef CARTBUS_CORE_DISPATCH_H
#define CARTBUS_CORE_DISPATCH_H

#include "services/cartbus/core/subcommand.h"

void dispatch_help(const struct subcommands *subcommands);
/* argv without the program's name, and at least one word. Returns a command_exit. */
int dispatch(const struct subcommands *subcommands, int argc, char **argv);

#endif
