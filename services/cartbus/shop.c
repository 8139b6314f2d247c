/*
 * shop.c: `cartbus shop list` and `cartbus shop secret`
 *
 * Promises: a secret is written whole or not at all; a rotation keeps the one before, which the gateway goes on accepting.
 */
#include "services/cartbus/command.h"
#include "services/cartbus/mode.h"
#include "services/cartbus/prepare.h"
#include "services/cartbus/print.h"
#include "services/cartbus/record.h"
#include "services/cartbus/shops.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct listing {
	struct command *command;
	struct modes *modes;
	json_t *json;
	int broken;
};

static void list_one(const char *name, void *context)
{
	struct listing *listing = context;
	const char *mode = modes_name(listing->modes, name);
	struct shop shop;

	if (command_shop(listing->command, name, &shop)) {
		listing->broken++;
		return;
	}
	if (listing->json)
		json_array_append_new(listing->json,
			json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "shop", name, "mode", mode, "title", shop.title, "zone",
				shop.zone, "currency", shop.currency, "url", shop.url));
	else
		printf("%-20s %-10s %-20s %-4s %s\n", name, mode, shop.zone, shop.currency, shop.title);
}

int command_shop_list(struct command *command, int argc, char **argv)
{
	struct listing listing = { .command = command };
	struct modes modes;

	command_take(command, argc, argv,
		&(struct arguments){ .help = "Lists the shops with their mode, time zone, currency and title. Where "
					     "the broker cannot be reached, "
					     "the mode is a question mark.\vExample:\n  cartbus shop list" });
	modes_load(command, &modes);
	listing.modes = &modes;
	if (command->json)
		listing.json = json_array();
	shops_each(command, list_one, &listing);
	if (listing.json) {
		json_print(listing.json);
		json_decref(listing.json);
	}
	return listing.broken ? EXIT_NO : EXIT_FINE;
}

static bool is_in_use(const char *path, const char *secret)
{
	_cleanup_(buffer_free) struct buffer now = { 0 };

	return file_read_secret(path, &now) == 0 && strcmp(buffer_text(&now), secret) == 0;
}

/* Keeps the secret that is there as webhook.previous. */
static int keep_previous(const struct command *command, const char *path)
{
	_cleanup_(buffer_free) struct buffer now = { 0 };
	char previous[PATH_ROOM + 16];
	int failed = file_read_secret(path, &now);

	if (failed == -ENOENT)
		return EXIT_FINE;
	snprintf(previous, sizeof(previous), "%s.previous", path);
	if (!failed) {
		buffer_add_text(&now, "\n");
		failed = file_write_durably(previous, buffer_bytes(&now), 0600);
	}
	if (failed)
		complain(command, "cannot keep %s as %s: %s", path, previous, strerror(-failed));
	return failed ? EXIT_NO : EXIT_FINE;
}

static int write_secret(const struct command *command, const char *path, const char *secret)
{
	_cleanup_(buffer_free) struct buffer line = { 0 };
	int failed;

	if (is_in_use(path, secret))
		return EXIT_FINE; /* said twice: the one before stays the one before */
	failed = keep_previous(command, path);
	if (failed)
		return failed;
	buffer_printf(&line, "%s\n", secret);
	failed = file_write_durably(path, buffer_bytes(&line), 0600);
	if (failed)
		complain(command, "cannot write %s: %s", path, strerror(-failed));
	return failed ? EXIT_NO : EXIT_FINE;
}

static int set_secret(const struct command *command, const char *path)
{
	char line[512];
	bool whole;

	if (!fgets(line, sizeof(line), stdin))
		line[0] = '\0';
	whole = strlen(line) + 1 < sizeof(line);
	line[strcspn(line, "\r\n")] = '\0';
	if (!whole || strlen(line) < 16 || text_has_control(line)) {
		complain(command, "the secret is one line on standard input, of 16 to 500 characters");
		return EXIT_USAGE;
	}
	return write_secret(command, path, line);
}

static int rotate_secret(const struct command *command, const char *path)
{
	char first[33], second[33], secret[65];

	text_random_name(first);
	text_random_name(second);
	snprintf(secret, sizeof(secret), "%s%s", first, second);
	return write_secret(command, path, secret);
}

static int forget_previous(const struct command *command, const char *path)
{
	char previous[PATH_ROOM + 16];

	snprintf(previous, sizeof(previous), "%s.previous", path);
	if (unlink(previous) == 0 || errno == ENOENT)
		return EXIT_FINE;
	complain(command, "cannot remove %s: %s", previous, strerror(errno));
	return EXIT_NO;
}

static int say_where(const struct command *command, const char *shop, const char *path)
{
	char previous[PATH_ROOM + 16];
	bool rotating;

	snprintf(previous, sizeof(previous), "%s.previous", path);
	rotating = access(previous, F_OK) == 0;
	if (command->json)
		printf("{\"shop\":\"%s\",\"secret\":\"%s\",\"previous\":%s}\n", shop, path,
			rotating ? "true" : "false");
	else
		printf("%s%s\n", path,
			rotating ? "\nThe one before is still accepted; end that with --forget-previous when all "
				   "storefronts use the "
				   "new one."
				 : "");
	return EXIT_FINE;
}

int command_shop_secret(struct command *command, int argc, char **argv)
{
	bool rotate = false, set = false, forget = false;
	const struct take takes[] = { { "rotate", NULL, "make a new one and keep the one before", NULL, &rotate },
		{ "set", NULL, "read it from standard input (Shopify's client secret)", NULL, &set },
		{ "forget-previous", NULL, "end a rotation", NULL, &forget }, { 0 } };
	const char *name;
	char file[80], path[PATH_ROOM];
	struct shop shop;
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "NAME",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "Says where the webhook secret of a shop lies. While a rotation lasts, the gateway "
				"accepts both.\v"
				"Examples:\n  cartbus shop secret demo --rotate\n  cartbus shop secret demo --set < "
				"client-secret" });
	if (rotate + set + forget > 1) {
		complain(command, "one of --rotate, --set and --forget-previous at a time");
		return EXIT_USAGE;
	}
	failed = command_shop(command, name, &shop);
	if (failed)
		return failed;
	snprintf(file, sizeof(file), "%s/webhook", name);
	command_secret_path(command, file, path);
	failed = rotate ? rotate_secret(command, path) : set ? set_secret(command, path) : EXIT_FINE;
	failed = forget ? forget_previous(command, path) : failed;
	if (!failed && rotate + set + forget)
		record_file(command,
			&(struct record){ .shop = name,
				.action = "shop_secret",
				.grounds = forget ? "the one before is accepted no longer"
					: set     ? "another one was set; the one before is still accepted"
						  : "a new one was made; the one before is still accepted" });
	return failed ? failed : say_where(command, name, path);
}
