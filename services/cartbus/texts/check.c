/*
 * check.c: `cartbus rules check` and `cartbus config check`: is it right before it runs?
 *
 * Promises: judges with the parsers that the processes use, and says file, line and what was expected.
 */
#include "services/cartbus/texts/check.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/doctor/check_local.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/texts/subcommands.h"

#include "bus/actor/process/keys.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "services/carts/policy/rules_document.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/keys/keyring.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/money/money.h"
#include "services/kit/rules/rules.h"
#include "services/kit/storefront/secret_lines.h"
#include "services/kit/web/admin_link.h"
#include "services/kit/web/network.h"
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The rules as they were understood: the sentences that the owner confirms. */
static void print_rules(const struct rules *rules, const char *locale)
{
	_cleanup_(buffer_free) struct buffer sentences = { 0 };

	rules_print(rules, locale, &sentences);
	printf("%s", buffer_text(&sentences));
	for (int i = 0; i < rules->warning_count; i++)
		printf("warning: %s\n", rules->warnings[i]);
}

static json_t *waits_json(const struct rules_waits *waits)
{
	return json_pack("{s:i,s:I,s:I}", "mails", waits->mails, "first_us", (json_int_t)waits->first_us, "second_us",
		(json_int_t)waits->second_us);
}

static json_t *edges_json(const struct rules *rules, int size)
{
	json_t *edges = json_array();

	for (int i = 0; i < rules->edge_count; i++) {
		const struct rules_edges *edge = &rules->edges[i];
		bool low = edge->from[size] != INT64_MIN, high = size + 1 < rules->size_count;
		json_array_append_new(edges,
			json_pack("{s:s,s:o,s:o}", "currency", edge->currency, "from_minor",
				low ? json_integer(edge->from[size]) : json_null(), "to_minor",
				high ? json_integer(edge->from[size + 1] - 1) : json_null()));
	}
	return edges;
}

static json_t *sizes_json(const struct rules *rules)
{
	static const char *const names[] = { "small", "medium", "big", "" };
	json_t *sizes = json_array();

	for (int i = 0; i < rules->size_count; i++)
		json_array_append_new(sizes,
			json_pack("{s:s,s:b,s:o,s:o}", "name", names[rules->sizes[i].name], "rest",
				(int)rules->sizes[i].is_rest, "amounts", edges_json(rules, i), "waits",
				waits_json(&rules->sizes[i].waits)));
	return sizes;
}

static json_t *quiet_json(const struct rules *rules)
{
	json_t *quiet = json_array();

	for (int i = 0; i < rules->quiet_count; i++)
		json_array_append_new(quiet,
			json_pack("{s:i,s:i,s:i}", "days", rules->quiets[i].days, "from_minute",
				rules->quiets[i].from_minute, "to_minute", rules->quiets[i].to_minute));
	return quiet;
}

static json_t *caps_json(const struct rules *rules)
{
	json_t *caps = json_array();

	for (int i = 0; i < rules->cap_count; i++)
		json_array_append_new(caps,
			json_pack("{s:i,s:I}", "mails", rules->caps[i].mails, "period_us",
				(json_int_t)rules->caps[i].period_us));
	return caps;
}

static void print_rules_json(const struct rules *rules, const char *locale)
{
	_cleanup_(buffer_free) struct buffer sentences = { 0 };
	json_t *waits = json_array(), *warnings = json_array();

	rules_print(rules, locale, &sentences);
	for (int i = 0; i < rules->size_count; i++)
		json_array_append_new(waits, waits_json(&rules->sizes[i].waits));
	for (int i = 0; i < rules->warning_count; i++)
		json_array_append_new(warnings, json_string(rules->warnings[i]));
	json_t *whole = json_pack("{s:b,s:s,s:o,s:I,s:o,s:o,s:o,s:o}", "right", 1, "sentences", buffer_text(&sentences),
		"waits", waits, "window_us", (json_int_t)rules_window_us(rules), "warnings", warnings, "sizes",
		sizes_json(rules), "quiet", quiet_json(rules), "caps", caps_json(rules));
	json_print(whole);
	json_decref(whole);
}

static void print_rules_error(const struct rules_error *error)
{
	json_t *whole = json_pack("{s:b,s:i,s:i,s:s,s:s,s:s}", "right", 0, "line", error->line, "column", error->column,
		"expected", json_expected(error->text, error->line, error->column), "instead", error->instead,
		"or_instead", error->or_instead);

	json_print(whole);
	json_decref(whole);
}

