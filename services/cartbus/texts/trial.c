/*
 * trial.c: what a rehearsal of a shop's log came to, for people and scripts
 *
 * Promises: addresses are shown masked, times as the shop's clock showed them, and what nobody can know is said.
 */
#include "services/cartbus/texts/trial.h"

#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/cartbus/core/describe.h"
#include "services/cartbus/core/print.h"
#include "services/kit/money/money.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME_US US_PER_MINUTE /* a mail that goes within the same minute goes when it went */

enum { CURRENCIES_MAX = 16 };

enum change { CHANGE_NONE, CHANGE_ADDED, CHANGE_GONE, CHANGE_EARLIER, CHANGE_LATER, CHANGE_ENDS, CHANGES };
static const char *const change_names[CHANGES] = { "same", "added", "gone", "earlier", "later", "ends otherwise" };

struct line {
	struct rehearsed step;
	char cart_id[80], hash[40], to[300], currency[4];
	int64_t total_minor;
	bool bought;
	enum change change;
};

struct told {
	const struct trial *trial;
	const struct rehearsal *rehearsal;
	struct line *lines;
	size_t count, room, changes[CHANGES], was, would;
	struct sum {
		char currency[4];
		int64_t total_minor;
		size_t carts, bought;
	} sums[CURRENCIES_MAX];
	int sum_count;
	char last_cart[80]; /* that was added to the sums */
};

/* A mail that a shopper or the owner got, may have got, or would have got in a shop that is not only observed. */
static bool went(const struct rehearsed_end *end)
{
	switch (end->end) {
	case STEP_NOTHING:
	case STEP_SKIPPED:
	case STEP_REFUSED:
		return false;
	case STEP_WOULD:
	case STEP_MAYBE:
	case STEP_OWNER:
	case STEP_SENT:
		return true;
	}
	return false;
}

static enum change change_of(const struct trial *trial, const struct rehearsed *step)
{
	int64_t by_us = step->would.at_us - step->was.at_us;

	if (went(&step->was) != went(&step->would))
		return went(&step->would) ? CHANGE_ADDED : CHANGE_GONE;
	if (step->was.end != step->would.end)
		return CHANGE_ENDS;
	if (!went(&step->was) && !trial->exactly)
		return CHANGE_NONE;
	if (llabs(by_us) < (trial->exactly ? 1 : SAME_US))
		return CHANGE_NONE;
	return by_us < 0 ? CHANGE_EARLIER : CHANGE_LATER;
}

static void add_sum(struct told *told, const struct line *line)
{
	struct sum *sum = NULL;

	if (strcmp(told->last_cart, line->cart_id) == 0)
		return; /* its other step was counted */
	TEXT_COPY(told->last_cart, line->cart_id);
	for (int i = 0; i < told->sum_count && !sum; i++) {
		if (strcmp(told->sums[i].currency, line->currency) == 0)
			sum = &told->sums[i];
	}
	if (!sum && told->sum_count == CURRENCIES_MAX)
		return;
	if (!sum) {
		sum = &told->sums[told->sum_count++];
		TEXT_COPY(sum->currency, line->currency);
	}
	sum->total_minor += line->total_minor;
	sum->carts++;
	sum->bought += line->bought;
}

static void add_cart(const struct told *told, struct line *line)
{
	CartState *cart = memory_new(sizeof(*cart));

	if (rehearsal_cart(told->rehearsal, line->cart_id, cart)) {
		mask_address(cart->ids.email, line->to);
		TEXT_COPY(line->currency, cart->currency);
		line->total_minor = cart->total_minor;
		line->bought = cart->status == CART_BOUGHT;
	}
	free(cart);
}

static void add_line(const struct rehearsed *step, void *context)
{
	struct told *told = context;
	struct line *line;

	if (told->count == told->room) {
		told->room = told->room ? 2 * told->room : 256;
		told->lines = memory_resize(told->lines, told->room * sizeof(*told->lines));
	}
	line = &told->lines[told->count++];
	memset(line, 0, sizeof(*line));
	line->step = *step;
	TEXT_COPY(line->cart_id, step->cart_id);
	TEXT_COPY(line->hash, step->address_hash);
	add_cart(told, line);
	line->change = change_of(told->trial, step);
	told->changes[line->change]++;
	told->was += went(&step->was);
	told->would += went(&step->would);
	if (line->change != CHANGE_NONE)
		add_sum(told, line);
}

static int64_t when(const struct line *line)
{
	return line->step.would.at_us ? line->step.would.at_us : line->step.was.at_us;
}

static int by_time(const void *a, const void *b)
{
	int64_t left = when(a), right = when(b);

	return left < right ? -1 : left > right;
}

/* --- for people --- */

static const char *end_words(enum step_end end)
{
	static const char *const words[] = { [STEP_NOTHING] = "nothing",
		[STEP_SKIPPED] = "skipped",
		[STEP_WOULD] = "observed",
		[STEP_REFUSED] = "refused",
		[STEP_MAYBE] = "perhaps sent",
		[STEP_OWNER] = "to the owner",
		[STEP_SENT] = "sent" };

	return words[end];
}

