/*
 * carts.c: `cartbus carts`: a shop's carts, the newest first, and when the next mail of each goes
 *
 * Owns:      a small row of each cart of the shop, as its last cart.state tells it.
 * Promises:  the ids are those that `why`, `trace`, `preview` and `cart` take; addresses are masked. A cart that was merged into another one
 *            is not listed: the other cart is listed, and has its names too.
 * Read next: timers.c (when a cart is looked at), outlook.c (what comes of it)
 */
#include "services/cartbus/core/command.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/watch/outlook.h"
#include "services/cartbus/watch/subcommands.h"
#include "services/cartbus/watch/timers.h"
#include "services/carts/words/describe.h"
#include "services/kit/words/names.h"

#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/kit/money/money.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CARTS_USUAL = 50, CARTS_MOST = 100000 };

struct row {
	char cart_id[72], currency[8], address[300];
	int64_t left_us, total_minor;
	CartStatus status;
	ClosedReason closed_reason;
};

struct next {
	bool known;
	TimerSet timer;             /* when the cart is looked at */
	struct next_mail_line line; /* only with an outlook */
};

struct wanted {
	bool open, waiting, closed, bought; /* none of them: all */
	int64_t since_us, most;
};

struct carts {
	const struct command *command;
	const char *shop, *zone;
	struct wanted wanted;
	struct sorted_map *rows, *timers;
	struct outlook outlook; /* foresight NULL: only when carts are looked at */
};

static void keep_row(struct carts *carts, const struct entry *entry)
{
	_cleanup_free_ CartState *cart = payload_decode(&topic_cart_state, entry->payload);
	struct row row = { 0 };

	if (!cart)
		return;
	if (*cart->merged_into) {
		sorted_map_remove(carts->rows, bytes_of(cart->ids.cart_id));
		return;
	}
	TEXT_COPY(row.cart_id, cart->ids.cart_id);
	TEXT_COPY(row.currency, cart->currency);
	if (*cart->ids.email)
		mask_address(cart->ids.email, row.address);
	row.left_us = cart->abandoned_us ? cart->abandoned_us : cart->first_seen_us;
	row.total_minor = cart->total_minor;
	row.status = cart->status;
	row.closed_reason = cart->closed_reason;
	sorted_map_put(carts->rows, bytes_of(row.cart_id), BYTES(&row, sizeof(row)), entry->seq);
}

static bool hear(const struct entry *entry, void *context)
{
	struct carts *carts = context;

	if (carts->outlook.forecast) {
		outlook_hear(&carts->outlook, entry);
		timer_rows_fold(carts->timers, entry);
	}
	if (strcmp(entry->topic, topic_cart_state.name) == 0 && strcmp(entry->shop, carts->shop) == 0)
		keep_row(carts, entry);
	return !scratch_interrupted();
}

/* The whole log where the next mails are wanted: they follow from all of it. */
static int read_carts(struct carts *carts, struct client *client)
{
	int failed;

	if (carts->outlook.forecast)
		failed = reading_each(carts->command, client,
			&(struct reading_filter){ .shop = carts->shop, .or_shop = SHOP_OF_ALL }, hear, carts);
	else
		failed = timer_rows_read(carts->timers, carts->command, client, carts->shop);
	if (!failed && !carts->outlook.forecast)
		failed = reading_each(carts->command, client,
			&(struct reading_filter){ .topic = topic_cart_state.name, .shop = carts->shop }, hear, carts);
	return !failed && scratch_interrupted() ? EXIT_NO : failed;
}

static struct next next_of(const struct carts *carts, const struct row *row)
{
	struct next next = { 0 };
	char name[80];

	snprintf(name, sizeof(name), "cart/%s", row->cart_id);
	next.known = row->status == CART_OPEN && timer_rows_find(carts->timers, carts->shop, name, &next.timer);
	if (next.known && carts->outlook.forecast)
		next.known = outlook_line(&carts->outlook, carts->shop, carts->zone, &next.timer, &next.line);
	return next;
}

