/*
 * privacy.c: `cartbus privacy list` and `cartbus privacy done`: the storefronts' requests on behalf of a
 * person's rights
 *
 * Read next: services/platform/unsub/privacy.c
 */
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/people/subcommands.h"
#include "services/cartbus/shops/shops.h"
#include "services/carts/words/describe.h"

#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = { "erase the person", "erase the shop", "tell the person what is known" };

static bool note(const struct entry *entry, void *context)
{
	struct map *rows = context;
	PrivacyState *fact = payload_decode(&topic_privacy_state, entry->payload);

	if (fact)
		free(map_put(rows, bytes_of(fact->request.request_id), fact));
	return true;
}

static void free_row(struct bytes key, void *value, void *context)
{
	(void)key, (void)context;
	free(value);
}

static struct map *load(const struct command *command, struct client *client, const char *shop)
{
	struct map *rows = map_new();

	if (reading_each(command, client, &(struct reading_filter){ .topic = "privacy.state", .shop = shop }, note,
		    rows) == EXIT_FINE)
		return rows;
	map_each(rows, free_row, NULL);
	map_free(rows);
	return NULL;
}

struct listing {
	const char *zone, *shop;
	json_t *json;
	size_t open;
};

/*
 * Writes the command to run. A person without a customer id is known only from the storefront's own notice.
 */
static void write_remedy(const char *shop, const PrivacyRequest *request, char ret[200])
{
	const char *who = request->customer_id[0] ? request->customer_id : "ADDRESS";

	switch (request->kind) {
	case PRIVACY_REDACT_CUSTOMER:
		snprintf(ret, 200, "cartbus erase %s %s", shop, who);
		return;
	case PRIVACY_REDACT_SHOP:
		snprintf(ret, 200, "the shop is paused; remove what is kept of it");
		return;
	case PRIVACY_DATA_REQUEST:
		snprintf(ret, 200, "cartbus export %s %s", shop, who);
		return;
	}
	snprintf(ret, 200, "see the storefront's notice");
}

static void show(struct bytes key, void *value, void *context)
{
	struct listing *listing = context;
	const PrivacyState *row = value;
	const PrivacyRequest *request = &row->request;
	const char *kind = (size_t)request->kind < 3 ? kinds[request->kind] : "?";
	char at[40], remedy[200];

	(void)key;
	if (row->settled)
		return;
	listing->open++;
	describe_time(listing->zone, request->heard_us, at);
	write_remedy(listing->shop, request, remedy);
	if (listing->json)
		json_array_append_new(listing->json,
			json_pack("{s:s,s:s,s:s,s:s,s:I,s:s}", "id", request->request_id, "asks_to", kind,
				"address_hash", request->address_hash, "customer_id", request->customer_id, "heard_us",
				(json_int_t)request->heard_us, "remedy", remedy));
	else
		printf("%s  %s  %s: %s\n", request->request_id, at, kind, remedy);
}

static int list(const struct command *command, struct client *client, const char *shop)
{
	struct listing listing = { .zone = zone_of_shop(command, shop), .shop = shop };
	int failed = shops_know(command, client, shop);
	struct map *rows = failed ? NULL : load(command, client, shop);

	if (!rows)
		return failed ? failed : EXIT_NO;
	listing.json = command->json ? json_array() : NULL;
	map_each(rows, show, &listing);
	if (listing.json)
		json_print_list("requests", json_incref(listing.json));
	else if (listing.open == 0)
		printf("nothing is open at %s\n", shop);
	json_decref(listing.json);
	map_each(rows, free_row, NULL);
	map_free(rows);
	return listing.open ? EXIT_NO : EXIT_FINE;
}

int command_privacy_list(struct command *command, int argc, char **argv)
{
	struct client *client;
	const char *shop;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "SHOP",
			.words = &shop,
			.words_least = 1,
			.words_most = 1,
			.help = "Lists what the storefront asked for on behalf of a person's rights and what was not "
				"said to be done yet, with what to run. It exits with 1 when something is open.\v"
				"Example:\n  cartbus privacy list demo" });
	client = command_connect(command);
	ended = list(command, client, shop);
	client_free(client);
	return ended;
}

static int settle(const struct command *command, struct client *client, const char *shop, AdminAction *action)
{
	int failed = shops_know(command, client, shop);
	struct map *rows = failed ? NULL : load(command, client, shop);
	const PrivacyState *row = rows ? map_get(rows, bytes_of(action->request_id)) : NULL;
	bool open = row && !row->settled;
	struct client_said said;
	char idem[64], why[256];

	if (rows) {
		map_each(rows, free_row, NULL);
		map_free(rows);
	}
	if (!open) {
		if (rows)
			complain(command, "no such request is open; see cartbus privacy list %s", shop);
		return failed ? failed : EXIT_NO;
	}
	text_random_name(idem);
	if (CLIENT_SAY(
		    client, admin_action, action, &said, why, .shop = shop, .key = action->request_id, .idem = idem)) {
		complain(command, "%s", why);
		return EXIT_NO;
	}
	if (command->json)
		printf("{\"shop\":\"%s\",\"id\":\"%s\",\"seq\":%llu}\n", shop, action->request_id,
			(unsigned long long)said.seq);
	else
		printf("settled: %s (message %llu)\n", action->request_id, (unsigned long long)said.seq);
	return EXIT_FINE;
}

int command_privacy_done(struct command *command, int argc, char **argv)
{
	const char *words[2], *reason = "";
	const struct take takes[] = { { "reason", "TEXT", "what was done, for the record; required", &reason, NULL },
		{ 0 } };
	AdminAction action = { .verb = ADMIN_SETTLE_PRIVACY };
	struct client *client;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP ID",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Says that what a privacy request asked for was done; the alarm ends with the last of "
				"them.\vExample:\n  cartbus privacy done demo 9f2c41... --reason 'erased today'" });
	if (!*reason || strchr(reason, '@')) {
		complain(command, "--reason is required, and without an address: it is kept for ever");
		return EXIT_USAGE;
	}
	TEXT_COPY(action.request_id, words[1]);
	TEXT_COPY(action.who, operator_name());
	TEXT_COPY(action.reason, reason);
	action.at_us = clock_wall_us(&command->clock);
	client = command_connect(command);
	ended = settle(command, client, words[0], &action);
	client_free(client);
	return ended;
}
