/*
 * rollback.c: `cartbus rules rollback`, and the same of `voice` and `conf`: an earlier text is in use again
 *
 * The file stays what the owner's text is: the old text is written into it, and the mirror reads it as the next version. So no file
 * ever takes back a rollback. Who did it is on record before the file is written; what lay there and was never in use is kept.
 *
 * Promises: when it says that a version is in use, the log has it. A text that would not be accepted today is not written. While the
 *           mirror is away a file waits for it; where a Google document has the same text, nothing is done: which of the two changed
 *           last only a mirror that runs can see.
 * Fails by: saying what it did and what is left to be done.
 */
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/texts/history.h"
#include "services/cartbus/texts/subcommands.h"
#include "services/carts/words/describe.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/kit/shop/shop.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATIENCE_US (15 * US_PER_S) /* of the boot clock: for the mirror to see the file */
#define LOOK_EVERY_US (200 * US_PER_MS)

struct rollback {
	struct command *command;
	const char *words[2], *language, *reason;
	bool dry;
	const struct document_kind *row;
	char word[8], kind[DOCUMENT_KIND_ROOM], file[DOCUMENT_FILE_ROOM], path[PATH_ROOM];
	struct client *client;
	struct versions versions;
	const struct version *to, *in_use;
	bool mirror_is_here;
};

/* --- would it be accepted today? --- */

/* `text` is one of the kind `row`; `conf` NULL: none can be read now. */
static int judge_text(struct rollback *rollback, const struct document_kind *row, const char *text,
	const struct shop *conf, const char *what)
{
	_cleanup_free_ struct document_opinion *opinion = memory_new(sizeof(*opinion));

	row->judge(&(struct document_text){ .shop = rollback->words[0],
			   .kind = row == rollback->row ? rollback->kind : row->name,
			   .source = rollback->file,
			   .text = text,
			   .conf = conf,
			   .conf_is_right = conf != NULL },
		opinion);
	if (!opinion->wrong[0])
		return EXIT_FINE;
	complain(rollback->command, "%s would not be accepted now: %s; nothing was changed", what, opinion->wrong);
	return EXIT_NO;
}

/* An old shop.conf must not make a text in use unreadable: an old currency, the rules. */
static int check_with_conf(struct rollback *rollback, const struct document_kind *row, const struct shop *conf)
{
	struct versions versions;
	char what[80];
	int ended = versions_load(rollback->command, rollback->client, rollback->words[0], row->name, &versions);

	snprintf(what, sizeof(what), "with it the %s in use", row->name);
	if (!ended)
		ended = judge_text(rollback, row, versions.list[versions.count - 1].text, conf, what);
	versions_free(&versions);
	return ended;
}

static int check_conf_text(struct rollback *rollback)
{
	const struct document_kind *row;
	struct config_error error;
	struct shop conf;
	int ended = judge_text(rollback, &shop_document, rollback->to->text, NULL, "this version");

	if (!ended)
		shop_parse(rollback->to->text, rollback->words[0], rollback->file, &conf, &error);
	for (size_t i = 0; !ended && (row = document_kind_at(registered_documents, i)); i++)
		if (row->depends_on && !row->is_optional)
			ended = check_with_conf(rollback, row, &conf);
	return ended;
}

static int check_text(struct rollback *rollback)
{
	struct shop conf;
	bool is_right;

	if (rollback->row == &shop_document)
		return check_conf_text(rollback);
	if (rollback->row->depends_on && command_shop(rollback->command, rollback->words[0], &conf))
		return EXIT_NO;
	is_right = rollback->row->depends_on || command_shop_beside(rollback->path, &conf);
	return judge_text(rollback, rollback->row, rollback->to->text, is_right ? &conf : NULL, "this version");
}

/* --- doing it --- */

static bool was_ever_in_use(const struct rollback *rollback, const char *text)
{
	for (size_t i = 0; i < rollback->versions.count; i++) {
		if (strcmp(rollback->versions.list[i].text, text) == 0)
			return true;
	}
	return false;
}

/* The mirror, another user, may read it as it could before, at any moment. */
static int write_like(const char *path, const char *text, const struct stat *like)
{
	const struct file_owner owner = { like->st_uid, like->st_gid };

	return file_write_durably_for(path, bytes_of(text), like->st_mode & 0777, &owner);
}

