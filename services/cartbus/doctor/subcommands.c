/* subcommands.c: the table of the subcommands that judge an installation */
#include "services/cartbus/doctor/subcommands.h"

const struct subcommand doctor_subcommands[] = {
	{ SUBCOMMANDS_RUN, "doctor", "", "is the whole installation right, and what helps where it is not?",
		command_doctor },
	{ .name = NULL },
};
