/*
 * suppressions.c: the list of shoppers who must not be mailed: `cartbus suppressions list` and `save`,
 * `cartbus unsubscribe` and `resubscribe`
 *
 * Promises:  reads the log alone; shows a shopper by the keyed hash, and finds a shopper by the address. A
 *            saved file outlives the log: it is whole on the disk or as it was before, and leaves out people
 *            whom an admin took off the list; `suppressions import --saved` reads it. `unsubscribe` counts
 *            from the moment of its answer; the log gets the keyed hash of the address, and nothing else of
 *            it.
 * Read next: suppressions_import.c; services/platform/unsub/unsub.c (handles the requests);
 *            deploy/debian/cartbus.prerm, which saves the list before the programs are removed
 */
#include "services/cartbus/people/suppressions.h"

#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/core/naming.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/people/subcommands.h"
#include "services/cartbus/shops/shops.h"
#include "services/carts/words/describe.h"
#include "services/kit/suppression/suppressions.h"
#include <errno.h>
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

/* Calls each() for all entries that are not lifted, the oldest first. */
static void suppressions_each(
	const struct suppressions *list, void (*each)(const Suppression *row, void *context), void *context)
{
	_cleanup_free_ struct row **rows = memory_new((map_count(list->rows) + 1) * sizeof(struct row *));
	struct row **end = rows;

	map_each(list->rows, pick_held, &end);
	qsort(rows, (size_t)(end - rows), sizeof(struct row *), older);
	for (struct row **row = rows; row < end; row++)
		each(&(*row)->suppression, context);
}

/* ---- `cartbus suppressions list` ---- */

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

/* ---- `cartbus suppressions save` ---- */

struct saving {
	const struct command *command;
	struct client *client;
	json_t *shops; /* {name: [row]} */
	size_t rows;
};

int suppressions_key_mark(const struct command *command, char ret[ADDRESS_HASH_LEN + 1])
{
	_cleanup_(buffer_free) struct buffer key = { 0 };
	char path[PATH_ROOM];
	int failed;

	command_secret_path(command, "address.key", path);
	failed = file_read_secret(path, &key);
	if (failed) {
		complain(command, "the key of addresses cannot be read: %s: %s", path, strerror(-failed));
		return EXIT_NO;
	}
	address_hash(buffer_bytes(&key), "", "mark", ret);
	return EXIT_FINE;
}

static bool note_shop(const struct entry *entry, void *context)
{
	struct saving *saving = context;

	if (!json_object_get(saving->shops, entry->shop))
		json_object_set_new(saving->shops, entry->shop, json_array());
	return true;
}

static void add_row(const Suppression *row, void *context)
{
	json_array_append_new(context,
		json_pack("{s:s,s:s,s:I,s:s}", "address_hash", row->address_hash, "source", optout_name(row->source),
			"since_us", (json_int_t)row->since_us, "reason", row->reason));
}

static int gather(struct saving *saving)
{
	const char *shop;
	json_t *rows;
	int failed = reading_each(
		saving->command, saving->client, &(struct reading_filter){ .topic = "suppression" }, note_shop, saving);

	if (failed)
		return failed;
	json_object_foreach(saving->shops, shop, rows)
	{
		struct suppressions *list = suppressions_load(saving->command, saving->client, shop);

		if (!list)
			return EXIT_NO;
		suppressions_each(list, add_row, rows);
		suppressions_free(list);
		saving->rows += json_array_size(rows);
	}
	return EXIT_FINE;
}

static int write_list(const struct saving *saving, const char *path)
{
	char mark[ADDRESS_HASH_LEN + 1];
	_cleanup_free_ char *text = NULL;
	json_t *whole;
	int failed = suppressions_key_mark(saving->command, mark);

	if (failed)
		return failed;
	whole = json_pack("{s:s,s:O}", "key_mark", mark, "shops", saving->shops);
	text = json_dumps(whole, JSON_INDENT(1) | JSON_SORT_KEYS);
	json_decref(whole);
	failed = text ? file_write_durably(path, bytes_of(text), 0600) : -ENOMEM;
	if (!failed)
		return EXIT_FINE;
	complain(saving->command, "cannot write %s: %s", path, strerror(-failed));
	return EXIT_NO;
}

