/*
 * shop.c: `cartbus shop list` and `cartbus shop secret`
 *
 * Promises: a secret is written whole or not at all, and comes over standard input alone; a rotation of the webhooks' keeps those
 *           before, which the gateway accepts until the rotation ends: storefronts may sign with any of them. Of the key to the
 *           storefront's API there is one: it is shown, not accepted.
 */
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/shops/mode.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/shops/subcommands.h"
#include "services/cartbus/texts/check.h"
#include "services/cartbus/up/prepare.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/storefront/secret_lines.h"
#include <errno.h>
#include <jansson.h>
#include <libgen.h>
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
	if (listing.json)
		json_print_list("shops", listing.json);
	return listing.broken ? EXIT_NO : EXIT_FINE;
}

static bool is_in_use(const char *path, const char *secret)
{
	_cleanup_(buffer_free) struct buffer now = { 0 };

	return file_read_secret(path, &now) == 0 && strcmp(buffer_text(&now), secret) == 0;
}

static void path_of_previous(const char *path, char ret[PATH_ROOM + 16])
{
	snprintf(ret, PATH_ROOM + 16, "%s.previous", path);
}

static int read_if_there(const char *path, struct buffer *ret)
{
	int failed = file_read_secret(path, ret);

	return failed == -ENOENT || failed == -ENODATA ? 0 : failed;
}

/* Adds the secret that is there to the lines of <shop>.previous. -ENOSPC: it has as many as it may. */
static int add_to_previous(const char *path, const char *previous)
{
	_cleanup_(buffer_free) struct buffer now = { 0 }, before = { 0 };
	int failed = read_if_there(path, &now), count;

	failed = failed || now.len == 0 ? failed : read_if_there(previous, &before);
	if (failed || now.len == 0)
		return failed;
	if (secret_lines_have(buffer_bytes(&before), buffer_bytes(&now)))
		return 0; /* what kept it was cut short, or it was set before */
	count = secret_lines_count(buffer_bytes(&before));
	if (count >= SECRET_LINES_MOST)
		return -ENOSPC;
	buffer_printf(&before, "%s%s\n", count > 0 ? "\n" : "", buffer_text(&now));
	return file_write_durably(previous, buffer_bytes(&before), 0600);
}

static int keep_previous(const struct command *command, const char *path)
{
	char previous[PATH_ROOM + 16];
	int failed;

	path_of_previous(path, previous);
	failed = add_to_previous(path, previous);
	if (failed == -ENOSPC)
		complain(command,
			"%d secrets before this one are still accepted (%s): end that with --forget-previous first",
			(int)SECRET_LINES_MOST, previous);
	else if (failed)
		complain(command, "cannot keep %s in %s: %s%s", path, previous, strerror(-failed),
			failed == -EPERM ? "; if one of them is open to others, give both mode 0600" : "");
	return failed ? EXIT_NO : EXIT_FINE;
}

struct secret {
	const struct command *command;
	const struct shop *shop;
	bool is_api;       /* the key to the storefront's API; else what webhooks are signed with */
	bool is_as_before; /* it was set to what it was */
	char path[PATH_ROOM];
};

static int write_secret(struct secret *secret, const char *text)
{
	_cleanup_(buffer_free) struct buffer line = { 0 };
	int failed;

	secret->is_as_before = is_in_use(secret->path, text);
	if (secret->is_as_before)
		return EXIT_FINE; /* said twice: nothing changes */
	failed = secret->is_api ? EXIT_FINE : keep_previous(secret->command, secret->path);
	if (failed)
		return failed;
	buffer_printf(&line, "%s\n", text);
	failed = file_write_durably(secret->path, buffer_bytes(&line), 0600);
	if (failed)
		complain(secret->command, "cannot write %s: %s", secret->path, strerror(-failed));
	return failed ? EXIT_NO : EXIT_FINE;
}

/* The blanks that come with copying: a page's own is no-break. */
static const char *const blanks[] = { " ", "\t", "\u00a0" };
enum { BLANKS = sizeof(blanks) / sizeof(*blanks) };

static bool has_blank(const char *line)
{
	for (int i = 0; i < BLANKS; i++)
		if (strstr(line, blanks[i]))
			return true;
	return false;
}

