/*
 * dead.c: `cartbus dlq list | show | redrive | drop`: the messages that a service could not handle
 *
 * Promises: listing consumes nothing; dropping a letter needs a reason, and the log keeps the reason and the
 *           admin's name.
 * Read next: dead_letters.c (the filters), redrive.c (a redrive of many)
 */
#include "services/cartbus/core/command.h"
#include "services/cartbus/core/json_file.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/recover/dead_letters.h"
#include "services/cartbus/recover/subcommands.h"
#include "services/cartbus/shops/shops.h"
#include "services/carts/words/describe.h"

#include "bus/base/cleanup.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
	const struct command *command;
	json_t *all; /* array, for --json; NULL: they are printed as they come */
	size_t count;
};

static int list_dead_letter(const json_t *dead_letter, void *context)
{
	struct listing *listing = context;
	char died[40], reason[DEAD_LETTER_WORDS_ROOM];

	listing->count++;
	if (listing->all) {
		json_array_append(listing->all, (json_t *)dead_letter);
		return EXIT_FINE;
	}
	describe_time(zone_of_shop(listing->command, member_text(dead_letter, "shop")),
		member_number(dead_letter, "died_us"), died);
	printf("%-10s %8lld  %s  %-12s %-16s %s (%lld failures)\n", member_text(dead_letter, "queue"),
		member_number(dead_letter, "seq"), died, member_text(dead_letter, "shop"),
		member_text(dead_letter, "topic"), dead_letter_text(dead_letter, "reason", reason),
		member_number(dead_letter, "failures"));
	return EXIT_FINE;
}

/* Takes ownership of the question. Returns how many letters there are, or -1: it complained. */
static long list_dead_letters(const struct command *command, struct client *client, json_t *what)
{
	struct listing listing = { .command = command, .all = command->json ? json_array() : NULL };
	int ended = dead_letters_each(command, client, what, list_dead_letter, &listing);

	if (listing.all && !ended)
		json_print_list("dead", json_incref(listing.all));
	json_decref(listing.all);
	return ended ? -1 : (long)listing.count;
}

int command_dlq_list(struct command *command, int argc, char **argv)
{
	struct dead_letter_filter filter = { 0 };
	const char *queue = NULL;
	const struct take takes[] = { { "queue", "NAME", "only of this queue", &queue, NULL },
		DEAD_LETTER_FILTER_TAKES(filter), { 0 } };
	struct client *client;
	json_t *what;
	long count;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Lists the dead letters: messages that a service could not handle. Looking changes "
				"nothing. It exits with 1 when there are any.\v"
				"Examples:\n  cartbus dlq list --shop demo\n  cartbus dlq list --queue sender "
				"--reason-has refused --younger-than 2h" });
	what = json_pack("{s:s*}", "queue", queue);
	ended = dead_letter_filter_add(command, &filter, what);
	if (ended) {
		json_decref(what);
		return ended;
	}
	client = command_connect(command);
	ended = shops_know_if_named(command, client, filter.shop);
	if (ended)
		json_decref(what);
	count = ended ? -1 : list_dead_letters(command, client, what);
	client_free(client);
	if (count == 0 && !command->json)
		puts("no dead letters");
	return count ? EXIT_NO : EXIT_FINE;
}

static void print_dead_letter(const struct command *command, const json_t *dead_letter)
{
	_cleanup_(buffer_free) struct buffer words = { 0 };

	dead_letter_words(command, dead_letter, &words);
	fputs(buffer_text(&words), stdout);
}

/* Prints a JSON answer as one line of words: "redriven: 3". */
static int print_count(const struct command *command, json_t *answer, const char *name)
{
	if (!answer)
		return EXIT_NO;
	if (command->json)
		json_print(answer);
	else
		printf("%s: %lld\n", name,
			json_is_true(json_object_get(answer, name)) ? 1 : member_number(answer, name));
	json_decref(answer);
	return EXIT_FINE;
}

/* The question about one letter. NULL: the text is no number, and it complained. */
static json_t *dead_letter_name(const struct command *command, const char *const words[2])
{
	int64_t seq;

	if (range_seq(words[1], &seq) == 0)
		return json_pack("{s:s,s:I}", "queue", words[0], "seq", (json_int_t)seq);
	complain(command, "\"%s\" is no number of a dead letter; cartbus dlq list shows them", words[1]);
	return NULL;
}

