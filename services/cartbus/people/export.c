/*
 * export.c: `cartbus export`: prints everything that is known of one shopper, for that shopper
 *
 * Promises:  reads only, and puts on record who asked, when, and about which person (by the keyed hash).
 *            Nothing is masked. The export has everything that `cartbus erase` would erase, and also what it
 *            would leave.
 * Fails by:  EXIT_NO when nothing is known, or when a file could not be read: then it still prints what is
 *            known.
 * Read next: data_subject.c (which messages are about the person), erase.c
 */
#include "services/cartbus/core/print.h"
#include "services/cartbus/core/record.h"
#include "services/cartbus/people/files.h"
#include "services/cartbus/people/subcommands.h"
#include "services/cartbus/recover/dead_letters.h"
#include "services/cartbus/shops/shops.h"
#include "services/carts/words/describe.h"

#include "bus/base/cleanup.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct exporting {
	const struct command *command;
	struct client *client;
	struct data_subject *data_subject;
	const char *shop;
	json_t *sections[6], *dead, *files; /* arrays */
	int files_ended;
};

enum section { SECTION_CARTS, SECTION_PURCHASES, SECTION_SENDS, SECTION_SUPPRESSIONS, SECTION_AUDIT, SECTION_OTHER };

static const char *const section_names[] = { "carts", "purchases", "sends", "suppressions", "audit", "other" };

static enum section section_of(const char *topic)
{
	static const struct {
		const char *begins;
		enum section section;
	} sections[] = { { "cart.checkout", SECTION_PURCHASES }, { "cart.", SECTION_CARTS },
		{ "timer.", SECTION_CARTS }, { "reminder.", SECTION_SENDS }, { "send.", SECTION_SENDS },
		{ "link.", SECTION_SENDS }, { "suppression", SECTION_SUPPRESSIONS },
		{ "optout.", SECTION_SUPPRESSIONS }, { "mail.", SECTION_SUPPRESSIONS },
		{ "admin.", SECTION_SUPPRESSIONS }, { "audit", SECTION_AUDIT } };

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		if (strncmp(topic, sections[i].begins, strlen(sections[i].begins)) == 0)
			return sections[i].section;
	}
	return SECTION_OTHER;
}

static json_t *clear_json(const struct entry *entry, const struct topic *topic, const void *message)
{
	json_t *object = json_pack("{s:I,s:I,s:s,s:s,s:s}", "seq", (json_int_t)entry->seq, "time_us",
		(json_int_t)entry->time_us, "topic", entry->topic, "key", entry->key, "said_by", entry->said_by);

	if (message)
		json_object_set_new(object, "payload", message_to_clear_json(topic, message));
	return object;
}

static bool take(const struct entry *entry, void *context)
{
	struct exporting *exporting = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic ? payload_decode(topic, entry->payload) : NULL;

	if (data_subject_tie(exporting->data_subject, entry, topic, message) != DATA_SUBJECT_NOT)
		json_array_append_new(exporting->sections[section_of(entry->topic)], clear_json(entry, topic, message));
	return true;
}

/* Takes a dead letter about the person, with its payload; its message may no longer be in the log. */
static int take_dead(const json_t *dead_letter, void *context)
{
	struct exporting *exporting = context;
	_cleanup_(buffer_free) struct buffer payload = { 0 };
	json_t *whole = data_subject_dead_letter(exporting->command, exporting->client, dead_letter);
	struct entry entry;
	void *message;

	if (!whole)
		return EXIT_NO;
	message = data_subject_dead_letter_read(whole, &payload, &entry);
	if (data_subject_tie(exporting->data_subject, &entry, topic_of(entry.topic), message) != DATA_SUBJECT_NOT) {
		json_object_set_new(whole, "payload",
			message ? message_to_clear_json(topic_of(entry.topic), message) : json_null());
		json_array_append(exporting->dead, whole);
	}
	free(message);
	json_decref(whole);
	return EXIT_FINE;
}

static void take_file(const struct found_file *file, void *context)
{
	struct exporting *exporting = context;

	json_array_append_new(
		exporting->files, json_pack("{s:s,s:s}", "what", files_word(file->kind), "path", file->path));
}

/* The number of messages in gateways' spools: nobody can search them before the broker has them. */
static json_int_t spooled(const struct exporting *exporting)
{
	json_t *status = command_look(exporting->command, exporting->client, "status", NULL);
	const json_t *session;
	json_int_t sum = 0;
	size_t i;

	json_array_foreach(json_object_get(status, "sessions"), i, session) sum +=
		json_integer_value(json_object_get(session, "spooled"));
	json_decref(status);
	return sum;
}

typedef const char *each_text(const struct data_subject *data_subject, size_t i);

static json_t *texts_json(const struct data_subject *data_subject, each_text *text)
{
	json_t *array = json_array();

	for (size_t i = 0; text(data_subject, i); i++)
		json_array_append_new(array, json_string(text(data_subject, i)));
	return array;
}

static json_t *whole_json(const struct exporting *exporting)
{
	json_t *whole = json_pack("{s:s,s:o,s:o,s:o}", "shop", exporting->shop, "addresses",
		texts_json(exporting->data_subject, data_subject_address), "customer_ids",
		texts_json(exporting->data_subject, data_subject_customer), "keyed_hashes",
		texts_json(exporting->data_subject, data_subject_hash));

	for (size_t i = 0; i < sizeof(section_names) / sizeof(*section_names); i++)
		json_object_set(whole, section_names[i], exporting->sections[i]);
	json_object_set(whole, "dead_letters", exporting->dead);
	json_object_set(whole, "files", exporting->files);
	json_object_set_new(whole, "spooled_at_gateways", json_integer(spooled(exporting)));
	return whole;
}

