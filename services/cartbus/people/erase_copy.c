/*
 * erase_copy.c: erases persons from copies of the log that were made before
 *
 * The backup's log is copied, and a private broker serves the copy. Each person on the list is searched in
 * the copy and erased as in the live log. The person is also put on the copy's list of people who are not
 * mailed, because the copy is older than that entry. Then the copy replaces the backup's log.
 *
 * Owns:      DIR/erasing.* while it works, and each DIR/broker.* that backup.json does not name: a run that
 *            was cut short left it.
 * Promises:  backup.json decides which files count. It is renamed into its place after these files are on the
 *            disk, so at any moment the backup is as before, or without the person. The next run removes
 *            leftover files; a file that cannot be removed is reported.
 * Fails by:  leaving the backup as it was, and telling why. The next `cartbus erase` or `cartbus backup`,
 *            also the nightly one, goes on with an erasure that was cut short, and `cartbus doctor` reports
 *            it.
 * Read next: erasures.h (the list), copy_broker.c, erase_look.c
 */
#include "services/cartbus/people/erase_copy.h"

#include "bus/actor/runtime/sidelog.h"
#include "bus/base/cleanup.h"
#include "bus/base/file.h"
#include "bus/base/text.h"
#include "proto/platform_topics.h"
#include "services/cartbus/backup/backup_folder.h"
#include "services/cartbus/backup/blobs.h"
#include "services/cartbus/backup/copy_broker.h"
#include "services/cartbus/core/print.h"
#include "services/cartbus/people/erasures.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

DEFINE_CLEANUP(DIR *, closedir)

enum { TRIES_MOST = 3 };

/* --- in the copy --- */

static int record_each(const struct erasure *erasure)
{
	const json_t *one;
	int ended = EXIT_FINE;
	size_t i;

	json_array_foreach(erasure->again, i, one)
	{
		const char *shop = json_string_value(json_object_get(one, "shop"));
		const char *hash = json_string_value(json_array_get(json_object_get(one, "addresses"), 0));

		if (!ended && shop && strcmp(shop, erasure->shop) == 0)
			ended = data_subject_record_hash(erasure->command, erasure->client, shop, "erase",
				hash ? hash : "", "done again, in a copy of the log that was made before");
	}
	return ended;
}

static int erase_in_shop(
	const struct copy_broker *broker, const char *folder, const char *shop, const json_t *list, size_t *erased)
{
	struct erasure erasure = { .command = copy_broker_command(broker),
		.client = copy_broker_client(broker),
		.shop = shop,
		.reason = "",
		.again = list,
		.blobs_root = folder,
		.is_quiet = true,
		.takes_requests = true };
	int ended = erase_wait_idle(&erasure);

	ended = ended ? ended : erase_look(&erasure);
	ended = ended ? ended : erase_say_optouts(&erasure);
	ended = ended ? ended : erase_rounds(&erasure);
	ended = ended ? ended : record_each(&erasure);
	*erased += erasure.erased;
	erasure_free(&erasure);
	return ended;
}

static int erase_in_shops(const struct copy_broker *broker, const char *folder, const json_t *list, size_t *ret_erased)
{
	json_t *shops = json_object();
	const char *shop;
	json_t *one;
	int ended = EXIT_FINE;
	size_t i;

	json_array_foreach(list, i, one)
	{
		shop = json_string_value(json_object_get(one, "shop"));
		if (shop)
			json_object_set_new(shops, shop, json_true());
	}
	json_object_foreach(shops, shop, one) ended =
		ended ? ended : erase_in_shop(broker, folder, shop, list, ret_erased);
	json_decref(shops);
	return ended;
}

/*
 * ret_snapshot: a snapshot of the copy after the erasure. The log's folder may also have unused files that
 * could not be deleted, and these still hold erased persons; a snapshot has no such files.
 */
static int erase_in(const struct command *command, const char *folder, const char *state, const json_t *list,
	size_t *ret_erased, json_t **ret_snapshot)
{
	struct copy_broker *broker;
	int ended = copy_broker_start(command, state, &broker), stopped;

	if (ended)
		return ended;
	ended = erase_in_shops(broker, folder, list, ret_erased);
	if (!ended)
		*ret_snapshot = command_ask(copy_broker_command(broker), copy_broker_client(broker), "snapshot", NULL);
	stopped = copy_broker_stop(&broker);
	return ended || !*ret_snapshot ? EXIT_NO : stopped;
}

/* --- around it --- */

