/*
 * trace.c: `cartbus trace`: everything that was ever said about a cart, in the order of the log
 *
 * Read next: selection.c (what is about a cart), describe.c (one line of words), why.c (the same as a story)
 */
#include "services/cartbus/core/describe.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/selection.h"
#include "services/cartbus/watch/subcommands.h"

#include "bus/base/cleanup.h"
#include <stdio.h>
#include <stdlib.h>

struct tracing {
	struct selection *selection;
	const char *zone;
	json_t *json;
};

static void print_line(
	const struct tracing *tracing, const struct entry *entry, const struct topic *topic, const void *message)
{
	_cleanup_(buffer_free) struct buffer words = { 0 };
	char at[40];

	describe_time(tracing->zone, entry->time_us, at);
	describe(topic, message, tracing->zone, &words);
	printf("%8llu  %s  %-10s %-18s %s\n", (unsigned long long)entry->seq, at, entry->said_by, entry->topic,
		buffer_text(&words));
}

static bool trace_one(const struct entry *entry, void *context)
{
	struct tracing *tracing = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;

	if (!message || !selection_has(tracing->selection, entry, topic, message))
		return true;
	selection_name_step(tracing->selection, topic, message);
	if (tracing->json)
		json_array_append_new(tracing->json, entry_json(entry));
	else
		print_line(tracing, entry, topic, message);
	return true;
}

static int trace(const struct command *command, struct client *client, const char *shop, const char *cart)
{
	struct tracing tracing = { .zone = zone_of_shop(command, shop) };
	int failed;

	tracing.selection = selection_find(command, client, shop, cart);
	if (!tracing.selection)
		return EXIT_NO;
	if (command->json)
		tracing.json = json_array();
	failed = reading_each(command, client, &(struct reading_filter){ .shop = shop }, trace_one, &tracing);
	if (tracing.json)
		json_print_list("messages", tracing.json);
	else
		command_print_reach(command, client, tracing.zone);
	selection_free(tracing.selection);
	return failed;
}

int command_trace(struct command *command, int argc, char **argv)
{
	const char *words[2];
	struct client *client;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "SHOP CART",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Prints, from the log and from its start, everything that was said about a cart by any "
				"process. CART is "
				"our cart id, any token, a checkout or order id, or a shopper's address (all of that "
				"shopper's carts). Times are the shop's; addresses are masked.\v"
				"Example:\n  cartbus trace demo 9f2c41\n  cartbus trace demo huber@example.com "
				"--json" });
	client = command_connect(command);
	ended = trace(command, client, words[0], words[1]);
	client_free(client);
	return ended;
}
