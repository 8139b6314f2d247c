/*
 * shop_add.c: `cartbus shop add`: a shop's files, its webhook secret, and what to enter where
 *
 * Promises:  what it writes was checked with the parsers that every process uses; a shop that is there is never overwritten.
 * Fails by:  saying which option is wrong, before anything is written.
 * Read next: shop.c (list, secret), mode.c
 */
#include "services/cartbus/core/home.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/shops/subcommands.h"
#include "services/cartbus/up/prepare.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/carts/letter/voice.h"
#include "services/kit/money/money.h"
#include "services/kit/rules/rules.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct wanted {
	const char *name;
	const char *zone, *currency, *locale, *title, *url, *from;        /* required */
	const char *reply_to, *bounce, *owner, *postal_address, *consent; /* may be NULL */
};

static void add_line(struct buffer *file, const char *key, const char *value)
{
	if (value)
		buffer_printf(file, "%s = %s\n", key, value);
}

static void write_shop_conf(const struct wanted *wanted, struct buffer *ret)
{
	buffer_add_text(ret, "# What cartbus knows about this shop. Changes are picked up while it runs.\n[shop]\n");
	add_line(ret, "time-zone", wanted->zone);
	add_line(ret, "currency", wanted->currency);
	add_line(ret, "locale", wanted->locale);
	add_line(ret, "title", wanted->title);
	add_line(ret, "url", wanted->url);
	buffer_add_text(ret, "\n[mail]\n");
	add_line(ret, "from", wanted->from);
	add_line(ret, "reply-to", wanted->reply_to);
	add_line(ret, "bounce", wanted->bounce);
	add_line(ret, "owner", wanted->owner);
	add_line(ret, "postal-address", wanted->postal_address);
	add_line(ret, "consent", wanted->consent);
}

/*
 * The owner's rules to start from: the amounts are worth about the same in currencies without decimals. No sentence pushes another
 * one's mail back: "one mail every 24 hours" would, because it counts between the two mails of one cart as well.
 */
static void write_rules(const char *currency, struct buffer *ret)
{
	int scale = money_digits(currency) == 0 ? 100 : 1;

	buffer_printf(ret,
		"Small carts (under %d %s): remind after 4 hours, then after 24.\n"
		"Medium carts: 2 hours, then 22.\n"
		"Big carts (over %d %s): 1 hour, then 20.\n"
		"\nQuiet hours: 21:00 to 8:00.\n"
		"# Mails about two different carts of one shopper are kept 24 hours apart without a sentence here.\n",
		40 * scale, currency, 150 * scale, currency);
}

static int check_values(const struct command *command, const struct wanted *wanted)
{
	const char *values[] = { wanted->zone, wanted->currency, wanted->locale, wanted->title, wanted->url,
		wanted->from, wanted->reply_to, wanted->bounce, wanted->owner, wanted->postal_address,
		wanted->consent };
	const char *const needed[] = { "time-zone", "currency", "locale", "title", "url", "from" };

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		if (values[i])
			continue;
		complain(command, "it needs --%s; see cartbus shop add --help", needed[i]);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		if (!values[i] || !text_has_control(values[i]))
			continue;
		complain(command, "a value contains a line break or a control character");
		return EXIT_USAGE;
	}
	if (shop_name_valid(wanted->name))
		return EXIT_FINE;
	complain(command, "\"%s\" cannot name a shop: at most 40 of a-z, 0-9 and -", wanted->name);
	return EXIT_USAGE;
}

static int write_file(const struct command *command, const char *shop, const char *file, struct bytes content)
{
	char path[PATH_ROOM];
	int failed;

	command_shop_path(command, shop, file, path);
	failed = file_write_durably(path, content, 0640);
	if (!failed)
		return EXIT_FINE;
	complain(command, "cannot write %s: %s", path, strerror(-failed));
	return EXIT_NO;
}

/* shop.conf comes last: a folder without it is not a shop yet. */
static int write_files(
	const struct command *command, const struct wanted *wanted, struct bytes conf, struct bytes rules)
{
	const char *words = voice_builtin_text(wanted->locale);
	char folder[PATH_ROOM];
	int failed;

	words = words ? words : voice_builtin_text("en");
	command_shop_path(command, wanted->name, NULL, folder);
	failed = file_make_folders(folder, 0750);
	if (failed) {
		complain(command, "cannot make the folder %s: %s", folder, strerror(-failed));
		return EXIT_NO;
	}
	failed = write_file(command, wanted->name, "rules.txt", rules);
	failed = failed ? failed : write_file(command, wanted->name, "voice.txt", bytes_of(words));
	return failed ? failed : write_file(command, wanted->name, "shop.conf", conf);
}

static int make_secret(const struct command *command, const char *shop, char ret_path[PATH_ROOM])
{
	char name[80];
	int failed;

	snprintf(name, sizeof(name), "webhook/%s", shop);
	command_secret_path(command, name, ret_path);
	failed = prepare_secret(ret_path);
	if (!failed || failed == -EEXIST)
		return EXIT_FINE;
	complain(command, "cannot write the secret %s: %s", ret_path, strerror(-failed));
	return EXIT_NO;
}

