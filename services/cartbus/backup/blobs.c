/*
 * blobs.c: the blobs in a backup; `cartbus blobs` lists the blobs beside the log, and checks that none is
 * missing
 *
 * Promises:  each blob is hashed while it is copied: a damaged blob is named, and not copied. A blob without
 *            a reference is not copied, because no message can name it yet. `cartbus blobs` changes nothing.
 *            With --verify it reads and hashes each blob, and, while the broker runs, looks for each blob
 *            that a message of the log names.
 * Fails by:  naming the blob, its store, and what is wrong with it. `cartbus blobs`: EXIT_NO if a blob is
 *            damaged or missing, EXIT_AWAY if the log could not be asked.
 * Read next: bus/store/blob/blob_copy.c, services/kit/blobs/blob_places.h
 */
#include "services/cartbus/backup/blobs.h"

#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "proto/topics.h"
#include "services/cartbus/backup/subcommands.h"
#include "services/cartbus/core/print.h"
#include "services/kit/blobs/blob_places.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FOLDERS_OPEN = 16,
	BESIDE_CONTENT = 3 * 4096 /* on the disk, of each blob: last block, reference, folder of the reference */
};

struct copying {
	const struct command *command;
	const char *from_root, *to_root;
	struct blob_store *from, *to;
	const struct blob_place *place;
	struct backup_sum sum;
	int damaged;
};

static int copy_blob(void *context, const char *name, uint64_t bytes)
{
	struct copying *copying = context;
	int r = blob_has_references(copying->from, name);

	if (r > 0)
		r = blob_copy(copying->from, name, copying->to);
	else
		return r;
	if (r == -EBADMSG || r == -EIO) {
		complain(copying->command, "%s: the blob %s is damaged", copying->place->path, name);
		copying->damaged++;
		return 0;
	}
	if (r == -ENOENT)
		return 0; /* it was removed by its age meanwhile */
	copying->sum.files += r == 0;
	copying->sum.bytes += r == 0 ? bytes : 0;
	return r;
}

static int copy_store(void *context, const struct blob_place *place)
{
	static const struct blob_limits no_limits;
	struct copying *copying = context;
	_cleanup_(blob_store_closep) struct blob_store *from = NULL, *to = NULL;
	char path[PATH_MAX];
	int r = blob_store_open_to_read(place->path, &from);

	if (r == -ENOENT)
		return 0; /* its process has not finished making it */
	if (snprintf(path, sizeof(path), "%s%s", copying->to_root, place->path + strlen(copying->from_root)) >=
		(int)sizeof(path))
		r = -ENAMETOOLONG;
	if (r == 0)
		r = blob_store_open(path, &no_limits, &to);
	copying->from = from;
	copying->to = to;
	copying->place = place;
	if (r == 0)
		r = blob_each(from, copy_blob, copying);
	if (r < 0)
		complain(copying->command, "%s could not be copied to %s: %s", place->path, path, strerror(-r));
	return r;
}

static int sync_disk_of(const char *path)
{
	_cleanup_close_ int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		return errno == ENOENT ? 0 : -errno;
	return syncfs(folder) < 0 ? -errno : 0;
}

static int copy_all(struct copying *copying, struct backup_sum *ret_sum)
{
	int r = blob_places_each(copying->from_root, copy_store, copying);

	if (r == 0)
		r = sync_disk_of(copying->to_root);
	if (r < 0)
		complain(copying->command, "%s: %s", copying->to_root, strerror(-r));
	*ret_sum = copying->sum;
	return r < 0 || copying->damaged > 0 ? EXIT_NO : EXIT_FINE;
}

static void root_of(const struct command *command, char ret[PATH_MAX])
{
	blob_places_root(config_get(command->config, "paths", NULL, "state"), ret);
}

int backup_blobs_copy(const struct command *command, const char *folder, struct backup_sum *ret_sum)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct copying copying = { .command = command, .from_root = from, .to_root = to };

	root_of(command, from);
	blob_places_root(folder, to);
	return copy_all(&copying, ret_sum);
}

/* --- backup.json --- */

void backup_blobs_note(json_t *note, const struct backup_sum *sum)
{
	json_object_set_new(note, "blobs",
		json_pack("{s:I,s:I}", "files", (json_int_t)sum->files, "bytes", (json_int_t)sum->bytes));
}

static int count_blob(void *context, const char *name, uint64_t bytes)
{
	struct backup_sum *sum = context;

	(void)name;
	sum->files++;
	sum->bytes += bytes;
	return 0;
}

static int count_store(void *context, const struct blob_place *place)
{
	_cleanup_(blob_store_closep) struct blob_store *store = NULL;
	int r = blob_store_open_to_read(place->path, &store);

	if (r == 0)
		r = blob_each(store, count_blob, context);
	return r == -ENOENT ? 0 : r;
}