/* Prints JSON as lines of words, so that a reader needs no braces to learn what is known of the person. */
static void print_value(const char *name, const json_t *value, int depth)
{
	_cleanup_free_ char *text = json_is_string(value) ? strdup(json_string_value(value))
							  : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	const char *inner;
	json_t *each;
	size_t i;

	if (json_is_object(value)) {
		printf("%*s%s\n", depth, "", name);
		json_object_foreach((json_t *)value, inner, each) print_value(inner, each, depth + 2);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, each) print_value(name, each, depth);
	} else {
		if (text)
			text_make_plain(text);
		printf("%*s%-16s %s\n", depth, "", name, text ? text : "");
	}
}

static void print_section(const char *name, const json_t *entries, const char *zone)
{
	const json_t *entry;
	size_t i;

	if (json_array_size(entries) > 0)
		printf("\n%s\n", name);
	json_array_foreach(entries, i, entry)
	{
		const char *inner, *topic = json_string_value(json_object_get(entry, "topic"));
		json_t *value;
		char at[40];

		describe_time(zone, json_integer_value(json_object_get(entry, "time_us")), at);
		printf("  %s  %s\n", at, topic ? topic : "");
		json_object_foreach(json_object_get(entry, "payload"), inner, value) print_value(inner, value, 4);
	}
}

static void print_whole(const struct exporting *exporting, const json_t *whole)
{
	const char *zone = zone_of_shop(exporting->command, exporting->shop);

	printf("What %s knows of this person (times in %s)\n", exporting->shop, zone);
	print_value("address", json_object_get(whole, "addresses"), 2);
	print_value("customer id", json_object_get(whole, "customer_ids"), 2);
	for (size_t i = 0; i < sizeof(section_names) / sizeof(*section_names); i++)
		print_section(section_names[i], exporting->sections[i], zone);
	print_section("dead letters", exporting->dead, zone);
	if (json_array_size(exporting->files) > 0)
		puts("\nfiles");
	print_value("file", exporting->files, 2);
	if (json_integer_value(json_object_get(whole, "spooled_at_gateways")) > 0)
		puts("\nGateways hold what the broker has not got yet: ask again when `cartbus status` is green.");
}

static int collect(struct exporting *exporting)
{
	int failed = reading_each(exporting->command, exporting->client,
		&(struct reading_filter){ .shop = exporting->shop }, take, exporting);

	if (!failed)
		failed = dead_letters_each(exporting->command, exporting->client,
			json_pack("{s:s}", "shop", exporting->shop), take_dead, exporting);
	if (!failed)
		exporting->files_ended = files_each(exporting->command, exporting->data_subject, take_file, exporting);
	return failed;
}

static size_t known(const struct exporting *exporting)
{
	size_t count = json_array_size(exporting->dead) + json_array_size(exporting->files);

	for (size_t i = 0; i < sizeof(section_names) / sizeof(*section_names); i++)
		count += json_array_size(exporting->sections[i]);
	return count;
}

static int export(struct exporting *exporting, const char *who)
{
	json_t *whole;
	int ended;

	ended = shops_know(exporting->command, exporting->client, exporting->shop);
	if (ended)
		return ended;
	exporting->data_subject = data_subject_find(exporting->command, exporting->client, exporting->shop, who);
	ended = exporting->data_subject ? collect(exporting) : EXIT_NO;
	if (!ended && known(exporting) == 0) {
		complain(exporting->command, "%s knows nothing of this person", exporting->shop);
		ended = EXIT_NO;
	}
	if (!ended) /* an export that is not on record is not shown */
		ended = data_subject_record(exporting->command, exporting->client, exporting->shop, "export",
			exporting->data_subject, "everything that is known of this person was shown");
	if (ended)
		return ended;
	whole = whole_json(exporting);
	if (exporting->command->json)
		json_print(whole);
	else
		print_whole(exporting, whole);
	json_decref(whole);
	return exporting->files_ended;
}

int command_export(struct command *command, int argc, char **argv)
{
	struct exporting exporting = { .command = command, .dead = json_array(), .files = json_array() };
	const char *words[2];
	int ended;

	command_take(command, argc, argv,
		&(struct arguments){ .words_help = "SHOP ADDRESS|CUSTOMER",
			.words = words,
			.words_least = 2,
			.words_most = 2,
			.help = "Prints everything that is known of one shopper, unmasked: carts, purchases, mails, "
				"suppressions, the record, dead letters and files. CUSTOMER is the storefront's "
				"customer id. The request itself is put on record.\v"
				"Examples:\n  cartbus export demo huber@example.com\n"
				"  cartbus export demo huber@example.com --json > huber.json" });
	exporting.shop = words[0];
	for (size_t i = 0; i < sizeof(section_names) / sizeof(*section_names); i++)
		exporting.sections[i] = json_array();
	exporting.client = command_connect(command);
	ended = export(&exporting, words[1]);
	client_free(exporting.client);
	data_subject_free(exporting.data_subject);
	for (size_t i = 0; i < sizeof(section_names) / sizeof(*section_names); i++)
		json_decref(exporting.sections[i]);
	json_decref(exporting.dead);
	json_decref(exporting.files);
	return ended;
}
