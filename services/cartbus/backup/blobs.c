/*
 * blobs.c: `cartbus blobs`: what lies beside the log as files, and is it all there?
 *
 * Promises:  changes nothing. With --verify each blob is read and hashed, and while the broker runs each blob that a message of the log
 *            names is looked for.
 * Fails by:  EXIT_NO where one is damaged or missing, EXIT_AWAY where the log could not be asked.
 * Read next: backup_blobs.c, services/kit/blobs/blob_places.h
 */
#include "services/cartbus/backup/blobs.h"
#include "services/cartbus/backup/backup_blobs.h"
#include "services/cartbus/backup/subcommands.h"

#include "bus/base/cleanup.h"
#include "proto/topics.h"
#include "services/cartbus/core/print.h"
#include "services/kit/blobs/blob_places.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what there is --- */

static int describe_store(void *context, const struct blob_place *place)
{
	_cleanup_(blob_store_closep) struct blob_store *store = NULL;
	int r = blob_store_open_to_read(place->path, &store);

	if (r == 0)
		r = blob_store_count(store);
	if (r == 0) {
		struct blob_counts counts = blob_store_counts(store);

		json_array_append_new(context,
			json_pack("{s:s,s:s,s:s,s:I,s:I,s:I}", "shop", place->shop, "process", place->process, "use",
				place->use, "blobs", (json_int_t)counts.files, "bytes", (json_int_t)counts.bytes,
				"oldest_us", (json_int_t)blob_store_oldest_us(store)));
	}
	return r == -ENOENT ? 0 : r;
}

static void print_stores(const json_t *stores)
{
	const json_t *store;
	size_t i;

	if (json_array_size(stores) == 0)
		puts("There are no blobs: no process has taken in a large content.");
	json_array_foreach(stores, i, store) printf("%-20s  %-10s  %-16s  %8lld blobs  %10.1f MiB\n",
		json_string_value(json_object_get(store, "shop")), json_string_value(json_object_get(store, "process")),
		json_string_value(json_object_get(store, "use")), json_integer_value(json_object_get(store, "blobs")),
		(double)json_integer_value(json_object_get(store, "bytes")) / (1 << 20));
}

static int list(const struct command *command, const char *root)
{
	json_t *stores = json_array();
	int r = blob_places_each(root, describe_store, stores);

	if (r < 0)
		complain(command, "%s: %s", root, strerror(-r));
	else if (command->json)
		json_print_list("blobs", json_incref(stores));
	else
		print_stores(stores);
	json_decref(stores);
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

/* --- what the log names --- */

struct named {
	const struct command *command;
	const char *root;
	uint64_t names, missing;
};

int blobs_look_for(const char *root, const struct topic *topic, const char *shop, const void *message,
	blobs_missing_fn *tell, void *context)
{
	const char *name;
	int missing = 0;

	for (size_t i = 0; (name = topic_blob(topic, message, i)); i++) {
		_cleanup_(blob_reader_freep) struct blob_reader *reader = NULL;
		int r = blob_places_open(root, shop, name, &reader);

		if (r < 0)
			tell(name, r, context);
		missing += r < 0;
	}
	return missing;
}

static void tell_missing(const char *name, int r, void *context)
{
	const struct entry *entry = context;

	fprintf(stderr, "message %llu (%s, shop %s) names the blob %.64s: %s\n", (unsigned long long)entry->seq,
		entry->topic, entry->shop, name, r == -ENOENT ? "it is not there" : strerror(-r));
}

static bool look_at_entry(const struct entry *entry, void *context)
{
	struct named *named = context;
	const struct topic *topic = topic_of(entry->topic);
	_cleanup_free_ void *message = topic && topic->blobs ? payload_decode(topic, entry->payload) : NULL;

	if (!message)
		return true;
	named->names++;
	named->missing +=
		(uint64_t)blobs_look_for(named->root, topic, entry->shop, message, tell_missing, (void *)entry);
	return true;
}

/* Of the log only topics whose messages name blobs are read. */
static int look_for_named(const struct command *command, const char *root)
{
	struct named named = { .command = command, .root = root };
	int ended = EXIT_FINE;
	struct client *client = NULL;
	const struct topic *topic;

	for (size_t i = 0; (topic = topic_nth(i)) && !ended; i++) {
		if (!topic->blobs)
			continue;
		client = client ? client : command_connect(command);
		ended = reading_each(
			command, client, &(struct reading_filter){ .topic = topic->name }, look_at_entry, &named);
	}
	client_free(client);
	return ended ? ended : named.missing > 0 ? EXIT_NO : EXIT_FINE;
}

static int verify(const struct command *command, const char *root)
{
	struct backup_sum sum;
	int ended = backup_blobs_verify(command, root, NULL, &sum), named = look_for_named(command, root);

	if (command->json) {
		json_t *whole = json_pack("{s:b,s:I,s:I}", "sound", !ended && !named, "blobs", (json_int_t)sum.files,
			"bytes", (json_int_t)sum.bytes);

		json_print(whole);
		json_decref(whole);
	} else {
		printf("%llu blobs, %.1f MiB: %s\n", (unsigned long long)sum.files, (double)sum.bytes / (1 << 20),
			ended || named ? "NOT ALL SOUND" : "each is what it was");
	}
	return ended ? ended : named;
}

int command_blobs(struct command *command, int argc, char **argv)
{
	bool verifies = false;
	char root[PATH_MAX];
	const struct take takes[] = {
		{ "verify", NULL, "read each, and look for each that a message names", NULL, &verifies }, { 0 }
	};

	command_take(command, argc, argv,
		&(struct arguments){ .takes = takes,
			.help = "Lists the blobs: large contents, such as raw mails, that lie as files beside the log "
				"and are named by messages in it. With --verify each blob is read and hashed, and "
				"each blob that a message in the log names is looked for. It changes nothing. It "
				"exits with 0 if all is sound, 1 if a blob is damaged or missing.\v"
				"Examples:\n  cartbus blobs\n  cartbus blobs --verify" });
	blob_places_root(config_get(command->config, "paths", NULL, "state"), root);
	return verifies ? verify(command, root) : list(command, root);
}