/* The question about many letters of a queue. NULL: it complained. */
static json_t *dead_letters_meant(
	const struct command *command, const char *queue, const struct dead_letter_filter *filter)
{
	json_t *what = json_pack("{s:s,s:b}", "queue", queue, "all", 1);

	if (dead_letter_filter_add(command, filter, what) == EXIT_FINE)
		return what;
	json_decref(what);
	return NULL;
}

/* true: the command names one letter by its number, or many by --all or a filter, but not both. */
static bool is_clear(
	const struct command *command, const char *seq, bool all, bool dry, const struct dead_letter_filter *filter)
{
	bool many = all || dead_letter_filter_is_given(filter);

	if (seq && dry) {
		complain(command, "--dry-run is for many; to look at one: cartbus dlq show");
		return false;
	}
	if (!seq != !many)
		return true;
	complain(command,
		"name one dead letter by its number, or say which with --all, --topic, --shop, --reason-has, "
		"--older-than or --younger-than");
	return false;
}

static int dry_run(const struct command *command, struct client *client, json_t *what, const char *verb)
{
	long count = list_dead_letters(command, client, what);

	if (count >= 0 && !command->json)
		printf("would %s: %ld\n", verb, count);
	return count < 0 ? EXIT_NO : EXIT_FINE;
}

int command_dlq_show(struct command *command, int argc, char **argv)
{
	const char *words[2];
	struct client *client;
	json_t *dead_letter, *what;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "QUEUE SEQ",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Shows one dead letter: its reason, its history, its payload.\v"
				"Example:\n  cartbus dlq show intake 4711" });
	what = dead_letter_name(command, words);
	if (!what)
		return EXIT_USAGE;
	client = command_connect(command);
	dead_letter = command_look(command, client, "dead.show", what);
	client_free(client);
	if (!dead_letter)
		return EXIT_NO;
	if (command->json)
		json_print(dead_letter);
	else
		print_dead_letter(command, dead_letter);
	json_decref(dead_letter);
	return EXIT_FINE;
}

struct redrive {
	const char *words[2];
	bool all, dry;
	struct dead_letter_filter filter;
	struct redrive_options options;
};

static int redrive(const struct command *command, const struct redrive *redrive)
{
	bool one = redrive->words[1];
	json_t *what = one ? dead_letter_name(command, redrive->words)
			   : dead_letters_meant(command, redrive->words[0], &redrive->filter);
	struct client *client;
	int ended;

	if (!what || redrive_rate_add(command, &redrive->options, what)) {
		json_decref(what);
		return EXIT_USAGE;
	}
	client = command_connect(command);
	ended = shops_know_if_named(command, client, redrive->filter.shop);
	if (ended)
		json_decref(what);
	else if (one)
		ended = print_count(command, record_and_ask(command, client, "dead.redrive", what), "redriven");
	else if (redrive->dry)
		ended = dry_run(command, client, what, "redrive");
	else
		ended = redrive_run(command, client, "dead.redrive", what);
	client_free(client);
	return ended;
}

int command_dlq_redrive(struct command *command, int argc, char **argv)
{
	struct redrive asked = { 0 };
	const struct take takes[] = { { "all", NULL, "all dead letters of the queue", NULL, &asked.all },
		DEAD_LETTER_FILTER_TAKES(asked.filter),
		{ "dry-run", NULL, "show which, and hand out none", NULL, &asked.dry }, REDRIVE_TAKES(asked.options),
		{ 0 } };

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "QUEUE [SEQ]",
			.words = asked.words,
			.words_least = 1,
			.words_most = 2,
			.help = "Hands a dead letter out again, or many, with their numbers, their age and their "
				"history. "
				"They are late by then: a shopper who bought or opted out meanwhile gets no mail. What "
				"dies again meanwhile is left alone.\n\n" REDRIVE_HELP
				"\vExamples:\n  cartbus dlq redrive intake 4711\n  cartbus dlq redrive sender --shop "
				"demo --younger-than 6h --dry-run\n  cartbus dlq redrive sender --all --rate 5/s\n  "
				"cartbus dlq redrive sender --cancel" });
	if (asked.options.cancel || asked.options.resume)
		return redrive_steer(command, asked.words[0], &asked.options);
	if (!is_clear(command, asked.words[1], asked.all, asked.dry, &asked.filter))
		return EXIT_USAGE;
	return redrive(command, &asked);
}

struct dropping {
	const struct command *command;
	struct client *client;
	const char *why;
	long long dropped;
};

