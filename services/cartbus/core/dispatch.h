/* dispatch.h: from a command line to the subcommand that it means */
#ifndef CARTBUS_CORE_DISPATCH_H
#define CARTBUS_CORE_DISPATCH_H

#include "services/cartbus/core/manual.h"

struct subcommands {
	const struct subcommand *all; /* an entry without a name begins a group of the help */
	size_t count;
};

void dispatch_help(const struct subcommands *subcommands);
/* argv without the program's name, and at least one word. Returns a command_exit. */
int dispatch(const struct subcommands *subcommands, int argc, char **argv);

#endif
