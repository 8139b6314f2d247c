/*
 * suppressions_import.c: `cartbus suppressions import`: imports the list of another tool
 *
 * Promises: every address is counted: listed now, on the list before, repeated, or bad with its line. A
 *           second run goes on where the first one stopped, and entries that are there already stay as they
 *           are. A request of an earlier run that unsub has not decided on yet is published and counted only
 *           once. No address is kept or printed: the log gets keyed hashes.
 * Fails by: EXIT_NO when a line was bad or refused (the others are listed all the same); EXIT_AWAY when the
 *           broker stays away.
 * Read next: address_list.c, suppressions.c
 */
#include "services/cartbus/core/naming.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/people/address_list.h"
#include "services/cartbus/people/subcommands.h"
#include "services/cartbus/people/suppressions.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/map.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNCONFIRMED_MOST = 256, BAD_TOLD_MOST = 100 };
#define TELL_EVERY_US (2 * US_PER_S)
#define AWAY_MOST_US (60 * US_PER_S)
#define ROUND_US (50 * US_PER_MS)

struct importing {
	const struct command *command;
	struct client *client;
	const char *shop;
	bool dry_run, saved;
	struct buffer key;
	struct suppressions *listed;
	struct map *seen;    /* hashes of this file */
	struct asked *again; /* published, but it is not known whether they arrived */
	size_t unconfirmed;
	uint64_t addresses, fresh, known, lifted, repeated, bad, refused;
	uint64_t asked_before; /* of `known`: asked for by an earlier run, but not yet listed at this start */
	char why[200];         /* the reason of the last refusal */
	int64_t heard_us, told_us;
	bool away;
	json_t *bad_lines;
};

struct asked {
	struct asked *next;
	struct importing *importing;
	bool again; /* then a duplicate is our own */
	char hash[ADDRESS_HASH_LEN + 1];
};

static int64_t now_us(const struct importing *importing)
{
	return clock_boot_us(&importing->command->clock);
}

static void say_again(struct asked *asked)
{
	asked->next = asked->importing->again;
	asked->importing->again = asked;
	asked->again = true;
}

static void count_answer(struct importing *importing, const struct asked *asked, enum said_result result)
{
	bool by_earlier_run = result == SAID_DUPLICATE && !asked->again;

	importing->refused += result == SAID_REFUSED;
	importing->fresh += result != SAID_REFUSED && !by_earlier_run;
	importing->known += by_earlier_run;
	importing->asked_before += by_earlier_run;
}

static void on_said(void *context, enum said_result result, uint64_t seq, const char *reason)
{
	struct asked *asked = context;
	struct importing *importing = asked->importing;

	(void)seq;
	importing->unconfirmed--;
	if (result == SAID_UNKNOWN) {
		say_again(asked);
		return;
	}
	importing->heard_us = now_us(importing);
	count_answer(importing, asked, result);
	if (result == SAID_REFUSED)
		TEXT_COPY(importing->why, reason ? reason : "");
	free(asked);
}

static void publish_optout(struct asked *asked)
{
	struct importing *importing = asked->importing;
	OptoutRequest request = { .source = OPTOUT_IMPORT, .heard_us = clock_wall_us(&importing->command->clock) };
	char idem[100];

	snprintf(idem, sizeof(idem), "import:%s/%" PRIu64, asked->hash,
		suppressions_version(importing->listed, asked->hash));
	TEXT_COPY(request.address_hash, asked->hash);
	TEXT_COPY(request.who, operator_name());
	if (runtime_publish(client_runtime(importing->client), &topic_optout_request,
		    &(struct publish_options){ .shop = importing->shop, .key = asked->hash, .idem = idem }, NULL,
		    &request, on_said, asked) == 0)
		importing->unconfirmed++;
	else
		say_again(asked);
}

static void say_those_again(struct importing *importing)
{
	struct asked *all = importing->again;

	importing->again = NULL;
	while (all) {
		struct asked *one = all;

		all = all->next;
		publish_optout(one);
	}
}

/* Waits until at most `open_most` requests are open. */
static void wait_for(struct importing *importing, size_t open_most)
{
	while (!importing->away && (importing->unconfirmed > open_most || importing->again)) {
		client_work(importing->client, importing->again ? ROUND_US : 1000);
		say_those_again(importing);
		importing->away = now_us(importing) - importing->heard_us > AWAY_MOST_US;
	}
}

static void tell_progress(struct importing *importing, uint64_t line)
{
	if (importing->command->json || now_us(importing) - importing->told_us < TELL_EVERY_US)
		return;
	importing->told_us = now_us(importing);
	fprintf(stderr, "line %" PRIu64 ": %" PRIu64 " addresses, %" PRIu64 " listed now, %" PRIu64 " bad\n", line,
		importing->addresses, importing->fresh, importing->bad);
}

