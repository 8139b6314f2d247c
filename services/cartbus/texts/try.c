/*
 * try.c: `cartbus rules try`: what would these texts have done to the carts of the last days?
 *
 * Promises: changes nothing; reads the log page by page, so that the broker does its work in between; holds no more of it in memory
 *           than what history decided within the days. What the rehearsal came to is told with addresses masked, times as the shop's clock
 *           showed them, and what nobody can know is said.
 * Fails by: saying how far back the log goes, when it is asked for more.
 * Read next: services/carts/rehearsal/rehearsal.h
 */
#include "bus/base/cleanup.h"
#include "bus/base/memory.h"
#include "bus/base/text.h"
#include "services/cartbus/core/command.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/texts/scratch.h"
#include "services/cartbus/texts/subcommands.h"
#include "services/carts/policy/rules_document.h"
#include "services/carts/rehearsal/rehearsal.h"
#include "services/carts/words/describe.h"
#include "services/kit/documents/kinds.h"
#include "services/kit/money/money.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what a rehearsal of a shop's log came to, for people and scripts ---- */

struct trial {
	const struct command *command;
	const char *shop, *zone;
	int64_t from_us, until_us;
	bool exactly; /* nothing was edited: what is not as it was to the microsecond, is a difference */
	bool all;     /* tell what stays the same, too */
};

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

/* Prints the trial, and returns how many steps differ. */
static size_t trial_tell(const struct trial *trial, const struct rehearsal *rehearsal)
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

/* ---- the command ---- */

enum { DAYS_MOST = 30, TELL_EVERY = 2000 };

struct wanted {
	struct command *command;
	const char *words[2], *days_text, *conf, *scratch;
	bool as_it_was, all;
	const char *name, *rules; /* of the shop; of the file, NULL: none */
	int days;
	struct shop shop;
	struct buffer texts[REHEARSAL_DOCUMENTS_MAX];
	struct rehearsal_plan plan;
};

/* --- what is asked --- */

struct only {
	int count;
	char name[64];
};

static void note_shop(const char *name, void *context)
{
	struct only *only = context;

	only->count++;
	snprintf(only->name, sizeof(only->name), "%s", name);
}

/* SHOP FILE, or FILE of the only shop; a shop alone when there is no FILE to it. */
static int read_words(struct wanted *wanted)
{
	static struct only only;
	bool file = !wanted->as_it_was && !wanted->conf;

	wanted->name = wanted->words[0];
	wanted->rules = wanted->words[1];
	if (wanted->as_it_was && (wanted->rules || wanted->conf)) {
		complain(wanted->command, "--as-it-was takes no other texts");
		return EXIT_USAGE;
	}
	if (wanted->rules || !file)
		return EXIT_FINE;
	wanted->rules = wanted->words[0];
	shops_each(wanted->command, note_shop, &only);
	wanted->name = only.name;
	if (only.count == 1)
		return EXIT_FINE;
	complain(wanted->command, "there are %d shops: name one before the file", only.count);
	return EXIT_USAGE;
}

static int read_days(struct wanted *wanted)
{
	char *end = NULL;
	long days = strtol(wanted->days_text, &end, 10);

	wanted->days = (int)days;
	if (*wanted->days_text && !*end && days >= 1 && days <= DAYS_MOST)
		return EXIT_FINE;
	complain(wanted->command, "\"%s\" is no number of days; what shoppers did is kept for %d at most",
		wanted->days_text, DAYS_MOST);
	return EXIT_USAGE;
}

static int read_text(struct wanted *wanted, const char *path, const struct document_kind *kind)
{
	struct buffer *text = &wanted->texts[wanted->plan.document_count];
	char why[OWNER_TEXT_WHY];

	if (owner_text_read(path, kind->bytes_max, text, why)) {
		complain(wanted->command, "%s %s", path, why);
		return EXIT_NO;
	}
	wanted->plan.documents[wanted->plan.document_count++] =
		(struct rehearsal_document){ .kind = kind->name, .text = buffer_text(text) };
	return EXIT_FINE;
}

