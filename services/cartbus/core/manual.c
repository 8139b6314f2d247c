/*
 * manual.c: `cartbus --manual`: the command, its options and the keys of its files, as JSON, one object per line
 *
 * Owns:      the words of that JSON. deploy/man and deploy/completion make man pages and completions of it at build time, so that
 *            nothing about an option is written twice.
 * Promises:  tells each subcommand by the table that it reads its own arguments with.
 * Fails by:  exit 1, when a subcommand ends without having told.
 * Read next: arguments.c
 */
#include "services/cartbus/core/manual.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "services/cartbus/core/programs.h"
#include "services/cartbus/shops/mode.h"
#include "services/kit/settings/settings.h"
#include "services/kit/shop/shop.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* In a child: to tell what it takes is all that a subcommand comes to, and it ends there. */
static int tell(const struct subcommand *one)
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

/* What stands for a word of the usage line, where there is a list of it. */
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
		failed = tell(one);
	}
	if (failed)
		return failed;
	print_values();
	config_each_key(settings_keys, print_key, (void *)"cartbus.conf");
	config_each_key(shop_keys, print_key, (void *)"shop.conf");
	return EXIT_FINE;
}