static void print_next_steps(const struct command *command, const char *shop, const char *secret)
{
	const char *url = config_get(command->config, "gateway", NULL, "public-url");
	char folder[PATH_ROOM], where[HOME_WORDS];

	home_words(command, where);
	command_shop_path(command, shop, NULL, folder);
	if (command->json) {
		printf("{\"shop\":\"%s\",\"folder\":\"%s\",\"secret\":\"%s\",\"url\":\"%s/hooks/%s\"}\n", shop, folder,
			secret, url, shop);
		return;
	}
	printf("%s is there: %s (shop.conf, rules.txt, voice.txt)\n\n"
	       "Shopify      %s/hooks/%s/shopify\n"
	       "             topics  carts/create carts/update checkouts/create checkouts/update checkouts/delete\n"
	       "                     orders/create orders/paid orders/cancelled orders/updated\n"
	       "                     customers/redact shop/redact customers/data_request\n"
	       "             secret  Shopify has its own: put it in with  cartbus shop secret %s --set%s\n"
	       "WooCommerce  %s/hooks/%s/woocommerce\n"
	       "             topics  order.created order.updated (Settings, Advanced, Webhooks); carts through the "
	       "next one\nAny other    %s/hooks/%s/cart  (the handbook says what to post)\n\n"
	       "The webhook secret lies in %s\n\n"
	       "The shop starts in observe: it decides and records, and sends nothing. Next:\n"
	       "  cartbus webhook send %s%s         is the door open?\n"
	       "  cartbus tap --shop %s%s           what comes in?\n"
	       "  cartbus shop mode %s mail-me%s    all mail to the owner; then live\n",
		shop, folder, url, shop, shop, where, url, shop, url, shop, secret, shop, where, shop, where, shop,
		where);
}

static int add(const struct command *command, const struct wanted *wanted)
{
	_cleanup_(buffer_free) struct buffer conf = { 0 }, rules_text = { 0 };
	struct config_error error = { "" };
	struct rules_error rules_error;
	struct rules rules;
	struct shop shop;
	char path[PATH_ROOM], secret[PATH_ROOM];
	int failed;

	command_shop_path(command, wanted->name, "shop.conf", path);
	if (access(path, F_OK) == 0) {
		complain(command, "%s is there already; edit it, changes are picked up", path);
		return EXIT_NO;
	}
	write_shop_conf(wanted, &conf);
	if (shop_parse(buffer_text(&conf), wanted->name, "shop.conf", &shop, &error)) {
		complain(command, "%s", error.text);
		return EXIT_USAGE;
	}
	write_rules(shop.currency, &rules_text);
	if (rules_parse(buffer_text(&rules_text), shop.currency, &rules, &rules_error)) {
		complain(command, "the starting rules do not work for %s: %s", shop.currency, rules_error.text);
		return EXIT_NO;
	}
	failed = make_secret(command, wanted->name, secret);
	failed = failed ? failed : write_files(command, wanted, buffer_bytes(&conf), buffer_bytes(&rules_text));
	if (failed)
		return failed;
	record_file(command, &(struct record){ .shop = wanted->name, .action = "shop_added", .after = shop.title });
	print_next_steps(command, wanted->name, secret);
	return EXIT_FINE;
}

int command_shop_add(struct command *command, int argc, char **argv)
{
	struct wanted wanted = { 0 };
	const struct take takes[] = {
		{ "time-zone", "ZONE", "IANA name: Europe/Berlin", &wanted.zone, NULL },
		{ "currency", "CODE", "ISO 4217: EUR", &wanted.currency, NULL },
		{ "locale", "LOCALE", "of mails to shoppers whose own is unknown: de-DE", &wanted.locale, NULL },
		{ "title", "NAME", "how mails name the shop", &wanted.title, NULL },
		{ "url", "URL", "the storefront", &wanted.url, NULL },
		{ "from", "MAILBOX", "sender of the mails: 'Shop <shop@example.com>'", &wanted.from, NULL },
		{ "reply-to", "MAILBOX", "where answers go", &wanted.reply_to, NULL },
		{ "bounce", "ADDRESS", "envelope sender", &wanted.bounce, NULL },
		{ "owner", "ADDRESS", "gets mail-me mails and summaries", &wanted.owner, NULL },
		{ "postal-address", "TEXT", "stands below each mail", &wanted.postal_address, NULL },
		{ "consent", "WHO", "all, customers or marketing: who may be mailed", &wanted.consent, NULL },
		{ 0 },
	};
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.makes_home = true,
			.words_help = "NAME",
			.words = &wanted.name,
			.words_least = 1,
			.words_most = 1,
			.help = "Makes a shop: shop.conf, rules and voice to start from, and a webhook secret. Says "
				"what to enter in the storefront.\v"
				"Example:\n  cartbus shop add demo --time-zone Europe/Berlin --currency EUR --locale "
				"de-DE \\\n    --title 'Blumen Huber' --url https://shop.example --from 'Blumen Huber "
				"<shop@shop.example>'" });
	failed = check_values(command, &wanted);
	failed = failed ? failed : prepare(command);
	return failed ? failed : add(command, &wanted);
}
