/*
 * arguments.c: a table of what a subcommand takes, read with glibc's argp; numbers, moments and rates as an admin types them
 *
 * Promises: what does not fit is said in one line with the way to more help, and ends with EXIT_USAGE.
 * Fails by: exiting; nothing was done yet when it does.
 */
#include "services/cartbus/core/command.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "services/cartbus/core/home.h"
#include "services/cartbus/core/subcommand.h"
#include "services/cartbus/shops/shops.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/keys/secrets.h"
#include "services/kit/settings/settings.h"
#include "services/kit/time/timestamp.h"
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAKES_MAX = 20, KEY_FIRST = 0x100, KEY_CONFIG = 'c', KEY_JSON = 'j', KEY_HELP = 'h', KEY_HOME = 0x200 };

struct reading {
	struct command *command;
	const struct arguments *arguments;
	int words;
};

static error_t read_word(struct reading *reading, char *word, struct argp_state *state)
{
	if (reading->words == reading->arguments->words_most)
		argp_error(state, "one word too many: \"%s\"", word);
	reading->arguments->words[reading->words++] = word;
	return 0;
}

static bool is_repeated(const struct take *take)
{
	size_t len = take->value ? strlen(take->value) : 0;

	return len > 3 && strcmp(take->value + len - 3, "...") == 0;
}

static void add_value(const struct take *take, const char *value, struct argp_state *state)
{
	int count = 0;

	while (take->text[count])
		count++;
	if (count == TAKE_REPEATED - 1)
		argp_error(state, "--%s is given more than %d times", take->option, TAKE_REPEATED - 1);
	take->text[count] = value;
}

static error_t read_option(struct reading *reading, int key, const char *value, struct argp_state *state)
{
	const struct take *take = &reading->arguments->takes[key - KEY_FIRST];

	if (is_repeated(take))
		add_value(take, value, state);
	else if (take->value)
		*take->text = value;
	else
		*take->is_given = true;
	return 0;
}