static void tell_bad(struct importing *importing, uint64_t first, uint64_t last, const char *why)
{
	char lines[60];

	if (importing->bad++ >= BAD_TOLD_MOST)
		return;
	if (first == last)
		snprintf(lines, sizeof(lines), "line %" PRIu64, first);
	else
		snprintf(lines, sizeof(lines), "lines %" PRIu64 " to %" PRIu64, first, last);
	if (importing->bad_lines)
		json_array_append_new(importing->bad_lines,
			json_pack("{s:I,s:I,s:s}", "line", (json_int_t)first, "last", (json_int_t)last, "why", why));
	else
		fprintf(stderr, "%s: %s\n", lines, why);
	if (importing->bad == BAD_TOLD_MOST && !importing->bad_lines)
		fputs("further bad lines are only counted\n", stderr);
}

static void list_hash(struct importing *importing, const char *hash)
{
	const Suppression *row = suppressions_find(importing->listed, hash);
	struct asked *asked;

	if (map_put(importing->seen, bytes_of(hash), importing)) {
		importing->repeated++;
		return;
	}
	if (row && !row->lifted) {
		importing->known++;
		return;
	}
	importing->lifted += row != NULL;
	if (importing->dry_run) {
		importing->fresh++;
		return;
	}
	asked = memory_new(sizeof(*asked));
	asked->importing = importing;
	TEXT_COPY(asked->hash, hash);
	publish_optout(asked);
	wait_for(importing, UNCONFIRMED_MOST);
}

static void take_row(void *context, uint64_t first, uint64_t last, const char *text, const char *why)
{
	struct importing *importing = context;
	char normalised[ADDRESS_MAX + 1], hash[ADDRESS_HASH_LEN + 1];

	if (importing->away)
		return;
	if (text && address_normalise(text, normalised) == 0) {
		importing->addresses++;
		address_hash(buffer_bytes(&importing->key), importing->shop, normalised, hash);
		list_hash(importing, hash);
	} else {
		tell_bad(importing, first, last, text ? "what stands there is no mail address" : why);
	}
	tell_progress(importing, last);
}

static void take_saved_row(struct importing *importing, uint64_t number, const char *hash)
{
	if (importing->away)
		return;
	if (hash && strlen(hash) == ADDRESS_HASH_LEN && strspn(hash, "0123456789abcdef") == ADDRESS_HASH_LEN) {
		importing->addresses++;
		list_hash(importing, hash);
	} else {
		tell_bad(importing, number, number, "what stands there is no hash of an address");
	}
	tell_progress(importing, number);
}

/*
 * Reads a file of `suppressions save`. -EBADMSG: it is another file; -EKEYREJECTED: its hashes are of another
 * key.
 */
static int read_saved(struct importing *importing, FILE *from, uint64_t *ret_rows)
{
	json_t *whole = json_loadf(from, JSON_REJECT_DUPLICATES, NULL);
	const char *mark = json_string_value(json_object_get(whole, "key_mark"));
	const json_t *shops = json_object_get(whole, "shops"), *row;
	char ours[ADDRESS_HASH_LEN + 1];
	size_t i;
	int failed = mark && json_is_object(shops) ? 0 : -EBADMSG;

	*ret_rows = json_array_size(json_object_get(shops, importing->shop));
	if (!failed && (suppressions_key_mark(importing->command, ours) != EXIT_FINE || strcmp(mark, ours) != 0))
		failed = -EKEYREJECTED;
	if (!failed)
		json_array_foreach(json_object_get(shops, importing->shop), i, row)
			take_saved_row(importing, i + 1, json_string_value(json_object_get(row, "address_hash")));
	json_decref(whole);
	return failed;
}

static int record(struct importing *importing, const char *name, size_t before)
{
	char grounds[300], was[60], is[60];

	snprintf(grounds, sizeof(grounds),
		"%" PRIu64 " addresses of %.100s: %" PRIu64 " listed, %" PRIu64 " on the list before",
		importing->addresses, name, importing->fresh, importing->known);
	before += (size_t)importing->asked_before;
	snprintf(was, sizeof(was), "%zu listed", before);
	snprintf(is, sizeof(is), "%zu listed", before + (size_t)importing->fresh);
	return record_change(importing->command, importing->client,
		&(struct record){ .shop = importing->shop,
			.action = "suppressions_imported",
			.grounds = grounds,
			.before = was,
			.after = is,
			.done_all_the_same = true });
}

static void print_import(const struct importing *importing, uint64_t lines)
{
	if (importing->command->json) {
		json_t *sum = json_pack("{s:s,s:b,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:O}", "shop", importing->shop,
			"dry_run", importing->dry_run, "lines", (json_int_t)lines, "addresses",
			(json_int_t)importing->addresses, "listed", (json_int_t)importing->fresh, "known",
			(json_int_t)importing->known, "lifted_before", (json_int_t)importing->lifted, "repeated",
			(json_int_t)importing->repeated, "bad", (json_int_t)importing->bad, "refused",
			(json_int_t)importing->refused, "bad_lines", importing->bad_lines);

		json_print(sum);
		json_decref(sum);
		return;
	}
	printf("%s: %" PRIu64 " lines, %" PRIu64 " addresses: %" PRIu64 " %s, %" PRIu64 " on the list before, %" PRIu64
	       " repeated; %" PRIu64 " bad lines\n",
		importing->shop, lines, importing->addresses, importing->fresh,
		importing->dry_run ? "would be listed" : "listed now", importing->known, importing->repeated,
		importing->bad);
	if (importing->lifted)
		printf("%" PRIu64 " of them had been taken off the list before\n", importing->lifted);
}

