/* subcommands.c: the table of the subcommands that run an installation, its keys and secrets */
#include "services/cartbus/up/subcommands.h"

const struct subcommand up_subcommands[] = {
	{ SUBCOMMANDS_RUN, "up", "", "run everything in the foreground, and stop it cleanly on Ctrl-C", command_up },
	{ SUBCOMMANDS_RUN, "secrets make", "", "the keys that everything needs; what is there stays",
		command_secrets_make },
	{ SUBCOMMANDS_RUN, "secrets rotate", "link|bounce|admin",
		"a new key; what the one before signed holds on for a while", command_secrets_rotate },
	{ SUBCOMMANDS_HOSTS, "keys make", "NAME", "a key for a service on another host", command_keys_make },
	{ SUBCOMMANDS_HOSTS, "keys list", "", "who may come over TCP, as what", command_keys_list },
	{ SUBCOMMANDS_HOSTS, "keys rotate", "NAME", "a new key; the old one stays good until --finish",
		command_keys_rotate },
	{ SUBCOMMANDS_HOSTS, "keys revoke", "NAME", "a key is good no longer, and its sessions end",
		command_keys_revoke },
	{ .name = NULL },
};
