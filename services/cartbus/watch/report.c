/*
 * report.c: `cartbus report`: what a shop's mails brought, from the log
 *
 * Owns:     the log's facts, folded in memory by the functions that the summarizer folds with.
 * Promises: the same figures as the summary of the same time; nothing is said or written.
 * Read next: services/carts/report/report.h
 */
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/watch/subcommands.h"

#include "bus/actor/sim/harness.h"
#include "bus/base/cleanup.h"
#include "services/carts/report/data.h"
#include "services/carts/report/report_fold.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct service folding = { .name = "report",
	.remembers = REMEMBERING(REPORT_FOLD_REMEMBERED, REPORT_FOLD_REMEMBERED_OF_PEOPLE) };

struct asked {
	const char *shop, *month, *from, *to;
	bool weekly, csv;
};

static bool fold_one(const struct entry *entry, void *context)
{
	struct harness *harness = context;

	for (const struct remembers *row = folding.remembers; row->topic; row++) {
		if (strcmp(row->topic->name, entry->topic) != 0)
			continue;
		_cleanup_free_ void *message = payload_decode(row->topic, entry->payload);
		struct publish_options how = {
			.shop = entry->shop, .key = entry->key, .version = entry->version, .tombstone = entry->tombstone
		};
		if (message)
			harness_given(harness, row->topic, &how, message);
	}
	return true;
}

static int choose_period(
	const struct command *command, const struct asked *asked, const struct shop *shop, struct period *ret)
{
	int r;

	if (asked->month)
		r = period_month(shop->zone, asked->month, ret);
	else if (asked->from || asked->to)
		r = asked->from && asked->to ? period_span(shop->zone, asked->from, asked->to, ret) : -1;
	else
		r = period_of(
			asked->weekly ? PERIOD_WEEK : PERIOD_MONTH, shop->zone, clock_wall_us(&command->clock), ret);
	if (r == 0)
		return EXIT_FINE;
	complain(command, "a month is given as --month 2026-10, days as --from 2026-10-01 --to 2026-10-07");
	return EXIT_USAGE;
}

static void print_report(const struct command *command, const struct asked *asked, const struct report *report)
{
	_cleanup_(buffer_free) struct buffer text = { 0 };

	if (command->json) {
		json_t *json = report_json(report);
		json_print(json);
		json_decref(json);
		return;
	}
	if (asked->csv)
		report_csv(report, &text);
	else
		report_text(report, &text);
	fputs(buffer_text(&text), stdout);
}

static int make_report(
	const struct command *command, const struct asked *asked, const struct shop *shop, const struct period *period)
{
	struct client *client = command_connect(command);
	struct harness *harness = harness_new(&folding, clock_wall_us(&command->clock));
	static struct report report;
	int ended = reading_each(command, client, &(struct reading_filter){ .shop = shop->name }, fold_one, harness);

	if (ended == EXIT_FINE && !report_make(harness_state(harness), shop, period, &report)) {
		complain(command, "the time zone of %s knows no such time; see `cartbus config check`", shop->name);
		ended = EXIT_NO;
	}
	if (ended == EXIT_FINE)
		print_report(command, asked, &report);
	if (ended == EXIT_FINE && !command->json && !asked->csv)
		command_print_reach(command, client, shop->zone);
	harness_free(harness);
	client_free(client);
	return ended;
}

int command_report(struct command *command, int argc, char **argv)
{
	static struct shop shop;
	struct asked asked = { 0 };
	struct period period;
	const struct take takes[] = {
		{ "month", "YYYY-MM", "a calendar month; without any of these, the current one so far", &asked.month,
			NULL },
		{ "week", NULL, "the current week so far, from Monday", NULL, &asked.weekly },
		{ "from", "YYYY-MM-DD", "from this local day", &asked.from, NULL },
		{ "to", "YYYY-MM-DD", "to this one, inclusive", &asked.to, NULL },
		{ "csv", NULL, "as CSV: figure, currency, now, before", NULL, &asked.csv },
		{ NULL, NULL, NULL, NULL, NULL },
	};

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "SHOP",
			.words = &asked.shop,
			.words_least = 1,
			.words_most = 1,
			.takes = takes,
			.help = "Tells what a shop's carts and mails came to, beside the time before: orders that came "
				"after a click, after a mail, and anyway, with the money that the shop kept of them. "
				"Purchases count for when they were made; the windows are [report] of shop.conf.\v"
				"Example:\n  cartbus report demo --month 2026-10 --csv" });
	int ended = command_shop(command, asked.shop, &shop);

	if (ended == EXIT_FINE)
		ended = choose_period(command, &asked, &shop, &period);
	return ended == EXIT_FINE ? make_report(command, &asked, &shop, &period) : ended;
}
