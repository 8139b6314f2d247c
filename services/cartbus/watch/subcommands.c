/* subcommands.c: the table of the subcommands that show what happens */
#include "services/cartbus/watch/subcommands.h"

const struct subcommand watch_subcommands[] = {
	{ SUBCOMMANDS_SEE, "status", "", "is all well? green or red, and why", command_status },
	{ SUBCOMMANDS_SEE, "top", "", "the living picture: rates, queues, processes, in a terminal", command_top },
	{ SUBCOMMANDS_SEE, "carts", "SHOP",
		"a shop's carts, the newest first: which, how much, what comes next and why", command_carts },
	{ SUBCOMMANDS_SEE, "tap", "", "what happens, live", command_tap },
	{ SUBCOMMANDS_SEE, "log", "", "what happened, from the log, and what happens", command_log },
	{ SUBCOMMANDS_SEE, "trace", "SHOP CART", "everything that was ever said about a cart, from the log",
		command_trace },
	{ SUBCOMMANDS_SEE, "why", "SHOP CART", "what happened to a cart, what was decided, why, and when next",
		command_why },
	{ SUBCOMMANDS_SEE, "report", "SHOP", "what a shop's mails brought, and the time before", command_report },
	{ SUBCOMMANDS_SEE, "alarm list", "", "the alarms that stand, and who was told", command_alarm_list },
	{ SUBCOMMANDS_SEE, "alarm test", "", "a real alarm on every way, and what each answered", command_alarm_test },
	{ SUBCOMMANDS_SEE, "alarm ack", "KIND", "an alarm was seen, or is over: --end", command_alarm_ack },
	{ SUBCOMMANDS_SEE, "queues", "", "what waits where", command_queues },
	{ SUBCOMMANDS_SEE, "timers", "", "what will happen when", command_timers },
	{ SUBCOMMANDS_MEND, "cart override", "SHOP CART FIRST SECOND", "waits of its own for one cart",
		command_cart_override },
	{ SUBCOMMANDS_MEND, "cart suppress", "SHOP CART", "never mail about this cart", command_cart_suppress },
	{ SUBCOMMANDS_MEND, "cart write-off", "SHOP CART", "end the chase of this cart", command_cart_write_off },
	{ .name = NULL },
};
