/*
 * mode.c: the shops' modes: `cartbus shop mode`, the kill switch of a shop; `cartbus stop` and `cartbus resume`: nothing is mailed any more,
 * for a shop or for all of them, and on again
 *
 * Promises: the next version is said under a key of that version, so two admins at once cannot both win; a pause of a higher
 *           priority is not lifted by a lower one. From the moment `stop` answers, no mail is claimed that it forbids. A stop of all holds
 *           for shops that are added later too. Resuming gives a shop the mode that it had before.
 * Read next: services/carts/policy/stops.h (how a pause stops)
 */
#include "services/cartbus/shops/mode.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "services/cartbus/core/cartbus.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/shops/subcommands.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PRIORITY_MAX = 1000000 };
#define LIST_PATIENCE_US (1 * US_PER_S) /* a list of shops does not wait long for a broker that is away */

static int mode_of(const char *name, ShopMode *ret)
{
	for (ShopMode mode = MODE_OBSERVE; mode <= MODE_PAUSED; mode++) {
		if (strcmp(mode_name(mode), name) == 0) {
			*ret = mode;
			return 0;
		}
	}
	return -EINVAL;
}

/* What it is in, but for a pause; `now` may be NULL. */
static ShopMode mode_resumed(const ShopStatus *now)
{
	if (!now)
		return MODE_OBSERVE;
	return now->mode == MODE_PAUSED ? now->resumes_to : now->mode;
}

static const char *mode_line(const ShopStatus *status, char ret[80])
{
	if (!status)
		snprintf(ret, 80, "observe, as nothing was said");
	else if (status->mode == MODE_PAUSED)
		snprintf(ret, 80, "paused, priority %u, by %.40s", status->priority, status->who);
	else
		snprintf(ret, 80, "%s", mode_name(status->mode));
	return ret;
}

const ShopStatus *modes_find(const struct modes *modes, const char *shop)
{
	for (int i = 0; i < modes->count; i++) {
		if (strcmp(modes->each[i].shop, shop) == 0)
			return &modes->each[i].status;
	}
	return NULL;
}

/* NULL: no pause holds for all. */
static const ShopStatus *modes_stop_of_all(const struct modes *modes)
{
	const ShopStatus *all = modes_find(modes, SHOP_OF_ALL);

	return all && all->mode == MODE_PAUSED ? all : NULL;
}

const char *modes_name(const struct modes *modes, const char *shop)
{
	const ShopStatus *status = modes_find(modes, shop);

	if (!modes->known)
		return "?";
	if (modes_stop_of_all(modes))
		return mode_name(MODE_PAUSED);
	return status ? mode_name(status->mode) : mode_name(MODE_OBSERVE);
}

void modes_fold(struct modes *modes, const struct entry *entry)
{
	_cleanup_free_ ShopStatus *status = payload_decode(&topic_shop_status, entry->payload);
	ShopStatus *known = (ShopStatus *)modes_find(modes, entry->shop);

	if (!status || (!known && modes->count == MODES_MAX))
		return;
	if (!known) {
		TEXT_COPY(modes->each[modes->count].shop, entry->shop);
		known = &modes->each[modes->count++].status;
	}
	if (status->version >= known->version)
		*known = *status;
}

static bool fold_one(const struct entry *entry, void *context)
{
	modes_fold(context, entry);
	return true;
}

int modes_load_from(const struct command *command, struct client *client, struct modes *ret)
{
	memset(ret, 0, sizeof(*ret));
	int failed;

	failed = reading_each(
		command, client, &(struct reading_filter){ .topic = "shop.status", .masked = true }, fold_one, ret);

	ret->known = !failed;
	return failed;
}

void modes_load(const struct command *command, struct modes *ret)
{
	struct client *client = NULL;
	char why[256];

	memset(ret, 0, sizeof(*ret));
	if (client_open(&cartbus, command->config, &command->clock, LIST_PATIENCE_US, &client, why))
		return;
	modes_load_from(command, client, ret);
	client_free(client);
}

/* Only the last status is kept: it has to tell what those before it said. */
static int64_t resumed_us(const ShopStatus *before, const ShopStatus *status)
{
	if (!before)
		return 0;
	if (before->mode == MODE_PAUSED && before->priority == STOP_PRIORITY && status->mode != MODE_PAUSED)
		return status->at_us;
	return before->resumed_us;
}

int mode_say(const struct command *command, struct client *client, const char *shop, const ShopStatus *before,
	ShopStatus *status, uint64_t *ret_seq)
{
	struct client_said said;
	char idem[64], why[256], was[80], is[80];

	status->resumed_us = resumed_us(before, status);
	if (record_change(command, client,
		    &(struct record){ .shop = shop,
			    .action = "shop_mode",
			    .grounds = status->reason,
			    .before = mode_line(before, was),
			    .after = mode_line(status, is) }) != EXIT_FINE)
		return EXIT_NO;
	snprintf(idem, sizeof(idem), "mode/%llu", (unsigned long long)status->version);
	if (CLIENT_SAY(client, shop_status, status, &said, why, .shop = shop, .key = shop, .idem = idem,
		    .version = status->version)) {
		complain(command, "%s", why);
		return EXIT_NO;
	}
	if (said.result == SAID_DUPLICATE) {
		complain(command, "somebody else changed the mode just now; look at cartbus shop list and try again");
		return EXIT_NO;
	}
	*ret_seq = said.seq;
	return EXIT_FINE;
}

