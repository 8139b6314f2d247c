/*
 * subcommand.c: the tables of subcommands: put together, searched for what a command line means, and shown by --help and --manual
 *
 * Owns:      the words of --manual's JSON. deploy/man and deploy/completion make man pages and completions of it at build time, so that
 *            nothing about an option is written twice.
 * Promises:  a word that is no subcommand is answered with the one that was meant, as far as one is near, or with all that begin like it.
 *            Asking for help is never an error, wherever it stands. --manual tells each subcommand by the table that it reads its own
 *            arguments with.
 * Fails by:  EXIT_USAGE, before anything is done. die(), when two tables have a subcommand of the same name: the command would run one of them and never the other. --manual
 *            exits with 1 when a subcommand ends without having told.
 * Read next: arguments.c (what a subcommand makes of the rest)
 */
#include "services/cartbus/core/subcommand.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/log.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/cartbus/core/home.h"
#include "services/cartbus/shops/mode.h"
#include "services/kit/settings/settings.h"
#include "services/kit/shop/shop.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *subcommand_group_heading(enum subcommand_group group)
{
	static const char *const headings[SUBCOMMANDS_GROUPS] = {
		[SUBCOMMANDS_RUN] = "Run",
		[SUBCOMMANDS_HOSTS] = "Hosts",
		[SUBCOMMANDS_SHOPS] = "Shops",
		[SUBCOMMANDS_CONSOLE] = "Console",
		[SUBCOMMANDS_STOP] = "Stop",
		[SUBCOMMANDS_SEE] = "See",
		[SUBCOMMANDS_MEND] = "Mend",
	};

	return headings[group];
}

static size_t count_rows(const struct subcommand *const *tables)
{
	size_t count = 0;

	for (; *tables; tables++)
		for (const struct subcommand *row = *tables; row->name; row++)
			count++;
	return count;
}

static void add_row(struct subcommands *subcommands, const struct subcommand *row)
{
	for (size_t i = 0; i < subcommands->count; i++)
		if (strcmp(subcommands->all[i]->name, row->name) == 0)
			die("two subcommands are registered as \"%s\": rename one of them", row->name);
	subcommands->all[subcommands->count++] = row;
}

static void add_group(
	struct subcommands *subcommands, const struct subcommand *const *tables, enum subcommand_group group)
{
	for (; *tables; tables++)
		for (const struct subcommand *row = *tables; row->name; row++)
			if (row->group == group)
				add_row(subcommands, row);
}

struct subcommands subcommands_gather(const struct subcommand *const *tables)
{
	struct subcommands subcommands = { .all = memory_new((count_rows(tables) + 1) * sizeof(*subcommands.all)) };

	for (enum subcommand_group group = 0; group < SUBCOMMANDS_GROUPS; group++)
		add_group(&subcommands, tables, group);
	return subcommands;
}

void subcommands_free(struct subcommands *subcommands)
{
	free(subcommands->all);
	*subcommands = (struct subcommands){ 0 };
}

/* ---- from a command line to the subcommand that it means ---- */

enum { NAME_ROOM = 64 };

static void print_one(FILE *to, const struct subcommand *one)
{
	char usage[NAME_ROOM];

	snprintf(usage, sizeof(usage), "%s %s", one->name, one->words);
	fprintf(to, "  %-38s %s\n", usage, one->summary);
}

static void print_help(FILE *to, const struct subcommands *subcommands)
{
	fputs("cartbus: a store's abandoned carts become at most two polite reminders, once, on time\n\n"
	      "Usage: cartbus SUBCOMMAND [--config FILE | --home DIR] [--json] ...\n"
	      "       These three may stand before the subcommand as well. CARTBUS_CONFIG=FILE and CARTBUS_HOME=DIR "
	      "stand for\n"
	      "       the first two. With --home everything lies below DIR, which up and shop add make: nothing of it "
	      "needs root.\n",
		to);
	for (size_t i = 0; i < subcommands->count; i++) {
		const struct subcommand *one = subcommands->all[i];

		if (i == 0 || one->group != subcommands->all[i - 1]->group)
			fprintf(to, "\n%s\n", subcommand_group_heading(one->group));
		print_one(to, one);
	}
	fputs("\nEvery subcommand takes --help, which shows examples. It exits with 0 when all is well, 1 when the "
	      "answer is\n"
	      "no, 2 when the arguments make no sense, and 3 when the broker cannot be reached\n(of verify: when a "
	      "broker has the log open).\n",
		to);
}

void dispatch_help(const struct subcommands *subcommands)
{
	print_help(stderr, subcommands);
}

/* ---- names ---- */

