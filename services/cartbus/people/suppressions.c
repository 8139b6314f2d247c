/*
 * suppressions.c: `cartbus suppressions list`: who must not be mailed, by which way, since when
 *
 * Promises: reads the log alone; names a shopper by the keyed hash, and finds one by the address.
 * Read next: suppressions_import.c, suppressions_save.c, unsubscribe.c
 */
#include "services/cartbus/people/suppressions.h"
#include "services/cartbus/people/subcommands.h"

#include "bus/base/cleanup.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "services/cartbus/core/describe.h"
#include "services/cartbus/core/naming.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/shops/shops.h"
#include "services/kit/suppression/optout.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
	uint64_t version;
	Suppression suppression;
};

struct suppressions {
	struct map *rows;
};

static bool note(const struct entry *entry, void *context)
{
	struct suppressions *list = context;
	_cleanup_free_ Suppression *fact = payload_decode(&topic_suppression, entry->payload);
	struct row *row = fact ? map_get(list->rows, bytes_of(fact->address_hash)) : NULL;

	if (!fact)
		return true;
	if (!row) {
		row = memory_new(sizeof(*row));
		map_put(list->rows, bytes_of(fact->address_hash), row);
	}
	if (entry->version >= row->version)
		*row = (struct row){ .version = entry->version, .suppression = *fact };
	return true;
}

struct suppressions *suppressions_load(const struct command *command, struct client *client, const char *shop)
{
	struct suppressions *list = memory_new(sizeof(*list));

	list->rows = map_new();
	if (reading_each(command, client, &(struct reading_filter){ .topic = "suppression", .shop = shop }, note,
		    list) == EXIT_FINE)
		return list;
	suppressions_free(list);
	return NULL;
}

static void free_row(struct bytes key, void *value, void *context)
{
	(void)key, (void)context;
	free(value);
}

void suppressions_free(struct suppressions *list)
{
	if (!list)
		return;
	map_each(list->rows, free_row, NULL);
	map_free(list->rows);
	free(list);
}

const Suppression *suppressions_find(const struct suppressions *list, const char *address_hash)
{
	const struct row *row = map_get(list->rows, bytes_of(address_hash));

	return row ? &row->suppression : NULL;
}

uint64_t suppressions_version(const struct suppressions *list, const char *address_hash)
{
	const struct row *row = map_get(list->rows, bytes_of(address_hash));

	return row ? row->version : 0;
}

static void count_row(struct bytes key, void *value, void *context)
{
	(void)key;
	*(size_t *)context += !((const struct row *)value)->suppression.lifted;
}

size_t suppressions_count(const struct suppressions *list)
{
	size_t count = 0;

	map_each(list->rows, count_row, &count);
	return count;
}

static int older(const void *a, const void *b)
{
	int64_t x = (*(struct row *const *)a)->suppression.since_us,
		y = (*(struct row *const *)b)->suppression.since_us;

	return (x > y) - (x < y);
}

static void pick_held(struct bytes key, void *value, void *context)
{
	struct row *row = value, ***end = context;

	(void)key;
	if (!row->suppression.lifted)
		*(*end)++ = row;
}

void suppressions_each(
	const struct suppressions *list, void (*each)(const Suppression *row, void *context), void *context)
{
	_cleanup_free_ struct row **rows = memory_new((map_count(list->rows) + 1) * sizeof(struct row *));
	struct row **end = rows;

	map_each(list->rows, pick_held, &end);
	qsort(rows, (size_t)(end - rows), sizeof(struct row *), older);
	for (struct row **row = rows; row < end; row++)
		each(&(*row)->suppression, context);
}

/* ---- the command ---- */

struct listing {
	const struct command *command;
	const char *shop, *zone;
	bool lifted, by_source;
	OptoutSource source;
	json_t *json;
	size_t shown;
	struct row **rows;
};

