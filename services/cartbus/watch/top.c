/*
 * top.c: `cartbus top`: the living picture, or one of it as text or JSON
 *
 * Promises: a look is one question, and the alarms and stops that were said since the last one: what `cartbus status` judges by.
 *           Without the broker --once exits with 3; the others tell that it is away, and go on.
 * Read next: top_live.c (in a terminal), top_figures.c, health.c
 */
#include "services/cartbus/watch/top.h"
#include "services/cartbus/watch/subcommands.h"

#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/cartbus/core/cartbus.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_USUAL = 100, WIDTH_LEAST = 20, INTERVAL_MOST = TOP_INTERVAL_MOST_S };

static volatile sig_atomic_t is_asked_to_stop;

static void hear_stop(int signal_number)
{
	(void)signal_number;
	is_asked_to_stop = 1;
}

/* ---- a look ---- */

static void hear_complaint(const char *words, void *context)
{
	struct top *top = context;

	TEXT_COPY(top->why, words);
}

static bool is_connected(struct top *top, int64_t connect_within_us)
{
	char why[256];

	if (top->client && client_phase(top->client, why) == RUNTIME_REFUSED) {
		client_free(top->client);
		top->client = NULL;
	}
	if (!top->client &&
		client_open(
			&cartbus, top->command->config, &top->command->clock, connect_within_us, &top->client, why)) {
		TEXT_COPY(top->why, why);
		return false;
	}
	if (client_phase(top->client, why) == RUNTIME_READY)
		return true;
	TEXT_COPY(top->why, why[0] ? why : "it is not there");
	return false;
}

void top_arrange(struct top *top)
{
	if (top->looks.count > 0)
		top_figures_of(top->health, &top->looks, top->order, &top->figures);
}

bool top_look(struct top *top, int64_t connect_within_us)
{
	int64_t now_us = clock_boot_us(&top->command->clock);

	top->gave_up = false;
	top->command->hear = hear_complaint;
	top->command->hearer = top;
	if (is_connected(top, connect_within_us) && health_look(top->command, top->client, top->health) == EXIT_FINE) {
		now_us = clock_boot_us(&top->command->clock);
		looks_add(&top->looks, top->health->status, now_us);
		top->away_since_us = 0;
		top_arrange(top);
		return true;
	}
	if (!top->away_since_us && !top->gave_up)
		top->away_since_us = now_us;
	return false;
}

json_t *top_ask(struct top *top, const char *verb, json_t *what)
{
	if (is_connected(top, 0))
		return command_ask(top->command, top->client, verb, what);
	json_decref(what);
	return NULL;
}

bool top_is_asked_to_stop(void)
{
	return is_asked_to_stop;
}

/* ---- text and JSON ---- */

static int columns_of_output(void)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	int width = columns ? atoi(columns) : 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		width = size.ws_col;
	return width >= WIDTH_LEAST && width <= 1000 ? width : WIDTH_USUAL;
}

static void print_screen_buffer(const struct top *top)
{
	int width = columns_of_output(), height = top_draw_height(&top->figures, width), used = 0;
	struct screen_buffer screen_buffer = { 0 };

	screen_buffer_init(&screen_buffer, width, height);
	top_draw(&screen_buffer, &top->figures, &(struct top_banner){ .order = top->order });
	for (int i = 0; i < width * height; i++)
		used = screen_buffer.cells[i].character != L' ' ? i / width + 1 : used;
	screen_buffer.height = used;
	screen_buffer_write(&screen_buffer, stdout);
	screen_buffer_free(&screen_buffer);
}

static void print_json(const struct top *top, bool is_there)
{
	json_t *json =
		is_there ? top_figures_json(&top->figures) : json_pack("{s:s,s:s}", "broker", "away", "why", top->why);

	json_print_line(json);
	fflush(stdout);
	json_decref(json);
}

/* The connection is kept alive meanwhile. */
static void wait_for_next(struct top *top, int64_t until_us)
{
	int64_t left_us;

	while (!is_asked_to_stop && (left_us = until_us - clock_boot_us(&top->command->clock)) > 0) {
		if (top->client)
			client_work(top->client, left_us);
		else
			poll(NULL, 0, (int)(left_us / US_PER_MS) + 1);
	}
}