static int remove_leftovers(const struct command *command, const char *folder, const char *log_path)
{
	_cleanup_(closedirp) DIR *listing = opendir(folder);
	const char *kept = strrchr(log_path, '/') + 1;
	struct dirent *entry;
	int ended = EXIT_FINE;

	while (listing && (errno = 0, entry = readdir(listing))) {
		char path[PATH_ROOM + 300];

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (!text_starts(entry->d_name, "erasing.") &&
			((strcmp(entry->d_name, "broker") != 0 && !text_starts(entry->d_name, "broker.")) ||
				strcmp(entry->d_name, kept) == 0))
			continue;
		backup_remove_tree(path);
		if (access(path, F_OK) == 0) {
			complain(command,
				"%s could not be removed, and may hold who was erased: remove it by hand, or do this "
				"again",
				path);
			ended = EXIT_NO;
		}
	}
	if (errno != 0) { /* of opendir, or of readdir */
		complain(command, "%s could not be listed, and may hold files with who was erased: %s", folder,
			strerror(errno));
		ended = EXIT_NO;
	}
	return ended;
}

struct copying {
	const struct command *command;
	const char *folder;
	char log_path[PATH_ROOM], state[PATH_ROOM], inside[PATH_ROOM + 16];
	json_t *note, *pending;
};

/* A large log takes minutes: these lines show the admin that the command is at work. */
static void tell_step(const struct command *command, const char *folder, const char *what)
{
	if (!command->json)
		fprintf(stderr, "%s: %s\n", folder, what);
}

static int copy_whole(const struct copying *copying)
{
	json_t *files = json_array();
	struct backup_sum sum;
	int ended = backup_verify(copying->command, copying->folder, &sum, NULL);

	if (!ended && mkdir(copying->state, 0700) < 0) {
		complain(copying->command, "%s: %s; it takes room for a second copy in a folder that may be written",
			copying->state, strerror(errno));
		ended = EXIT_NO;
	}
	ended = ended ? ended : backup_copy(copying->command, copying->log_path, copying->inside, files, &sum);
	json_decref(files);
	return ended;
}

static void add_ids(json_t *note, const json_t *pending)
{
	json_t *ids = erasures_ids(pending, false);

	if (!json_object_get(note, "erased"))
		json_object_set_new(note, "erased", json_array());
	json_array_extend(json_object_get(note, "erased"), ids);
	json_decref(ids);
}

/* The new files count from the rename of backup.json on. */
static int take_place(const struct copying *copying, const json_t *snapshot)
{
	const char *made = json_string_value(json_object_get(snapshot, "path"));
	char name[33], path[PATH_ROOM + 64];
	json_t *files = json_array();
	struct backup_sum sum;
	int ended = backup_sum_files(copying->command, made, files, &sum);

	text_random_name(name);
	snprintf(path, sizeof(path), "%s/broker.%.8s", copying->folder, name);
	if (!ended && rename(made, path) < 0) {
		complain(copying->command, "%s: %s", path, strerror(errno));
		ended = EXIT_NO;
	}
	json_object_set_new(copying->note, "folder", json_string(strrchr(path, '/') + 1));
	json_object_set(copying->note, "files", files);
	json_object_set(copying->note, "head", json_object_get(snapshot, "head"));
	json_object_del(copying->note, "proved_us");
	add_ids(copying->note, copying->pending);
	json_decref(files);
	ended = ended ? ended : backup_note_beside(copying->command, copying->folder, copying->note);
	ended = ended ? ended : backup_blobs_note_anew(copying->command, copying->folder, copying->note);
	return ended ? ended : backup_write_note(copying->command, copying->folder, copying->note);
}

/*
 * Replaces the backup's side log by the one that the copy's broker wrote, which has the messages of the
 * erased log.
 */
static int take_sidelog(const struct copying *copying)
{
	_cleanup_(buffer_free) struct buffer content = { 0 };
	char from[PATH_ROOM + 64], to[PATH_ROOM + 16];
	int r;

	snprintf(from, sizeof(from), "%s/" SIDELOG_FOLDER "/" SIDELOG_FILE, copying->state);
	snprintf(to, sizeof(to), "%s/" SIDELOG_FILE, copying->folder);
	r = file_read(from, SIDELOG_MOST, &content);
	if (r == 0)
		r = file_write_durably(to, buffer_bytes(&content), 0600);
	if (r < 0 && r != -ENOENT)
		complain(copying->command, "%s: %s", to, strerror(-r));
	return r < 0 && r != -ENOENT ? EXIT_NO : EXIT_FINE;
}

/*
 * Tries again with a new copy, because on an overloaded machine the copy's broker may be silent for longer
 * than a session lives.
 */