static void print_line(const struct told *told, const struct line *line)
{
	char at[40], was[40], amount[48] = "";

	if (line->change == CHANGE_NONE && (!told->trial->all || !went(&line->step.would)))
		return;
	describe_time(told->trial->zone, when(line), at);
	describe_time(told->trial->zone, line->step.was.at_us, was);
	if (*line->currency)
		money_plain(line->total_minor, line->currency, amount, sizeof(amount));
	printf("%.16s  %-24.24s %-24.24s %s  %10s %-3s  %s", at, line->cart_id, line->to,
		line->step.step == 1 ? "first " : "second", amount, line->currency, change_names[line->change]);
	if (line->change == CHANGE_EARLIER || line->change == CHANGE_LATER)
		printf(": it went at %.*s", told->trial->exactly ? 19 : 16, was);
	if (line->change == CHANGE_ENDS || line->change == CHANGE_GONE)
		printf(": was %s, would be %s", end_words(line->step.was.end), end_words(line->step.would.end));
	printf("%s\n", line->bought ? "  (was bought)" : "");
}

static const char *const unknown[] = {
	"who would have bought, or said no, because of a mail that went then and would not have gone, or the other way "
	"round",
	"what a mail server says to a mail that it was never given: it takes it; to all others it says what it said "
	"then",
	"what somebody who was not asked then would have answered: it is decided as if there came no answer",
};

static void print_sums(const struct told *told)
{
	for (int i = 0; i < told->sum_count; i++) {
		const struct sum *sum = &told->sums[i];
		char amount[48] = "0";

		if (*sum->currency)
			money_plain(sum->total_minor, sum->currency, amount, sizeof(amount));
		printf("in the carts that change: %s %s in %zu, of which %zu were bought\n", amount, sum->currency,
			sum->carts, sum->bought);
	}
}

static void print_all(const struct told *told)
{
	char from[40], until[40];

	for (size_t i = 0; i < told->count; i++)
		print_line(told, &told->lines[i]);
	describe_time(told->trial->zone, told->trial->from_us, from);
	describe_time(told->trial->zone, told->trial->until_us, until);
	printf("%s, %.16s to %.16s: %zu mails went, %zu would have gone: %zu added, %zu gone, %zu earlier, %zu later, "
	       "%zu end otherwise\n",
		told->trial->shop, from, until, told->was, told->would, told->changes[CHANGE_ADDED],
		told->changes[CHANGE_GONE], told->changes[CHANGE_EARLIER], told->changes[CHANGE_LATER],
		told->changes[CHANGE_ENDS]);
	print_sums(told);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		printf("%s%s\n", i ? "               " : "not known:     ", unknown[i]);
}

/* --- for scripts --- */

static json_t *end_json(const struct rehearsed_end *end)
{
	return json_pack("{s:s,s:I}", "end", end_words(end->end), "at_us", (json_int_t)end->at_us);
}

static json_t *line_json(const struct line *line)
{
	return json_pack("{s:s,s:s,s:s,s:i,s:o,s:o,s:s,s:I,s:s,s:b}", "cart", line->cart_id, "address_hash", line->hash,
		"to", line->to, "step", line->step.step, "was", end_json(&line->step.was), "would",
		end_json(&line->step.would), "change", change_names[line->change], "total_minor",
		(json_int_t)line->total_minor, "currency", line->currency, "bought", (int)line->bought);
}

static void print_json(const struct told *told)
{
	json_t *steps = json_array(), *changes = json_object(), *sums = json_array(), *not_known = json_array(), *whole;

	for (size_t i = 0; i < told->count; i++)
		json_array_append_new(steps, line_json(&told->lines[i]));
	for (int i = 0; i < CHANGES; i++)
		json_object_set_new(changes, change_names[i], json_integer((json_int_t)told->changes[i]));
	json_object_set(changes, "ends_otherwise",
		json_object_get(changes, change_names[CHANGE_ENDS])); /* a name without a blank */
	for (int i = 0; i < told->sum_count; i++)
		json_array_append_new(sums,
			json_pack("{s:s,s:I,s:I,s:I}", "currency", told->sums[i].currency, "total_minor",
				(json_int_t)told->sums[i].total_minor, "carts", (json_int_t)told->sums[i].carts,
				"bought", (json_int_t)told->sums[i].bought));
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		json_array_append_new(not_known, json_string(unknown[i]));
	whole = json_pack("{s:s,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o}", "shop", told->trial->shop, "from_us",
		(json_int_t)told->trial->from_us, "until_us", (json_int_t)told->trial->until_us, "was",
		(json_int_t)told->was, "would", (json_int_t)told->would, "changes", changes, "money", sums, "steps",
		steps, "not_known", not_known);
	json_print(whole);
	json_decref(whole);
}

size_t trial_tell(const struct trial *trial, const struct rehearsal *rehearsal)
{
	struct told told = { .trial = trial, .rehearsal = rehearsal };
	size_t different;

	rehearsal_each(rehearsal, add_line, &told);
	if (told.count > 0)
		qsort(told.lines, told.count, sizeof(*told.lines), by_time);
	if (trial->command->json)
		print_json(&told);
	else
		print_all(&told);
	different = told.count - told.changes[CHANGE_NONE];
	free(told.lines);
	return different;
}
