/*
 * history.c: every version of an owner's text, as the log keeps them: `cartbus rules log | show | diff`, and the same of `voice` and `conf`
 *
 * Which text is meant is the command's first word. What differs is told by diff(1).
 * Promises:  documents are kept for ever, so this is all of them; who had one rolled back is in the audit that came before it.
 * Read next: rollback.c
 */
#include "services/cartbus/texts/history.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/texts/subcommands.h"
#include "services/carts/words/describe.h"
#include "services/kit/documents/docs.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

const struct document_kind *text_kind(
	const char *word, const char *language, char ret_name[DOCUMENT_KIND_ROOM], char ret_file[DOCUMENT_FILE_ROOM])
{
	const char *name = strcmp(word, "conf") == 0 ? shop_document.name : word;
	const struct document_kind *kind = document_kind_named(registered_documents, name);

	if (!kind || strlen(language) > kind->further_max)
		return NULL;
	for (const char *at = language; *at; at++) {
		if (!isalnum((unsigned char)*at) && *at != '-')
			return NULL;
	}
	snprintf(ret_name, DOCUMENT_KIND_ROOM, "%s%s%s", name, *language ? "." : "", language);
	document_file_name(kind, ret_name, ret_file);
	return kind;
}

static uint32_t first_of(const struct versions *versions, const char *digest)
{
	for (size_t i = 0; i < versions->count; i++) {
		if (strcmp(versions->list[i].digest, digest) == 0)
			return versions->list[i].number;
	}
	return 0;
}

static bool add_version(const struct entry *entry, void *context)
{
	struct versions *versions = context;
	_cleanup_free_ Document *document = payload_decode(&topic_document, entry->payload);
	struct version *version;
	uint32_t same_as;

	if (!document)
		return true;
	same_as = first_of(versions, document->digest);
	if (versions->count == versions->room) {
		versions->room = versions->room ? 2 * versions->room : 16;
		versions->list = memory_resize(versions->list, versions->room * sizeof(*versions->list));
	}
	version = &versions->list[versions->count++];
	*version = (struct version){ .number = document->version,
		.seq = entry->seq,
		.at_us = document->at_us,
		.same_as = same_as,
		.text = memory_copy(document_text(document)) };
	TEXT_COPY(version->digest, document->digest);
	TEXT_COPY(version->source, document->source);
	return true;
}

/* It is said before the file is written: the next version of that text is what came of it. */
static bool add_rollback(const struct entry *entry, void *context)
{
	struct versions *versions = context;
	_cleanup_free_ Audit *audit = payload_decode(&topic_audit, entry->payload);

	if (!audit || strcmp(audit->action, ROLLBACK_ACTION) != 0)
		return true;
	for (size_t i = 0; i < versions->count; i++) {
		struct version *version = &versions->list[i];

		if (version->seq < entry->seq || strcmp(version->digest, audit->after) != 0)
			continue;
		if (!*version->who) {
			TEXT_COPY(version->who, audit->who);
			TEXT_COPY(version->reason, audit->grounds);
		}
		break;
	}
	return true;
}

int versions_load(
	const struct command *command, struct client *client, const char *shop, const char *kind, struct versions *ret)
{
	int ended;

	*ret = (struct versions){ 0 };
	ended = reading_each(command, client,
		&(struct reading_filter){ .topic = topic_document.name, .shop = shop, .key = kind }, add_version, ret);
	if (!ended)
		ended = reading_each(command, client,
			&(struct reading_filter){ .topic = topic_audit.name, .shop = shop, .key = shop }, add_rollback,
			ret);
	if (!ended && ret->count == 0) {
		complain(command, "the log knows no %s of a shop \"%s\"; has the mirror read its file?", kind, shop);
		return EXIT_NO;
	}
	return ended;
}

void versions_free(struct versions *versions)
{
	for (size_t i = 0; i < versions->count; i++)
		free(versions->list[i].text);
	free(versions->list);
	*versions = (struct versions){ 0 };
}

const struct version *versions_find(const struct command *command, const struct versions *versions, const char *number)
{
	char *end = NULL;
	unsigned long wanted = strtoul(number, &end, 10);

	for (size_t i = 0; isdigit((unsigned char)*number) && !*end && i < versions->count; i++) {
		if (versions->list[i].number == wanted)
			return &versions->list[i];
	}
	complain(command, "there is no version \"%s\"; there are %u to %u", number, versions->list[0].number,
		versions->list[versions->count - 1].number);
	return NULL;
}

