/*
 * stop.c: `cartbus stop` and `cartbus resume`: nothing is mailed any more, for a shop or for all of them; and on again
 *
 * Promises: from the moment the command answers, no mail is claimed that it forbids. A stop of all holds for shops that are added
 *           later too. Resuming gives a shop the mode that it had before.
 * Read next: mode.c, services/carts/policy/stops.h (how a pause stops)
 */
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/shops/mode.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/shops/subcommands.h"

#include "bus/base/text.h"
#include <stdio.h>
#include <unistd.h>

struct stopping {
	const char *shop, *reason; /* shop: SHOP_OF_ALL for all */
	bool all;
};

static const char *subject(const struct stopping *stopping)
{
	return stopping->all ? "all shops" : stopping->shop;
}

static int take(struct command *command, int argc, char **argv, const char *help, struct stopping *ret)
{
	const struct take takes[] = { { "reason", "TEXT", "why, for the record; required", &ret->reason, NULL },
		{ "all", NULL, "every shop, those that are added later too", NULL, &ret->all }, { 0 } };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "[SHOP]",
			.words = &ret->shop,
			.words_least = 0,
			.words_most = 1,
			.help = help });
	if (!ret->all == !ret->shop) {
		complain(command, "name a shop, or say --all");
		return EXIT_USAGE;
	}
	if (!ret->reason || !*ret->reason) {
		complain(command, "--reason is required: it is what somebody else will read when they wonder");
		return EXIT_USAGE;
	}
	if (ret->all)
		ret->shop = SHOP_OF_ALL;
	return EXIT_FINE;
}

/* A shop whose configuration is broken must be stoppable all the same, and so one that has none any more. */
static bool is_known(const struct command *command, const struct stopping *stopping, const ShopStatus *now)
{
	char path[PATH_ROOM];

	command_shop_path(command, stopping->shop, "shop.conf", path);
	return stopping->all || now || (shop_name_valid(stopping->shop) && access(path, F_OK) == 0);
}

static int tell(const struct command *command, const struct stopping *stopping, const ShopStatus *status, uint64_t seq)
{
	bool stopped = status->mode == MODE_PAUSED;

	if (command->json)
		printf("{\"shop\":%s%s%s,\"all\":%s,\"stopped\":%s,\"mode\":\"%s\",\"seq\":%llu}\n",
			stopping->all ? "" : "\"", stopping->all ? "null" : stopping->shop, stopping->all ? "" : "\"",
			stopping->all ? "true" : "false", stopped ? "true" : "false", mode_name(status->mode),
			(unsigned long long)seq);
	else if (stopped)
		printf("stopped: %s; no mail is sent until `cartbus resume %s` (message %llu)\n", subject(stopping),
			stopping->all ? "--all" : stopping->shop, (unsigned long long)seq);
	else if (stopping->all)
		printf("resumed: all shops, each in the mode that it has by itself (message %llu)\n",
			(unsigned long long)seq);
	else
		printf("resumed: %s is in %s (message %llu)\n", stopping->shop, mode_name(status->mode),
			(unsigned long long)seq);
	return EXIT_FINE;
}

static void fill(const struct command *command, const struct stopping *stopping, const ShopStatus *now, ShopStatus *ret)
{
	ret->priority = STOP_PRIORITY;
	ret->version = now ? now->version + 1 : 1;
	ret->at_us = clock_wall_us(&command->clock);
	TEXT_COPY(ret->reason, stopping->reason);
	TEXT_COPY(ret->who, who_am_i());
}

static int stop(
	const struct command *command, struct client *client, const struct stopping *stopping, const ShopStatus *now)
{
	ShopStatus wanted = { .mode = MODE_PAUSED, .resumes_to = mode_resumed(now) };
	uint64_t seq;

	if (now && now->mode == MODE_PAUSED && now->priority >= STOP_PRIORITY) {
		if (command->json)
			return tell(command, stopping, now, 0);
		printf("stopped already: %s, by %s: %s\n", subject(stopping), now->who,
			now->reason[0] ? now->reason : "no reason given");
		return EXIT_FINE;
	}
	fill(command, stopping, now, &wanted);
	return mode_say(command, client, stopping->shop, now, &wanted, &seq) ? EXIT_NO
									     : tell(command, stopping, &wanted, seq);
}

static int resume(
	const struct command *command, struct client *client, const struct stopping *stopping, const ShopStatus *now)
{
	ShopStatus wanted = { .mode = stopping->all ? MODE_LIVE : mode_resumed(now) };
	uint64_t seq;

	if (!now || now->mode != MODE_PAUSED) {
		complain(command, "%s: not stopped", subject(stopping));
		return EXIT_NO;
	}
	if (now->priority > STOP_PRIORITY) {
		complain(command,
			"%s was paused with priority %u by %s (%s): cartbus shop mode with --priority %u lifts it",
			subject(stopping), now->priority, now->who, now->reason, now->priority);
		return EXIT_NO;
	}
	fill(command, stopping, now, &wanted);
	return mode_say(command, client, stopping->shop, now, &wanted, &seq) ? EXIT_NO
									     : tell(command, stopping, &wanted, seq);
}

typedef int stop_fn(
	const struct command *command, struct client *client, const struct stopping *stopping, const ShopStatus *now);

static int run(struct command *command, int argc, char **argv, const char *help, stop_fn *act)
{
	struct stopping stopping = { 0 };
	static struct modes modes;
	struct client *client;
	int ended = take(command, argc, argv, help, &stopping);

	if (ended)
		return ended;
	client = command_connect(command);
	ended = modes_load_from(command, client, &modes);
	if (!ended && !is_known(command, &stopping, modes_find(&modes, stopping.shop)))
		ended = shops_complain_unknown(command, stopping.shop);
	ended = ended ? ended : act(command, client, &stopping, modes_find(&modes, stopping.shop));
	if (ended == EXIT_FINE && act == resume && !stopping.all && modes_stop_of_all(&modes))
		complain(command, "but everything is stopped, by %s (%s): cartbus resume --all",
			modes_stop_of_all(&modes)->who, modes_stop_of_all(&modes)->reason);
	client_free(client);
	return ended;
}

int command_stop(struct command *command, int argc, char **argv)
{
	return run(command, argc, argv,
		"Stops all mail of a shop, or of every shop: from the moment it answers, no mail is claimed any more. "
		"What comes in is recorded, and what is due waits.\v"
		"Examples:\n  cartbus stop demo --reason 'wrong prices'\n  cartbus stop --all --reason 'the mail "
		"server is on a blocklist'",
		stop);
}

int command_resume(struct command *command, int argc, char **argv)
{
	return run(command, argc, argv,
		"Ends a stop, and a pause that complaints caused: the shop is again in the mode it had before. What is "
		"more than a day late by then is not sent any more.\v"
		"Examples:\n  cartbus resume demo --reason 'prices are right'\n  cartbus resume --all --reason "
		"'delisted'",
		resume);
}