/* Keeps a copy of an edit that was never in use: only this file holds it. */
static int keep_edit(const struct rollback *rollback, const char *text, const struct stat *like)
{
	char path[PATH_ROOM + 8];
	int failed;

	if (was_ever_in_use(rollback, text))
		return 0;
	snprintf(path, sizeof(path), "%s.edited", rollback->path);
	failed = write_like(path, text, like);
	if (failed == 0)
		fprintf(stderr, "%s held a text that was never in use: it is now %s\n", rollback->path, path);
	return failed;
}

static int replace_text(const struct rollback *rollback)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct stat there;
	int failed = file_read(rollback->path, rollback->row->bytes_max, &text);

	if (failed == -ENOENT)
		return file_write_durably(rollback->path, bytes_of(rollback->to->text), 0640);
	if (failed == 0 && stat(rollback->path, &there) < 0)
		failed = -errno;
	if (failed == 0)
		failed = keep_edit(rollback, buffer_text(&text), &there);
	return failed ? failed : write_like(rollback->path, rollback->to->text, &there);
}

static int write_file(const struct rollback *rollback)
{
	int failed = replace_text(rollback);

	if (failed == 0)
		return EXIT_FINE;
	complain(rollback->command, "%s: %s; run it where the mirror's files lie, as a user who may write them",
		rollback->path, strerror(-failed));
	return EXIT_NO;
}

static int put_on_record(const struct rollback *rollback)
{
	Audit audit = { .at_us = clock_wall_us(&rollback->command->clock), .action = ROLLBACK_ACTION };
	const char *shop = rollback->words[0];
	struct client_said said;
	char idem[64], why[256];

	TEXT_COPY(audit.who, operator_name());
	snprintf(audit.grounds, sizeof(audit.grounds), "%s to version %u%s%s", rollback->kind, rollback->to->number,
		*rollback->reason ? ": " : "", rollback->reason);
	TEXT_COPY(audit.before, rollback->in_use->digest);
	TEXT_COPY(audit.after, rollback->to->digest);
	text_random_name(idem); /* each command is an act of its own */
	if (CLIENT_SAY(rollback->client, audit, &audit, &said, why, .shop = shop, .key = shop, .idem = idem) == 0)
		return EXIT_FINE;
	complain(rollback->command, "nothing was done, because it could not be put on record: %s", why);
	return EXIT_NO;
}

static void wait_a_little(const struct rollback *rollback)
{
	int64_t until_us = clock_boot_us(&rollback->command->clock) + LOOK_EVERY_US;

	while (clock_boot_us(&rollback->command->clock) < until_us)
		client_work(rollback->client, until_us - clock_boot_us(&rollback->command->clock));
}

static bool mirror_is_here(const struct rollback *rollback)
{
	json_t *status = command_look(rollback->command, rollback->client, "status", NULL);
	bool here = false;
	const json_t *session;
	size_t i;

	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		const char *service = json_string_value(json_object_get(session, "service"));

		here = here || (service && strcmp(service, "mirror") == 0);
	}
	json_decref(status);
	return here;
}

/* The number of the version that came of it; 0: none came in time. */
static uint32_t wait_for_version(const struct rollback *rollback)
{
	int64_t until_us = clock_boot_us(&rollback->command->clock) + PATIENCE_US;
	uint32_t number = 0;

	while (!number && clock_boot_us(&rollback->command->clock) < until_us) {
		struct versions now;
		const struct version *last;

		wait_a_little(rollback);
		if (versions_load(rollback->command, rollback->client, rollback->words[0], rollback->kind, &now))
			break;
		last = &now.list[now.count - 1];
		if (strcmp(last->digest, rollback->to->digest) == 0)
			number = last->number;
		versions_free(&now);
	}
	return number;
}

static void print_rollback(const struct rollback *rollback, uint32_t number)
{
	json_t *object;

	if (!rollback->command->json) {
		printf("%s/%s: the text of version %u %s", rollback->words[0], rollback->file, rollback->to->number,
			rollback->dry ? "would be in use again" : "is in the file again");
		if (number)
			printf(", in use as version %u", number);
		puts("");
		return;
	}
	object = json_pack("{s:s,s:s,s:I,s:I,s:I,s:b}", "shop", rollback->words[0], "kind", rollback->kind, "was",
		(json_int_t)rollback->in_use->number, "to", (json_int_t)rollback->to->number, "version",
		(json_int_t)number, "done", (int)(number > 0));
	json_print(object);
	json_decref(object);
}