static bool is_wanted(const struct carts *carts, const struct row *row, const struct next *next)
{
	const struct wanted *wanted = &carts->wanted;
	bool waits = next->known && (next->line.comes || !carts->outlook.forecast);

	if (row->left_us < wanted->since_us)
		return false;
	if (!wanted->open && !wanted->waiting && !wanted->closed && !wanted->bought)
		return true;
	return (wanted->open && row->status == CART_OPEN) || (wanted->waiting && waits) ||
		(wanted->closed && row->status == CART_CLOSED) || (wanted->bought && row->status == CART_BOUGHT);
}

static int newest_first(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->left_us != right->left_us)
		return left->left_us > right->left_us ? -1 : 1;
	return strcmp(left->cart_id, right->cart_id);
}

static const char *status_word(const struct row *row)
{
	return enum_word(&CartState_msg, CartState_status_tag, (int)row->status);
}

/* Why it was closed; "" when it was not. */
static const char *closed_word(const struct row *row)
{
	if (!row->closed_reason)
		return "";
	return enum_word(&CartState_msg, CartState_closed_reason_tag, (int)row->closed_reason);
}

static void print_row(const struct carts *carts, const struct row *row, const struct next *next)
{
	char left[40], at[40], amount[48] = "", total[64] = "";

	describe_time(carts->zone, row->left_us, left);
	if (*row->currency && row->total_minor) { /* 0: none was given */
		money_plain(row->total_minor, row->currency, amount, sizeof(amount));
		snprintf(total, sizeof(total), "%s %s", amount, row->currency);
	}
	printf("%s  %-34s %14s  %-28s %s%s%s%s\n", left, row->cart_id, total, *row->address ? row->address : "-",
		status_word(row), *closed_word(row) ? " (" : "", closed_word(row), *closed_word(row) ? ")" : "");
	if (next->known && carts->outlook.forecast) {
		printf("    %-19s  %s\n", next->line.at, next->line.words);
	} else if (next->known) {
		describe_time(carts->zone, next->timer.due_us, at);
		printf("    %-19s  the cart is looked at\n", at);
	}
}

static json_t *row_json(const struct carts *carts, const struct row *row, const struct next *next)
{
	json_t *json = json_pack("{s:s,s:I,s:s,s:I,s:s,s:s}", "cart", row->cart_id, "left_us", (json_int_t)row->left_us,
		"status", status_word(row), "total_minor", (json_int_t)row->total_minor, "currency", row->currency,
		"address", row->address);

	if (*closed_word(row))
		json_object_set_new(json, "closed_reason", json_string(closed_word(row)));
	if (next->known)
		json_object_set_new(json, "look_us", json_integer((json_int_t)next->timer.due_us));
	if (next->known && carts->outlook.forecast)
		json_object_set_new(
			json, "send", outlook_json(&carts->outlook, carts->shop, carts->zone, &next->timer));
	return json;
}

static struct row *sorted_rows(const struct sorted_map *rows)
{
	struct row *sorted = memory_new(sorted_map_count(rows) * sizeof(*sorted) + 1);
	size_t count = 0;

	for (const struct sorted_map_entry *entry = sorted_map_first(rows); entry; entry = sorted_map_next(entry))
		memcpy(&sorted[count++], sorted_map_value(entry).data, sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), newest_first);
	return sorted;
}

static void print_end(const struct carts *carts, int64_t shown, int64_t more)
{
	if (more)
		printf("and %lld more: --limit %lld shows them all\n", (long long)more, (long long)(shown + more));
	else if (!shown)
		puts(sorted_map_count(carts->rows) ? "no cart of this kind" : "no cart has come yet");
}