static void pick(struct bytes key, void *value, void *context)
{
	struct listing *listing = context;
	struct row *row = value;

	(void)key;
	if ((row->suppression.lifted && !listing->lifted) ||
		(listing->by_source && row->suppression.source != listing->source))
		return;
	listing->rows[listing->shown++] = row;
}

static void show(const struct listing *listing, const Suppression *row)
{
	char since[40];

	describe_time(listing->zone, row->since_us, since);
	if (listing->json)
		json_array_append_new(listing->json,
			json_pack("{s:s,s:s,s:I,s:b,s:s}", "address_hash", row->address_hash, "source",
				optout_name(row->source), "since_us", (json_int_t)row->since_us, "lifted", row->lifted,
				"reason", row->reason));
	else
		printf("%-32s  %-9s  %s  %s%s\n", row->address_hash, optout_name(row->source), since,
			row->lifted ? "lifted: " : "", row->reason);
}

static int list_all(struct listing *listing, const struct suppressions *list)
{
	listing->rows = memory_new((map_count(list->rows) + 1) * sizeof(struct row *));
	map_each(list->rows, pick, listing);
	qsort(listing->rows, listing->shown, sizeof(struct row *), older);
	for (size_t i = 0; i < listing->shown; i++)
		show(listing, &listing->rows[i]->suppression);
	free(listing->rows);
	if (!listing->json)
		printf("%zu of %s must not be mailed\n", suppressions_count(list), listing->shop);
	return EXIT_FINE;
}

static int list_one(struct listing *listing, const struct suppressions *list, const char *address)
{
	char normalised[ADDRESS_MAX + 1], hash[ADDRESS_HASH_LEN + 1];
	const Suppression *row;

	if (name_address(listing->command, listing->shop, address, normalised, hash)) {
		complain(listing->command, "that is no mail address, or the key of addresses cannot be read");
		return EXIT_USAGE;
	}
	row = suppressions_find(list, hash);
	if (row)
		show(listing, row);
	else if (!listing->json)
		printf("%s is not on the list of %s\n", hash, listing->shop);
	return row && !row->lifted ? EXIT_FINE : EXIT_NO;
}

static int list(struct listing *listing, const char *address)
{
	struct client *client = command_connect(listing->command);
	int ended = shops_know(listing->command, client, listing->shop);
	struct suppressions *rows = ended ? NULL : suppressions_load(listing->command, client, listing->shop);

	ended = ended || rows ? ended : EXIT_NO;
	listing->zone = zone_of_shop(listing->command, listing->shop);
	listing->json = listing->command->json ? json_array() : NULL;
	if (rows)
		ended = address ? list_one(listing, rows, address) : list_all(listing, rows);
	if (rows && listing->json)
		json_print_list("suppressions", json_incref(listing->json));
	json_decref(listing->json);
	suppressions_free(rows);
	client_free(client);
	return ended;
}

int command_suppressions_list(struct command *command, int argc, char **argv)
{
	struct listing listing = { .command = command };
	const char *source = NULL, *address = NULL;
	const struct take takes[] = {
		{ "source", "NAME", "page, one-click, owner, complaint, bounce, privacy or import", &source, NULL },
		{ "address", "ADDRESS", "this one alone; exits with 0 when it is on the list, 1 when not", &address,
			NULL },
		{ "lifted", NULL, "those as well that were taken off the list", NULL, &listing.lifted }, { 0 }
	};

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP",
			.words = &listing.shop,
			.words_least = 1,
			.words_most = 1,
			.help = "Lists who must not be mailed: the keyed hash of the address, what put it there, since "
				"when (in the shop's time), and the reason.\v"
				"Examples:\n  cartbus suppressions list demo --source complaint\n"
				"  cartbus suppressions list demo --address ada@example.com" });
	if (source && optout_named(source, &listing.source)) {
		complain(command, "there is no source \"%s\"; see --help", source);
		return EXIT_USAGE;
	}
	listing.by_source = source;
	return list(&listing, address);
}