/* `currency` "": no shop's is known. */
static int check_rules(const struct command *command, const char *path, const char *currency, const char *locale)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct rules_error error = { 0 };
	struct rules rules = { 0 };
	char why[OWNER_TEXT_WHY];

	if (owner_text_read(path, rules_document.bytes_max, &text, why)) {
		complain(command, "%s %s", path, why);
		return EXIT_NO;
	}
	if (rules_parse(buffer_text(&text), *currency ? currency : "EUR", &rules, &error)) {
		if (command->json)
			print_rules_error(&error);
		complain(command, "%s: %s", path, error.text);
		if (!command->json && *error.shown)
			fprintf(stderr, "%s\n", error.shown);
		if (!command->json && *error.instead)
			fprintf(stderr, "this would do: %s\n", error.instead);
		if (!command->json && *error.or_instead)
			fprintf(stderr, "       or this: %s\n", error.or_instead);
		return EXIT_NO;
	}
	if (*currency)
		rules_warn_of_currency(&rules, currency);
	if (command->json)
		print_rules_json(&rules, locale);
	else
		print_rules(&rules, locale);
	return EXIT_FINE;
}

int command_rules_check(struct command *command, int argc, char **argv)
{
	static struct shop beside; /* large */
	const char *file, *currency = NULL, *locale = NULL;
	const struct take takes[] = {
		{ "currency", "CODE",
			"the shop's: what a bare sign means (that of the shop.conf beside FILE, else EUR)", &currency,
			NULL },
		{ "locale", "LOCALE",
			"in whose language the rules are said back, as de-DE (that of the shop.conf beside FILE, else "
			"English)",
			&locale, NULL },
		{ 0 }
	};

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "FILE",
			.words = &file,
			.words_least = 1,
			.words_most = 1,
			.no_config = true,
			.needs_no_home = true,
			.help = "Reads rules as the system would, and says what they mean, or the line, the column and "
				"what was "
				"expected. What it says are sentences that mean the same as yours, in the shop's "
				"language: these are what you confirm.\v"
				"Example:\n  cartbus rules check /etc/cartbus/shops/demo/rules.txt --currency EUR" });
	command_shop_beside(file, &beside);
	if (!currency)
		currency = beside.currency;
	else if (!money_currency_valid(currency)) {
		complain(command, "\"%s\" is no currency; ISO 4217 codes are like EUR", currency);
		return EXIT_USAGE;
	}
	return check_rules(command, file, currency, locale ? locale : beside.locale);
}

struct checking {
	struct command *command;
	int wrong;
};

static void refuse_document(struct checking *checking, const char *path, const char *wrong)
{
	complain(checking->command, "%s: %s", path, wrong);
	checking->wrong++;
}

static void judge_document(
	struct checking *checking, const struct document_kind *kind, const char *path, const struct document_text *text)
{
	_cleanup_free_ struct document_opinion *opinion = memory_new(sizeof(*opinion));
	char why[160];

	if (document_is_further(kind, text->kind) && kind->may_be_called && !kind->may_be_called(text->kind, why)) {
		refuse_document(checking, path, why);
		return;
	}
	kind->judge(text, opinion);
	if (opinion->wrong[0])
		refuse_document(checking, path, opinion->wrong);
	if (!checking->command->json)
		fputs(opinion->help, stderr);
	if (opinion->conf_warning[0])
		complain(checking->command, "warning: %s: %s", path, opinion->conf_warning);
}

/* `name`: "rules", "voice.de" */
static void check_document(
	struct checking *checking, const struct shop *shop, const struct document_kind *kind, const char *name)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char file[DOCUMENT_FILE_ROOM], path[PATH_ROOM], why[OWNER_TEXT_WHY];

	document_file_name(kind, name, file);
	command_shop_path(checking->command, shop->name, file, path);
	if (owner_text_read(path, kind->bytes_max, &text, why)) {
		complain(checking->command, "%s %s", path, why);
		checking->wrong++;
		return;
	}
	judge_document(checking, kind, path,
		&(struct document_text){ .shop = shop->name,
			.kind = name,
			.source = path,
			.text = buffer_text(&text),
			.conf = shop,
			.conf_is_right = true });
}

/* The text that a shop must have, and those that lie in its folder. */
static void check_kind(struct checking *checking, const struct shop *shop, const struct document_kind *kind)
{
	char folder[PATH_ROOM], name[DOCUMENT_KIND_ROOM];
	struct dirent **entries = NULL;

	if (!kind->is_optional)
		check_document(checking, shop, kind, kind->name);
	command_shop_path(checking->command, shop->name, NULL, folder);
	int count = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		if (document_kind_has_file(kind, entries[i]->d_name, name) &&
			(kind->is_optional || document_is_further(kind, name)))
			check_document(checking, shop, kind, name);
		free(entries[i]);
	}
	free(entries);
}

