/*
 * tap.c: `cartbus tap`: what happens, live
 *
 * Read next: entry_line.c, selection.c (what is about a cart), log.c and trace.c (the same from the log)
 */
#include "bus/actor/tap.h"
#include "services/cartbus/core/entry_line.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/selection.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/watch/subcommands.h"

#include "bus/base/cleanup.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_US (200 * US_PER_MS)

struct tapping {
	const struct command *command;
	const char *shop;
	bool is_bare;                /* masked */
	struct selection *selection; /* NULL: every cart */
};

static volatile sig_atomic_t is_asked_to_stop, is_listening;

/* Before it listens, tap waits for the broker and holds nothing that has to be closed: it ends at once. */
static void hear_stop(int signal_number)
{
	(void)signal_number;
	if (!is_listening)
		_exit(EXIT_FINE);
	is_asked_to_stop = 1;
}

static void hear(const struct tapping *tapping, const struct message_meta *said, struct bytes payload)
{
	struct entry entry = { .seq = said->seq,
		.version = said->version,
		.cause = said->cause,
		.time_us = said->time_us,
		.topic = said->topic,
		.shop = said->shop,
		.key = said->key,
		.said_by = said->said_by,
		.trace = said->trace,
		.tombstone = said->tombstone,
		.payload = payload };
	const struct topic *topic = topic_of(said->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, payload) : NULL;

	if (!message || (tapping->shop && strcmp(tapping->shop, said->shop) != 0))
		return;
	if (!tapping->selection || selection_has(tapping->selection, &entry, topic, message))
		entry_line(tapping->command, &entry, topic, message);
}

static int listen_on(const struct tapping *tapping, const char *topic)
{
	struct tap *tap = NULL;
	int failed = tap_open(tapping->command->config, "cartbus", !tapping->is_bare, topic, &tap);

	if (failed) {
		complain(tapping->command, "cannot listen: %s", strerror(-failed));
		return EXIT_AWAY;
	}
	is_listening = 1;
	while (!is_asked_to_stop) {
		struct bytes payload;
		struct message_meta said;

		if (tap_next(tap, WAIT_US, &said, &payload) == 0)
			hear(tapping, &said, payload);
	}
	tap_close(tap);
	return EXIT_FINE;
}

/* A socket that nobody publishes on is silent for ever: so the broker is spoken to first, whether a cart is asked for or not. */
static int begin(struct tapping *tapping, const char *cart)
{
	struct client *client = command_connect(tapping->command);
	int failed = tapping->shop && !cart ? shops_know(tapping->command, client, tapping->shop) : EXIT_FINE;

	if (cart)
		tapping->selection = selection_find(tapping->command, client, tapping->shop, cart);
	client_free(client);
	return cart && !tapping->selection ? EXIT_NO : failed;
}

int command_tap(struct command *command, int argc, char **argv)
{
	const char *topic = NULL, *cart = NULL;
	struct tapping tapping = { .command = command };
	const struct take takes[] = { { "topic", "NAME", "only this topic; \"cart.*\": all that begin so", &topic,
					      NULL },
		{ "shop", "NAME", "only this shop", &tapping.shop, NULL },
		{ "bare", NULL, "masked: for who has no right to see payloads in clear", NULL, &tapping.is_bare },
		{ "cart", "CART", "only this cart (needs --shop)", &cart, NULL }, { 0 } };
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Prints what the broker commits, as it happens, until Ctrl-C. With --json one object a "
				"line.\v"
				"Examples:\n  cartbus tap --shop demo\n  cartbus tap --topic 'reminder.*' --json" });
	if (cart && !tapping.shop) {
		complain(command, "--cart needs --shop: two shops may share every id");
		return EXIT_USAGE;
	}
	signal(SIGINT, hear_stop);
	signal(SIGTERM, hear_stop);
	failed = begin(&tapping, cart);
	failed = failed ? failed : listen_on(&tapping, topic);
	selection_free(tapping.selection);
	return failed;
}
