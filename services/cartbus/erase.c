/*
 * erase.c: `cartbus erase`: what is known of one shopper goes, everywhere
 *
 * In this order: he is put on the list of who is not mailed (by the keyed hash, which stays), his open carts end, all messages about him
 * lose what they hold, whoever folded them folds anew, and files beside the log go. Then it looks again, until there is nothing.
 *
 * Promises:  run again after any end, it finishes what was begun: the broker goes on by itself, and what it was not asked for yet is
 *            found as before. On record before and after, by the keyed hash alone.
 * Fails by:  saying what is left and what to do; EXIT_NO also when a file could not be looked at or removed.
 * Read next: person.c (what is about him), erase_ask.c, bus/broker/erase.c (how the log loses it)
 */
#include "services/cartbus/erase.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/topics.h"
#include "services/cartbus/files.h"
#include "services/cartbus/letters.h"
#include "services/cartbus/print.h"
#include "services/cartbus/who.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS_MOST = 10 };

/* --- what must go --- */

/* A repeat of a webhook is known by its key, which names nobody; other keys are made of cart ids. */
static bool key_names_nobody(const struct topic *topic)
{
	return topic == &topic_cart_changed || topic == &topic_cart_checkout;
}

static bool take(const struct entry *entry, void *context)
{
	struct erasure *erasure = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;

	if (person_tie(erasure->person, entry, topic, message) == PERSON_CLEAR)
		json_array_append_new(key_names_nobody(topic) ? erasure->messages : erasure->with_keys,
			json_integer((json_int_t)entry->seq));
	return true;
}

static bool is_taken(const json_t *numbers, uint64_t seq)
{
	const json_t *number;
	size_t i;

	json_array_foreach(numbers, i, number)
	{
		if (json_integer_value(number) == (json_int_t)seq)
			return true;
	}
	return false;
}

/* One whose message has left the log was not met there. */
static int take_dead(const json_t *letter, void *context)
{
	struct erasure *erasure = context;
	_cleanup_(buffer_free) struct buffer payload = { 0 };
	json_t *whole = person_letter(erasure->command, erasure->client, letter);
	struct entry entry;
	void *message;

	if (!whole)
		return EXIT_NO;
	message = person_letter_read(whole, &payload, &entry);
	if (person_tie(erasure->person, &entry, topic_of(entry.topic), message) == PERSON_CLEAR &&
		!is_taken(erasure->messages, entry.seq) && !is_taken(erasure->with_keys, entry.seq))
		json_array_append_new(erasure->messages, json_integer((json_int_t)entry.seq));
	free(message);
	json_decref(whole);
	return EXIT_FINE;
}

static int look(struct erasure *erasure, const char *who)
{
	int failed;

	person_free(erasure->person);
	json_array_clear(erasure->messages);
	json_array_clear(erasure->with_keys);
	erasure->person = person_find(erasure->command, erasure->client, erasure->shop, who);
	if (!erasure->person)
		return EXIT_NO;
	failed = reading_each(
		erasure->command, erasure->client, &(struct reading_filter){ .shop = erasure->shop }, take, erasure);
	if (!failed)
		failed = letters_each(erasure->command, erasure->client, json_pack("{s:s}", "shop", erasure->shop),
			take_dead, erasure);
	return failed;
}

static size_t found(const struct erasure *erasure)
{
	return json_array_size(erasure->messages) + json_array_size(erasure->with_keys);
}

/* --- he is not mailed any more --- */

static int say_optout(struct erasure *erasure, const char *hash)
{
	OptoutRequest asked = { .source = OPTOUT_PRIVACY, .heard_us = clock_wall_us(&erasure->command->clock) };
	struct client_said said;
	char idem[64], why[256];

	TEXT_COPY(asked.address_hash, hash);
	text_random_name(idem);
	if (CLIENT_SAY(erasure->client, optout_request, &asked, &said, why, .shop = erasure->shop, .key = hash,
		    .idem = idem) == 0)
		return EXIT_FINE;
	complain(erasure->command, "nothing was erased: %s", why);
	return EXIT_NO;
}

static int close_cart(struct erasure *erasure, const char *cart_id)
{
	AdminAction action = { .verb = ADMIN_SUPPRESS_CART, .at_us = clock_wall_us(&erasure->command->clock) };
	struct client_said said;
	char idem[64], why[256];

	TEXT_COPY(action.cart_id, cart_id);
	TEXT_COPY(action.who, who_am_i());
	TEXT_COPY(action.reason, "erased");
	text_random_name(idem);
	if (CLIENT_SAY(erasure->client, admin_action, &action, &said, why, .shop = erasure->shop, .key = cart_id,
		    .idem = idem) == 0)
		return EXIT_FINE;
	complain(erasure->command, "nothing was erased: %s", why);
	return EXIT_NO;
}

static int stop_mails(struct erasure *erasure)
{
	int ended = EXIT_FINE;

	for (size_t i = 0; !ended && person_hash(erasure->person, i); i++)
		ended = say_optout(erasure, person_hash(erasure->person, i));
	for (size_t i = 0; !ended && person_cart(erasure->person, i); i++)
		ended = close_cart(erasure, person_cart(erasure->person, i));
	return ended ? ended : erase_wait_settled(erasure);
}

