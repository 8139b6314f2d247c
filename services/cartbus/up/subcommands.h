/* subcommands.h: the subcommands that run an installation, its keys and secrets */
#ifndef CARTBUS_UP_SUBCOMMANDS_H
#define CARTBUS_UP_SUBCOMMANDS_H

#include "services/cartbus/core/subcommand.h"

command_fn command_keys_list, command_keys_make, command_keys_revoke, command_keys_rotate, command_secrets_make,
	command_secrets_rotate, command_up;

extern const struct subcommand up_subcommands[]; /* registered in services/cartbus/CMakeLists.txt */

#endif