static size_t first_len(const char *name)
{
	return strcspn(name, " ");
}

/* Of "shop add" the "add"; NULL: it has one word. */
static const char *second_of(const char *name)
{
	return name[first_len(name)] ? name + first_len(name) + 1 : NULL;
}

static bool begins_with_word(const char *name, const char *word)
{
	return strlen(word) == first_len(name) && strncmp(name, word, first_len(name)) == 0;
}

/* How many words of argv this name takes up; 0: it is another one. */
static int words_matching(const char *name, int argc, char **argv)
{
	if (!begins_with_word(name, argv[0]))
		return 0;
	if (!second_of(name))
		return 1;
	return argc >= 2 && strcmp(argv[1], second_of(name)) == 0 ? 2 : 0;
}

static const struct subcommand *find(const struct subcommands *subcommands, int argc, char **argv, int *ret_words)
{
	const struct subcommand *found = NULL;

	*ret_words = 0;
	for (size_t i = 0; i < subcommands->count; i++) {
		const struct subcommand *one = subcommands->all[i];
		int words = words_matching(one->name, argc, argv);

		if (words > *ret_words) {
			found = one;
			*ret_words = words;
		}
	}
	return found;
}

/* ---- help ---- */

static bool asks_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

/* All that begin with this word. false: none does. */
static bool print_family(FILE *to, const struct subcommands *subcommands, const char *word)
{
	bool any = false;

	for (size_t i = 0; i < subcommands->count; i++) {
		const struct subcommand *one = subcommands->all[i];

		if (!begins_with_word(one->name, word))
			continue;
		if (!any)
			fprintf(to, "Usage: cartbus %s ..., one of\n", word);
		any = true;
		print_one(to, one);
	}
	return any;
}

static int reject_unknown(const struct subcommands *subcommands, int argc, char **argv)
{
	bool is_pair = argc > 1 && argv[1][0] != '-';
	char pair[NAME_ROOM];
	struct nearest of_word = nearest_begin(argv[0]), of_pair;
	const char *meant;

	snprintf(pair, sizeof(pair), "%s %.40s", argv[0], is_pair ? argv[1] : "");
	of_pair = nearest_begin(pair);
	for (size_t i = 0; i < subcommands->count; i++) {
		const char *name = subcommands->all[i]->name;

		if (second_of(name) && is_pair)
			nearest_try(&of_pair, name);
		else if (!second_of(name))
			nearest_try(&of_word, name);
	}
	meant = of_pair.name ? of_pair.name : of_word.name;
	fprintf(stderr, "cartbus: there is no \"cartbus %s%s%s\"", argv[0], is_pair ? " " : "", is_pair ? argv[1] : "");
	if (meant)
		fprintf(stderr, "; did you mean \"cartbus %s\"?\n", meant);
	else
		fputs("; see cartbus --help\n", stderr);
	return EXIT_USAGE;
}

/* "shop", "shop --help": the first word is right, and what it begins is shown. */
static int print_what_it_begins(const struct subcommands *subcommands, int argc, char **argv)
{
	bool asked = argc > 1 && asks_for_help(argv[1]);

	if ((asked || argc == 1) && print_family(asked ? stdout : stderr, subcommands, argv[0]))
		return asked ? EXIT_FINE : EXIT_USAGE;
	return reject_unknown(subcommands, argc, argv);
}

/* ---- options before the subcommand ---- */

/* "--config FILE" or "--config=FILE". How many words that is; 0: it is none, -1: it lacks its value. */
static int read_valued(const char *name, int argc, char **argv, const char **ret)
{
	size_t len = strlen(name);

	if (strncmp(argv[0], name, len) != 0 || (argv[0][len] && argv[0][len] != '='))
		return 0;
	*ret = argv[0][len] ? argv[0] + len + 1 : argc > 1 ? argv[1] : NULL;
	return !*ret ? -1 : argv[0][len] ? 1 : 2;
}

/* Everybody's options before the subcommand: how many words they are; -1: one lacks its value. */
static int read_first_options(int argc, char **argv, struct command *command)
{
	int at = 0;

	while (at < argc) {
		int words = read_valued("--config", argc - at, argv + at, &command->config_given);

		words = words ? words : read_valued("--home", argc - at, argv + at, &command->home_given);
		if (words < 0)
			return -1;
		if (strcmp(argv[at], "--json") == 0) {
			command->json = true;
			words = 1;
		}
		if (words == 0)
			break;
		at += words;
	}
	return at;
}