/* ---- what is shown of them ---- */

enum { DIFFERENCES_TIMES = 4 /* how much longer than a text its differences may be */ };

struct asked {
	struct command *command;
	const char *words[3], *language;
	const struct document_kind *row;
	char word[8], kind[DOCUMENT_KIND_ROOM], file[DOCUMENT_FILE_ROOM];
	struct client *client;
	struct versions versions;
};

/* Reads the arguments, and all versions of the text that they mean. */
static int ask(struct asked *asked, int argc, char **argv, struct arguments *arguments)
{
	int ended;

	arguments->words = asked->words;
	command_take(asked->command, argc, argv, arguments);
	snprintf(asked->word, sizeof(asked->word), "%.*s", (int)strcspn(asked->command->name, " "),
		asked->command->name);
	asked->row = text_kind(asked->word, asked->language, asked->kind, asked->file);
	if (!asked->row) {
		complain(asked->command, "\"%s\" is no language", asked->language);
		return EXIT_USAGE;
	}
	asked->client = command_connect(asked->command);
	ended = versions_load(asked->command, asked->client, asked->words[0], asked->kind, &asked->versions);
	client_free(asked->client);
	return ended;
}

#define LANGUAGE_TAKE(asked)                                                                                           \
	{                                                                                                              \
		"language", "CODE", "of `voice`: the one of this language, de or pt-BR", &(asked).language, NULL       \
	}

static const struct version *newest(const struct asked *asked)
{
	return &asked->versions.list[asked->versions.count - 1];
}

/* --- log --- */

static json_t *version_json(const struct version *version)
{
	return json_pack("{s:I,s:I,s:s,s:s,s:s,s:s,s:I}", "version", (json_int_t)version->number, "at_us",
		(json_int_t)version->at_us, "digest", version->digest, "source", version->source, "rolled_back_by",
		version->who, "reason", version->reason, "same_as", (json_int_t)version->same_as);
}

static void print_version(const struct asked *asked, const struct version *version)
{
	char at[40];

	describe_time(zone_of_shop(asked->command, asked->words[0]), version->at_us, at);
	printf("%4u  %s  %.12s  from %s", version->number, at, version->digest, version->source);
	if (version->same_as)
		printf("; the text of version %u", version->same_as);
	if (*version->who)
		printf("; rolled back by %s%s%s", version->who, *version->reason ? ": " : "", version->reason);
	puts(version == newest(asked) ? "; in use" : "");
}

int command_text_log(struct command *command, int argc, char **argv)
{
	struct asked asked = { .command = command, .language = "" };
	const struct take takes[] = { LANGUAGE_TAKE(asked), { 0 } };
	int ended = ask(&asked, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP",
			.words_least = 1,
			.words_most = 1,
			.help = "Lists every version of this text that was ever in use, the oldest first.\v"
				"Examples:\n  cartbus rules log demo\n  cartbus voice log demo --language de" });
	json_t *list = json_array();

	for (size_t i = 0; !ended && i < asked.versions.count; i++) {
		json_array_append_new(list, version_json(&asked.versions.list[i]));
		if (!command->json)
			print_version(&asked, &asked.versions.list[i]);
	}
	if (!ended && command->json)
		json_print_list("versions", json_incref(list));
	json_decref(list);
	versions_free(&asked.versions);
	return ended;
}

/* --- show --- */

int command_text_show(struct command *command, int argc, char **argv)
{
	struct asked asked = { .command = command, .language = "" };
	const struct take takes[] = { LANGUAGE_TAKE(asked), { 0 } };
	int ended = ask(&asked, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP [VERSION]",
			.words_least = 1,
			.words_most = 2,
			.help = "Prints a version of this text; without a number, the one in use.\v"
				"Example:\n  cartbus rules show demo 3" });
	const struct version *version = NULL;

	if (!ended)
		version = asked.words[1] ? versions_find(command, &asked.versions, asked.words[1]) : newest(&asked);
	if (version && command->json) {
		json_t *object = version_json(version);

		json_object_set_new(object, "text", json_string(version->text));
		json_print(object);
		json_decref(object);
	} else if (version) {
		fputs(version->text, stdout);
	}
	versions_free(&asked.versions);
	return version ? EXIT_FINE : ended ? ended : EXIT_NO;
}

/* --- diff --- */

