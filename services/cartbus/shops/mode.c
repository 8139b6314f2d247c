/*
 * mode.c: `cartbus shop mode`: the kill switch of a shop
 *
 * Promises: the next version is said under a key of that version, so two admins at once cannot both win; a pause of a higher
 *           priority is not lifted by a lower one.
 */
#include "services/cartbus/shops/mode.h"
#include "services/cartbus/core/cartbus.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/shops/subcommands.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRIORITY_MAX = 1000000 };
#define LIST_PATIENCE_US (1 * US_PER_S) /* a list of shops does not wait long for a broker that is away */

static const char *const names[] = { "observe", "mail-me", "live", "paused" };

const char *mode_name(ShopMode mode)
{
	return (size_t)mode < sizeof(names) / sizeof(*names) ? names[mode] : "?";
}

static int mode_of(const char *name, ShopMode *ret)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], name) == 0) {
			*ret = (ShopMode)i;
			return 0;
		}
	}
	return -EINVAL;
}

ShopMode mode_resumed(const ShopStatus *now)
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

const ShopStatus *modes_stop_of_all(const struct modes *modes)
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
	TEXT_COPY(wanted.who, who_am_i());
	wanted.at_us = clock_wall_us(&command->clock);
	client = command_connect(command);
	ended = set_mode(command, client, words[0], &wanted);
	client_free(client);
	return ended;
}