/* One of kit/keys/keyring.h. */
static void check_key(struct checking *checking, const char *name)
{
	_cleanup_(buffer_free) struct buffer secret = { 0 };
	char path[PATH_ROOM], why[512];
	int failed;

	command_secret_path(checking->command, name, path);
	failed = keyring_read_key(path, &secret);
	if (!failed)
		return;
	secret_why(path, failed, why);
	checking->wrong += check_told(checking->command, failed, why);
}

int check_webhook_secret(const struct command *command, const char *shop)
{
	_cleanup_(buffer_free) struct buffer secret = { 0 };
	char name[96], path[PATH_ROOM], why[512];
	int failed;

	snprintf(name, sizeof(name), "webhook/%s", shop);
	command_secret_path(command, name, path);
	failed = file_read_secret(path, &secret);
	if (failed)
		secret_why(path, failed, why);
	else if (secret.len < WEBHOOK_SECRET_LEAST) {
		failed = -EINVAL;
		snprintf(why, sizeof(why),
			"the secret %.256s is shorter than %d characters, and the gateway takes no webhook of the shop "
			"with it: set another with `cartbus shop secret %.63s --set`, or make one with --rotate",
			path, (int)WEBHOOK_SECRET_LEAST, shop);
	}
	return check_told(command, failed, why);
}

int check_previous(const struct command *command, const char *shop, int *ret_count)
{
	_cleanup_(buffer_free) struct buffer before = { 0 };
	char name[96], path[PATH_ROOM], why[512];
	int failed;

	snprintf(name, sizeof(name), "webhook/%s.previous", shop);
	command_secret_path(command, name, path);
	failed = access(path, F_OK) == 0 ? file_read_secret(path, &before) : -ENOENT; /* or nobody may look here */
	*ret_count = failed ? 0 : secret_lines_count(buffer_bytes(&before));
	if (failed == -ENOENT || failed == -ENODATA)
		return 0;
	if (failed)
		secret_why(path, failed, why);
	else if (secret_lines_have_more(buffer_bytes(&before)))
		complain(command, "warning: the secrets in %s behind the first %d are not accepted", path,
			(int)SECRET_LINES_MOST);
	return check_told(command, failed, why);
}

static void check_key_if_there(struct checking *checking, const char *name)
{
	char path[PATH_ROOM];

	command_secret_path(checking->command, name, path);
	if (access(path, F_OK) == 0)
		check_key(checking, name);
}

/* Two services need each of them at their start: on a host without the broker where one of these runs. */
static void check_installations_key(struct checking *checking, const char *name, const char *one, const char *other)
{
	if (check_is_local(checking->command, one) || check_is_local(checking->command, other))
		check_key(checking, name);
	else
		check_key_if_there(checking, name);
}

static void say_wrong(const char *what, void *context)
{
	complain(((struct checking *)context)->command, "%s", what);
}

static void say_of_keys(const char *what, int error, void *context)
{
	check_told(((struct checking *)context)->command, error, what);
}

/* All that its table refuses; what is not a matter of one key command_shop tells. */
static bool has_faults(struct checking *checking, const char *path)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char why[OWNER_TEXT_WHY];
	int faults = 0;

	if (owner_text_read(path, shop_document.bytes_max, &text, why) == 0)
		faults = config_judge_text(buffer_text(&text), path, shop_keys, say_wrong, checking);
	checking->wrong += faults;
	return faults > 0;
}

/* shop.conf, and what is read with it. */
static void check_texts(struct checking *checking, const char *name)
{
	const struct document_kind *kind;
	char path[PATH_ROOM];
	struct shop shop;

	command_shop_path(checking->command, name, "shop.conf", path);
	if (has_faults(checking, path))
		return;
	if (command_shop(checking->command, name, &shop)) {
		checking->wrong++;
		return;
	}
	for (size_t i = 0; (kind = document_kind_at(registered_documents, i)); i++)
		if (kind != &shop_document)
			check_kind(checking, &shop, kind);
}

static void check_shop(const char *name, void *context)
{
	struct checking *checking = context;
	int before;

	check_texts(checking, name);
	checking->wrong += check_webhook_secret(checking->command, name);
	checking->wrong += check_previous(checking->command, name, &before);
}

/* RFC 8058: mailboxes offer their one-click unsubscribe for https alone; a shopper's click should not travel in the open either. */
static void warn_of_plain_links(const struct command *command)
{
	const char *url = config_get(command->config, "gateway", NULL, "public-url");

	if (command->config_faults)
		return; /* it may be another one that is wrong */
	if (strncmp(url, "https://", 8) != 0)
		complain(command,
			"warning: [gateway] public-url is %s: mailboxes offer one-click unsubscribe only when it is "
			"https",
			url);
}

