/* subcommands.h: the subcommands that keep copies of the log */
#ifndef CARTBUS_BACKUP_SUBCOMMANDS_H
#define CARTBUS_BACKUP_SUBCOMMANDS_H

#include "services/cartbus/core/subcommand.h"

command_fn command_backup, command_blobs, command_restore, command_verify;

extern const struct subcommand backup_subcommands[]; /* registered in services/cartbus/CMakeLists.txt */

#endif
