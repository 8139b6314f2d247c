/* subcommands.c: the table of the subcommands that serve people's rights */
#include "services/cartbus/people/subcommands.h"

const struct subcommand people_subcommands[] = {
	{ SUBCOMMANDS_STOP, "unsubscribe", "SHOP ADDRESS", "never mail this shopper again", command_unsubscribe },
	{ SUBCOMMANDS_STOP, "resubscribe", "SHOP ADDRESS", "take a shopper off the list again", command_resubscribe },
	{ SUBCOMMANDS_STOP, "suppressions list", "SHOP", "who must not be mailed, by which way, since when",
		command_suppressions_list },
	{ SUBCOMMANDS_STOP, "suppressions import", "SHOP [FILE]", "the list of another tool",
		command_suppressions_import },
	{ SUBCOMMANDS_STOP, "suppressions save", "FILE", "the list of all shops, in a file that outlives the log",
		command_suppressions_save },
	{ SUBCOMMANDS_STOP, "privacy list", "SHOP", "what storefronts ask for on behalf of a person's rights",
		command_privacy_list },
	{ SUBCOMMANDS_STOP, "privacy done", "SHOP ID", "such a request was fulfilled", command_privacy_done },
	{ SUBCOMMANDS_SEE, "export", "SHOP ADDRESS|CUSTOMER", "everything that is known of one shopper, for him",
		command_export },
	{ SUBCOMMANDS_MEND, "erase", "SHOP ADDRESS|CUSTOMER", "what is known of one shopper goes, everywhere",
		command_erase },
	{ .name = NULL },
};