static int erase_in_a_copy(const struct copying *copying, size_t *ret_erased, json_t **ret_snapshot)
{
	int ended = EXIT_NO;

	for (int tried = 0; tried < TRIES_MOST && ended; tried++) {
		json_decref(*ret_snapshot);
		*ret_snapshot = NULL;
		*ret_erased = 0;
		backup_remove_tree(copying->state);
		tell_step(copying->command, copying->folder, "1 of 3: it is checked, and copied beside itself");
		if (copy_whole(copying))
			return EXIT_NO;
		tell_step(copying->command, copying->folder, "2 of 3: all messages of the copy are looked through");
		ended = erase_in(
			copying->command, copying->folder, copying->state, copying->pending, ret_erased, ret_snapshot);
	}
	return ended;
}

static int erase_pending(struct copying *copying, size_t *ret_erased)
{
	json_t *snapshot = NULL;
	int ended = erase_in_a_copy(copying, ret_erased, &snapshot);

	if (!ended)
		tell_step(copying->command, copying->folder, "3 of 3: the copy takes its place");
	ended = ended ? ended : take_sidelog(copying);
	ended = ended ? ended : take_place(copying, snapshot);
	json_decref(snapshot);
	if (!ended)
		backup_log_path(copying->folder, copying->note, copying->log_path);
	return remove_leftovers(copying->command, copying->folder, copying->log_path) ? EXIT_NO : ended;
}

/*
 * Removes "beside" and "blobs" from backup.json, because the files that they describe change before
 * backup.json does: after a run that was cut short it tells nothing of them.
 */
static int begin_beside(const struct copying *copying)
{
	int ended = backup_verify_beside(copying->command, copying->folder, copying->note);

	bool has_blobs = json_object_del(copying->note, "blobs") == 0;

	if (ended || (json_object_del(copying->note, "beside") < 0 && !has_blobs))
		return ended;
	return backup_write_note(copying->command, copying->folder, copying->note);
}

static int note_list(const struct copying *copying, const json_t *list)
{
	char path[PATH_ROOM + 16];
	json_t *known;
	int ended;

	snprintf(path, sizeof(path), "%s/erasures.json", copying->folder);
	known = erasures_read(copying->command, path);
	if (!known)
		return EXIT_NO;
	erasures_merge(known, list);
	ended = erasures_write(copying->command, path, known);
	json_decref(known);
	return ended;
}

int erase_copy(const struct command *command, const char *folder, const json_t *list, size_t *ret_erased)
{
	struct copying copying = { .command = command, .folder = folder, .note = backup_note(command, folder) };
	char name[33];
	int ended = EXIT_FINE;

	*ret_erased = 0;
	if (!copying.note)
		return EXIT_NO;
	backup_log_path(folder, copying.note, copying.log_path);
	/* a new name: a process of an earlier, killed run does not write into this folder */
	text_random_name(name);
	snprintf(copying.state, sizeof(copying.state), "%s/erasing.%.8s", folder, name);
	snprintf(copying.inside, sizeof(copying.inside), "%s/broker", copying.state);
	copying.pending = erasures_but(list, json_object_get(copying.note, "erased"));
	ended = remove_leftovers(command, folder, copying.log_path);
	if (!ended && json_array_size(copying.pending) > 0) {
		ended = begin_beside(&copying);
		ended = ended ? ended : note_list(&copying, list);
		ended = ended ? ended : erase_pending(&copying, ret_erased);
	}
	json_decref(copying.pending);
	json_decref(copying.note);
	return ended;
}

/* --- the list of erased persons --- */

static int add_from(const struct command *command, const char *path, json_t *list)
{
	json_t *other = erasures_read(command, path);

	if (!other)
		return EXIT_NO;
	erasures_merge(list, other);
	json_decref(other);
	return EXIT_FINE;
}

/* Adds the lists of the backups in the same folder. */
static int add_from_beside(const struct command *command, const char *folder, json_t *list)
{
	char above[PATH_ROOM + 8], path[PATH_ROOM + 300];
	_cleanup_(closedirp) DIR *listing = NULL;
	struct dirent *entry;
	int ended = EXIT_FINE;

	snprintf(above, sizeof(above), "%s/..", folder);
	listing = opendir(above);
	while (listing && !ended && (entry = readdir(listing))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/erasures.json", above, entry->d_name);
		ended = add_from(command, path, list);
	}
	return ended;
}

json_t *erase_copy_list(const struct command *command, const char *folder, const char *more)
{
	char path[PATH_ROOM + 16];
	json_t *list = json_array();
	struct stat found;
	int ended;

	erasures_path(command, path);
	ended = add_from(command, path, list);
	ended = ended ? ended : add_from_beside(command, folder, list);
	if (!ended && more) {
		bool is_folder = stat(more, &found) == 0 && S_ISDIR(found.st_mode);

		snprintf(path, sizeof(path), "%.500s%s", more, is_folder ? "/erasures.json" : "");
		if (access(path, R_OK) < 0) {
			complain(command, "%s: %s", path, strerror(errno));
			ended = EXIT_NO;
		}
		ended = ended ? ended : add_from(command, path, list);
	}
	if (ended) {
		json_decref(list);
		list = NULL;
	}
	return list;
}