static error_t read_one(int key, char *value, struct argp_state *state)
{
	struct reading *reading = state->input;

	if (key >= KEY_FIRST && key < KEY_FIRST + TAKES_MAX)
		return read_option(reading, key, value, state);
	switch (key) {
	case KEY_CONFIG:
		reading->command->config_given = value;
		return 0;
	case KEY_HOME:
		reading->command->home_given = value;
		return 0;
	case KEY_HELP:
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP); /* ends with 0 */
		return 0;
	case KEY_JSON:
		reading->command->json = true;
		return 0;
	case ARGP_KEY_ARG:
		return read_word(reading, value, state);
	case ARGP_KEY_END:
		if (reading->words < reading->arguments->words_least)
			argp_error(state, "it needs %s", reading->arguments->words_help);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void fill_options(const struct take *takes, struct argp_option options[TAKES_MAX + 5])
{
	int at = 0;

	for (int i = 0; takes && takes[i].option; i++)
		options[at++] = (struct argp_option){
			.name = takes[i].option, .key = KEY_FIRST + i, .arg = takes[i].value, .doc = takes[i].help
		};
	options[at++] = (struct argp_option){ .name = "config",
		.key = KEY_CONFIG,
		.arg = "FILE",
		.doc = "the configuration (CARTBUS_CONFIG, or " CONFIG_PATH_DEFAULT ")",
		.group = 1 };
	options[at++] = (struct argp_option){ .name = "home",
		.key = KEY_HOME,
		.arg = "DIR",
		.doc = "an installation that is one folder, to try out; up and shop add make it (CARTBUS_HOME)",
		.group = 1 };
	options[at++] = (struct argp_option){
		.name = "json", .key = KEY_JSON, .doc = "answer in JSON, for programs", .group = 1
	};
	options[at++] = (struct argp_option){ .key = KEY_HELP, .doc = "give this help list", .group = -1 };
}

static void say_fault(const char *text, void *context)
{
	complain(context, "%s", text);
}

/* A key that the command does not need may be wrong: an admin who wants to stop mails does not have to mend a comma first. */
static void load_config(struct command *command, bool all)
{
	struct config_error error = { "" };
	const char *reader = all ? "nobody" : "cartbus"; /* behind a wrong value there is more to judge */
	int r = all ? config_judge_file(command->config_path, settings_keys, say_fault, command, &error) : 0;

	if (r >= 0) {
		command->config_faults = r;
		r = config_load_for(command->config_path, settings_keys, reader, &command->config, &error);
		if (command->config_faults && r < 0)
			exit(EXIT_NO); /* that is said already */
		if (command->config_faults)
			return;
	}
	if (r < 0) {
		complain(command, "%s%s", error.text,
			r == -ENOENT
				? "; make it (it may be empty), name yours with --config FILE, or try cartbus out in a "
				  "folder with --home DIR"
				: "");
		exit(EXIT_NO);
	}
	if (error.text[0])
		complain(command, "warning: %s", error.text);
}

void command_set_clock(struct command *command)
{
	const struct config *config = command->config;
	double rate = config ? config_real(config, "clock", NULL, "rate") : 1;

	command->clock = clock_system();
	if (rate < 1 || rate > 1)
		command->clock = clock_scaled(rate, config_number(config, "clock", NULL, "origin-real-us"),
			config_number(config, "clock", NULL, "origin-wall-us"));
}

/* Of what was read from argv. */
static bool reads_config(const struct arguments *arguments)
{
	return !arguments->no_config &&
		!(arguments->no_config_with && *arguments->no_config_with && arguments->words[0]);
}

static enum home_use home_use_of(const struct arguments *arguments)
{
	if (arguments->makes_home)
		return HOME_MAKES;
	return arguments->needs_no_home || (arguments->no_config_with && !reads_config(arguments)) ? HOME_NAMES
												   : HOME_READS;
}

/* An option that there is not, and that is a slip of one that there is: argp would say only the first. */
static void suggest_option(const char *called, const struct argp_option *options, int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		char typed[64];
		size_t len = strcspn(argv[i], "=");
		bool is_known = strncmp(argv[i], "--", 2) != 0 || len - 2 >= sizeof(typed);

		if (is_known)
			continue;
		snprintf(typed, sizeof(typed), "%.*s", (int)(len - 2), argv[i] + 2);
		struct nearest nearest = nearest_begin(typed);
		for (const struct argp_option *option = options; option->key; option++) {
			is_known |= option->name && strncmp(option->name, typed, strlen(typed)) == 0;
			if (option->name)
				nearest_try(&nearest, option->name);
		}
		is_known |= strncmp("help", typed, strlen(typed)) == 0 || strncmp("usage", typed, strlen(typed)) == 0;
		if (is_known || !nearest.name)
			continue;
		fprintf(stderr, "%s: there is no --%s; did you mean --%s?\n", called, typed, nearest.name);
		exit(EXIT_USAGE);
	}
}

void command_take(struct command *command, int argc, char **argv, const struct arguments *arguments)
{
	struct reading reading = { .command = command, .arguments = arguments };
	struct argp_option options[TAKES_MAX + 5] = { 0 };
	static char called[80]; /* argp keeps pointing at it */
	static char config_path[PATH_ROOM];
	struct argp argp = {
		.options = options, .parser = read_one, .args_doc = arguments->words_help, .doc = arguments->help
	};

	if (command->is_told_of) {
		manual_print_one(command, arguments);
		fflush(stdout);
		_exit(EXIT_FINE);
	}
	fill_options(arguments->takes, options);
	snprintf(called, sizeof(called), "cartbus %s", command->name);
	argv[0] = called;
	argp_err_exit_status = EXIT_USAGE;
	suggest_option(called, options, argc, argv);
	setenv("ARGP_HELP_FMT", "rmargin=118,no-dup-args-note", 0); /* examples are not to be broken */
	argp_parse(&argp, argc, argv, 0, NULL, &reading);
	if (home_config(command, home_use_of(arguments), config_path))
		exit(EXIT_NO);
	command->config_path = config_path;
	if (reads_config(arguments))
		load_config(command, arguments->judges_config);
	command_set_clock(command);
}

