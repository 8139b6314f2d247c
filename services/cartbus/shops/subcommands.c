/* subcommands.c: the table of the subcommands that set up, stop and resume shops */
#include "services/cartbus/shops/subcommands.h"

const struct subcommand shops_subcommands[] = {
	{ SUBCOMMANDS_SHOPS, "shop add", "NAME", "make a shop: its files, its webhook secret, what to enter where",
		command_shop_add },
	{ SUBCOMMANDS_SHOPS, "shop list", "", "the shops, their modes and their addresses", command_shop_list },
	{ SUBCOMMANDS_SHOPS, "shop check", "SHOP", "which webhooks have arrived, and which never did",
		command_shop_check },
	{ SUBCOMMANDS_SHOPS, "shop mode", "SHOP MODE", "observe, mail-me, live or paused: the kill switch",
		command_shop_mode },
	{ SUBCOMMANDS_SHOPS, "shop secret", "SHOP", "where the webhook secret lies; --rotate makes a new one",
		command_shop_secret },
	{ SUBCOMMANDS_SHOPS, "send-test", "SHOP ADDRESS", "one real mail to an address of yours", command_send_test },
	{ SUBCOMMANDS_SHOPS, "webhook send", "SHOP", "send a signed sample webhook to the gateway",
		command_webhook_send },
	{ SUBCOMMANDS_STOP, "stop", "[SHOP] --reason WHY", "nothing is mailed any more, for a shop or --all",
		command_stop },
	{ SUBCOMMANDS_STOP, "resume", "[SHOP] --reason WHY", "ends a stop", command_resume },
	{ SUBCOMMANDS_MEND, "reconcile", "SHOP", "ask the storefront for orders and checkouts that no webhook told of",
		command_reconcile },
	{ .name = NULL },
};
