/*
 * try.c: `cartbus rules try`: what would these texts have done to the carts of the last days?
 *
 * Promises: changes nothing; reads the log page by page, so that the broker does its work in between; holds no more of it in memory
 *           than what history decided within the days.
 * Fails by: saying how far back the log goes, when it is asked for more.
 * Read next: services/carts/rehearsal/rehearsal.h, trial.c
 */
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/reading.h"
#include "services/cartbus/shops/shops.h"
#include "services/cartbus/texts/scratch.h"
#include "services/cartbus/texts/subcommands.h"
#include "services/cartbus/texts/trial.h"

#include "bus/base/cleanup.h"
#include "services/carts/policy/rules_document.h"
#include "services/kit/documents/kinds.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
	rehearsal_survey(reader->rehearsal, &said, entry->payload);
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