static bool has_blank_at_an_end(const char *line)
{
	for (int i = 0; i < BLANKS; i++) {
		const char *end = line + strlen(line) - strlen(blanks[i]); /* no line is as short as a blank */

		if (text_starts(line, blanks[i]) || strcmp(end, blanks[i]) == 0)
			return true;
	}
	return false;
}

/* No platform's key to its API has a blank. What signs webhooks may: WooCommerce makes such secrets, so it is kept as it came. */
static int check_blanks(const struct secret *secret, const char *line)
{
	if (secret->is_api && has_blank(line)) {
		complain(secret->command, "a key to an API has no blanks, and this one has: copy the key alone");
		return EXIT_USAGE;
	}
	if (has_blank_at_an_end(line))
		complain(secret->command,
			"warning: the secret begins or ends with a blank, which counts: if it came with the copying, "
			"set the secret again without it");
	return EXIT_FINE;
}

static int set_secret(struct secret *secret)
{
	char line[512];
	bool whole;

	if (!fgets(line, sizeof(line), stdin))
		line[0] = '\0';
	whole = strlen(line) + 1 < sizeof(line);
	line[strcspn(line, "\r\n")] = '\0';
	if (!whole || strlen(line) < 16 || text_has_control(line)) {
		complain(secret->command, "the secret is one line on standard input, of 16 to 500 characters");
		return EXIT_USAGE;
	}
	if (secret->is_api && secret->shop->storefront.platform == STOREFRONT_WOOCOMMERCE && !strchr(line, ':')) {
		complain(secret->command, "WooCommerce's key is one line of two parts: ck_...:cs_...");
		return EXIT_USAGE;
	}
	return check_blanks(secret, line) ? EXIT_USAGE : write_secret(secret, line);
}

/* A further rotation would end with a --forget-previous that drops what the storefront signs with. */
static bool is_rotating(const char *path)
{
	_cleanup_(buffer_free) struct buffer now = { 0 }, before = { 0 };
	char previous[PATH_ROOM + 16];
	bool is_kept;

	path_of_previous(path, previous);
	if (read_if_there(previous, &before) < 0)
		return false; /* keeping the secret there will say why it cannot be read */
	read_if_there(path, &now);
	is_kept = secret_lines_have(buffer_bytes(&before), buffer_bytes(&now));
	return secret_lines_count(buffer_bytes(&before)) > (is_kept ? 1 : 0);
}

static int rotate_secret(struct secret *secret)
{
	char first[33], second[33], text[65];

	if (is_rotating(secret->path)) {
		complain(secret->command,
			"a rotation is under way: the new secret lies in %s; when all storefronts use it, say "
			"--forget-previous, and rotate again",
			secret->path);
		return EXIT_NO;
	}
	text_random_name(first);
	text_random_name(second);
	snprintf(text, sizeof(text), "%s%s", first, second);
	return write_secret(secret, text);
}

/* A secret that was ended does not come back after a power cut. */
static int remove_durably(const char *path)
{
	char room[PATH_ROOM + 16];

	if (unlink(path) < 0)
		return errno == ENOENT ? 0 : -errno;
	TEXT_COPY(room, path);
	return file_sync_folder(dirname(room));
}

static int forget_previous(const struct command *command, const char *path)
{
	_cleanup_(buffer_free) struct buffer now = { 0 };
	char previous[PATH_ROOM + 16], why[512];
	int failed = file_read_secret(path, &now);

	if (failed) {
		secret_why(path, failed, why);
		complain(command, "%s. Until it can be read, the ones before it are not forgotten", why);
		return EXIT_NO;
	}
	path_of_previous(path, previous);
	failed = remove_durably(previous);
	if (!failed)
		return EXIT_FINE;
	complain(command, "cannot remove %s: %s", previous, strerror(-failed));
	return EXIT_NO;
}

static void say_rotating(int count)
{
	static const char way_out[] = "still accepted; end that with --forget-previous when all storefronts use the "
				      "new one.";

	if (count > 1)
		printf("The %d before are %s\n", count, way_out);
	else if (count == 1)
		printf("The one before is %s\n", way_out);
}

