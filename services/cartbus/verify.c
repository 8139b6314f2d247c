/*
 * verify.c: `cartbus verify`: is the log all there?
 *
 * Owns:     nothing: the log is the broker's, so its program reads it, beside this one (bus/broker/verify_command.c).
 * Fails by: exiting as that does: 0 sound, 1 not, 3 a broker has it open.
 */
#include "services/cartbus/command.h"
#include "services/cartbus/programs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int command_verify(struct command *command, int argc, char **argv)
{
	const char *folder = NULL, *config;
	char program[PATH_ROOM + 20];

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "[DIR]",
			.help = "Reads the whole log, of a stopped broker or a copy in DIR, and says whether it is all "
				"there: "
				"every checksum, unbroken numbers, what is derived from it, and of each message in "
				"each queue "
				"what became of it. It changes nothing. It exits with 0 when the log is sound, 1 when "
				"it is "
				"not, 3 when a broker has it open.\v"
				"Examples:\n  cartbus verify\n  cartbus verify /backup/cartbus/broker --json",
			.words = &folder,
			.words_most = 1 });
	config = command->config_path;
	snprintf(program, sizeof(program), "%s/cartbus-broker", programs_folder());
	execl(program, program, "--verify", "--config", config, command->json ? "--json" : "--verify",
		folder ? "--folder" : NULL, folder, (char *)NULL);
	complain(command, "cannot run %s: %s", program, strerror(errno));
	return EXIT_NO;
}