void complain(const struct command *command, const char *format, ...)
{
	char whole[2048], words[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(whole, sizeof(whole), format, values);
	va_end(values);
	TEXT_COPY(words, whole);
	text_make_plain(words); /* it may name a file, and strangers name some of these */
	if (command->hear)
		command->hear(words, command->hearer);
	else
		fprintf(stderr, "cartbus %s: %s\n", command->name, words);
}

bool command_is_far(const struct command *command)
{
	const char *broker = config_get(command->config, "connect", NULL, "broker");

	return broker && *broker;
}

bool command_has_units(const struct command *command)
{
	return strcmp(command->config_path, CONFIG_PATH_DEFAULT) == 0 && access("/run/systemd/system", F_OK) == 0;
}

void command_shop_path(const struct command *command, const char *shop, const char *file, char ret[PATH_ROOM])
{
	snprintf(ret, PATH_ROOM, "%s/%s%s%s", config_get(command->config, "paths", NULL, "shops"), shop,
		file ? "/" : "", file ? file : "");
}

const char *zone_of_shop(const struct command *command, const char *shop)
{
	static struct shop last;
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	char path[PATH_ROOM];

	if (last.zone[0] && strcmp(last.name, shop) == 0)
		return last.zone;
	command_shop_path(command, shop, "shop.conf", path);
	if (shop_name_valid(shop) && file_read(path, 1 << 20, &text) == 0 &&
		shop_parse(buffer_text(&text), shop, path, &last, &error) == 0)
		return last.zone;
	last.zone[0] = '\0';
	return "UTC";
}

void command_secret_path(const struct command *command, const char *name, char ret[PATH_ROOM])
{
	char path[256];

	secret_path(command->config, name, path);
	snprintf(ret, PATH_ROOM, "%s", path);
}

int command_shop(const struct command *command, const char *name, struct shop *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error = { "" };
	char path[PATH_ROOM], why[OWNER_TEXT_WHY];

	command_shop_path(command, name, "shop.conf", path);
	int failed = shop_name_valid(name) ? owner_text_read(path, shop_document.bytes_max, &text, why) : -ENOENT;
	if (failed == -ENOENT || failed == -ENOTDIR)
		shops_complain_unknown(command, name);
	else if (failed)
		complain(command, "%s %s", path, why);
	if (failed)
		return EXIT_NO;
	if (shop_parse(buffer_text(&text), name, path, ret, &error)) {
		complain(command, "%s", error.text);
		return EXIT_NO;
	}
	return EXIT_FINE;
}

bool command_shop_beside(const char *file, struct shop *ret)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };
	struct config_error error;
	const char *name = strrchr(file, '/');
	char path[PATH_ROOM], why[OWNER_TEXT_WHY];

	snprintf(path, sizeof(path), "%.*sshop.conf", name ? (int)(name + 1 - file) : 0, file);
	if (owner_text_read(path, shop_document.bytes_max, &text, why) == 0 &&
		shop_parse(buffer_text(&text), "beside", path, ret, &error) == 0)
		return true;
	*ret = (struct shop){ 0 };
	return false;
}

/* ---- numbers, moments and rates ---- */

#define SPAN_MOST_US (INT64_C(3660) * US_PER_DAY)
enum { RATE_MOST = 100000 };

static int digits(const char *text, const char *after, int64_t most, int64_t *ret)
{
	char *end;

	if (text[0] < '1' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	*ret = strtoll(text, &end, 10);
	if (errno != 0 || *ret > most || (*end != '\0' && strcmp(end, after) != 0))
		return -EINVAL;
	return 0;
}

int range_seq(const char *text, int64_t *ret)
{
	return digits(text, "", INT64_MAX, ret);
}

int range_rate(const char *text, int64_t *ret)
{
	return digits(text, "/s", RATE_MOST, ret);
}

static int moment(const char *text, int64_t *ret_us)
{
	static const char *const formats[] = { "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, formats[i], &tm);
		int day = tm.tm_mday;

		if (!end || *end != '\0')
			continue;
		*ret_us = (int64_t)timegm(&tm) * US_PER_S;
		return tm.tm_mday == day && *ret_us > 0 ? 0 : -EINVAL; /* timegm turns 31 April into 1 May */
	}
	return -EINVAL;
}

int range_end_parse(const char *text, const struct clock *clock, struct range_end *ret)
{
	int64_t ago_us;

	*ret = (struct range_end){ 0 };
	if (range_seq(text, &ret->seq) == 0)
		return 0;
	ret->seq = 0;
	if (duration_parse(text, SPAN_MOST_US, &ago_us) == 0) {
		ret->time_us = clock_wall_us(clock) - ago_us;
		return ret->time_us > 0 ? 0 : -EINVAL;
	}
	return moment(text, &ret->time_us);
}
