/* command.c: `cartbus guests`: what was shown of one shop */
#include "bus/base/text.h"
#include "guest.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/subcommand.h"
#include <stdio.h>

static bool print_entry(const struct entry *entry, void *context)
{
	GuestEntry shown;

	(void)context;
	if (!topic_read(&topic_guest_shown, entry->payload, &shown))
		return true;
	text_make_plain(shown.words); /* a stranger wrote it, and a terminal obeys what it is told */
	printf("%s: %s\n", shown.id, shown.words);
	return true;
}

static int command_guests(struct command *command, int argc, char **argv)
{
	struct reading_filter filter = { .topic = "guest.shown" };

	command_take(command, argc, argv,
		&(struct arguments){
			"SHOP", "Prints what was shown.", .words = &filter.shop, .words_least = 1, .words_most = 1 });
	struct client *client = command_connect(command);
	int ended = client ? reading_each(command, client, &filter, print_entry, NULL) : EXIT_AWAY;
	client_free(client);
	return ended;
}

const struct subcommand guest_subcommands[] = {
	{ SUBCOMMANDS_SEE, "guests", "SHOP", "what guests wrote and was shown", command_guests },
	{ .name = NULL },
};
