/* subcommands.c: the table of the subcommands that mend what failed */
#include "services/cartbus/recover/subcommands.h"

const struct subcommand recover_subcommands[] = {
	{ SUBCOMMANDS_MEND, "queues resume", "QUEUE", "a queue that is paused because everything failed goes on now",
		command_queues_resume },
	{ SUBCOMMANDS_MEND, "dlq list", "", "dead letters: what could not be handled, and why", command_dlq_list },
	{ SUBCOMMANDS_MEND, "dlq show", "QUEUE SEQ", "one dead letter with its history and payload", command_dlq_show },
	{ SUBCOMMANDS_MEND, "dlq redrive", "QUEUE [SEQ]", "hand a dead letter out again, or many (--all, --shop ...)",
		command_dlq_redrive },
	{ SUBCOMMANDS_MEND, "dlq drop", "QUEUE [SEQ]", "give a dead letter up, or many, with a reason",
		command_dlq_drop },
	{ SUBCOMMANDS_MEND, "mailin list", "", "mails that came back and could not be read, and why",
		command_mailin_list },
	{ SUBCOMMANDS_MEND, "mailin show", "NAME", "one of them, as it came", command_mailin_show },
	{ SUBCOMMANDS_MEND, "mailin retry", "[NAME]", "have one read once more, or --all", command_mailin_retry },
	{ SUBCOMMANDS_MEND, "mailin judge", "FILE...", "what mailin would do with a mail, without giving it the mail",
		command_mailin_judge },
	{ SUBCOMMANDS_MEND, "replay", "--queue NAME --from SEQ|TIME", "decide on a part of the log once more",
		command_replay },
	{ SUBCOMMANDS_MEND, "rebuild", "SERVICE", "have a service fold its state from the log anew", command_rebuild },
	{ SUBCOMMANDS_MEND, "gateway strike", "NAME", "strike off a gateway that is lost for good",
		command_gateway_strike },
	{ .name = NULL },
};
