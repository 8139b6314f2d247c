/*
 * erase.c: `cartbus erase`: erases everything that is known of one shopper
 *
 * The order is: erasures.json notes that the person is to be erased (erasures.h). The keyed hash of the
 * person's address, which stays, is put on the list of people who are not mailed. The person's open carts
 * end. Files beside the log are removed. All messages about the person lose their contents, and the services
 * that folded them fold anew. The command looks again until it finds nothing. Then the storefront's requests
 * about the person are settled and erased. At last the person is erased from the backups. No backup is made
 * meanwhile.
 *
 * Promises:  a second run finishes an erasure that was cut short: the broker goes on by itself, and messages
 *            that it was not asked to erase yet are found as before. The record tells of the erasure before
 *            and after it, by the keyed hash alone. At the end the command tells what it reached, and what
 *            only the owner can do.
 * Fails by:  telling what is left and what to do; EXIT_NO also when a file or a backup could not be read or
 *            changed.
 * Read next: erase_look.c (which messages are erased), erase_files.c, erase_copy.c (backups),
 *            bus/broker/admin/erase.c (how the broker erases them), bus/broker/admin/answer_erase.c
 */
#include "services/cartbus/people/erase.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/people/erase_copy.h"
#include "services/cartbus/people/erasures.h"
#include "services/cartbus/people/subcommands.h"
#include "services/cartbus/shops/shops.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- having the broker erase, and waiting for it ---- */

enum {
	NUMBERS_AT_ONCE = 150, /* in one question, which holds 4,096 bytes */
	LOOKS_MOST = 18000,    /* an hour: files of many gigabytes are rewritten */
	SETTLE_LOOKS = 300     /* a minute */
};
static const struct timespec LOOK_EVERY = { .tv_nsec = 200 * 1000 * 1000 };

typedef bool done_fn(const json_t *answer, const void *context);

/* Repeats the question until done() accepts the answer; complains after `looks` questions. */
static int wait_for(
	struct erasure *erasure, const char *verb, done_fn *done, const void *context, int looks, const char *what)
{
	for (int i = 0; i < looks; i++) {
		json_t *answer = command_look(erasure->command, erasure->client, verb, NULL);
		bool is_done = answer && done(answer, context);

		json_decref(answer);
		if (is_done)
			return EXIT_FINE;
		if (!answer)
			return EXIT_NO;
		nanosleep(&LOOK_EVERY, NULL);
	}
	complain(erasure->command, "%s; run it again when that is over", what);
	return EXIT_NO;
}

static bool is_idle(const json_t *answer, const void *context)
{
	(void)context;
	return !json_is_true(json_object_get(answer, "running"));
}

static bool nothing_is_spooled(const json_t *status, const void *context)
{
	const json_t *session;
	size_t i;

	(void)context;
	json_array_foreach(json_object_get(status, "sessions"), i, session)
	{
		if (json_integer_value(json_object_get(session, "spooled")) > 0)
			return false;
	}
	return true;
}

int erase_wait_idle(struct erasure *erasure)
{
	int ended = wait_for(erasure, "erasure", is_idle, NULL, LOOKS_MOST, "another erasure is running");

	return ended ? ended
		     : wait_for(erasure, "status", nothing_is_spooled, NULL, SETTLE_LOOKS,
			       "a gateway holds what the broker has not got yet");
}

static bool is_settled(const json_t *queues, const void *context)
{
	const int64_t *said_us = context;
	const json_t *queue;
	size_t i;

	json_array_foreach(json_object_get(queues, "queues"), i, queue)
	{
		const char *name = json_string_value(json_object_get(queue, "name"));
		json_int_t oldest_us;

		if (!name || (strcmp(name, "intake") != 0 && strcmp(name, "unsub") != 0))
			continue;
		oldest_us = json_integer_value(json_object_get(queue, "oldest_us"));
		if (json_integer_value(json_object_get(queue, "ready")) +
					json_integer_value(json_object_get(queue, "leased")) >
				0 &&
			oldest_us <= *said_us)
			return false;
	}
	return true;
}

/* Waits until intake and unsub have handled all messages that were published up to now; else says `what`. */
static int erase_wait_settled(struct erasure *erasure, const char *what)
{
	/* log time: the broker has this machine's clock */
	int64_t said_us = clock_wall_us(&erasure->command->clock) + US_PER_S;

	return wait_for(erasure, "queues", is_settled, &said_us, SETTLE_LOOKS, what);
}