static int run(const struct subcommands *subcommands, int argc, char **argv, struct command *command)
{
	int words, ended;
	const struct subcommand *one = find(subcommands, argc, argv, &words);

	if (!one)
		return print_what_it_begins(subcommands, argc, argv);
	command->name = one->name;
	command->subcommand = one;
	ended = one->run(command, argc - words + 1, argv + words - 1);
	config_free(command->config);
	return ended;
}

/* "help", "help shop", "help shop add" */
static int run_help(const struct subcommands *subcommands, int argc, char **argv, struct command *command)
{
	static char option[] = "--help";
	char *asked[4] = { NULL };
	int count = argc - 1 < 2 ? argc - 1 : 2;

	if (count == 0) {
		print_help(stdout, subcommands);
		return EXIT_FINE;
	}
	memcpy(asked, argv + 1, (size_t)count * sizeof(*asked));
	asked[count] = option;
	return run(subcommands, count + 1, asked, command);
}

int dispatch(const struct subcommands *subcommands, int argc, char **argv)
{
	struct command command = { 0 };
	int first = read_first_options(argc, argv, &command);

	if (first < 0 || first == argc) {
		fprintf(stderr, "cartbus: %s; see cartbus --help\n",
			first < 0 ? "an option lacks its value" : "no subcommand is given");
		return EXIT_USAGE;
	}
	if (asks_for_help(argv[first]))
		return run_help(subcommands, argc - first, argv + first, &command);
	return run(subcommands, argc - first, argv + first, &command);
}

/* ---- --manual ---- */

static void print_line(json_t *line)
{
	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(line);
}

static json_t *options_json(const struct take *takes)
{
	json_t *list = json_array();

	for (; takes && takes->option; takes++)
		json_array_append_new(list,
			json_pack("{s:s,s:s?,s:s}", "option", takes->option, "value", takes->value, "help",
				takes->help ? takes->help : ""));
	return list;
}

/* argp's convention: what stands behind \v comes after the options. */
void manual_print_one(const struct command *command, const struct arguments *arguments)
{
	const char *parting = strchr(arguments->help, '\v');
	size_t len = parting ? (size_t)(parting - arguments->help) : strlen(arguments->help);

	print_line(json_pack("{s:s,s:s,s:s,s:s%,s:s,s:o}", "subcommand", command->name, "words",
		command->subcommand->words, "summary", command->subcommand->summary, "help", arguments->help, len,
		"examples", parting ? parting + 1 : "", "options", options_json(arguments->takes)));
}

/* Runs in a child: the subcommand only tells its arguments, and the child ends there. */
static int describe_in_child(const struct subcommand *one)
{
	struct command command = { .name = one->name, .subcommand = one, .is_told_of = true };
	char name[] = "cartbus", *argv[] = { name, NULL };
	int status = -1;

	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		one->run(&command, 1, argv);
		_exit(EXIT_NO);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
		fprintf(stderr, "cartbus %s does not tell what it takes\n", one->name);
		return EXIT_NO;
	}
	return EXIT_FINE;
}

static int print_key(const struct config_key *key, void *file)
{
	char takes[240];

	config_kind_expected(&key->kind, takes, sizeof(takes));
	print_line(json_pack("{s:s,s:s,s:s,s:s?,s:s,s:s,s:b,s:b,s:s?,s:s?}", "file", (const char *)file, "section",
		key->section, "key", key->key, "default", key->fallback, "help", key->help, "takes", takes, "repeated",
		key->repeated > 0, "required", key->required, "readers", key->readers, "needs", key->needs));
	return 0;
}

/* Prints the values that a word of the usage line may have, where there is a list of them. */
static void print_values(void)
{
	json_t *modes = json_array(), *programs = json_array();

	for (int mode = MODE_OBSERVE; mode <= MODE_PAUSED; mode++)
		json_array_append_new(modes, json_string(mode_name((ShopMode)mode)));
	for (const char *const *name = programs_all; *name; name++)
		json_array_append_new(programs, json_string(*name));
	print_line(json_pack("{s:s,s:o}", "values", "MODE", "are", modes));
	print_line(json_pack("{s:s,s:o}", "values", "SERVICE", "are", programs));
}

int manual_print(const struct subcommands *subcommands)
{
	int failed = EXIT_FINE;

	for (size_t i = 0; i < subcommands->count && !failed; i++) {
		const struct subcommand *one = subcommands->all[i];

		if (i == 0 || one->group != subcommands->all[i - 1]->group)
			print_line(json_pack("{s:s}", "group", subcommand_group_heading(one->group)));
		failed = describe_in_child(one);
	}
	if (failed)
		return failed;
	print_values();
	config_each_key(settings_keys, print_key, (void *)"cartbus.conf");
	config_each_key(shop_keys, print_key, (void *)"shop.conf");
	return EXIT_FINE;
}