/* --- files --- */

/* Our own files go; what somebody may have taken over already is named. */
static void take_file(enum files_of kind, const char *path, void *context)
{
	struct erasure *erasure = context;
	bool goes = kind != FILES_EXPORTS && !erasure->dry_run;

	if (goes && unlink(path) < 0 && errno != ENOENT) {
		complain(erasure->command, "%s could not be removed: %s", path, strerror(errno));
		goes = false;
		erasure->files_left = true;
	}
	json_array_append_new(erasure->files,
		json_pack("{s:s,s:s,s:b}", "what", files_word(kind), "path", path, "removed", (int)goes));
}

static void take_files(struct erasure *erasure)
{
	if (files_each(erasure->command, erasure->person, take_file, erasure) != EXIT_FINE)
		erasure->files_left = true;
}

/* --- all of it --- */

static int record(struct erasure *erasure, const char *words)
{
	char grounds[200];

	snprintf(grounds, sizeof(grounds), "%s%s%s", words, *erasure->reason ? ": " : "", erasure->reason);
	return person_record(erasure->command, erasure->client, erasure->shop, "erase", erasure->person, grounds);
}

static int erase_rounds(struct erasure *erasure, const char *who)
{
	int ended = EXIT_FINE;

	for (int round = 0; !ended && found(erasure) > 0; round++) {
		if (round == ROUNDS_MOST) {
			complain(erasure->command, "messages about this person keep coming: run it again");
			return EXIT_NO;
		}
		erasure->erased += found(erasure);
		ended = erase_ask(erasure);
		if (!ended)
			ended = look(erasure, who);
	}
	return ended;
}

static void tell(const struct erasure *erasure)
{
	json_t *whole = json_pack("{s:s,s:b,s:I,s:O}", "shop", erasure->shop, "dry_run", (int)erasure->dry_run,
		"messages", (json_int_t)erasure->erased, "files", erasure->files);
	const json_t *file;
	size_t i;

	if (erasure->command->json) {
		json_print(whole);
		json_decref(whole);
		return;
	}
	printf("%s %zu messages\n", erasure->dry_run ? "would erase" : "erased", erasure->erased);
	json_array_foreach(erasure->files, i, file) printf("%s %s: %s\n",
		json_is_true(json_object_get(file, "removed")) ? "removed" : "look at",
		json_string_value(json_object_get(file, "what")), json_string_value(json_object_get(file, "path")));
	if (!erasure->dry_run)
		puts("Backups that were made before hold him still: delete them, and what a restore put aside "
		     "(before-restore-*). The keyed hash of the address stays on the list of who is not mailed.");
	json_decref(whole);
}

static int erase(struct erasure *erasure, const char *who)
{
	int ended = look(erasure, who);

	if (ended)
		return ended;
	if (erasure->dry_run) {
		erasure->erased = found(erasure);
		take_files(erasure);
		tell(erasure);
		return erasure->files_left ? EXIT_NO : EXIT_FINE;
	}
	ended = erase_wait_idle(erasure);
	ended = ended ? ended : record(erasure, "asked for");
	ended = ended ? ended : stop_mails(erasure);
	ended = ended ? ended : look(erasure, who);
	if (ended)
		return ended;
	take_files(erasure);
	ended = erase_rounds(erasure, who);
	ended = ended ? ended : record(erasure, erasure->files_left ? "done, but for files" : "done");
	if (!ended)
		tell(erasure);
	return ended ? ended : erasure->files_left ? EXIT_NO : EXIT_FINE;
}

int command_erase(struct command *command, int argc, char **argv)
{
	struct erasure erasure = { .command = command, .reason = "" };
	bool yes = false;
	const char *words[2];
	const struct take takes[] = { { "dry-run", NULL, "say what would go, and change nothing", NULL,
					      &erasure.dry_run },
		{ "yes", NULL, "it cannot be undone, and I mean it", NULL, &yes },
		{ "reason", "TEXT", "why, for the record; name nobody in it", &erasure.reason, NULL }, { 0 } };
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.words_help = "SHOP ADDRESS|CUSTOMER",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Erases what is known of one shopper: all messages about the shopper's carts lose what "
				"they hold, in the log, among the dead letters and in every service's state, and files "
				"beside it go. The address stays on the list of who is not mailed, as a keyed hash. "
				"Services fold the log anew meanwhile. Run it on the broker's machine; run again, it "
				"goes on.\v"
				"Examples:\n  cartbus erase demo huber@example.com --dry-run\n"
				"  cartbus erase demo huber@example.com --yes --reason 'letter of 21 November'" });
	if (!yes && !erasure.dry_run) {
		complain(command, "this cannot be undone: look with --dry-run, then say --yes");
		return EXIT_USAGE;
	}
	erasure.shop = words[0];
	erasure.messages = json_array();
	erasure.with_keys = json_array();
	erasure.files = json_array();
	erasure.client = command_connect(command);
	ended = erase(&erasure, words[1]);
	client_free(erasure.client);
	person_free(erasure.person);
	json_decref(erasure.messages);
	json_decref(erasure.with_keys);
	json_decref(erasure.files);
	return ended;
}