static bool is_in_google(const struct rollback *rollback)
{
	struct shop shop;

	if (command_shop(rollback->command, rollback->words[0], &shop))
		return false;
	return rollback->row->google_id && strcmp(rollback->kind, rollback->row->name) == 0 &&
		rollback->row->google_id(&shop)[0];
}

static int check_mirror(struct rollback *rollback)
{
	rollback->mirror_is_here = mirror_is_here(rollback);
	if (rollback->mirror_is_here || rollback->dry || !is_in_google(rollback))
		return EXIT_FINE;
	complain(rollback->command,
		"the mirror does not run, and a Google document holds this text as well: which of the two counts is "
		"seen while it runs. Start it (systemctl start cartbus-mirror) and say this again; nothing was "
		"changed");
	return EXIT_NO;
}

static int complain_of_waiting(const struct rollback *rollback)
{
	if (rollback->mirror_is_here)
		complain(rollback->command,
			"the file was written, and no version came of it yet: does the mirror run here? `cartbus "
			"status` and its journal tell; until then version %u stays in use",
			rollback->in_use->number);
	else
		complain(rollback->command,
			"the mirror does not run: it takes this text when it is started (systemctl start "
			"cartbus-mirror); until then version %u stays in use",
			rollback->in_use->number);
	return EXIT_NO;
}

static int roll_back(struct rollback *rollback)
{
	bool is_in_use = strcmp(rollback->to->digest, rollback->in_use->digest) == 0;
	uint32_t number;
	int ended = check_text(rollback);

	ended = ended || is_in_use ? ended : check_mirror(rollback);

	if (!ended && !rollback->dry && !is_in_use)
		ended = put_on_record(rollback);
	if (!ended && !rollback->dry)
		ended = write_file(rollback);
	if (ended)
		return ended;
	number = rollback->dry || (!is_in_use && !rollback->mirror_is_here) ? 0 : wait_for_version(rollback);
	print_rollback(rollback, number);
	if (number || rollback->dry)
		return EXIT_FINE;
	return complain_of_waiting(rollback);
}

static int find_versions(struct rollback *rollback)
{
	const struct versions *all = &rollback->versions;
	int ended = versions_load(
		rollback->command, rollback->client, rollback->words[0], rollback->kind, &rollback->versions);

	if (ended)
		return ended;
	rollback->in_use = &all->list[all->count - 1];
	if (rollback->words[1])
		rollback->to = versions_find(rollback->command, all, rollback->words[1]);
	else if (all->count > 1)
		rollback->to = &all->list[all->count - 2];
	else
		complain(rollback->command, "there is no version before the one in use");
	return rollback->to ? EXIT_FINE : EXIT_NO;
}

int command_text_rollback(struct command *command, int argc, char **argv)
{
	struct rollback rollback = { .command = command, .language = "", .reason = "" };
	const struct take takes[] = { { "language", "CODE", "of `voice`: the one of this language, de or pt-BR",
					      &rollback.language, NULL },
		{ "reason", "TEXT", "why, for the record", &rollback.reason, NULL },
		{ "dry-run", NULL, "look only", NULL, &rollback.dry }, { 0 } };
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP [VERSION]",
			.words = rollback.words,
			.words_least = 1,
			.words_most = 2,
			.help = "Puts an earlier version of this text in use again, as a new version; without a "
				"number, the "
				"one before the one in use. The file of the shop gets that text, so that it stays what "
				"is in use; a text in it that was never in use is kept beside it.\v"
				"Examples:\n  cartbus rules rollback demo\n  cartbus voice rollback demo 3 --reason "
				"'too loud'" });
	snprintf(rollback.word, sizeof(rollback.word), "%.*s", (int)strcspn(command->name, " "), command->name);
	rollback.row = text_kind(rollback.word, rollback.language, rollback.kind, rollback.file);
	if (!rollback.row) {
		complain(command, "\"%s\" is no language", rollback.language);
		return EXIT_USAGE;
	}
	command_shop_path(command, rollback.words[0], rollback.file, rollback.path);
	rollback.client = command_connect(command);
	ended = find_versions(&rollback);
	if (!ended)
		ended = roll_back(&rollback);
	client_free(rollback.client);
	versions_free(&rollback.versions);
	return ended;
}