static int say_where(const struct secret *secret)
{
	const char *shop = secret->shop->name, *path = secret->path;
	char previous[PATH_ROOM + 16];
	bool rotating, there = access(path, F_OK) == 0;
	int count = 0, wrong = 0;

	path_of_previous(path, previous);
	rotating = !secret->is_api && access(previous, F_OK) == 0;
	if (secret->command->json)
		printf("{\"shop\":\"%s\",\"secret\":\"%s\",\"there\":%s,\"previous\":%s}\n", shop, path,
			there ? "true" : "false", rotating ? "true" : "false");
	else
		printf("%s%s\n", path, there ? "" : " (it is not there)");
	if (there && !secret->is_api)
		wrong = check_webhook_secret(secret->command, shop);
	if (rotating)
		wrong += check_previous(secret->command, shop, &count);
	if (!secret->command->json)
		say_rotating(count);
	return wrong ? EXIT_NO : EXIT_FINE;
}

struct secret_options {
	bool rotate, set, forget, api;
};

static int check_options(const struct secret *secret, const struct secret_options *options)
{
	if (options->rotate + options->set + options->forget > 1)
		complain(secret->command, "one of --rotate, --set and --forget-previous at a time");
	else if (options->api && (options->rotate || options->forget))
		complain(secret->command, "the storefront makes the key of its API: --api goes with --set alone");
	else
		return EXIT_FINE;
	return EXIT_USAGE;
}

static void record_secret(const struct secret *secret, const struct secret_options *options)
{
	const char *grounds = options->forget ? "the one before is accepted no longer"
		: options->api                ? "another key to the storefront's API was set"
		: options->set                ? "another one was set; the one before is still accepted"
					      : "a new one was made; the one before is still accepted";

	record_file(secret->command,
		&(struct record){ .shop = secret->shop->name, .action = "shop_secret", .grounds = grounds });
}

static int carry_out(struct secret *secret, const struct secret_options *options)
{
	char file[80];
	int failed = EXIT_FINE;

	snprintf(file, sizeof(file), "%s/%s", options->api ? "api" : "webhook", secret->shop->name);
	command_secret_path(secret->command, file, secret->path);
	secret->is_api = options->api;
	if (options->rotate)
		failed = rotate_secret(secret);
	else if (options->set)
		failed = set_secret(secret);
	else if (options->forget)
		failed = forget_previous(secret->command, secret->path);
	if (failed)
		return failed;
	if (!secret->is_as_before && (options->rotate || options->set || options->forget))
		record_secret(secret, options);
	else if (secret->is_as_before && !secret->command->json)
		puts("It is the one that was set already: nothing has changed.");
	failed = say_where(secret);
	if (!secret->command->json && (options->rotate || options->set || options->forget) &&
		command_has_units(secret->command))
		printf("Units are handed their secrets at their start: systemctl restart %s\n",
			options->api ? "'cartbus-sender@*' cartbus-storefront" : "cartbus-gateway");
	return failed;
}

int command_shop_secret(struct command *command, int argc, char **argv)
{
	struct secret_options options = { 0 };
	const struct take takes[] = { { "rotate", NULL, "make a new one and keep the one before", NULL,
					      &options.rotate },
		{ "set", NULL, "read it from standard input (Shopify's client secret)", NULL, &options.set },
		{ "api", NULL, "with --set: the key to the storefront's API instead", NULL, &options.api },
		{ "forget-previous", NULL, "end a rotation", NULL, &options.forget }, { 0 } };
	struct secret secret = { .command = command };
	const char *name;
	struct shop shop;
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "Says where the webhook secret of a shop lies, or the key to its API. While a rotation "
				"lasts, the gateway accepts each secret that was in use since it began, and there is "
				"no other rotation.\v"
				"Examples:\n  cartbus shop secret demo --rotate\n  cartbus shop secret demo --set < "
				"client-secret\n  cartbus shop secret demo --api --set < access-token" });
	failed = check_options(&secret, &options);
	failed = failed ? failed : command_shop(command, name, &shop);
	secret.shop = &shop;
	return failed ? failed : carry_out(&secret, &options);
}
