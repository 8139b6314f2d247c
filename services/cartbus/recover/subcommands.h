/* subcommands.h: the subcommands that mend what failed */
#ifndef CARTBUS_RECOVER_SUBCOMMANDS_H
#define CARTBUS_RECOVER_SUBCOMMANDS_H

#include "services/cartbus/core/subcommand.h"

command_fn command_dlq_drop, command_dlq_list, command_dlq_redrive, command_dlq_show, command_gateway_strike,
	command_mailin_judge, command_mailin_list, command_mailin_retry, command_mailin_show, command_queues_resume,
	command_rebuild, command_replay;

extern const struct subcommand recover_subcommands[]; /* registered in services/cartbus/CMakeLists.txt */

#endif