static int text_in_memory(const char *text)
{
	int fd = memfd_create("version", 0); /* inherited */

	if (fd >= 0 && file_write(fd, bytes_of(text)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

struct differing {
	const char *text, *label;
};

/* Writes the output of diff(1) into `out`. false: diff could not be run. */
static bool run_diff(const struct differing *before, const struct differing *after, int out)
{
	_cleanup_close_ int from = text_in_memory(before->text);
	_cleanup_close_ int to = text_in_memory(after->text);
	char from_path[40], to_path[40];
	int status = -1;
	pid_t child;

	snprintf(from_path, sizeof(from_path), "/proc/self/fd/%d", from);
	snprintf(to_path, sizeof(to_path), "/proc/self/fd/%d", to);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (dup2(out, STDOUT_FILENO) >= 0)
			execlp("diff", "diff", "-u", "--label", before->label, "--label", after->label, from_path,
				to_path, NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= 1;
}

static int print_diff(const struct command *command, const struct differing *before, const struct differing *after,
	const char *differences)
{
	json_t *whole;

	if (!command->json) {
		fputs(*differences ? differences : "no difference\n", stdout);
		return EXIT_FINE;
	}
	whole = json_pack("{s:s,s:s,s:b,s:s}", "from", before->label, "to", after->label, "same",
		(int)(*differences == '\0'), "diff", differences);
	if (!whole) {
		complain(command, "%s is not a text in UTF-8, which JSON needs; look without --json", after->label);
		return EXIT_NO;
	}
	json_print(whole);
	json_decref(whole);
	return EXIT_FINE;
}

static int diff(const struct command *command, const struct differing *before, const struct differing *after)
{
	_cleanup_close_ int out = memfd_create("differences", 0);
	_cleanup_(buffer_free) struct buffer differences = { 0 };
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
	if (out < 0 || !run_diff(before, after, out) ||
		file_read(path, DIFFERENCES_TIMES * DOCUMENT_BYTES_MAX, &differences) < 0) {
		complain(command, "diff could not be run; is diffutils installed?");
		return EXIT_NO;
	}
	return print_diff(command, before, after, buffer_text(&differences));
}

static int diff_versions(const struct asked *asked)
{
	const struct versions *all = &asked->versions;
	const struct version *before = &all->list[all->count > 1 ? all->count - 2 : 0], *after = newest(asked);
	char labels[2][80];

	if (asked->words[1])
		before = versions_find(asked->command, all, asked->words[1]);
	if (before && asked->words[2])
		after = versions_find(asked->command, all, asked->words[2]);
	if (!before || !after)
		return EXIT_NO;
	snprintf(labels[0], sizeof(labels[0]), "%s version %u", asked->file, before->number);
	snprintf(labels[1], sizeof(labels[1]), "%s version %u", asked->file, after->number);
	return diff(asked->command, &(struct differing){ before->text, labels[0] },
		&(struct differing){ after->text, labels[1] });
}

/* The file on the disk may be a bad edit that is not in use. */
static int diff_file(const struct asked *asked)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	char path[PATH_ROOM], label[80];
	int failed;

	command_shop_path(asked->command, asked->words[0], asked->file, path);
	failed = file_read(path, asked->row->bytes_max, &text);
	if (failed) {
		complain(asked->command, "%s: %s", path, strerror(-failed));
		return EXIT_NO;
	}
	snprintf(label, sizeof(label), "%s version %u", asked->file, newest(asked)->number);
	return diff(asked->command, &(struct differing){ newest(asked)->text, label },
		&(struct differing){ buffer_text(&text), path });
}

int command_text_diff(struct command *command, int argc, char **argv)
{
	struct asked asked = { .command = command, .language = "" };
	bool file = false;
	const struct take takes[] = { LANGUAGE_TAKE(asked),
		{ "file", NULL, "the version in use against the file on the disk", NULL, &file }, { 0 } };
	int ended = ask(&asked, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP [VERSION [VERSION]]",
			.words_least = 1,
			.words_most = 3,
			.help = "Shows what differs between two versions of this text: the last two, or the one given "
				"and the one in use, or the two given.\v"
				"Examples:\n  cartbus rules diff demo\n  cartbus rules diff demo 2 5\n  cartbus rules "
				"diff demo --file" });

	if (!ended)
		ended = file ? diff_file(&asked) : diff_versions(&asked);
	versions_free(&asked.versions);
	return ended;
}