static int drop_dead_letter(const json_t *dead_letter, void *context)
{
	struct dropping *dropping = context;
	json_t *answer = command_ask(dropping->command, dropping->client, "dead.drop",
		json_pack("{s:O,s:O,s:s}", "queue", json_object_get(dead_letter, "queue"), "seq",
			json_object_get(dead_letter, "seq"), "why", dropping->why));

	if (!answer)
		return EXIT_NO;
	dropping->dropped += member_number(answer, "dropped");
	json_decref(answer);
	return EXIT_FINE;
}

/* Records which letters are dropped, why, and by whom. */
static int record_drop(const struct dropping *dropping, const json_t *what)
{
	json_t *act = json_deep_copy(what);
	int ended;

	json_object_set_new(act, "why", json_string(dropping->why));
	ended = record_act(dropping->command, dropping->client, "dead.drop", act);
	json_decref(act);
	return ended;
}

static int drop(const struct command *command, json_t *what, const char *shop, bool one, bool dry, const char *why)
{
	struct dropping dropping = { .command = command, .client = command_connect(command), .why = why };
	int ended = shops_know_if_named(command, dropping.client, shop);
	bool is_unknown = ended;

	if (!dry && !ended)
		ended = record_drop(&dropping, what);
	if (dry && !ended)
		ended = dry_run(command, dropping.client, what, "drop");
	else if (ended)
		; /* it is not on record */
	else if (one)
		ended = drop_dead_letter(what, &dropping);
	else
		ended = dead_letters_each(command, dropping.client, json_incref(what), drop_dead_letter, &dropping);
	if (!dry || is_unknown)
		json_decref(what);
	client_free(dropping.client);
	if (ended || dry)
		return ended;
	return print_count(command, json_pack("{s:I}", "dropped", (json_int_t)dropping.dropped), "dropped");
}

int command_dlq_drop(struct command *command, int argc, char **argv)
{
	const char *words[2] = { NULL, NULL }, *why = NULL;
	struct dead_letter_filter filter = { 0 };
	bool all = false, dry = false;
	const struct take takes[] = { { "reason", "TEXT", "why it is given up (needed)", &why, NULL },
		{ "all", NULL, "all dead letters of the queue", NULL, &all }, DEAD_LETTER_FILTER_TAKES(filter),
		{ "dry-run", NULL, "show which, and drop none", NULL, &dry }, { 0 } };
	json_t *what;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "QUEUE [SEQ]",
			.words = words,
			.words_least = 1,
			.words_most = 2,
			.help = "Gives a dead letter up for good, or many, one after the other: after Ctrl-C say it "
				"again for the rest. The log keeps why.\v"
				"Examples:\n  cartbus dlq drop intake 4711 --reason 'a test order'\n  cartbus dlq drop "
				"sender --shop demo --older-than 30d --reason 'nobody waits for these'" });
	if (!is_clear(command, words[1], all, dry, &filter))
		return EXIT_USAGE;
	if (!why && !dry) {
		complain(command, "it needs --reason: the log keeps why");
		return EXIT_USAGE;
	}
	what = words[1] ? dead_letter_name(command, words) : dead_letters_meant(command, words[0], &filter);
	if (!what)
		return EXIT_USAGE;
	return drop(command, what, filter.shop, words[1] != NULL, dry, why);
}

int command_gateway_strike(struct command *command, int argc, char **argv)
{
	const char *name;
	struct client *client;
	json_t *act, *answer = NULL;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "NAME",
			.words = &name,
			.words_least = 1,
			.words_most = 1,
			.help = "Strikes a gateway off that is lost for good. As long as a gateway is known and away, "
				"its spool may hold "
				"an opt-out, and no mail is claimed.\v"
				"Example:\n  cartbus gateway strike gateway-2" });
	act = json_pack("{s:s}", "gateway", name);
	client = command_connect(command);
	ended = record_act(command, client, "gateway.strike", act);
	json_decref(act);
	if (!ended)
		answer = command_ask(command, client, "gateway.strike", json_pack("{s:s}", "name", name));
	client_free(client);
	if (ended)
		return ended;
	if (answer && !json_is_true(json_object_get(answer, "struck"))) {
		complain(command, "the broker knows no gateway \"%s\"; `cartbus status` names those that are away",
			name);
		json_decref(answer);
		return EXIT_NO;
	}
	return print_count(command, answer, "struck");
}
