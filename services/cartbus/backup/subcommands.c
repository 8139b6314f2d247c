/* subcommands.c: the table of the subcommands that keep copies of the log */
#include "services/cartbus/backup/subcommands.h"

const struct subcommand backup_subcommands[] = {
	{ SUBCOMMANDS_SEE, "verify", "[DIR]", "is the log all there? of a stopped broker, or of a copy",
		command_verify },
	{ SUBCOMMANDS_SEE, "blobs", "", "the large contents beside the log; --verify reads each", command_blobs },
	{ SUBCOMMANDS_MEND, "backup", "[DIR]", "a verified copy of the log, while everything runs", command_backup },
	{ SUBCOMMANDS_MEND, "restore", "DIR", "put a backup in the log's place; --release lets mails go on",
		command_restore },
	{ .name = NULL },
};