static int tell_mode(const struct command *command, const char *shop, const ShopStatus *status, uint64_t seq)
{
	if (command->json)
		printf("{\"shop\":\"%s\",\"mode\":\"%s\",\"version\":%llu,\"seq\":%llu}\n", shop,
			mode_name(status->mode), (unsigned long long)status->version, (unsigned long long)seq);
	else
		printf("%s is now in %s (message %llu)\n", shop, mode_name(status->mode), (unsigned long long)seq);
	return EXIT_FINE;
}

static int set_mode(const struct command *command, struct client *client, const char *shop, ShopStatus *wanted)
{
	static struct modes modes;
	const ShopStatus *now;
	int failed = modes_load_from(command, client, &modes);
	uint64_t seq;

	if (failed)
		return failed;
	now = modes_find(&modes, shop);
	if (now && now->mode == MODE_PAUSED && now->priority > wanted->priority) {
		if (now->priority == STOP_PRIORITY)
			complain(command, "%s is stopped, by %s (%s): cartbus resume %s --reason WHY ends that", shop,
				now->who, now->reason[0] ? now->reason : "no reason given", shop);
		else
			complain(command, "%s was paused with priority %u (%s): lift it with --priority %u", shop,
				now->priority, now->reason, now->priority);
		return EXIT_NO;
	}
	wanted->version = now ? now->version + 1 : 1;
	wanted->resumes_to = mode_resumed(now);
	failed = mode_say(command, client, shop, now, wanted, &seq);
	return failed ? failed : tell_mode(command, shop, wanted, seq);
}

static int priority_of(const char *text, uint32_t *ret)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end || number < 0 || number > PRIORITY_MAX)
		return -EINVAL;
	*ret = (uint32_t)number;
	return 0;
}

int command_shop_mode(struct command *command, int argc, char **argv)
{
	const char *words[2], *reason = "", *priority = "0";
	const struct take takes[] = { { "reason", "TEXT", "why, for the record", &reason, NULL },
		{ "priority", "N", "a pause is lifted only with its own or a higher priority (0)", &priority, NULL },
		{ 0 } };
	ShopStatus wanted = { 0 };
	struct client *client;
	struct shop shop;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP MODE",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Sets what a shop may do. observe: decides and records, sends nothing. mail-me: all "
				"mail goes to the "
				"owner. live. paused: decides nothing, sends nothing, from the moment this command "
				"answers.\v"
				"Examples:\n  cartbus shop mode demo live\n  cartbus shop mode demo paused --reason "
				"'wrong prices'" });
	if (mode_of(words[1], &wanted.mode)) {
		complain(command, "a mode is one of observe, mail-me, live, paused; not \"%s\"", words[1]);
		return EXIT_USAGE;
	}
	if (priority_of(priority, &wanted.priority)) {
		complain(command, "--priority takes a whole number from 0 to 1000000; not \"%s\"", priority);
		return EXIT_USAGE;
	}
	ended = command_shop(command, words[0], &shop);
	if (ended)
		return ended;
	if (wanted.mode == MODE_MAIL_ME && !shop.owner[0]) {
		complain(command, "mail-me needs `owner = ADDRESS` in [mail] of %s's shop.conf", words[0]);
		return EXIT_NO;
	}
	TEXT_COPY(wanted.reason, reason);
	TEXT_COPY(wanted.who, operator_name());
	wanted.at_us = clock_wall_us(&command->clock);
	client = command_connect(command);
	ended = set_mode(command, client, words[0], &wanted);
	client_free(client);
	return ended;
}

/* ---- `cartbus stop` and `cartbus resume` ---- */

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

static int print_stop(
	const struct command *command, const struct stopping *stopping, const ShopStatus *status, uint64_t seq)
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
	TEXT_COPY(ret->who, operator_name());
}

static int stop(
	const struct command *command, struct client *client, const struct stopping *stopping, const ShopStatus *now)
{
	ShopStatus wanted = { .mode = MODE_PAUSED, .resumes_to = mode_resumed(now) };
	uint64_t seq;

	if (now && now->mode == MODE_PAUSED && now->priority >= STOP_PRIORITY) {
		if (command->json)
			return print_stop(command, stopping, now, 0);
		printf("stopped already: %s, by %s: %s\n", subject(stopping), now->who,
			now->reason[0] ? now->reason : "no reason given");
		return EXIT_FINE;
	}
	fill(command, stopping, now, &wanted);
	return mode_say(command, client, stopping->shop, now, &wanted, &seq)
		? EXIT_NO
		: print_stop(command, stopping, &wanted, seq);
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
	return mode_say(command, client, stopping->shop, now, &wanted, &seq)
		? EXIT_NO
		: print_stop(command, stopping, &wanted, seq);
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