static int read_conf(struct wanted *wanted)
{
	struct config_error error;
	int ended;

	if (!wanted->conf)
		return EXIT_FINE;
	ended = read_text(wanted, wanted->conf, &shop_document);
	if (ended || shop_parse(buffer_text(&wanted->texts[0]), wanted->name, wanted->conf, &wanted->shop, &error) == 0)
		return ended;
	complain(wanted->command, "%s", error.text);
	return EXIT_NO;
}

static int read_rules(struct wanted *wanted)
{
	struct rules_error error;
	struct rules rules;
	int ended;

	if (!wanted->rules)
		return EXIT_FINE;
	ended = read_text(wanted, wanted->rules, &rules_document);
	if (ended ||
		rules_parse(wanted->plan.documents[wanted->plan.document_count - 1].text, wanted->shop.currency, &rules,
			&error) == 0)
		return ended;
	complain(wanted->command, "%s: %s", wanted->rules, error.text);
	return EXIT_NO;
}

static int read_wanted(struct wanted *wanted)
{
	int ended = read_words(wanted);

	if (!ended)
		ended = read_days(wanted);
	if (!ended)
		ended = command_shop(wanted->command, wanted->name, &wanted->shop);
	if (!ended)
		ended = read_conf(wanted);
	if (!ended)
		ended = read_rules(wanted);
	wanted->plan.shop = wanted->name;
	return ended;
}

/* --- how far back --- */

/* What shoppers did must be there for all of it. */
static int check_reach(const struct wanted *wanted, struct client *client, int64_t from_us)
{
	json_t *status = command_look(wanted->command, client, "status", NULL);
	json_int_t kept_us =
		json_integer_value(json_object_get(json_object_get(json_object_get(status, "kept"), "raw"), "from_us"));
	int ended = status ? EXIT_FINE : EXIT_NO;

	if (status && kept_us > from_us) {
		long long days = (clock_wall_us(&wanted->command->clock) - kept_us) / US_PER_DAY;

		complain(wanted->command,
			"it needs what shoppers did in %d days, and of that the log goes back %lld: say --days %lld",
			wanted->days, days, days > 0 ? days : 1);
		print_reach(json_object_get(status, "kept"), wanted->shop.zone);
		ended = EXIT_NO;
	}
	json_decref(status);
	return ended;
}

static int find_window(struct wanted *wanted, struct client *client)
{
	int64_t from_us = clock_wall_us(&wanted->command->clock) - wanted->days * US_PER_DAY;
	int ended = check_reach(wanted, client, from_us);

	if (!ended)
		ended = reading_find(wanted->command, client, from_us, &wanted->plan.from_seq, &wanted->plan.from_us);
	return ended;
}

/* --- reading --- */

struct reader {
	const struct wanted *wanted;
	struct rehearsal *rehearsal;
	uint64_t last; /* of the survey: what comes later is not played */
	int64_t until_us;
	size_t count;
	bool playing;
};

static void tell_progress(struct reader *reader, const struct entry *entry)
{
	uint64_t first = reader->playing ? 1 : reader->wanted->plan.from_seq;

	if (++reader->count % TELL_EVERY != 0 || !isatty(STDERR_FILENO))
		return;
	if (reader->playing && reader->last > first)
		fprintf(stderr, "\rplaying: %3llu %%",
			(unsigned long long)((entry->seq - first) * 100 / (reader->last - first)));
	else
		fprintf(stderr, "\rlooking: message %llu", (unsigned long long)entry->seq);
}

static bool read_one(const struct entry *entry, void *context)
{
	struct reader *reader = context;
	const struct message_meta said = entry_said(entry);

	if (scratch_interrupted() || (reader->playing && entry->seq > reader->last))
		return false;
	tell_progress(reader, entry);
	if (reader->playing) {
		rehearsal_hear(reader->rehearsal, &said, entry->payload);
		return true;
	}
	reader->last = entry->seq;
	reader->until_us = entry->time_us;
	rehearsal_history(reader->rehearsal, &said, entry->payload);
	return true;
}

