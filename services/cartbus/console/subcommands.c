/* subcommands.c: the table of the subcommands about the console and who may use it */
#include "services/cartbus/console/subcommands.h"

const struct subcommand console_subcommands[] = {
	{ SUBCOMMANDS_SHOPS, "console link", "",
		"a one-time link by which the first admin, or somebody, enters the console", command_console_link },
	{ SUBCOMMANDS_SHOPS, "user add", "NAME", "somebody who may use the console, with roles; prints a one-time link",
		command_user_add },
	{ SUBCOMMANDS_SHOPS, "user list", "", "who may use the console", command_user_list },
	{ SUBCOMMANDS_SHOPS, "user role", "NAME", "gives or takes roles", command_user_role },
	{ SUBCOMMANDS_SHOPS, "user reset", "NAME", "a one-time link for a new password", command_user_reset },
	{ SUBCOMMANDS_SHOPS, "user remove", "NAME", "that person's sessions and roles end", command_user_remove },
	{ .name = NULL },
};