static int judge(const struct importing *importing)
{
	if (importing->away) {
		complain(importing->command,
			"the broker is away: %" PRIu64
			" addresses are listed; run the same command again, it goes on there",
			importing->fresh);
		return EXIT_AWAY;
	}
	if (importing->refused)
		complain(importing->command, "%" PRIu64 " were refused: %s", importing->refused, importing->why);
	return importing->refused || importing->bad ? EXIT_NO : EXIT_FINE;
}

static int import(struct importing *importing, FILE *from, const char *name, const char *column)
{
	size_t before = suppressions_count(importing->listed);
	uint64_t lines;
	int failed;

	importing->heard_us = importing->told_us = now_us(importing);
	failed = importing->saved ? read_saved(importing, from, &lines)
				  : address_list_read(from, column, take_row, importing, &lines);
	wait_for(importing, 0);
	if (failed == -EILSEQ)
		complain(importing->command, "%s is no text: if it comes from a spreadsheet, save it as CSV in UTF-8",
			name);
	else if (failed == -EBADMSG)
		complain(importing->command, "%s is no list that `cartbus suppressions save` wrote", name);
	else if (failed == -EKEYREJECTED)
		complain(importing->command,
			"%s was saved with another address.key: put that one in its place before the first start",
			name);
	else if (failed == -ENOENT)
		complain(importing->command, "the first line of %s has no column \"%s\"", name, column);
	else if (failed)
		complain(importing->command, "%s cannot be read: %s", name, strerror(-failed));
	if (failed)
		return EXIT_NO;
	if (importing->fresh && !importing->dry_run && !importing->away && record(importing, name, before) != EXIT_FINE)
		return EXIT_NO;
	print_import(importing, lines);
	return judge(importing);
}

static int prepare_import(struct importing *importing)
{
	char path[PATH_ROOM];
	int failed;

	command_secret_path(importing->command, "address.key", path);
	failed = file_read_secret(path, &importing->key);
	if (failed) {
		complain(importing->command, "the key of addresses cannot be read: %s: %s", path, strerror(-failed));
		return EXIT_NO;
	}
	importing->client = command_connect(importing->command);
	importing->listed = suppressions_load(importing->command, importing->client, importing->shop);
	importing->seen = map_new();
	importing->bad_lines = importing->command->json ? json_array() : NULL;
	return importing->listed ? EXIT_FINE : EXIT_NO;
}

static void clean_up(struct importing *importing)
{
	client_free(importing->client); /* answers the open requests, which moves them to `again` */
	while (importing->again) {
		struct asked *asked = importing->again;

		importing->again = asked->next;
		free(asked);
	}
	suppressions_free(importing->listed);
	map_free(importing->seen);
	json_decref(importing->bad_lines);
	buffer_free(&importing->key);
}

int command_suppressions_import(struct command *command, int argc, char **argv)
{
	struct importing importing = { .command = command };
	const char *words[2] = { NULL, "-" }, *column = NULL;
	const struct take takes[] = { { "column", "NAME", "the column of the addresses; guessed if not given", &column,
					      NULL },
		{ "dry-run", NULL, "says what it would do", NULL, &importing.dry_run },
		{ "saved", NULL, "FILE is what `cartbus suppressions save` wrote", NULL, &importing.saved }, { 0 } };
	struct shop shop;
	FILE *from;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP [FILE]",
			.words = words,
			.words_least = 1,
			.words_most = 2,
			.help = "Puts the people on the list who unsubscribed at another tool: CSV, or one address per "
				"line, "
				"from FILE or standard input. Bad lines are told with their number and change nothing; "
				"what is on the list already stays as it is.\v"
				"Examples:\n  cartbus suppressions import demo unsubscribed.csv --dry-run\n"
				"  cartbus suppressions import demo --column 'E-Mail' < unsubscribed.csv\n"
				"  cartbus suppressions import demo --saved /var/backups/cartbus/suppressions.json" });
	ended = command_shop(command, words[0], &shop);
	if (ended)
		return ended;
	importing.shop = words[0];
	from = strcmp(words[1], "-") == 0 ? stdin : fopen(words[1], "re");
	if (!from) {
		complain(command, "%s cannot be read: %s", words[1], strerror(errno));
		return EXIT_NO;
	}
	ended = prepare_import(&importing);
	ended = ended ? ended : import(&importing, from, from == stdin ? "standard input" : words[1], column);
	if (from != stdin)
		fclose(from);
	clean_up(&importing);
	return ended;
}