/* The next numbers from *at on, at most NUMBERS_AT_ONCE. */
static json_t *some(const json_t *numbers, size_t *at)
{
	json_t *list = json_array();

	for (int i = 0; i < NUMBERS_AT_ONCE && *at < json_array_size(numbers); i++, ++*at)
		json_array_append(list, json_array_get(numbers, *at));
	return list;
}

static int ask_all(struct erasure *erasure)
{
	size_t messages = 0, with_keys = 0;
	bool begins = true, more = true;

	while (more) {
		json_t *first = some(erasure->messages, &messages), *second = some(erasure->with_keys, &with_keys),
		       *answer;

		more = messages < json_array_size(erasure->messages) || with_keys < json_array_size(erasure->with_keys);
		answer = command_ask(erasure->command, erasure->client, "erase",
			json_pack("{s:b,s:o,s:o,s:b}", "begin", (int)begins, "messages", first, "with_keys", second,
				"run", (int)!more));
		json_decref(answer);
		if (!answer)
			return EXIT_NO;
		begins = false;
	}
	return EXIT_FINE;
}

struct folding {
	const json_t *before; /* the sessions before the erasure */
	json_int_t head;
};

static bool is_same(const json_t *one, const json_t *other)
{
	return json_equal(json_object_get(one, "service"), json_object_get(other, "service")) &&
		json_equal(json_object_get(one, "instance"), json_object_get(other, "instance"));
}

static bool has_folded(const json_t *sessions, const json_t *before, json_int_t head)
{
	const json_t *session;
	size_t i;

	json_array_foreach(sessions, i, session)
	{
		if (is_same(session, before) && json_integer_value(json_object_get(session, "cursor")) >= head)
			return true;
	}
	return false;
}

/* true: each service that had a session has one again, and has folded the log up to `head`. */
static bool all_have_folded(const json_t *status, const void *context)
{
	const struct folding *folding = context;
	const json_t *before;
	size_t i;

	json_array_foreach(folding->before, i, before)
	{
		const char *service = json_string_value(json_object_get(before, "service"));

		if (service && strcmp(service, "cartbus") != 0 &&
			!has_folded(json_object_get(status, "sessions"), before, folding->head))
			return false;
	}
	return true;
}

static int wait_folded(struct erasure *erasure, const json_t *before)
{
	json_t *status = command_look(erasure->command, erasure->client, "status", NULL);
	struct folding folding = { .before = before, .head = json_integer_value(json_object_get(status, "head")) };

	json_decref(status);
	return status ? wait_for(erasure, "status", all_have_folded, &folding, LOOKS_MOST, "services are folding anew")
		      : EXIT_NO;
}

int erase_ask(struct erasure *erasure)
{
	json_t *status = command_look(erasure->command, erasure->client, "status", NULL);
	int ended = status ? ask_all(erasure) : EXIT_NO;

	if (!ended && !erasure->command->json && !erasure->is_quiet) {
		fprintf(stderr, "the broker erases %zu messages; from here on it goes on by itself\n",
			json_array_size(erasure->messages) + json_array_size(erasure->with_keys));
		fflush(stderr);
	}
	ended = ended ? ended : wait_for(erasure, "erasure", is_idle, NULL, LOOKS_MOST, "the broker is still at work");
	ended = ended ? ended : wait_folded(erasure, json_object_get(status, "sessions"));
	json_decref(status);
	return ended;
}

/* ---- the steps of an erasure ---- */

struct erase {
	struct erasure erasure;
	struct reached reached;
	char id[33];
	json_t *again;  /* a list of erasures with this one alone */
	json_t *open;   /* ids of the storefront's requests, as found before anything was erased */
	size_t settled; /* the number of settled requests */
};

/* --- the person is not mailed any more --- */

static int act(struct erasure *erasure, AdminAction *action, const char *key)
{
	struct client_said said;
	char idem[64], why[256];

	action->at_us = clock_wall_us(&erasure->command->clock);
	TEXT_COPY(action->who, operator_name());
	text_random_name(idem);
	if (CLIENT_SAY(erasure->client, admin_action, action, &said, why, .shop = erasure->shop, .key = key,
		    .idem = idem) == 0)
		return EXIT_FINE;
	complain(erasure->command, "it did not come to its end: %s", why);
	return EXIT_NO;
}

static int close_cart(struct erasure *erasure, const char *cart_id)
{
	AdminAction action = { .verb = ADMIN_SUPPRESS_CART };

	TEXT_COPY(action.cart_id, cart_id);
	TEXT_COPY(action.reason, "erased");
	return act(erasure, &action, cart_id);
}

