/*
 * reconcile.c: `cartbus reconcile SHOP`: what changed at the storefront while its webhooks could not come in
 *
 * Promises: only asks for it; the service storefront fetches page by page, and its audit tells what was found.
 */
#include "services/cartbus/core/record.h"
#include "services/cartbus/core/selection.h"
#include "services/cartbus/shops/subcommands.h"

#include "bus/base/text.h"
#include "services/kit/shop/shop.h"
#include "services/kit/time/timestamp.h"
#include <stdio.h>

#define SINCE_MOST_US (30 * US_PER_DAY) /* what is older is chased no more */

static int say_task(const struct command *command, const char *shop, const StorefrontTask *task)
{
	struct client *client = command_connect(command);
	struct client_said said;
	char idem[64], why[256];
	int ended = EXIT_FINE;

	text_random_name(idem); /* each command is an act of its own */
	if (CLIENT_SAY(client, storefront_task, task, &said, why, .shop = shop, .key = "reconcile", .idem = idem)) {
		complain(command, "%s", why);
		ended = EXIT_NO;
	} else if (command->json) {
		printf("{\"shop\":\"%s\",\"seq\":%llu}\n", shop, (unsigned long long)said.seq);
	} else {
		printf("asked for (message %llu); `cartbus tap --shop %s` shows it, the audit \"reconciled\" ends it\n",
			(unsigned long long)said.seq, shop);
	}
	client_free(client);
	return ended;
}

int command_reconcile(struct command *command, int argc, char **argv)
{
	const char *words[1], *since = "6h";
	const struct take takes[] = { { "since", "SPAN", "how far back (6h)", &since, NULL }, { 0 } };
	StorefrontTask task = { .kind = TASK_ORDERS };
	struct shop shop;
	int64_t span_us;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP",
			.words = words,
			.words_least = 1,
			.words_most = 1,
			.help = "Asks the storefront's API for orders, and for open checkouts where it has them, that "
				"changed in the last hours. After a gateway was away it happens by itself.\v"
				"Example:\n  cartbus reconcile demo --since 12h" });
	if (duration_parse(since, SINCE_MOST_US, &span_us)) {
		complain(command, "--since takes a span like 90min, 6h or 2d, of at most 30 days; not \"%s\"", since);
		return EXIT_USAGE;
	}
	int ended = command_shop(command, words[0], &shop);
	if (ended)
		return ended;
	if (shop.storefront.platform != STOREFRONT_SHOPIFY && shop.storefront.platform != STOREFRONT_WOOCOMMERCE) {
		complain(command,
			"%s's shop.conf gives no API to ask: [storefront] platform = shopify or woocommerce, and api",
			words[0]);
		return EXIT_NO;
	}
	task.heard_us = clock_wall_us(&command->clock);
	task.from_us = task.heard_us - span_us;
	TEXT_COPY(task.who, operator_name());
	return say_task(command, words[0], &task);
}