static void print_saved(const struct saving *saving, const char *path)
{
	size_t shops = json_object_size(saving->shops);
	json_t *sum;

	if (!saving->command->json) {
		printf("%s: %zu of %zu shops must not be mailed; without address.key it names nobody\n", path,
			saving->rows, shops);
		return;
	}
	sum = json_pack("{s:s,s:I,s:I}", "file", path, "shops", (json_int_t)shops, "rows", (json_int_t)saving->rows);
	json_print(sum);
	json_decref(sum);
}

int command_suppressions_save(struct command *command, int argc, char **argv)
{
	struct saving saving = { .command = command };
	const char *path = NULL;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "FILE",
			.words = &path,
			.words_least = 1,
			.words_most = 1,
			.help = "Writes down who must not be mailed, of all shops, as keyed hashes. With the secret "
				"address.key beside it the list can be brought into another log; a purge of Debian's "
				"package keeps both.\v"
				"Example:\n  cartbus suppressions save /root/suppressions.json" });
	saving.client = command_connect(command);
	saving.shops = json_object();
	ended = gather(&saving);
	ended = ended ? ended : write_list(&saving, path);
	if (!ended)
		print_saved(&saving, path);
	json_decref(saving.shops);
	client_free(saving.client);
	return ended;
}

/* ---- `cartbus unsubscribe` and `resubscribe` ---- */

/* The reason is kept for ever, so it must not name a person. */
static int check_reason(const struct command *command, const char *reason)
{
	if (*reason && !text_has_control(reason) && text_is_utf8(bytes_of(reason)) && !strchr(reason, '@'))
		return EXIT_FINE;
	complain(command, "%s",
		*reason ? "leave addresses and line ends out of --reason: it is kept for ever"
			: "--reason is required: why, for the record");
	return EXIT_USAGE;
}

static int publish_action(const struct command *command, const char *shop, const AdminAction *action)
{
	struct client *client = command_connect(command);
	struct client_said said;
	char idem[64], why[256];
	int failed;

	text_random_name(idem); /* each command is an act of its own */
	failed = CLIENT_SAY(
		client, admin_action, action, &said, why, .shop = shop, .key = action->address_hash, .idem = idem);
	client_free(client);
	if (failed) {
		complain(command, "%s", why);
		return EXIT_NO;
	}
	if (command->json)
		printf("{\"shop\":\"%s\",\"address_hash\":\"%s\",\"unsubscribed\":%s,\"seq\":%llu}\n", shop,
			action->address_hash, action->verb == ADMIN_UNSUBSCRIBE ? "true" : "false",
			(unsigned long long)said.seq);
	else
		printf("%s (known here as %s, message %llu)\n",
			action->verb == ADMIN_UNSUBSCRIBE ? "unsubscribed" : "off the list", action->address_hash,
			(unsigned long long)said.seq);
	return EXIT_FINE;
}

static int act(struct command *command, int argc, char **argv, AdminVerb verb, const char *help)
{
	const char *words[2], *reason = "";
	const struct take takes[] = { { "reason", "TEXT", "why, for the record; required", &reason, NULL }, { 0 } };
	AdminAction action = { .verb = verb };
	char normalised[ADDRESS_MAX + 1];
	struct shop shop;
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP ADDRESS",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = help });
	failed = check_reason(command, reason);
	if (failed)
		return failed;
	failed = command_shop(command, words[0], &shop);
	if (failed)
		return failed;
	failed = name_address(command, words[0], words[1], normalised, action.address_hash);
	if (failed) {
		complain(command,
			failed == -EINVAL ? "that is no mail address" : "the key of addresses cannot be read: %s",
			strerror(-failed));
		return failed == -EINVAL ? EXIT_USAGE : EXIT_NO;
	}
	TEXT_COPY(action.who, operator_name());
	TEXT_COPY(action.reason, reason);
	action.at_us = clock_wall_us(&command->clock);
	return publish_action(command, words[0], &action);
}

int command_unsubscribe(struct command *command, int argc, char **argv)
{
	return act(command, argc, argv, ADMIN_UNSUBSCRIBE,
		"Puts an address on the list of those who get no reminders of this shop.\v"
		"Example:\n  cartbus unsubscribe demo ada@example.com --reason 'asked on the phone'");
}

int command_resubscribe(struct command *command, int argc, char **argv)
{
	return act(command, argc, argv, ADMIN_LIFT_SUPPRESSION,
		"Takes an address off the list again, also one that bounced or complained. Do this only when the "
		"shopper asked for it.\v"
		"Example:\n  cartbus resubscribe demo ada@example.com --reason 'asked to be reminded again'");
}
