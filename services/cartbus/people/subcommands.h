/* subcommands.h: the subcommands that serve people's rights */
#ifndef CARTBUS_PEOPLE_SUBCOMMANDS_H
#define CARTBUS_PEOPLE_SUBCOMMANDS_H

#include "services/cartbus/core/subcommand.h"

command_fn command_erase, command_export, command_privacy_done, command_privacy_list, command_resubscribe,
	command_suppressions_import, command_suppressions_list, command_suppressions_save, command_unsubscribe;

extern const struct subcommand people_subcommands[]; /* registered in services/cartbus/CMakeLists.txt */

#endif
