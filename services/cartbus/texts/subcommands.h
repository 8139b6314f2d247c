/* subcommands.h: the subcommands that judge, list and roll back the owner's texts */
#ifndef CARTBUS_TEXTS_SUBCOMMANDS_H
#define CARTBUS_TEXTS_SUBCOMMANDS_H

#include "services/cartbus/core/subcommand.h"

command_fn command_config_check, command_preview, command_rules_apply, command_rules_check, command_rules_try,
	command_text_diff, command_text_log, command_text_rollback, command_text_show, command_voice_check,
	command_voice_show;

extern const struct subcommand texts_subcommands[]; /* registered in services/cartbus/CMakeLists.txt */

#endif