int backup_blobs_note_anew(const struct command *command, const char *folder, json_t *note)
{
	struct backup_sum sum = { 0 };
	char root[PATH_MAX];

	blob_places_root(folder, root);
	int r = blob_places_each(root, count_store, &sum);

	if (r == 0)
		r = sync_disk_of(root);
	if (r < 0)
		complain(command, "%s: %s", root, strerror(-r));
	backup_blobs_note(note, &sum);
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

uint64_t backup_blobs_bytes(const char *root)
{
	struct backup_sum sum = { 0 };

	blob_places_each(root, count_store, &sum);
	return sum.bytes + sum.files * BESIDE_CONTENT;
}

/* --- verifying --- */

struct verifying {
	const struct command *command;
	const struct blob_place *place;
	struct backup_sum sum;
	int wrong;
};

static int hear_finding(void *context, enum blob_finding finding, const char *name)
{
	static const char *const words[BLOB_FINDINGS] = {
		[BLOB_DAMAGED] = "the content does not fit its name: it is damaged",
		[BLOB_MISSING] = "a message names it, and it is not there",
		[BLOB_SURPLUS] = "no message is known to name it; its process removes it when it is a day old",
		[BLOB_FOREIGN] = "cartbus did not make this: look at it and remove it",
		[BLOB_LINKED] =
			"it has a second name, by which somebody else may change it: look for it (find -samefile)",
	};
	struct verifying *verifying = context;

	complain(verifying->command, "%s: %s: %s", verifying->place->path, name, words[finding]);
	verifying->wrong += finding == BLOB_DAMAGED || finding == BLOB_MISSING;
	return 0;
}

static int verify_store(void *context, const struct blob_place *place)
{
	struct verifying *verifying = context;
	_cleanup_(blob_store_closep) struct blob_store *store = NULL;
	int r = blob_store_open_to_read(place->path, &store);

	verifying->place = place;
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = blob_verify(store, hear_finding, verifying);
	if (r == 0)
		r = blob_each(store, count_blob, &verifying->sum);
	if (r < 0)
		complain(verifying->command, "%s could not be read: %s", place->path, strerror(-r));
	return r;
}

int backup_blobs_verify(const struct command *command, const char *root, const json_t *note, struct backup_sum *ret_sum)
{
	struct verifying verifying = { .command = command };
	json_int_t noted = json_integer_value(json_object_get(json_object_get(note, "blobs"), "files"));
	int r = blob_places_each(root, verify_store, &verifying);

	*ret_sum = verifying.sum;
	if (r < 0)
		complain(command, "%s: %s", root, strerror(-r));
	if (verifying.sum.files < (uint64_t)noted)
		complain(command, "%s holds %llu blobs, and %lld were backed up", root,
			(unsigned long long)verifying.sum.files, (long long)noted);
	return r < 0 || verifying.wrong > 0 || verifying.sum.files < (uint64_t)noted ? EXIT_NO : EXIT_FINE;
}

/* --- back into the state --- */

static struct giving { /* a global, because nftw passes no context */
	uid_t uid;
	int error;
} giving;

static int give_one(const char *path, const struct stat *there, int kind, struct FTW *at)
{
	(void)kind, (void)at;
	if (there->st_uid != giving.uid && lchown(path, giving.uid, (gid_t)-1) < 0)
		giving.error = -errno;
	return 0;
}

/*
 * The process's user is the owner of its folder of blobs. If this command made that folder as root, it is the
 * owner of the process's state.
 */
static int give_to_process(void *context, const struct blob_place *place)
{
	const char *state = context;
	char path[PATH_MAX];
	struct stat there;

	snprintf(path, sizeof(path), "%s/" BLOBS_FOLDER "/%s", state, place->process);
	if (stat(path, &there) < 0)
		return -errno;
	if (there.st_uid == 0) {
		snprintf(path, sizeof(path), "%s/%s", state, place->process);
		if (stat(path, &there) < 0)
			return errno == ENOENT ? 0 : -errno;
	}
	giving = (struct giving){ .uid = there.st_uid };
	snprintf(path, sizeof(path), "%s/" BLOBS_FOLDER "/%s/%s", state, place->process, place->use);
	return nftw(path, give_one, FOLDERS_OPEN, FTW_PHYS) < 0 ? -errno : giving.error;
}

int backup_blobs_put_back(const struct command *command, const char *folder, struct backup_sum *ret_sum)
{
	const char *state = config_get(command->config, "paths", NULL, "state");
	char from[PATH_MAX], to[PATH_MAX];
	struct copying copying = { .command = command, .from_root = from, .to_root = to };

	blob_places_root(folder, from);
	root_of(command, to);
	int ended = copy_all(&copying, ret_sum);

	if (ended || geteuid() != 0)
		return ended;
	int r = blob_places_each(to, give_to_process, (void *)state);
	if (r < 0)
		complain(command, "%s: %s: its files must belong to the users of their processes", to, strerror(-r));
	return r < 0 ? EXIT_NO : EXIT_FINE;
}

/* ---- `cartbus blobs` ---- */

/* --- listing --- */

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

/* --- the blobs that the log names --- */

struct named {
	const char *root;
	uint64_t missing;
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
	named->missing +=
		(uint64_t)blobs_look_for(named->root, topic, entry->shop, message, tell_missing, (void *)entry);
	return true;
}

/* Reads only those topics of the log whose messages name blobs. */
static int look_for_named(const struct command *command, const char *root)
{
	struct named named = { .root = root };
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