static int stop_mails(struct erasure *erasure)
{
	int ended = erase_say_optouts(erasure);

	for (size_t i = 0; !ended && data_subject_cart(erasure->data_subject, i); i++)
		ended = close_cart(erasure, data_subject_cart(erasure->data_subject, i));
	return ended ? ended
		     : erase_wait_settled(erasure,
			       "intake and unsub have not heard that this person is not mailed any more: do they run? "
			       "Nothing was erased");
}

/* --- the storefront's requests are settled --- */

static int settle_requests(struct erase *erase)
{
	struct erasure *erasure = &erase->erasure;
	const char *id;
	const json_t *open;
	int ended = EXIT_FINE;

	json_object_foreach(erase->open, id, open)
	{
		AdminAction action = { .verb = ADMIN_SETTLE_PRIVACY };

		TEXT_COPY(action.request_id, id);
		TEXT_COPY(action.reason, "erased");
		ended = ended ? ended : act(erasure, &action, id);
		erase->settled++;
	}
	return ended || erase->settled == 0
		? ended
		: erase_wait_settled(erasure,
			  "intake and unsub have not heard that the privacy requests are settled: do they run? Everything "
			  "but the requests is erased");
}

/*
 * Erases the rows of the requests after all else: if the command is cut short, the requests are still open
 * after the next start.
 */
static int erase_messages(struct erase *erase)
{
	struct erasure *erasure = &erase->erasure;
	int ended;

	erasure->takes_requests = json_object_size(erase->open) == 0;
	ended = erase_look(erasure);
	ended = ended ? ended : erase_rounds(erasure);
	if (ended || erasure->takes_requests)
		return ended;
	ended = settle_requests(erase);
	erasure->takes_requests = true;
	/* some requests have only a customer id; by now only `again` tells that it is the person's */
	erasure->who = NULL;
	ended = ended ? ended : erase_look(erasure);
	return ended ? ended : erase_rounds(erasure);
}

/* --- the whole erasure --- */

static int record(const struct erasure *erasure, const char *words)
{
	char grounds[200];

	snprintf(grounds, sizeof(grounds), "%s%s%s", words, *erasure->reason ? ": " : "", erasure->reason);
	return data_subject_record(
		erasure->command, erasure->client, erasure->shop, "erase", erasure->data_subject, grounds);
}

static int print_erased(const struct erase *erase)
{
	const struct erasure *erasure = &erase->erasure;
	const struct reached *reached = &erase->reached;
	size_t came_back = erasure->dry_run ? 0 : erase_found(erasure);
	size_t requests = erasure->dry_run ? json_object_size(erasure->requests) : erase->settled;
	json_int_t blobs = (json_int_t)(erasure->dry_run ? json_array_size(erasure->blobs) : erasure->blobs_removed);
	json_t *whole = json_pack("{s:s,s:b,s:I,s:I,s:I,s:I,s:I,s:O,s:O,s:O}", "shop", erasure->shop, "dry_run",
		(int)erasure->dry_run, "messages", (json_int_t)erasure->erased, "came_back", (json_int_t)came_back,
		"requests", (json_int_t)requests, "blobs", blobs, "blobs_kept", (json_int_t)erasure->blobs_kept,
		"files", reached->files, "backups", reached->backups, "by_hand", reached->by_hand);

	if (erasure->command->json) {
		json_print(whole);
	} else {
		printf("%s %zu messages in the log and among the dead letters, and every service's state of them\n",
			erasure->dry_run ? "would erase" : "erased", erasure->erased);
		if (requests > 0)
			printf("%s %zu privacy requests\n", erasure->dry_run ? "would settle" : "settled", requests);
		if (blobs > 0)
			printf("%s %lld blobs that these messages name\n",
				erasure->dry_run ? "would release" : "removed", (long long)blobs);
		if (erasure->blobs_kept > 0)
			printf("kept %llu blobs that messages of others name as well\n",
				(unsigned long long)erasure->blobs_kept);
		if (came_back > 0)
			printf("this person came back meanwhile: %zu messages stand, as of somebody new\n", came_back);
		reached_print(reached, erasure->dry_run);
	}
	json_decref(whole);
	return reached->failed ? EXIT_NO : EXIT_FINE;
}