static void print_carts(const struct carts *carts)
{
	_cleanup_free_ struct row *rows = sorted_rows(carts->rows);
	json_t *list = json_array();
	int64_t shown = 0, more = 0;

	for (size_t i = 0; i < sorted_map_count(carts->rows); i++) {
		struct next next = next_of(carts, &rows[i]);

		if (!is_wanted(carts, &rows[i], &next))
			continue;
		if (shown == carts->wanted.most) {
			more++;
			continue;
		}
		shown++;
		if (carts->command->json)
			json_array_append_new(list, row_json(carts, &rows[i], &next));
		else
			print_row(carts, &rows[i], &next);
	}
	if (carts->command->json) {
		json_t *whole =
			json_pack("{s:s,s:O,s:I}", "shop", carts->shop, "carts", list, "more", (json_int_t)more);

		json_print(whole);
		json_decref(whole);
	} else {
		print_end(carts, shown, more);
	}
	json_decref(list);
}

static int list_carts(struct carts *carts, const char *scratch, bool looks)
{
	struct client *client = command_connect(carts->command);
	int failed = looks ? EXIT_FINE : outlook_begin(carts->command, scratch, &carts->outlook);

	carts->rows = sorted_map_new();
	carts->timers = sorted_map_new();
	failed = failed ? failed : read_carts(carts, client);
	if (!failed && sorted_map_count(carts->rows) == 0)
		failed = shops_know(carts->command, client, carts->shop); /* a name that was mistyped has none either */
	client_free(client);
	if (!failed)
		print_carts(carts);
	outlook_end(&carts->outlook);
	sorted_map_free(carts->rows);
	sorted_map_free(carts->timers);
	return failed;
}

static int read_bounds(
	const struct command *command, const char *since_text, const char *limit_text, struct wanted *ret)
{
	struct range_end since = { 0 };

	if (since_text && (range_end_parse(since_text, &command->clock, &since) || since.seq)) {
		complain(command,
			"--since is a span like 90min or 2d, or a moment like 2026-11-21T06:00:00Z; not \"%s\"",
			since_text);
		return EXIT_USAGE;
	}
	ret->since_us = since.time_us;
	ret->most = CARTS_USUAL;
	if (limit_text && (range_seq(limit_text, &ret->most) || ret->most > CARTS_MOST)) {
		complain(command, "--limit is a number from 1 to %d; not \"%s\"", CARTS_MOST, limit_text);
		return EXIT_USAGE;
	}
	return EXIT_FINE;
}

int command_carts(struct command *command, int argc, char **argv)
{
	struct carts carts = { .command = command };
	struct wanted *wanted = &carts.wanted;
	const char *scratch = scratch_usual(), *since = NULL, *limit = NULL;
	bool looks = false;
	const struct take takes[] = { { "open", NULL, "only those that are open", NULL, &wanted->open },
		{ "waiting", NULL, "only those of which a mail is still to come", NULL, &wanted->waiting },
		{ "closed", NULL, "only those that are chased no longer, with the reason", NULL, &wanted->closed },
		{ "bought", NULL, "only those that were bought", NULL, &wanted->bought },
		{ "since", "SPAN|TIME", "only those left since: 2d, or 2026-11-21T06:00:00Z", &since, NULL },
		{ "limit", "N", "so many at most (50)", &limit, NULL },
		{ "looks", NULL, "only when carts are looked at, not when mails go: faster on a long log", NULL,
			&looks },
		SCRATCH_TAKE(scratch), { 0 } };
	int failed;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP",
			.words = &carts.shop,
			.words_least = 1,
			.words_most = 1,
			.help = "Lists a shop's carts, the newest first: when each was left (in the shop's time), its "
				"id, total, masked address and status, and below it when its next mail goes and why "
				"then. The id is what cartbus why, trace, preview and cart take.\v"
				"Examples:\n  cartbus carts demo\n  cartbus carts demo --waiting --since 2d\n  cartbus "
				"carts demo --bought --json" });
	failed = read_bounds(command, since, limit, wanted);
	if (failed)
		return failed;
	carts.zone = zone_of_shop(command, carts.shop);
	return list_carts(&carts, scratch, looks);
}