/* --- every backup that was made here --- */

struct reaching {
	const struct command *command;
	json_t *list;
	bool dry_run;
	struct reached *reached;
};

static bool is_finished(const char *folder)
{
	char path[PATH_ROOM + 16];

	snprintf(path, sizeof(path), "%s/backup.json", folder);
	return access(path, F_OK) == 0;
}

static void reach(const char *folder, enum backup_found found, void *context)
{
	struct reaching *reaching = context;
	struct reached *reached = reaching->reached;
	char log_path[PATH_ROOM] = "/";
	size_t erased = 0;
	int ended = EXIT_FINE;

	if (found == BACKUP_AWAY)
		reached_add_by_hand(reached, "backup that is not there", folder,
			"mount it and run `cartbus backup --erase` on it; until then it holds this person");
	if (found != BACKUP_THERE)
		return;
	if (!reaching->dry_run && is_finished(folder))
		ended = erase_copy(reaching->command, folder, reaching->list, &erased);
	else if (!reaching->dry_run)
		ended = remove_leftovers(reaching->command, folder, log_path); /* cut short: it is no backup */
	json_array_append_new(reached->backups,
		json_pack("{s:s,s:b,s:I}", "path", folder, "done", ended == EXIT_FINE && !reaching->dry_run, "messages",
			(json_int_t)erased));
	if (!ended)
		return;
	reached->failed = true;
	reached_add_by_hand(reached, "backup as it was", folder,
		"mend what stands in the way, run `cartbus backup --erase` on it, or delete it");
}

void erase_copies(const struct command *command, bool dry_run, struct reached *reached)
{
	struct reaching reaching = { .command = command, .dry_run = dry_run, .reached = reached };
	char path[PATH_ROOM];

	erasures_path(command, path);
	reaching.list = erasures_read(command, path);
	if (!reaching.list || backup_each_known(command, reach, &reaching) || (!dry_run && backup_forget_gone(command)))
		reached->failed = true;
	json_decref(reaching.list);
}

/* --- what was cut short --- */

static size_t count_owed(const char *folder, const json_t *list)
{
	json_t *note = backup_note_if_any(folder);
	json_t *pending = note ? erasures_but(list, json_object_get(note, "erased")) : json_array();
	size_t persons = json_array_size(pending);

	json_decref(pending);
	json_decref(note);
	return persons;
}

struct owed {
	const json_t *list;
	erase_owed_fn *each;
	void *context;
};

static void find_owed(const char *folder, enum backup_found found, void *context)
{
	const struct owed *owed = context;
	size_t persons = found == BACKUP_THERE ? count_owed(folder, owed->list) : 0;

	if (persons > 0)
		owed->each(folder, persons, owed->context);
}

void erase_copies_owed(const struct command *command, erase_owed_fn *each, void *context)
{
	struct owed owed = { .each = each, .context = context };
	char path[PATH_ROOM];
	json_t *list;

	erasures_path(command, path);
	owed.list = list = erasures_read(command, path);
	if (json_array_size(list) > 0)
		backup_each_known(command, find_owed, &owed);
	json_decref(list);
}

struct again {
	const struct command *command;
	const char *within;
	int ended;
};

/* Both are whole paths without links, as backups.json has them. */
static bool lies_within(const char *folder, const char *within)
{
	return text_starts(folder, within) && folder[strlen(within)] == '/';
}

static void erase_again_in(const char *folder, size_t persons, void *context)
{
	struct again *again = context;
	char path[PATH_ROOM];
	size_t erased = 0;
	json_t *list;
	int ended;

	if (again->within && !lies_within(folder, again->within))
		return;
	if (!again->command->json)
		fprintf(stderr, "%s holds %zu yet who were erased: going on with that\n", folder, persons);
	erasures_path(again->command, path);
	list = erasures_read(again->command, path);
	ended = list ? erase_copy(again->command, folder, list, &erased) : EXIT_NO;
	json_decref(list);
	if (!ended && !again->command->json)
		printf("erased %zu messages in the backup %s\n", erased, folder);
	again->ended = again->ended ? again->ended : ended;
}

int erase_copies_again(const struct command *command, const char *within)
{
	_cleanup_free_ char *whole = within ? realpath(within, NULL) : NULL;
	struct again again = { .command = command, .within = whole };
	int ended;

	if (within && !whole && errno != ENOENT) {
		complain(command, "%s: %s", within, strerror(errno));
		return EXIT_NO;
	}
	if (!within || whole)
		erase_copies_owed(command, erase_again_in, &again);
	ended = backup_forget_gone(command);
	return again.ended ? again.ended : ended;
}