static int try_dry(struct erase *erase)
{
	erase->erasure.erased = erase_found(&erase->erasure);
	erase_files(&erase->erasure, &erase->reached);
	erase_copies(erase->erasure.command, true, &erase->reached);
	erase_by_hand(&erase->erasure, &erase->reached);
	return print_erased(erase);
}

/*
 * `first` has what was known of the person before the erasure, and finds the person's files. After the
 * erasure the log does not tell it any more.
 */
static int erase_all(struct erase *erase, struct erasure *first)
{
	struct erasure *erasure = &erase->erasure;
	int ended = erase_wait_idle(erasure);

	ended = ended ? ended
		      : erasures_begin(erasure->command, erasure->shop, strchr(erasure->who, '@'), first->data_subject,
				erase->id);
	erasure->again = erase->again = ended ? NULL : erasures_one(erasure->command, erase->id);
	ended = ended ? ended : record(first, "asked for");
	ended = ended ? ended : erase_look(erasure);
	ended = ended ? ended : stop_mails(erasure);
	if (ended)
		return ended;
	erase_files(first, &erase->reached);
	erase_by_hand(first, &erase->reached);
	if (!erasure->command->json) /* printed before the messages are erased, which may fail */
		reached_print_by_hand(&erase->reached, stderr);
	ended = erase_messages(erase);
	if (ended)
		return ended;
	erase_files(first, &erase->reached); /* files that were written meanwhile */
	ended = record(first, erase->reached.failed ? "done, but for files" : "done");
	ended = ended ? ended : erasures_done(erasure->command, erase->id);
	if (ended)
		return ended;
	client_free(TAKE(erasure->client)); /* the backups take a long time */
	erase_copies(erasure->command, false, &erase->reached);
	return print_erased(erase);
}

/* The note of a restore has ids of carts, and its release publishes them again. */
static int check_restored(const struct command *command)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), "%s/restore.json", config_get(command->config, "paths", NULL, "state"));
	if (access(path, F_OK) < 0)
		return EXIT_FINE;
	complain(command, "a restore is not released yet: cartbus restore --release first");
	return EXIT_NO;
}

static int erase(struct erase *erase)
{
	struct erasure first = erase->erasure;
	int lock = -1, ended;

	first.takes_requests = true;
	/* a removed shop too: the log still has its messages */
	ended = shops_know(first.command, first.client, first.shop);
	ended = ended ? ended : erase_look(&first);
	if (!ended && first.dry_run) {
		erase->erasure = first;
		return try_dry(erase);
	}
	erase->open = json_incref(first.requests);
	ended = ended ? ended : backup_lock(first.command, &lock);
	ended = ended ? ended : check_restored(first.command);
	ended = ended ? ended : erase_all(erase, &first);
	if (lock >= 0)
		close(lock);
	erasure_free(&first);
	return ended;
}

int command_erase(struct command *command, int argc, char **argv)
{
	struct erase erased = { .erasure = { .command = command, .reason = "" } };
	struct erasure *erasure = &erased.erasure;
	bool yes = false;
	const char *words[2];
	const struct take takes[] = { { "dry-run", NULL, "say what would go, and change nothing", NULL,
					      &erasure->dry_run },
		{ "yes", NULL, "it cannot be undone, and I mean it", NULL, &yes },
		{ "reason", "TEXT", "why, for the record; name nobody in it", &erasure->reason, NULL }, { 0 } };
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP ADDRESS|CUSTOMER",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Erases what is known of one shopper: all messages about the shopper's carts lose what "
				"they hold, in the log, among the dead letters, in every service's state and in the "
				"backups that were made here, and files beside it go. The address stays on the list of "
				"who is not mailed, as a keyed hash; what storefronts asked for on behalf of this "
				"person is settled. It ends by saying what it reached and what you have to do "
				"yourself. Services fold the log anew meanwhile. Run it on the broker's machine; run "
				"again, it goes on.\v"
				"Examples:\n  cartbus erase demo huber@example.com --dry-run\n"
				"  cartbus erase demo huber@example.com --yes --reason 'letter of 21 November'" });
	if (!yes && !erasure->dry_run) {
		complain(command, "this cannot be undone: look with --dry-run, then say --yes");
		return EXIT_USAGE;
	}
	erasure->shop = words[0];
	erasure->who = words[1];
	reached_init(&erased.reached);
	erasure->client = command_connect(command);
	ended = erase(&erased);
	client_free(erasure->client);
	erasure_free(erasure);
	json_decref(erased.again);
	json_decref(erased.open);
	reached_free(&erased.reached);
	return ended;
}
