/*
 * subcommand.h: a row of the command line, as the parts of the command and the systems on the bus register them, and how the rows are used
 *
 * Each folder of services/cartbus, and each system that has subcommands, brings a table of rows, ended by a row without a name.
 * services/systems.cmake puts the tables together as registered_subcommands[].
 */
#ifndef CARTBUS_CORE_SUBCOMMAND_H
#define CARTBUS_CORE_SUBCOMMAND_H

#include "services/cartbus/core/command.h"

/* The headings of --help, in their order. */
enum subcommand_group {
	SUBCOMMANDS_RUN,
	SUBCOMMANDS_HOSTS,
	SUBCOMMANDS_SHOPS,
	SUBCOMMANDS_CONSOLE,
	SUBCOMMANDS_STOP,
	SUBCOMMANDS_SEE,
	SUBCOMMANDS_MEND,
	SUBCOMMANDS_GROUPS
};

struct subcommand {
	enum subcommand_group group;
	const char *name, *words, *summary; /* "shop add", "NAME", one line; name NULL ends a table */
	command_fn *run;
};

extern const struct subcommand *const registered_subcommands[]; /* ended by a NULL */

/* All rows of some tables: by group, and within one in the order in which they are registered. */
struct subcommands {
	const struct subcommand **all;
	size_t count;
};
struct subcommands subcommands_gather(
	const struct subcommand *const *tables); /* `tables`, ended by a NULL, is borrowed */
void subcommands_free(struct subcommands *subcommands);

/* ---- finding the subcommand of a command line ---- */

void dispatch_help(const struct subcommands *subcommands);
/* argv without the program's name, and at least one word. Returns a command_exit. */
int dispatch(const struct subcommands *subcommands, int argc, char **argv);

/*
 * ---- a full description of the command and its files, for programs that make man pages and completions
 */

/* One JSON object per line: groups, subcommands, keys of cartbus.conf and of shop.conf. Returns a command_exit. */
int manual_print(const struct subcommands *subcommands);
/* Prints the options of a subcommand as one such line; for command_take. */
void manual_print_one(const struct command *command, const struct arguments *arguments);

#endif
