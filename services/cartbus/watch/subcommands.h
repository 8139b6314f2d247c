/* subcommands.h: the subcommands that show what happens */
#ifndef CARTBUS_WATCH_SUBCOMMANDS_H
#define CARTBUS_WATCH_SUBCOMMANDS_H

#include "services/cartbus/core/subcommand.h"

command_fn command_alarm_ack, command_alarm_list, command_alarm_test, command_cart_override, command_cart_suppress,
	command_cart_write_off, command_carts, command_log, command_queues, command_report, command_status, command_tap,
	command_timers, command_top, command_trace, command_why;

extern const struct subcommand watch_subcommands[]; /* registered in services/cartbus/CMakeLists.txt */

#endif