static int read_log(struct reader *reader, struct client *client)
{
	struct reading_filter filter = {
		.from = reader->wanted->plan.from_seq, .shop = reader->wanted->name, .or_shop = SHOP_OF_ALL
	};
	int ended = reading_each(reader->wanted->command, client, &filter, read_one, reader);

	reader->playing = true;
	filter.from = 1;
	if (!ended && !scratch_interrupted())
		ended = reading_each(reader->wanted->command, client, &filter, read_one, reader);
	if (isatty(STDERR_FILENO))
		fputs("\r                              \r", stderr);
	return scratch_interrupted() ? EXIT_NO : ended;
}

static int rehearse(struct wanted *wanted, struct client *client)
{
	struct reader reader = { .wanted = wanted };
	char why[512];
	int ended;

	reader.rehearsal = rehearsal_new(&wanted->plan, why);
	if (!reader.rehearsal) {
		complain(wanted->command, "%s: %s; --scratch names another folder", wanted->plan.folder, why);
		return EXIT_NO;
	}
	ended = read_log(&reader, client);
	if (!ended) {
		const struct trial trial = { .command = wanted->command,
			.shop = wanted->name,
			.zone = wanted->shop.zone,
			.from_us = wanted->plan.from_us,
			.until_us = reader.until_us,
			.exactly = wanted->as_it_was,
			.all = wanted->all };
		size_t different;

		rehearsal_end(reader.rehearsal);
		different = trial_tell(&trial, reader.rehearsal);
		ended = wanted->as_it_was && different > 0 ? EXIT_NO : EXIT_FINE;
	}
	rehearsal_free(reader.rehearsal);
	return ended;
}

static int rehearse_in_folder(struct wanted *wanted)
{
	struct client *client = command_connect(wanted->command);
	struct scratch scratch;
	int ended = find_window(wanted, client);

	if (!ended)
		ended = scratch_make(wanted->command, wanted->scratch, &scratch);
	if (!ended) {
		wanted->plan.folder = scratch.folder;
		ended = rehearse(wanted, client);
		scratch_remove(&scratch);
	}
	client_free(client);
	return ended;
}

int command_rules_try(struct command *command, int argc, char **argv)
{
	struct wanted wanted = { .command = command, .days_text = "7", .scratch = scratch_usual() };
	const struct take takes[] = { { "days", "N", "how far back, at most 30 (7)", &wanted.days_text, NULL },
		{ "conf", "FILE", "try this shop.conf, too or alone", &wanted.conf, NULL },
		{ "as-it-was", NULL, "try nothing: the answer must be what happened, exactly", NULL,
			&wanted.as_it_was },
		{ "all", NULL, "list the mails that stay as they were, too", NULL, &wanted.all },
		SCRATCH_TAKE(wanted.scratch), { 0 } };
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "[SHOP] FILE",
			.words = wanted.words,
			.words_least = 1,
			.words_most = 2,
			.help = "Runs the carts of the last days through edited rules, with the services' own "
				"functions in "
				"virtual time, as if they had been saved then, and lists what would have been mailed "
				"to whom "
				"and when, where that is not what happened. Nothing is sent and nothing changes. Times "
				"are the shop's.\v"
				"Examples:\n  cartbus rules try demo new-rules.txt\n  cartbus rules try demo "
				"new-rules.txt "
				"--days 30 --all\n  cartbus rules try demo --conf new-shop.conf\n  cartbus rules try "
				"demo --as-it-was" });
	ended = read_wanted(&wanted);
	if (!ended)
		ended = rehearse_in_folder(&wanted);
	for (int i = 0; i < REHEARSAL_DOCUMENTS_MAX; i++)
		buffer_free(&wanted.texts[i]);
	return ended;
}