/* As the monitor judges it at its start. */
static void check_monitor_listens(struct checking *checking)
{
	const struct command *command = checking->command;
	const char *host = config_get(command->config, "monitor", NULL, "listen");
	enum page_reach reach = page_reach_of(host);

	if (config_number(command->config, "monitor", NULL, "port") == 0 || reach == PAGE_HERE)
		return;
	if (reach == PAGE_NEAR)
		complain(command, "warning: [monitor] listen = %s: everybody in that net can read the metrics", host);
	else if (reach == PAGE_OPEN)
		complain(command,
			"[monitor] listen = %s: strangers could read the metrics there, unasked; give an address of "
			"this machine or of a private net",
			host);
	else
		complain(command, "[monitor] listen = %s is not an IP address; 127.0.0.1 is usual", host);
	checking->wrong += reach != PAGE_NEAR;
}

/* A key that is given several times has an array of its values. */
static void add_effective(json_t *section, const char *key, const char *value)
{
	json_t *before = json_object_get(section, key);

	if (!before)
		json_object_set_new(section, key, json_string(value));
	else if (json_is_array(before))
		json_array_append_new(before, json_string(value));
	else
		json_object_set_new(section, key, json_pack("[O,s]", before, value));
}

/* {"section": {"key": "value"}} of what config_dump wrote; its text is used up. */
static json_t *effective_json(char *text)
{
	json_t *whole = json_object(), *section = whole;
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *equals = strstr(line, " =");

		if (*line == '[') {
			line[strcspn(line, "]")] = '\0';
			json_object_set_new(whole, line + 1, json_object());
			section = json_object_get(whole, line + 1);
		} else if (equals) {
			*equals = '\0';
			add_effective(section, line, equals + 2 + (equals[2] == ' '));
		}
	}
	return whole;
}

static int print_effective(const struct command *command)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	_cleanup_free_ char *copy = NULL;
	json_t *whole;

	config_dump(command->config, &text);
	if (!command->json) {
		fputs(buffer_text(&text), stdout);
		return EXIT_FINE;
	}
	copy = strdup(buffer_text(&text));
	whole = effective_json(copy);
	json_print(whole);
	json_decref(whole);
	return EXIT_FINE;
}

/* A user who may not read the shops cannot judge them, and does not know how many there are. */
static int check_shops(struct checking *checking)
{
	const char *path = config_get(checking->command->config, "paths", NULL, "shops");
	char inside[PATH_ROOM];

	/* "." is in every folder and in no file: check_folders() tells of a file. */
	snprintf(inside, sizeof(inside), "%.*s/.", (int)sizeof(inside) - 3, path);
	if (access(inside, R_OK | X_OK) < 0 && errno == EACCES) {
		complain(checking->command, "warning: %s: this user may not read the shops, and they were not judged",
			path);
		return SHOPS_NOT_READ;
	}
	return shops_each(checking->command, check_shop, checking);
}

int config_judge(struct command *command, int *ret_shops)
{
	struct checking checking = { .command = command };

	warn_of_plain_links(command);
	check_installations_key(&checking, "address.key", "gateway", "storefront");
	check_installations_key(&checking, LINK_KEY, "gateway", "sender");
	check_key_if_there(&checking, BOUNCE_KEY);     /* without it, it follows from link.key */
	check_key_if_there(&checking, ADMIN_LINK_KEY); /* without it the owner's links do not work, and all else does */
	check_monitor_listens(&checking);
	checking.wrong += check_local(command);
	checking.wrong += check_ports(command);
	checking.wrong += keys_check(command->config, say_of_keys, &checking);
	*ret_shops = check_shops(&checking);
	return checking.wrong;
}

static void tell_json(int shops, int wrong)
{
	json_t *json = json_pack("{s:b,s:o,s:i}", "right", wrong == 0, "shops",
		shops == SHOPS_NOT_READ ? json_null() : json_integer(shops), "wrong", wrong);

	json_print(json);
	json_decref(json);
}

int command_config_check(struct command *command, int argc, char **argv)
{
	bool dump = false;
	const struct take takes[] = { { "dump", NULL, "print the effective configuration", NULL, &dump }, { 0 } };
	int shops, wrong;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.judges_config = true,
			.help = "Reads the configuration, every shop, its rules and voice, and the secrets, as the "
				"processes would, and what a process of this host would refuse at its start. Says all "
				"that is wrong, with file and line.\v"
				"Examples:\n  cartbus config check\n  cartbus config check --dump" });
	if (dump)
		return command->config_faults ? EXIT_NO : print_effective(command);
	wrong = command->config_faults + config_judge(command, &shops);
	if (command->json)
		tell_json(shops, wrong);
	else if (!wrong && shops == SHOPS_NOT_READ)
		printf("%s is right; of its shops this user may read nothing\n", command->config_path);
	else if (!wrong)
		printf("%s is right, with %d shop%s\n", command->config_path, shops, shops == 1 ? "" : "s");
	return wrong ? EXIT_NO : EXIT_FINE;
}
