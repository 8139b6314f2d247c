/* subcommands.h: the subcommands about the people of the web console */
#ifndef CARTBUS_CONSOLE_SUBCOMMANDS_H
#define CARTBUS_CONSOLE_SUBCOMMANDS_H

#include "services/cartbus/core/subcommand.h"

command_fn command_console_link, command_user_add, command_user_list, command_user_remove, command_user_reset,
	command_user_role;

extern const struct subcommand console_subcommands[]; /* registered in services/cartbus/CMakeLists.txt */

#endif
