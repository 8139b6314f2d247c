/*
 * suppressions_save.c: `cartbus suppressions save`: who must not be mailed, of all shops, in a file that outlives the log
 *
 * Promises:  the file is whole on the disk or as it was before; it names shoppers by keyed hashes alone, and no one whom a person
 *            took off the list. `suppressions import --saved` reads it.
 * Read next: suppressions_import.c; deploy/debian/cartbus.prerm, which saves before the programs go
 */
#include "services/cartbus/people/subcommands.h"
#include "services/cartbus/people/suppressions.h"

#include "bus/base/bytes.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "services/cartbus/core/print.h"
#include "services/kit/suppression/suppressions.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void tell(const struct saving *saving, const char *path)
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
		tell(&saving, path);
	json_decref(saving.shops);
	client_free(saving.client);
	return ended;
}
