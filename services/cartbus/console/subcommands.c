/* subcommands.c: the table of the subcommands about the people of the web console */
#include "services/cartbus/console/subcommands.h"

const struct subcommand console_subcommands[] = {
	{ SUBCOMMANDS_CONSOLE, "console link", "",
		"a link that lets the first admin into the console, or --person NAME", command_console_link },
	{ SUBCOMMANDS_CONSOLE, "user add", "NAME", "a person who may use the console, and a link to set the password",
		command_user_add },
	{ SUBCOMMANDS_CONSOLE, "user list", "", "who may use the console, as what", command_user_list },
	{ SUBCOMMANDS_CONSOLE, "user role", "NAME", "give a person roles (--add), or take them away (--remove)",
		command_user_role },
	{ SUBCOMMANDS_CONSOLE, "user reset", "NAME", "a link with which a person sets a new password",
		command_user_reset },
	{ SUBCOMMANDS_CONSOLE, "user remove", "NAME", "a person may use the console no longer", command_user_remove },
	{ .name = NULL },
};