static int64_t interval_us(const struct top *top)
{
	return (int64_t)(top->interval_s * US_PER_S);
}

/* A rate needs two looks. */
static int once(struct top *top)
{
	for (int look = 0; look < 2 && !is_asked_to_stop; look++) {
		int64_t next_us = clock_boot_us(&top->command->clock) + interval_us(top);

		if (!top_look(top, command_patience_us(top->command))) {
			top->command->hear = NULL;
			complain(top->command, "cannot reach the broker: %s; is `cartbus up` running?", top->why);
			return EXIT_AWAY;
		}
		if (look == 0)
			wait_for_next(top, next_us);
	}
	if (top->command->json)
		print_json(top, true);
	else
		print_screen_buffer(top);
	return top->figures.is_red ? EXIT_NO : EXIT_FINE;
}

static int json_lines(struct top *top)
{
	while (!is_asked_to_stop && !ferror(stdout)) {
		int64_t next_us = clock_boot_us(&top->command->clock) + interval_us(top);

		print_json(top, top_look(top, US_PER_S));
		wait_for_next(top, next_us);
	}
	return EXIT_FINE;
}

/* ---- the command ---- */

static int read_interval(const struct command *command, const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	if (end != text && !*end && *ret * 1000 >= TOP_INTERVAL_LEAST_MS && *ret <= INTERVAL_MOST)
		return EXIT_FINE;
	complain(command, "--interval takes seconds from 0.2 to %d; not \"%s\"", INTERVAL_MOST, text);
	return EXIT_USAGE;
}

static int read_order(const struct command *command, const char *text, enum top_order *ret)
{
	for (int i = 0; i < TOP_ORDERS; i++) {
		if (strcmp(text, top_order_names[i]) == 0) {
			*ret = (enum top_order)i;
			return EXIT_FINE;
		}
	}
	complain(command, "--sort is one of turns, name, errors, lag, memory; not \"%s\"", text);
	return EXIT_USAGE;
}

static int run(struct top *top, bool is_once)
{
	bool is_seen = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);

	signal(SIGINT, hear_stop);
	signal(SIGTERM, hear_stop);
	signal(SIGHUP, hear_stop);
	setlocale(LC_CTYPE, "");
	if (top->command->json && !is_once)
		return json_lines(top);
	return is_once || !is_seen ? once(top) : top_live(top);
}

int command_top(struct command *command, int argc, char **argv)
{
	const char *interval = "2", *order = "turns";
	bool is_once = false;
	const struct take takes[] = { { "interval", "SECONDS", "how often to look (2)", &interval, NULL },
		{ "sort", "ORDER", "processes by turns, name, errors, lag or memory (turns)", &order, NULL },
		{ "once", NULL, "one picture, of two looks an interval apart, as plain text", NULL, &is_once }, { 0 } };
	struct top *top;
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Shows in the terminal what goes on: whether all is well and why not, messages, "
				"webhooks and "
				"mails, the queues and the processes, again and again. q quits, ? tells the other "
				"keys. While "
				"the broker is away it says so, and goes on by itself when it is back. Where the "
				"output is no "
				"terminal it prints one picture, as with --once, and exits with 0 when green, 1 when "
				"red, 3 "
				"when the broker cannot be reached. With --json it prints an object a look, until "
				"Ctrl-C. NO_COLOR is honoured.\v"
				"Examples:\n  cartbus top\n  cartbus top --once --interval 1\n  cartbus top --json | "
				"jq .messages_per_s" });
	top = memory_new(sizeof(*top));
	top->command = command;
	ended = read_interval(command, interval, &top->interval_s);
	if (ended == EXIT_FINE)
		ended = read_order(command, order, &top->order);
	top->health = health_new();
	if (ended == EXIT_FINE)
		ended = run(top, is_once);
	client_free(top->client);
	looks_forget(&top->looks);
	health_free(top->health);
	free(top);
	return ended;
}
