/* subcommands.h: the subcommands that set up, stop and resume shops */
#ifndef CARTBUS_SHOPS_SUBCOMMANDS_H
#define CARTBUS_SHOPS_SUBCOMMANDS_H

#include "services/cartbus/core/subcommand.h"

command_fn command_reconcile, command_resume, command_send_test, command_shop_add, command_shop_check,
	command_shop_list, command_shop_mode, command_shop_secret, command_stop, command_webhook_send;

extern const struct subcommand shops_subcommands[]; /* registered in services/cartbus/CMakeLists.txt */

#endif
